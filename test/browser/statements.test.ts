import { expect, test } from 'vitest';
import { makeAffiliate, makeCommission } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the statement of an affiliate in the dashboard', (chromium) => {
  const world = useWorld();

  test('shows the sums of a year, saves a PDF of it and opens a page to print', async () => {
    const { id } = await makeAffiliate(world.api, { name_first: 'Ada', name_last: 'Lovelace' });
    await makeCommission(world.api, id, { amount: 123_456, external_id: 'sale-1' });
    const visitor = await atDashboard(chromium, world, { role: 'viewer', path: `/affiliates/${id}` });
    const { page } = visitor;
    const card = page.locator('section.card', { has: page.getByRole('heading', { name: 'Statement' }) });
    const row = card.getByRole('row', { name: /USD/ });
    await row.getByText('1,234.56').first().waitFor();
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'PDF' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(new RegExp(`^statement-${id}-\\d{4}\\.pdf$`));
    const [printed] = await Promise.all([
      page.waitForEvent('popup'),
      card.getByRole('link', { name: 'Print' }).click(),
    ]);
    await printed.getByRole('cell', { name: 'sale-1' }).waitFor();
    await expectAccessible(printed);
    expect(await printed.title()).toMatch(/^Statement of Ada Lovelace, from \d{4}-01-01 to \d{4}-12-31$/);
    await printed.close();
    await card.getByLabel('Period of the statement').selectOption('Everything');
    await row.getByText('1,234.56').first().waitFor();
    expectQuiet(visitor);
  });

  longRun.test('the page to print is readable on a phone and in dark mode', async () => {
    const { id } = await makeAffiliate(world.api, { name_first: 'محمد', name_last: 'علي' });
    await makeCommission(world.api, id, { amount: 5_000_000, external_id: 'a-long-id-of-a-sale-'.repeat(5) });
    const visitor = await atDashboard(chromium, world, { viewport: PHONE });
    await visitor.page.goto(`${world.url}/v2/affiliates/${id}/statement/download?format=html`);
    await visitor.page.getByRole('heading', { level: 1, name: 'Statement' }).waitFor();
    const width = await visitor.page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBe(PHONE.width);
    await expectAccessible(visitor.page);
    expectQuiet(visitor);
  });
});
