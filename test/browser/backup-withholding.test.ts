import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('backup withholding', (chromium) => {
  const world = useWorld();

  test('it is switched on, and the preview, the payout, its completion and the list for US tax forms show it', async () => {
    const api = await world.otherAccount();
    const ada = { name_first: 'Ada', name_last: 'Lovelace', country: 'US', payout_method: 'other' };
    const { id: affiliate } = await makeAffiliate(api, ada);
    await makeCommission(api, affiliate, { amount: 10_000, currency: 'usd' });

    const visitor = await atDashboard(chromium, world, { api, path: '/settings/account', viewport: PHONE });
    const { page } = visitor;
    await page.getByLabel('Backup withholding').selectOption('From the first payment on');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await expect.poll(async () => (await api.get('/v2/account')).body.backup_withholding).toBe('always');

    await page.goto(`${world.url}/payouts/new`);
    const less = page.getByText('less 24.00 USD withheld: 76.00 USD');
    await less.waitFor();
    const box = await less.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(PHONE.width);
    await page.getByText('leaves the bank, commissions 100.00 USD').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create payout for 1 affiliate' }).click();
    await page.getByText('Withheld for the IRS').waitFor();
    expect(await page.getByText('Tax on top').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await expectAccessible(page);

    const payout = (await api.get(`${PAYOUTS}/current`)).body;
    await page.goto(`${world.url}/payouts/${payout.id}?step=complete`);
    await page.getByRole('button', { name: /^Paid in part: Ada Lovelace/ }).click();
    const part = page.getByRole('dialog');
    await part.getByRole('textbox').fill('38.00');
    await part.getByText('50.00 USD is owed again.').waitFor();
    await page.keyboard.press('Escape');

    await completePayout(api, payout);
    await page.goto(`${world.url}/reports/us-tax`);
    await page.getByText('24.00 USD withheld').waitFor();
    await page.getByText('Backup withholding, which you pay to the IRS').waitFor();
    await expectAccessible(page);
    expectQuiet(visitor);
  });
});
