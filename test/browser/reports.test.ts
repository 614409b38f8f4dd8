import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

const HEADER = 'id,affiliate_email,amount,currency,occurred_at,paid_at';

/** The quarter before the current one: its name, its option in the period list, and a day in it. */
function lastQuarter(): { label: string; day: string; outside: string } {
  const now = new Date();
  const quarter = now.getUTCFullYear() * 4 + Math.floor(now.getUTCMonth() / 3) - 1;
  const [year, index] = [Math.floor(quarter / 4), quarter % 4];
  const dayOf = (month: number) => new Date(Date.UTC(year, month, 15)).toISOString().slice(0, 10);
  return { label: `Q${index + 1} ${year}`, day: dayOf(index * 3 + 1), outside: dayOf(index * 3 - 1) };
}

inChromium('the reports', (chromium) => {
  const world = useWorld();
  const quarter = lastQuarter();
  beforeAll(async () => {
    await makeAffiliate(world.api, { email: 'ada@example.com', name_first: 'Ada', country: 'DE' });
    const ben = await makeAffiliate(world.api, {
      email: 'ben@example.com',
      name_first: 'Ben',
      country: 'FR',
    });
    await makeAffiliate(world.api, { email: 'cy@example.com', name_first: 'Cy' });
    const lines = [
      `a,ada@example.com,300.00,usd,${quarter.outside},${quarter.day}`,
      `b,ada@example.com,20.00,eur,${quarter.day},${quarter.day}`,
      `c,ben@example.com,1.50,usd,${quarter.day},${quarter.day}`,
      `d,cy@example.com,0.80,usd,${quarter.day},${quarter.day}`,
    ];
    const file = [HEADER, ...lines, ''].join('\n');
    const answer = await world.api.upload('/v2/imports?kind=commissions&accept_guesses=true', file);
    expect(answer.status, answer.text).toBe(200);
    await makeCommission(world.api, ben.id, { amount: 700, currency: 'usd' });
    const debit = { external_id: 'fee', amount: -200, currency: 'usd' };
    expect((await world.api.post(`${AFFILIATES}/${ben.id}/adjustments`, debit)).status).toBe(201);
  });

  test('what was paid last quarter in each currency takes three clicks from home', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/', viewport: WIDE });
    const { page } = visitor;
    let clicks = 0;
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Reports' }).click();
    clicks += 1;
    // opening the list and choosing from it are two
    await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: quarter.label });
    clicks += 2;
    const table = page.getByRole('region', { name: 'By currency' });
    await table.getByRole('row', { name: 'USD 300.00 2.30 302.30 0.00' }).waitFor();
    await table.getByRole('row', { name: 'EUR 0.00 20.00 20.00 0.00' }).waitFor();
    expect(clicks).toBeLessThanOrEqual(3);
    await expectAccessible(page);
    expectQuiet(visitor);
  });

  test('the chart at home leads to the report; groups keep the period, and countries lead to their affiliates', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/', viewport: WIDE });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Open the report' }).click();
    const table = page.getByRole('region', { name: 'By currency' });
    await table.getByRole('row', { name: 'USD 0.00 7.00 -2.00 0.00 5.00' }).waitFor();
    await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: quarter.label });
    await page.getByRole('link', { name: 'By country' }).click();
    const countries = page.getByRole('region', { name: 'By country' });
    await countries.getByRole('row', { name: 'Germany USD 300.00 0.00 300.00 0.00' }).waitFor();
    await countries.getByRole('row', { name: 'Total USD 300.00 2.30 302.30 0.00' }).waitFor();
    const people = page.getByRole('region', { name: 'By affiliate' });
    await countries
      .getByRole('row', { name: 'Country not known USD 0.00 0.80 0.80 0.00' })
      .getByRole('link')
      .first()
      .click();
    await page.getByText('Only affiliates whose country is not known.').waitFor();
    await people.getByRole('row', { name: 'Cy USD 0.00 0.80 0.80 0.00' }).waitFor();
    expect(await people.getByRole('row').count()).toBe(2);
    await page.goBack();
    await countries
      .getByRole('row', { name: /^Germany USD/ })
      .getByRole('link')
      .first()
      .click();
    await page.getByText('Only affiliates in Germany.').waitFor();
    await people.getByRole('row', { name: 'Ada USD 300.00 0.00 300.00 0.00' }).waitFor();
    expect(await people.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Show all currencies' }).click();
    await people.getByRole('row', { name: /^Ada EUR/ }).waitFor();
    await page.getByRole('link', { name: 'Show all countries' }).click();
    await people.getByRole('link', { name: 'Ben' }).waitFor();
    await page.getByRole('link', { name: 'By program' }).click();
    await page.getByText('what was paid cannot be shown by program').waitFor();
    await page
      .getByRole('row', { name: 'No program EUR 20.00' })
      .getByRole('link', { name: '20.00' })
      .click();
    await page.getByRole('row', { name: /20\.00 EUR/ }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Program' }).inputValue()).toBe('none');
    expect(await page.getByRole('row').count()).toBe(2);
    await page.goBack();
    await page.getByRole('link', { name: 'By method' }).click();
    await page.getByRole('region', { name: 'By method' }).getByText('Method not known').first().waitFor();
    await page.getByRole('link', { name: 'US tax forms' }).click();
    await page.getByText('This list is not tax advice.').waitFor();
    expectQuiet(visitor);
  });

  test('other days can be chosen; files have the same rows; impossible days are explained', async () => {
    const { page } = await atDashboard(chromium, world, { path: '/reports', viewport: WIDE });
    await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'Other days' });
    await page.getByLabel('From').fill(quarter.day);
    await page.getByLabel('To', { exact: true }).fill(quarter.day);
    await page.getByRole('row', { name: 'USD 300.00 2.30 302.30 0.00' }).waitFor();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe(`report-by-currency-from-${quarter.day}-to-${quarter.day}.csv`);
    expect(await readFile(await saved.path(), 'utf8')).toContain(
      'USD,300.00,2.30,0.00,0.00,0.00,302.30,0.00,0.00',
    );
    const [pdf] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'PDF' }).click(),
    ]);
    expect((await readFile(await pdf.path())).subarray(0, 5).toString()).toBe('%PDF-');
    await page.getByLabel('From').fill('2999-01-01');
    await page.getByText('from must not be after to').waitFor();
    await page.goto(`${new URL(page.url()).origin}/reports?period=2026-Q5`);
    await page.getByText('period must be a month such as 2026-07').waitFor();
    await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'Last year' });
    await page
      .getByText('Nothing was earned, paid or owed in this period')
      .or(page.getByRole('table'))
      .first()
      .waitFor();
    await expectAccessible(page);
  });

  longRun.test('on a phone a row is a list of its amounts, and nothing is cut off', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/reports?by=affiliate', viewport: PHONE });
    const { page } = visitor;
    const list = page.getByRole('list', { name: 'By affiliate' });
    await list.getByText('7.00').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await expectAccessible(page);
    expectQuiet(visitor);
  });
});
