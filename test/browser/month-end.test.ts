import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import {
  AFFILIATES,
  COMMISSIONS,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, holdReads, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** An account in which Ada and Ben are owed a commission each, and that of Cleo is held. */
async function owedIn(api: Api): Promise<{ ada: Json; ben: Json; sale: Json }> {
  await api.patch('/v2/account', { hold_days: 0 });
  const ada = await makeAffiliate(api, {
    name_first: 'Ada',
    name_last: '<b>Byron',
    payout_method: 'paypal',
    paypal_email: 'ada.pays@example.com',
  });
  const ben = await makeAffiliate(api, { name_first: 'Ben', name_last: 'Wise', payout_method: 'wise' });
  const cleo = await makeAffiliate(api, { name_first: 'Cleo', name_last: 'Held' });
  const sale = await makeCommission(api, ada.id, { amount: 10_000 });
  await makeCommission(api, ben.id, { amount: 2550, currency: 'eur' });
  const held = await makeCommission(api, cleo.id, { amount: 700 });
  await api.post(`${COMMISSIONS}/${held.id}/hold`);
  return { ada, ben, sale };
}

inChromium("the month's end", (chromium) => {
  const world = useWorld();
  let ben: Json;
  beforeAll(async () => {
    ({ ben } = await owedIn(world.api));
  });

  /** An unpaid payout with a commission of Ben, and nothing left of an earlier test. */
  const freshPayout = async (): Promise<Json> => {
    const { body: current } = await world.api.get(`${PAYOUTS}/current`);
    await world.api.delete(`${PAYOUTS}/${current.id}`);
    await makeCommission(world.api, ben.id);
    return makePayout(world.api);
  };
  const step = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click();
  const text = (page: Page) => page.getByRole('main').innerText();

  test.each(
    someOf(
      [
        ['wide', WIDE],
        ['on a phone', PHONE],
      ] as const,
      1,
    ),
  )(
    'from the preview to the record, with a refund between the file and the completion, %s',
    async (_, viewport) => {
      const api = await world.otherAccount();
      const { ada, ben, sale } = await owedIn(api);
      const finance = await atDashboard(chromium, world, { api, role: 'member', path: '/payouts', viewport });
      const { page } = finance;
      await page.getByRole('link', { name: 'New payout' }).first().click();
      await page.getByRole('button', { name: 'Create payout for 2 affiliates' }).waitFor();
      await page.getByText('Ada <b>Byron').waitFor();

      // the affiliates left out, and how to include them
      await page.getByRole('link', { name: 'Left out (1)' }).click();
      await page.getByText('Held until its review ends').waitFor();
      await page.getByRole('combobox', { name: 'paid by' }).selectOption('PayPal');
      await page.getByText('1 affiliate less and 25.50 EUR less').waitFor();
      expect(new URL(page.url()).searchParams.get('method')).toBe('paypal');
      await page.getByRole('button', { name: 'Clear all filters' }).click();
      await page.getByRole('button', { name: 'Create payout for 2 affiliates' }).click();

      await page.getByRole('heading', { level: 1, name: /^Payout #/ }).waitFor();
      await page.getByRole('link', { name: 'Ada <b>Byron' }).click();
      const line = page.getByRole('dialog', { name: 'Ada <b>Byron' });
      await line.getByText(sale.external_id).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await line.waitFor({ state: 'detached' });

      await step(page, 'Continue to payment files');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: /for PayPal, USD/ }).click(),
      ]);
      expect(readFileSync(await file.path(), 'utf8')).toContain('ada.pays@example.com,100.00,USD');
      await page.getByText(/Downloaded .*, revision 1/).waitFor();
      await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: /for Wise, EUR/ }).click(),
      ]);
      await expectAccessible(page);
      await step(page, 'Continue to sending');
      await page.getByText('Upload the file at PayPal').waitFor();
      await expectAccessible(page);
      await step(page, 'Continue to completing');

      await page.getByText('Paid (0 affiliates)').waitFor();
      await holdReads(page);
      // the shop refunds a part before the payout is completed
      const refund = await api.post(`${COMMISSIONS}/${sale.id}/refund`, {
        external_id: 'refund-1',
        amount: 4000,
      });
      expect(refund.status, refund.text).toBe(201);
      await page.getByRole('button', { name: 'Tick all' }).click();
      await page.getByLabel('Payment reference').fill('BATCH-7');
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
      const question = page.getByRole('dialog', { name: /^Complete payout #/ });
      await question.getByText('Pays 1 affiliate 25.50 EUR and 1 affiliate 100.00 USD.').waitFor();
      await expectAccessible(page);
      await question.getByRole('button', { name: /^Complete payout #/ }).click();
      await question.getByText('The payout changed after you opened it').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('The file is outdated: download it again').waitFor();
      expect(await text(page)).toContain('Ada <b>Byron: 100.00 USD → 60.00 USD');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Continue with the new amounts' }).click();

      // the entered values are still there; Ben's transfer has not left
      expect(await page.getByLabel('Payment reference').inputValue()).toBe('BATCH-7');
      await page.getByRole('checkbox', { name: 'Select Ben Wise' }).uncheck();
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
      await question.getByText('Pays 1 affiliate 60.00 USD.').waitFor();
      await question.getByText('Releases 1 affiliate 25.50 EUR: owed again in the next payout.').waitFor();
      await question.getByRole('button', { name: /^Complete payout #/ }).click();
      await page.getByText('Payout completed').waitFor();
      await page.getByRole('link', { name: 'Ada <b>Byron' }).click();
      await line.getByText('BATCH-7').waitFor();
      await expectAccessible(page);

      const id = new URL(page.url()).pathname.split('/').at(-1);
      const { body } = await api.get(`${PAYOUTS}/${id}`);
      expect(body).toMatchObject({ status: 'paid', revision: 3 });
      expect(body.affiliates).toMatchObject([
        { affiliate_id: ada.id, is_paid: true, payment_reference: 'BATCH-7' },
        { affiliate_id: ben.id, is_paid: false },
      ]);

      // PayPal returns a part of it
      await page.getByRole('button', { name: 'Record returned money' }).click();
      const form = page.getByRole('dialog', { name: 'Record returned money' });
      await form.getByLabel('Amount in USD').fill('12.5');
      await form.getByLabel('Reason').fill('account closed');
      await expectAccessible(page);
      await form.getByRole('button', { name: 'Record returned money' }).click();
      await page.getByText('Returned money recorded').waitFor();
      await page.getByText('account closed').waitFor();
      const after = await api.get(`${PAYOUTS}/${id}/affiliates`);
      expect(after.body.data[0].totals[0].returned_amount).toBe(1250);

      // it was another customer's money
      await page.getByRole('button', { name: 'Undo', exact: true }).click();
      const undo = page.getByRole('dialog', { name: 'Undo this return?' });
      await expectAccessible(page);
      await undo.getByRole('button', { name: 'Undo', exact: true }).click();
      await page.getByText('Return undone').waitFor();
      await page.getByText('Undone', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Undo', exact: true }).count()).toBe(0);
      const undone = await api.get(`${PAYOUTS}/${id}/affiliates`);
      expect(undone.body.data[0].totals[0].returned_amount).toBe(0);
      expectQuiet(finance);
    },
  );

  test('two people on phones complete the same payout, one with a partly paid line: the other sees it, and nobody is paid twice', async () => {
    const viewport = PHONE;
    const api = await world.otherAccount();
    const { ben } = await owedIn(api);
    await makeCommission(api, ben.id);
    const payout = await makePayout(api);
    const there = { api, path: `/payouts/${payout.id}?step=complete`, viewport };
    const [one, other] = [
      await atDashboard(chromium, world, there),
      await atDashboard(chromium, world, there),
    ];
    // a line is an affiliate in a currency: one is paid in part, the other is released
    await one.page.getByRole('button', { name: 'Paid in part: Ben Wise, EUR' }).click();
    const part = one.page.getByRole('dialog', { name: 'Payment to Ben Wise' });
    await part.getByLabel('Amount paid').fill('25.51');
    await part.getByText('Enter an amount above 0 and at most 25.50 EUR.').waitFor();
    await part.getByLabel('Amount paid').fill('20');
    await expectAccessible(one.page);
    await part.getByRole('button', { name: 'Tick with 20.00 EUR' }).click();
    await one.page.getByText('of 25.50 EUR').waitFor();
    await other.page
      .getByRole('checkbox', { name: /^Also tick \d lines in no payment file, 25.50 EUR and 110.00 USD/ })
      .check();
    for (const { page } of [one, other]) {
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
    }
    const without =
      /^\d ticked lines are in no payment file that was downloaded: 25\.50 EUR and 110\.00 USD\./;
    await other.page.getByRole('dialog').getByText(without).waitFor();
    await expectAccessible(other.page);
    expect(await other.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      viewport.width,
    );
    const question = one.page.getByRole('dialog');
    await question.getByText('Pays 1 affiliate 20.00 EUR.').waitFor();
    await question.getByText('Some lines were paid in part: 5.50 EUR is owed again').waitFor();
    const confirm = ({ page }: typeof one) =>
      page.getByRole('dialog').getByRole('button', { name: /^Complete payout #/ });
    await confirm(other).waitFor();
    await holdReads(other.page);
    await confirm(one).click();
    await one.page.getByText('Payout completed').waitFor();
    await confirm(other).click();
    await other.page.getByText('This payout is already completed.').waitFor();
    await other.page.getByText('Paid', { exact: true }).first().waitFor();
    expect((await api.get(`${PAYOUTS}/${payout.id}`)).body).toMatchObject({
      status: 'paid',
      totals: [
        { currency: 'eur', paid_amount: 2000, carried_amount: 550, released_amount: 0 },
        { currency: 'usd', paid_amount: 0, released_amount: 11_000 },
      ],
    });
    expectQuiet(one);
    expectQuiet(other);
  });

  longRun.test(
    'lines in no payment file are ticked by a separate checkbox, and the question has their sum',
    async () => {
      const api = await world.otherAccount();
      await owedIn(api);
      const dan = await makeAffiliate(api, {
        name_first: 'Dan',
        payout_method: 'paypal',
        paypal_email: null,
      });
      await makeCommission(api, dan.id, { amount: 700 });
      const payout = await makePayout(api);
      const path = `/payouts/${payout.id}?step=send`;
      const finance = await atDashboard(chromium, world, { api, path });
      const { page } = finance;
      await page.getByText('No file pays 1 affiliate.').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'See who and why' }).click();
      await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: /for PayPal, USD/ }).click(),
      ]);
      await page.getByText(/Downloaded .*, revision 1/).waitFor();
      await page.getByRole('link', { name: /Complete$/ }).click();
      const others = page.getByRole('checkbox', {
        name: 'Also tick 2 lines in no payment file, 25.50 EUR and 7.00 USD: paid by other means',
      });
      await page.getByRole('button', { name: 'Tick all' }).click();
      await page.getByText('Paid (1 affiliate)').waitFor();
      expect(await others.isChecked()).toBe(false);
      const row = page.getByRole('row').filter({ hasText: 'Dan' });
      await row.getByText('In no payment file').filter({ visible: true }).waitFor();
      await others.check();
      await expectAccessible(page);
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
      const question = page.getByRole('dialog', { name: /^Complete payout #/ });
      const warning = question.getByText('in no payment file that was downloaded: 25.50 EUR and 7.00 USD.');
      await warning.waitFor();
      await question.getByText('Dan: 7.00 USD').waitFor();
      await expectAccessible(page);
      await question.getByRole('button', { name: 'Cancel' }).click();
      await others.uncheck();
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
      await question.getByText('1 affiliate 7.00 USD').waitFor();
      expect(await warning.count()).toBe(0);
      expectQuiet(finance);
    },
  );

  longRun.test('however many lines are in no payment file, the question has their sum', async () => {
    const api = await world.otherAccount();
    const numbers = Array.from({ length: 102 }, (_, index) => index);
    const people = numbers.map(
      (each) => `x-${each},x-${each}@example.com,Dan,paypal,${each === 0 ? 'dan@example.com' : ''}`,
    );
    const head = 'external_id,email,name_first,payout_method,paypal_email';
    const made = await api.upload(`${AFFILIATES}/import`, [head, ...people, ''].join('\n'));
    expect(made.status, made.text).toBe(200);
    const sales = numbers.map((each) => `s-${each},x-${each},1.00,usd`);
    const columns = 'external_id,affiliate_external_id,amount,currency';
    const owed = await api.upload(`${COMMISSIONS}/import`, [columns, ...sales, ''].join('\n'));
    expect(owed.status, owed.text).toBe(200);
    await api.patch('/v2/account', { hold_days: 0, minimum_payout: null });
    const payout = await makePayout(api);
    const [payable, without] = (await api.get(`${AFFILIATES}?sort=id&per_page=2`)).body.data;
    const finance = await atDashboard(chromium, world, {
      api,
      path: `/payouts/${payout.id}?line=${without.id}`,
    });
    const { page } = finance;
    // before anything is confirmed, each line shows its file, or why it is in none
    await page.getByRole('dialog').getByText('None: ').waitFor();
    await page.goto(`${world.url}/payouts/${payout.id}?line=${payable.id}`);
    await page.getByRole('dialog').getByText('PayPal · USD, unless').waitFor();
    await page.goto(`${world.url}/payouts/${payout.id}?step=files`);
    await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /for PayPal, USD/ }).click(),
    ]);
    await page.getByText(/Downloaded .*, revision 1/).waitFor();
    await page.getByRole('link', { name: /Complete$/ }).click();
    await page.getByRole('checkbox', { name: /^Also tick 101 lines in no payment file/ }).check();
    await page.getByRole('button', { name: /^Complete payout #/ }).click();
    const question = page.getByRole('dialog', { name: /^Complete payout #/ });
    await question
      .getByText('101 ticked lines are in no payment file that was downloaded: 101.00 USD.')
      .waitFor();
    await question.getByText('and 96 more').waitFor();
    await expectAccessible(page);
    expectQuiet(finance);
  });

  longRun.test('a viewer sees everything of a payout, and no button that would be refused', async () => {
    const payout = await freshPayout();
    const viewer = await atDashboard(chromium, world, { role: 'viewer', path: `/payouts/${payout.id}` });
    const { page } = viewer;
    await page.getByRole('link', { name: 'Ben Wise' }).waitFor();
    await page.getByText('first key (API key)').waitFor();
    await page.getByRole('link', { name: /Payment files$/ }).click();
    await page.getByText('Your role cannot download payment files').waitFor();
    expect(await page.getByRole('button', { name: /Download/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Summary of all lines' }).count()).toBe(0);
    await page.getByRole('link', { name: /Complete$/ }).click();
    await page.getByText('Your role cannot create, complete or delete payouts.').waitFor();
    expect(await page.getByRole('button', { name: /^Complete/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'More actions' }).click();
    expect(await page.getByRole('menuitem', { name: 'Delete payout' }).count()).toBe(0);
    await page.goto(`${world.url}/payouts/new`);
    await page.getByText('There is already an unpaid payout.').waitFor();
    expect(await page.getByRole('button', { name: /^Create payout/ }).count()).toBe(0);
    expectQuiet(viewer);
  });

  test('deleting a payout says what is owed again, and a deleted payout says so', async () => {
    const payout = await freshPayout();
    const owner = await atDashboard(chromium, world, { path: `/payouts/${payout.id}` });
    const { page } = owner;
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete payout' }).click();
    const question = page.getByRole('dialog', { name: `Delete payout #${payout.number}?` });
    await question.getByText(/^This releases \d commissions? worth .*USD/).waitFor();
    await expectAccessible(page);
    await question.getByRole('button', { name: `Delete payout #${payout.number}` }).click();
    await page.getByText('Payout deleted').waitFor();
    expect((await world.api.get(`${PAYOUTS}/${payout.id}`)).status).toBe(404);
    await page.goto(`${world.url}/payouts/${payout.id}`);
    await page.getByRole('heading', { level: 1, name: 'This payout is gone' }).waitFor();
    await expectAccessible(page);
    expectQuiet(owner);
  });
});
