import { expect, test } from 'vitest';
import { type Json, makeCommission, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('signals of fraud', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  /** Affiliates with one bank account. */
  async function sharers(...names: readonly string[]): Promise<Json[]> {
    const all: Json[] = [];
    for (const name_first of names)
      all.push(
        await makePayee(
          api,
          { type: 'sepa', account_holder: name_first, iban: 'DE89370400440532013000' },
          { commission: { amount: 1000, currency: 'eur' }, affiliate: { name_first } },
        ),
      );
    return all;
  }

  test('are set in the account, shown in the preview, and block until they are reviewed', async () => {
    const [ada, ben] = await sharers('Ada', 'Ben');
    const owner = await atDashboard(chromium, world, { api, path: '/settings/account', viewport: WIDE });
    const { page } = owner;
    await page.getByLabel('Shared destination').selectOption('block');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved').waitFor();
    const { payout_signals } = (await api.get('/v2/account')).body;
    expect(payout_signals.shared_destination).toEqual({ action: 'block' });

    await page.goto(`${world.url}/payouts/new`);
    const reason = `sepa …3000 is the account of affiliates ${ada.id}, ${ben.id}`;
    await page.getByText(reason).first().waitFor();
    await page.getByRole('button', { name: 'Create payout for 2 affiliates' }).click();
    await page.getByRole('heading', { level: 1, name: /^Payout #/ }).waitFor();
    const reviews = page.getByRole('button', { name: 'Review', exact: true });
    for (const done of [0, 1]) {
      await reviews.nth(1 - done).waitFor();
      await reviews.first().click();
      const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
      await dialog.getByLabel('What you found out').fill('They are a couple.');
      await dialog.getByRole('button', { name: 'Review' }).click();
      await page.getByText('They are a couple.').nth(done).waitFor();
      await dialog.waitFor({ state: 'detached' });
    }
    expect(await reviews.count()).toBe(0);
    const { body } = await api.get(`${PAYOUTS}/current`);
    expect(body.signals).toMatchObject([{ rule: 'shared_destination', unreviewed_count: 0 }]);
    await expectAccessible(page);
    expectQuiet(owner);
  });

  test('are shown to viewers, on a phone, without a button, the first three at once', async () => {
    const [, ben] = await sharers('Ada', 'Ben', 'Cleo', 'Dan');
    await makeCommission(api, ben.id, { amount: 200_000, currency: 'eur' });
    const payout = await makePayout(api);
    const path = `/payouts/${payout.id}`;
    const viewer = await atDashboard(chromium, world, { api, path, viewport: PHONE, role: 'viewer' });
    const { page } = viewer;
    await page.getByText('5 signals may point to fraud.').waitFor();
    const rows = page.getByText(/is the account of affiliates|is the first payment/);
    expect(await rows.count()).toBe(3);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show 2 more signals' }).click();
    expect(await rows.count()).toBe(5);
    await page.getByRole('button', { name: 'Show fewer signals' }).waitFor();
    await page.getByText('2010.00 EUR is the first payment, and above 1000.00 EUR').waitFor();
    expect(await page.getByRole('button', { name: 'Review', exact: true }).count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
    await expectAccessible(page);
    expectQuiet(viewer);
  });
});
