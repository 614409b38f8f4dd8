import { beforeAll, expect, test } from 'vitest';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

/** Whether the end of the open list is visible: its dialog does not cut it off. */
const IS_WHOLE = `(() => {
  const { left, width, bottom } = document.querySelector('[role=listbox]').getBoundingClientRect();
  return Boolean(document.elementFromPoint(left + width / 2, bottom - 8)?.closest('[role=listbox]'));
})()`;

inChromium('affiliates and commissions in the dashboard', (chromium) => {
  const world = useWorld();
  beforeAll(async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
  });

  test('the page of an affiliate lists their e-mails, with the error of one that failed', async () => {
    const { id } = await makeAffiliate(world.api, { name_first: 'Eve' });
    await world.query(
      `insert into notices (account_id, kind, data, is_alone, affiliate_id, due_at, tries, sent_at, failed_at, error)
       select a.account_id, n.kind, n.data, true, a.id, now_ms() + interval '1 hour', n.tries, n.sent, n.failed, n.error
       from affiliates a, (values
         ('paid', '{}'::jsonb, 1, now_ms(), null::timestamptz, null),
         ('returned', '{}', 9, null, now_ms(), '550 no such mailbox'),
         ('destination_changed', '{"to": "old@example.com"}', 0, null, null, null)) n (kind, data, tries, sent, failed, error)
       where a.id = $1::int8`,
      [id],
    );
    const visitor = await atDashboard(chromium, world, { path: `/affiliates/${id}` });
    const { page } = visitor;
    const table = page.getByRole('region', { name: 'E-mails' });
    await table.getByRole('row', { name: /Paid Their address Sent/ }).waitFor();
    await table
      .getByRole('row', { name: /Payment returned Their address Failed .*550 no such mailbox/ })
      .waitFor();
    await table.getByRole('row', { name: /Payment details changed A former address Waiting/ }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await table.getByText('A former address').filter({ visible: true }).waitFor();
    await table.getByText('550 no such mailbox').filter({ visible: true }).waitFor();
    await expectAccessible(page);
    const { id: quiet } = await makeAffiliate(world.api, {});
    await page.goto(`${world.url}/affiliates/${quiet}`);
    await page.getByRole('heading', { name: 'Statement' }).waitFor();
    expect(await page.getByRole('heading', { name: 'E-mails' }).count()).toBe(0);
    expectQuiet(visitor);
  });

  test('a commission is found by its order; its refund is shown in numbers and reduces the unpaid payout', async () => {
    const ada = await makeAffiliate(world.api, { name_first: 'Ada', name_last: 'Lovelace' });
    const sale = await makeCommission(world.api, ada.id, { order_id: 'order-77', sale_amount: 10_000 });
    await makeCommission(world.api, ada.id, { order_id: 'order-78', type: 'bonus' });
    const payout = await makePayout(world.api);
    const visitor = await atDashboard(chromium, world, { path: '/commissions' });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Ada Lovelace' }).first().waitFor();
    await expectAccessible(page);
    await page.getByRole('searchbox', { name: 'Order' }).fill('order-77');
    await page.getByText('1 commission', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?search=order-77');
    await page.getByRole('link', { name: 'order-77' }).click();
    const drawer = page.getByRole('dialog', { name: 'order-77' });
    await drawer.getByText('In an unpaid payout').waitFor();
    await expectAccessible(page);
    await drawer.getByRole('button', { name: 'Refund' }).click();
    const question = page.getByRole('dialog', { name: 'Refund this commission' });
    await question.getByLabel('Commission to take back').fill('10.01');
    await question.getByText('Enter an amount above 0 and at most 10.00 USD.').waitFor();
    await question.getByLabel('Refund by').selectOption('Sale');
    await question.getByLabel('Amount of the sale refunded').fill('25');
    await question.getByLabel('Reason').fill('a part was sent back');
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Refund 25.00 USD of the sale' }).click();
    await drawer.getByText('Refund took 2.50 USD back').waitFor();
    await drawer.getByText('“a part was sent back”').waitFor();
    const { body: after } = await world.api.get(`${COMMISSIONS}/${sale.id}`);
    expect(after).toMatchObject({ amount: 750, refunded_amount: 250 });
    const { body: lines } = await world.api.get(`/v2/affiliates/payouts/${payout.id}`);
    expect(lines.totals).toMatchObject([{ currency: 'usd', amount: 1750 }]);
    expectQuiet(visitor);
  });

  test('a commission is held, released and voided, each with its sum on the button', async () => {
    const affiliate = await makeAffiliate(world.api);
    const { id } = await makeCommission(world.api, affiliate.id, { order_id: 'order-90', amount: 1234 });
    const visitor = await atDashboard(chromium, world, { path: `/commissions?open=${id}`, viewport: PHONE });
    const { page } = visitor;
    const drawer = page.getByRole('dialog', { name: 'order-90' });
    const statusOf = async () => (await world.api.get(`${COMMISSIONS}/${id}`)).body.status;
    for (const [act, confirm, shown, status] of [
      ['Hold for review', 'Hold 12.34 USD', 'In review', 'pending'],
      ['End the review', 'Release 12.34 USD', 'Unpaid', 'unpaid'],
      ['Void', 'Void 12.34 USD', 'Voided', 'voided'],
    ] as const) {
      await drawer.getByRole('button', { name: act }).click();
      await page.getByRole('button', { name: confirm }).click();
      await drawer.locator('header').getByText(shown).waitFor();
      expect(await statusOf()).toBe(status);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('');
    // on a phone the filters are collapsed
    const status = page.getByRole('combobox', { name: 'Status' });
    expect(await status.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await status.selectOption('Voided');
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    await expectAccessible(page);
    expectQuiet(visitor);
  });

  longRun.test(
    'many commissions are held at once, with their sums; a refused one is named, and the rest is done',
    async () => {
      const { id } = await makeAffiliate(world.api);
      const orders = ['bulk-1', 'bulk-2', 'bulk-3'];
      const made = [];
      for (const order_id of orders)
        made.push(await makeCommission(world.api, id, { order_id, amount: 250 }));
      const visitor = await atDashboard(chromium, world, { path: `/commissions?affiliate_id=${id}` });
      const { page } = visitor;
      await page.getByRole('checkbox', { name: 'Select bulk-1' }).check();
      await page.getByText('1 commission selected').waitFor();
      await page.getByRole('checkbox', { name: 'Select all' }).check();
      await page.getByRole('button', { name: 'Hold for review (3)' }).click();
      const question = page.getByRole('dialog', { name: 'Hold the selected commissions' });
      await question.getByText('Payouts leave out 7.50 USD from 3 commissions').waitFor();
      await expectAccessible(page);
      await world.api.post(`${COMMISSIONS}/${made[1].id}/void`, {});
      await question.getByRole('button', { name: 'Hold 3 commissions' }).click();
      await question.getByText('1 commission was refused and did not change. Done: 2.').waitFor();
      await question.getByText(/^bulk-2: /).waitFor();
      await expectAccessible(page);
      await question.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'End the review (2)' }).click();
      await page.getByRole('button', { name: 'Release 2 commissions' }).click();
      await page.getByText('2 reviews have ended.').waitFor();
      expect(await page.getByText('selected', { exact: false }).count()).toBe(0);
      const { body } = await world.api.get(`${COMMISSIONS}?affiliate_id=${id}&sort=id`);
      expect(body.data.map(({ status }: { status: string }) => status)).toEqual([
        'unpaid',
        'voided',
        'unpaid',
      ]);
      expectQuiet(visitor);
    },
  );

  test('an affiliate is found, corrected and adjusted; only changed fields are sent', async () => {
    const { id, email } = await makeAffiliate(world.api, { name_first: '<b>Grace</b>', name_last: 'عباس' });
    await makeCommission(world.api, id);
    const visitor = await atDashboard(chromium, world, { path: '/affiliates' });
    const { page } = visitor;
    await page.getByRole('searchbox').fill(email);
    await page.getByRole('link', { name: '<b>Grace</b> عباس' }).click();
    await page.getByText('The PayPal address is missing.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Edit' }).click();
    const form = page.getByRole('dialog', { name: /^Edit/ });
    await expectAccessible(page);
    const taken = await makeAffiliate(world.api);
    await form.getByLabel('E-mail', { exact: true }).fill(taken.email);
    await world.api.patch(`${AFFILIATES}/${id}`, { slug: 'grace' });
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByLabel('E-mail', { exact: true }).fill(email);
    await form.getByLabel('PayPal address').fill('grace@example.com');
    await form.getByLabel('Minimum payout, USD').fill('25.00');
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.waitFor({ state: 'detached' });
    expect((await world.api.get(`${AFFILIATES}/${id}`)).body).toMatchObject({
      ...{ slug: 'grace', paypal_email: 'grace@example.com', minimum_payout: { usd: 2500 } },
      name_first: '<b>Grace</b>',
    });
    await page.getByRole('button', { name: 'Adjust balance' }).click();
    await page.getByRole('combobox', { name: 'Currency' }).click();
    expect(await page.evaluate(IS_WHOLE)).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByLabel('What it does').selectOption('Deducts from what is owed');
    await page.getByLabel('Amount').fill('2.50');
    await page.getByText('Unpaid: 10.00 USD now, 7.50 USD afterwards.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Deduct 2.50 USD' }).click();
    await page.getByRole('table').first().getByText('7.50').waitFor();
    const { body } = await world.api.get(`${COMMISSIONS}?affiliate_id=${id}&type=adjustment`);
    expect(body.data).toMatchObject([{ amount: -250, currency: 'usd' }]);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Pause payouts' }).click();
    await page.getByText('7.50 USD stays owed').waitFor();
    await page.getByRole('button', { name: 'Pause payouts' }).click();
    await page.getByText('Payouts are paused. The balance stays owed').waitFor();
    expect((await world.api.get(`${AFFILIATES}/${id}`)).body.is_ready_for_payout).toBe(false);
    expectQuiet(visitor);
  });

  longRun.test(
    'one timeline shows everything about an affiliate, filtered by kind, older entries on demand',
    async () => {
      const { id } = await makeAffiliate(world.api, { paypal_email: 'time@example.com' });
      for (let number = 1; number <= 25; number += 1) {
        await makeCommission(world.api, id, { order_id: `time-${number}`, amount: 100 });
      }
      const sale = await makeCommission(world.api, id, { order_id: 'time-paid', amount: 5000 });
      const { body: current } = await world.api.get(`${PAYOUTS}/current`);
      await world.api.delete(`${PAYOUTS}/${current.id}`);
      const payout = await makePayout(world.api, { filters: { affiliate_id: id } });
      await completePayout(world.api, payout);
      const back = { amount: 700, currency: 'usd', reason: 'account closed' };
      const returned = await world.api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, back);
      expect(returned.status, returned.text).toBe(200);
      const refund = { external_id: 'time-refund', amount: 50, reason: 'sent back' };
      await world.api.post(`${COMMISSIONS}/${sale.id}/refund`, refund);
      await world.api.patch(`${AFFILIATES}/${id}`, { name_first: 'Tess' });
      const visitor = await atDashboard(chromium, world, { path: `/affiliates/${id}`, viewport: PHONE });
      const { page } = visitor;
      const timeline = page.getByRole('list').filter({ hasText: 'Affiliate changed' });
      await timeline.getByText('75.00 USD').waitFor();
      await timeline.getByText('first key (API key)').waitFor();
      const rows = (await timeline.getByRole('listitem').allInnerTexts()).map((text) =>
        text.replaceAll('\n', ' '),
      );
      expect(rows.slice(0, 5)).toEqual([
        expect.stringMatching(/^Affiliate changed by first key \(API key\)/),
        expect.stringMatching(/^Refund -0.50 USD “sent back”/),
        expect.stringMatching(/^Money came back Unpaid 7.00 USD/),
        expect.stringMatching(/^Payout #\d+ Paid 75.00 USD/),
        expect.stringMatching(/^time-paid Paid 50.00 USD/),
      ]);
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      expect(await page.getByText('Affiliate created').count()).toBe(0);
      await page.getByRole('button', { name: 'Show older' }).click();
      await page.getByText('Affiliate created').waitFor();
      await page.getByRole('combobox', { name: 'Show' }).selectOption('Returned money');
      await page.getByRole('link', { name: 'time-25' }).waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Money came back' }).waitFor();
      expect(new URL(page.url()).search).toBe('?kind=return');
      expectQuiet(visitor);
    },
  );

  longRun.test('a viewer sees everything, and no button that would be refused', async () => {
    const { id } = await makeAffiliate(world.api);
    const commission = await makeCommission(world.api, id);
    const visitor = await atDashboard(chromium, world, {
      role: 'viewer',
      path: `/commissions?open=${commission.id}&act=void`,
    });
    await visitor.page.getByText('Your role cannot change commissions.').waitFor();
    expect(await visitor.page.getByRole('button', { name: 'Void' }).count()).toBe(0);
    await visitor.page.goto(`${world.url}/affiliates/${id}?open=edit`);
    await visitor.page.getByText('Your role cannot change affiliates.').waitFor();
    expect(await visitor.page.getByRole('dialog').count()).toBe(0);
    expectQuiet(visitor);
  });
});
