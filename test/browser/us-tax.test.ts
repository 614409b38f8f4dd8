import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { AFFILIATES, completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

const SIGNED = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'US',
  address: { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' },
  tax_id: { type: 'us_ssn', number: '536-90-4399' },
  form: { type: 'w9', signed_on: '2026-01-15' },
};

inChromium('the lists for US tax forms', (chromium) => {
  const world = useWorld();
  beforeAll(async () => {
    const pay = async (
      name: string,
      country: string,
      [method, amount, currency]: [string, number, string],
    ) => {
      const { id } = await makeAffiliate(world.api, {
        ...{ name_first: name, country, payout_method: method, paypal_email: 'p@example.com' },
      });
      await makeCommission(world.api, id, { amount, currency });
      return id;
    };
    const ada = await pay('Ada', 'US', ['other', 250_000, 'usd']);
    await pay('Ben', 'US', ['paypal', 900_000, 'usd']);
    await pay('Cleo', 'DE', ['wise', 12_345, 'eur']);
    const signed = await world.api.put(`${AFFILIATES}/${ada}/tax-profile`, SIGNED);
    expect(signed.status, signed.text).toBe(200);
    const payout = await makePayout(world.api);
    await completePayout(world.api, payout);
    await world.query(`update payouts set paid_at = '2026-06-01' where public_id('po', id) = $1`, [
      payout.id,
    ]);
  });

  test.each(
    someOf(
      [
        ['a phone', PHONE],
        ['a wide screen', WIDE],
      ] as const,
      1,
    ),
  )("on %s missing forms come first, and every sum has the affiliate's form", async (_, viewport) => {
    const visitor = await atDashboard(chromium, world, { path: '/reports/us-tax', viewport });
    const { page } = visitor;
    await page.getByRole('combobox', { name: 'Year' }).selectOption('2026');
    await page.getByText('This list is not tax advice.').waitFor();
    const rows = page.getByRole('table').locator('tbody tr');
    await rows.getByText('W-9 missing').waitFor();
    expect(await rows.count()).toBe(1);
    await rows.getByRole('link', { name: 'Ben' }).waitFor();
    await page.getByText('1 affiliate was paid in other currencies too.').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'W-8 missing (1)' }).click();
    await rows.getByRole('link', { name: 'Cleo' }).waitFor();
    await page.getByRole('link', { name: 'Everybody' }).click();
    await rows.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    expect(await rows.count()).toBe(3);
    const card = page.locator('section.card');
    await card.getByText('2,500.00').waitFor();
    await card.getByText('9,000.00').waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
    await page.getByRole('combobox', { name: 'Year' }).selectOption('2025');
    await page.getByText('Nobody was paid in this year').waitFor();
    expect(new URL(page.url()).search).toBe('?view=all&year=2025');
    await expectAccessible(page);
    expectQuiet(visitor);
  });

  test('an owner downloads the file with whole tax ids after a confirmation that says so', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/reports/us-tax?year=2026' });
    const { page } = visitor;
    await page.getByRole('button', { name: 'File with tax ids' }).click();
    const question = page.getByRole('dialog', { name: 'Download the file for 2026?' });
    await question.getByText('The file has the full tax ids of 1 affiliate.').waitFor();
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      question.getByRole('button', { name: 'Download with tax ids' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('1099-nec-2026.csv');
    expect(await readFile(await file.path(), 'utf8')).toContain('SSN,536904399');
    const { body } = await world.api.get('/v2/audit-log?action=exportUsTaxReport');
    expect(body.data).toMatchObject([{ actor: { kind: 'user' } }]);
    expectQuiet(visitor);
  });

  longRun.test('a member sees the lists and who may download the file', async () => {
    const visitor = await atDashboard(chromium, world, {
      role: 'member',
      path: '/reports/us-tax?year=2026&view=file',
    });
    const { page } = visitor;
    await page.getByText('Your role cannot download the file for a filing service').waitFor();
    await page.getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    expect(await page.getByRole('button', { name: /File with tax ids/ }).count()).toBe(0);
    expect(await page.content()).not.toContain('536904399');
    expectQuiet(visitor);
  });
});
