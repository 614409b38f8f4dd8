import { beforeAll, expect, test } from 'vitest';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  PROGRAMS,
} from '../api/fixtures.ts';
import { isLong, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, WIDE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** The hundredths in the amounts of a column, without rows of totals. */
async function sumOf(page: Page, title: string): Promise<number> {
  const table = page.locator('main table');
  const titles = (await table.locator('thead th').allTextContents()).map((text) => text.trim());
  const column = titles.indexOf(title);
  expect(column, `${title} of ${titles}`).toBeGreaterThanOrEqual(0);
  const rows = await table
    .locator('tbody tr')
    .filter({ hasNotText: /^Total/ })
    .all();
  const cells = await Promise.all(rows.map((row) => row.locator('td').nth(column).textContent()));
  return cells.reduce((sum, cell) => sum + hundredthsOf(cell ?? ''), 0);
}

const hundredthsOf = (text: string): number => Math.round(Number(text.replace(/[^-\d.]/g, '')) * 100);

/** The indexes of the columns of all amounts that are links. */
const COLUMNS =
  "[...document.querySelectorAll('main td.figure a')].map((each) => each.closest('td').cellIndex)";

inChromium('the amounts of a report', (chromium) => {
  const world = useWorld();
  const { api } = world;

  beforeAll(async () => {
    const program = (await api.post(PROGRAMS, { name: 'Spring' })).body;
    const ada = await makeAffiliate(api, { name_first: 'Ada', country: 'DE' });
    const bob = await makeAffiliate(api, { name_first: 'Bob', country: 'FR', payout_method: 'wise' });
    const cy = await makeAffiliate(api, { name_first: 'Cy', payout_method: 'other' });
    const people = [ada, bob, cy];
    for (const [index, { id }] of people.entries()) {
      await makeCommission(api, id, { amount: 10_000 + index, program_id: program.id });
      await makeCommission(api, id, { amount: 700 + index, occurred_at: '2025-03-01T00:00:00Z' });
      await makeCommission(api, id, { amount: 300 + index, currency: 'eur' });
    }
    const payout = await completePayout(api, await makePayout(api), [
      { affiliate_id: ada.id, is_paid: true },
      { affiliate_id: bob.id, is_paid: true, currency: 'usd', amount: 4000 },
      { affiliate_id: cy.id, is_paid: true, currency: 'usd' },
    ]);
    const sold: Json = await makeCommission(api, bob.id, { amount: 900, program_id: program.id });
    for (const [path, body] of [
      [`${COMMISSIONS}/${sold.id}/refund`, { external_id: 'r-1', amount: 400 }],
      [`${COMMISSIONS}/${sold.id}/void`, undefined],
      [`${AFFILIATES}/${ada.id}/adjustments`, { external_id: 'fee', amount: -250, currency: 'usd' }],
      [
        `${PAYOUTS}/${payout.id}/affiliates/${ada.id}/returned`,
        { reason: 'closed', currency: 'usd', amount: 77 },
      ],
    ] as const) {
      const answer = await api.post(path, body);
      expect(answer.status, answer.text).toBeLessThan(300);
    }
  });

  test.each(someOf(['currency', 'method', 'affiliate', 'program', 'country'], 2))(
    'by %s lead to rows that add up to them',
    async (by) => {
      const visitor = await atDashboard(chromium, world, {
        path: `/reports?period=this_month&by=${by}`,
        viewport: WIDE,
      });
      const { page } = visitor;
      const amounts = page.locator('main td.figure a');
      await amounts.first().waitFor();
      const titles = (await page.locator('main thead th').allTextContents()).map((text) => text.trim());
      const columns = await page.evaluate<number[]>(COLUMNS);
      // in a short run one of each column: the first row of a currency, which is a total, and the last of another grouping
      const chosen = [...columns.keys()].filter((index) => {
        const column = columns[index] ?? -1;
        return (
          isLong || (by === 'currency' ? columns.indexOf(column) : columns.lastIndexOf(column)) === index
        );
      });
      expect(columns.length).toBeGreaterThan(by === 'method' ? 4 : 6);
      for (const index of chosen) {
        const amount = amounts.nth(index);
        const text = (await amount.textContent()) ?? '';
        const title = titles[columns[index] ?? -1];
        await amount.click();
        const isOfEntries = new URL(page.url()).pathname === '/reports/entries';
        const where = `${title} ${text} at ${page.url()}`;
        const isOwed = title === 'Owed before' || title === 'Owed after';
        expect(isOfEntries || isOwed, where).toBe(true);
        if (isOfEntries) await page.getByRole('heading', { name: 'Entries' }).waitFor();
        else await page.getByText('Show all currencies').waitFor();
        await page.locator('main td.figure .money').first().waitFor();
        expect(
          await sumOf(page, isOfEntries && isOwed ? 'Changes what is owed by' : String(title)),
          where,
        ).toBe(hundredthsOf(text));
        if (by === 'currency' && index === chosen[0]) await expectAccessible(page);
        await page.goBack();
        await amounts.last().waitFor();
      }
      expectQuiet(visitor);
    },
  );

  test('are of entries that lead to their commission or payment', async () => {
    const { page } = await atDashboard(chromium, world, { path: '/reports/entries', viewport: WIDE });
    await page.getByRole('combobox', { name: 'Column' }).selectOption({ label: 'Paid' });
    await page.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'Wise' });
    const row = page.getByRole('row', { name: /^Payment payout 1 Bob Wise .* 40\.00 USD/ });
    await row.getByRole('link', { name: 'Payment' }).click();
    await page.getByRole('dialog').getByText('Bob').first().waitFor();
    await page.goBack();
    await page.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'Any method' });
    await page.getByRole('combobox', { name: 'Column' }).selectOption({ label: 'Refunded' });
    await page.getByRole('link', { name: 'Refund', exact: true }).click();
    await page.getByRole('dialog').getByText('Bob').first().waitFor();
  });
});
