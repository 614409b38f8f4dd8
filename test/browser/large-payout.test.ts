import { expect, test } from 'vitest';
import { AFFILIATES, COMMISSIONS, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet } from './dashboard-support.ts';
import { inChromium } from './support.ts';

const MANY = 10_000;

inChromium('a payout of 10,000 affiliates', (chromium) => {
  const world = useWorld();

  test('is searched, ticked and completed like any other', async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
    const numbers = Array.from({ length: MANY }, (_, index) => index + 1);
    const people = numbers.map((number) => `p${number}@example.com,Person,No${number}`).join('\n');
    const sales = numbers.map(
      (number) => `sale-${number},p${number}@example.com,1.${10 + (number % 90)},usd`,
    );
    const load = async (path: string, body: string) => {
      const done = await world.api.upload(path, body);
      expect(done.status, done.text).toBe(200);
    };
    await load(`${AFFILIATES}/import`, `email,name_first,name_last\n${people}\n`);
    await load(`${COMMISSIONS}/import`, `external_id,affiliate_email,amount,currency\n${sales.join('\n')}\n`);
    const payout = await makePayout(world.api);
    expect(payout.affiliates).toBeNull();

    const finance = await atDashboard(chromium, world, { path: `/payouts/${payout.id}?step=complete` });
    const { page } = finance;
    await page.getByText('1–25 of 10,000').waitFor();
    await page.getByRole('searchbox', { name: 'Search lines' }).fill('p7777@example');
    await page.getByRole('checkbox', { name: 'Select Person No7777' }).check();
    await page.getByText('Paid (1 affiliate)').waitFor();
    await page.getByRole('searchbox', { name: 'Search lines' }).fill('');
    await page.getByRole('button', { name: 'Tick all' }).click();
    await page.getByText('Paid (10,000 affiliates)').waitFor();
    await page.getByRole('checkbox', { name: 'Select Person No1', exact: true }).uncheck();
    await page.getByRole('button', { name: /^Complete payout #/ }).click();
    const question = page.getByRole('dialog');
    await question.getByText(/^Pays 9,999 affiliates /).waitFor();
    await question.getByRole('button', { name: /^Complete payout #/ }).click();
    await page.getByText('Payout completed').waitFor();
    expect((await world.api.get(`${PAYOUTS}/${payout.id}`)).body).toMatchObject({
      status: 'paid',
      affiliate_count: MANY,
    });
    expectQuiet(finance);
  });
});
