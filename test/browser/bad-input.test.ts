import { beforeAll, expect, test } from 'vitest';
import {
  COMMISSIONS,
  completePayout,
  ENDPOINTS,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import { moveTimeBack, PASSWORD, signedIn } from '../people/support.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  atDashboard,
  expectAccessible,
  expectQuiet,
  hasScreen,
  holdReads,
  PHONE,
  WIDE,
} from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

const DAY_MS = 86_400_000;

inChromium('bad input', (chromium) => {
  const world = useWorld();
  beforeAll(async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
  });

  const signInAgain = async (page: Page, email?: string) => {
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    if (email !== undefined) await dialog.getByLabel('E-mail address').fill(email);
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
  };
  const refund = async (commission: Json, amount: number) => {
    const done = await world.api.post(`${COMMISSIONS}/${commission.id}/refund`, {
      external_id: `refund-${commission.id}`,
      amount,
    });
    expect(done.status, done.text).toBe(201);
  };
  /** Drops a file somewhere on the page; false when the page handled it, so that the browser does not open it. */
  const drop = (page: Page, name: string, content: string): Promise<boolean> =>
    page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}));
      return document.body.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    })()`);

  test('a session that ends while a form is filled: the form stays, and is submitted once', async () => {
    const { id } = await makeAffiliate(world.api);
    const ada = await atDashboard(chromium, world, { path: `/affiliates/${id}?open=adjust` });
    const { page } = ada;
    const form = page.getByRole('dialog', { name: /^Adjust/ });
    await form.getByLabel('Amount').fill('12.34');
    await form.getByLabel(/^Description/).fill('a prize');
    // a page that polls would notice the end before the button is pressed
    await holdReads(page);
    await moveTimeBack(world, '60 days');
    await form.getByRole('button', { name: 'Add 12.34 USD' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await expectAccessible(page);
    expect(await form.getByLabel('Amount').inputValue()).toBe('12.34');
    expect(await form.getByLabel(/^Description/).inputValue()).toBe('a prize');
    await signInAgain(page);
    await form.waitFor({ state: 'detached' });
    const { body } = await world.api.get(`${COMMISSIONS}?affiliate_id=${id}`);
    expect(body.data).toMatchObject([{ type: 'adjustment', amount: 1234, description: 'a prize' }]);
    expectQuiet(ada);
  });

  test('another user who signs in there starts over: the form is not submitted in their account', async () => {
    const shop = await world.otherAccount('The other shop');
    const { email } = await signedIn(world, 'owner', shop);
    const ada = await atDashboard(chromium, world, { path: '/settings/account' });
    const { page } = ada;
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await moveTimeBack(world, '60 days');
    await page.getByRole('button', { name: 'Save' }).click();
    await signInAgain(page, email);
    await page.waitForURL(`${world.url}/`);
    await page.getByRole('button', { name: /The other shop/ }).waitFor();
    expect((await shop.get('/v2/account')).body.name).toBe('The other shop');
    expect((await world.api.get('/v2/account')).body.name).not.toBe('Renamed');
    expectQuiet(ada);
  });

  longRun.test('the account was changed in another tab: the form is not submitted there', async () => {
    const shop = await world.otherAccount('The other shop');
    const { email } = await signedIn(world, 'owner', shop);
    const ada = await atDashboard(chromium, world);
    const { page } = ada;
    await page.goto(`${world.url}/settings/account`);
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await ada.context.clearCookies();
    const other = await ada.context.newPage();
    await other.goto(`${world.url}/sign-in`);
    await other.getByLabel('E-mail address').fill(email);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.waitForURL(`${world.url}/`);
    await hasScreen(other);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.waitForURL(`${world.url}/`);
    expect((await shop.get('/v2/account')).body.name).toBe('The other shop');
    expect((await world.api.get('/v2/account')).body.name).not.toBe('Renamed');
    expectQuiet(ada);
  });

  test('a clock three days fast, at the other end of the world, changes neither ages nor days', async () => {
    await world.api.patch('/v2/account', { time_zone: 'America/New_York' });
    const { id } = await makeAffiliate(world.api);
    // the evening of 31 May in New York, the afternoon of 1 June on Kiritimati
    const late = { order_id: 'late-order', occurred_at: '2026-06-01T02:00:00Z' };
    await makeCommission(world.api, id, late);
    const ada = await atDashboard(chromium, world, { path: '/', timezoneId: 'Pacific/Kiritimati' });
    const { page } = ada;
    await page.clock.install({ time: Date.now() + 3 * DAY_MS });
    await page.goto(`${world.url}/commissions?affiliate_id=${id}&from=2026-05-31&to=2026-05-31`);
    const row = page.getByRole('row').filter({ hasText: 'late-order' });
    const [occurred, created] = [row.locator('time').first(), row.locator('time').last()];
    await expect.poll(() => created.textContent()).toMatch(/^(now|this minute|1 minute ago)$/);
    expect(await occurred.getAttribute('data-tip')).toContain('1 Jun 2026, 16:00:00');
    await page.goto(`${world.url}/payouts/new?until=2026-05-31`);
    await page.getByRole('button', { name: 'Create payout for 1 affiliate' }).waitFor();
    await page.goto(world.url);
    const chart = page.getByRole('slider', { name: 'Commissions by month in USD' });
    await chart.focus();
    const months = Number(await chart.getAttribute('aria-valuemax'));
    for (let month = 0; month <= months; month += 1) {
      if (/^May 2026: Earned 10.00 USD/.test((await chart.getAttribute('aria-valuetext')) ?? '')) break;
      await page.keyboard.press('ArrowLeft');
    }
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/^May 2026: Earned 10.00 USD/);
    await world.api.patch('/v2/account', { time_zone: 'UTC' });
    expectQuiet(ada);
  });

  longRun.test('the refunds of a month lead to their rows, and a listed one to its commission', async () => {
    const { id } = await makeAffiliate(world.api);
    const sale = await makeCommission(world.api, id, { order_id: 'sent-back' });
    await refund(sale, 250);
    const ada = await atDashboard(chromium, world, { path: '/' });
    const { page } = ada;
    await page.getByRole('link', { name: '2.50 USD' }).click();
    await page.waitForURL(/\/reports\/entries\?currency=usd&kind=refunded&from=\d{4}-\d\d-01&to=/);
    await page.goto(`${world.url}/commissions/refunds`);
    const row = page.getByRole('row').filter({ hasText: `refund-${sale.id}` });
    await row.getByText('Applied').waitFor();
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Reversed');
    await page.getByText('No refund matches these filters.').waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Any status');
    await row.getByRole('link').click();
    await page.getByRole('dialog', { name: 'sent-back' }).getByText('Refund took 2.50 USD back').waitFor();
    expectQuiet(ada);
  });

  longRun.test('a viewer who types the address of a form sees who may use it, and no form', async () => {
    const { id } = await makeAffiliate(world.api);
    const sale = await makeCommission(world.api, id);
    const endpoint = await world.api.post(ENDPOINTS, { url: 'https://example.com/hook' });
    const { body: current } = await world.api.get(`${PAYOUTS}?status=unpaid`);
    const payout = current.data[0] ?? (await makePayout(world.api));
    const vera = await atDashboard(chromium, world, { role: 'viewer', path: '/' });
    const { page } = vera;
    const writes: string[] = [];
    page.on('request', (request) => {
      const isLook = /\/preview(\/|$|\?)/.test(request.url());
      if (request.method() !== 'GET' && !isLook) writes.push(`${request.method()} ${request.url()}`);
    });
    const acts =
      /^(Add|Adjust|Change|Complete|Create|Delete|Disable|Enable|Hold|Import|Invite|Make|Pause|Publish|Refund|Register|Remove|Retry|Revoke|Rotate|Save|Send|Void) /;
    for (const path of [
      '/payouts/new',
      `/payouts/${payout.id}?step=complete`,
      `/affiliates/${id}?open=edit`,
      `/affiliates/${id}?open=adjust`,
      `/affiliates/${id}?open=switch`,
      ...['refund', 'void', 'hold'].map((act) => `/commissions?open=${sale.id}&act=${act}`),
      '/import?kind=commissions',
      `/webhooks/${endpoint.body.id}?view=settings`,
      '/events?open=publish',
      // except alerts: viewers choose their own notifications
      ...['account', 'people', 'keys', 'applications', 'audit', 'system'].map((part) => `/settings/${part}`),
    ]) {
      await page.goto(world.url + path);
      await hasScreen(page);
      await page.waitForLoadState('networkidle');
      const buttons = await page.getByRole('main').getByRole('button', { disabled: false }).allInnerTexts();
      const inDialog = await page
        .getByRole('dialog')
        .getByRole('button', { disabled: false })
        .allInnerTexts();
      const offered = [...buttons, ...inDialog].filter((text) => acts.test(`${text.trim()} `));
      expect(offered, path).toEqual([]);
      const texts = await page.locator('main, dialog').allInnerTexts();
      expect(texts.join(), path).toMatch(/owner|member|read-only|already/i);
    }
    expect(writes).toEqual([]);
    expectQuiet(vera);
  });

  test.each(
    someOf(
      [
        ['wide', WIDE],
        ['on a phone', PHONE],
      ] as const,
      1,
    ),
  )(
    'an outdated file that is dropped: changes since then are shown by affiliate; a file of another payout ticks nothing, %s',
    async (_, viewport) => {
      await clearPayout();
      const ada = await makeAffiliate(world.api, { name_first: 'Ada', paypal_email: 'ada.pays@example.com' });
      await makeCommission(world.api, ada.id, { amount: 4000 });
      const first = await makePayout(world.api, { filters: { affiliate_id: ada.id } });
      await completePayout(world.api, first);
      const sale = await makeCommission(world.api, ada.id, { amount: 10_000 });
      const payout = await makePayout(world.api, { filters: { affiliate_id: ada.id } });
      const fileOf = async ({ id }: Json) =>
        (await world.api.get(`${PAYOUTS}/${id}/payment-files/paypal`)).text;
      const [former, outdated] = [await fileOf(first), await fileOf(payout)];
      await refund(sale, 4000);
      const mia = await atDashboard(chromium, world, {
        path: `/payouts/${payout.id}?step=complete`,
        viewport,
      });
      const { page } = mia;
      await page.getByText('Paid (0 affiliates)').waitFor();
      expect(await drop(page, 'paypal.csv', former)).toBe(false);
      await page.getByText('The file contains no reference of this payout.').waitFor();
      await page.getByText('Paid (0 affiliates)').waitFor();
      expect(await drop(page, 'paypal.csv', outdated)).toBe(false);
      await page.getByText('Ticked 1 line from the file').waitFor();
      // the page was opened after the refund: only the server knows the file's content
      await page.getByText('The file is outdated').waitFor();
      await page.getByText('Ada: 100.00 USD → 60.00 USD').waitFor();
      await expectAccessible(page);
      // where no file is accepted, the page stays
      await page.goto(`${world.url}/affiliates`);
      await hasScreen(page);
      expect(await drop(page, 'paypal.csv', outdated)).toBe(false);
      expectQuiet(mia);
    },
  );

  const clearPayout = async () => {
    const { body } = await world.api.get(`${PAYOUTS}?status=unpaid`);
    if (body.data[0]) await world.api.delete(`${PAYOUTS}/${body.data[0].id}`);
  };
});
