import { expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('tax on top', (chromium) => {
  const world = useWorld();

  test('net commissions are set, and each step of a payout shows the tax and what leaves the bank', async () => {
    const api = await world.otherAccount();
    await letInvoice(api);
    const taxed = await makeAffiliate(api, {
      name_first: 'Ada',
      name_last: 'Lovelace',
      payout_method: 'paypal',
    });
    const without = await makeAffiliate(api, {
      name_first: 'Bob',
      name_last: 'Babbage',
      payout_method: 'paypal',
    });
    await agree(api, taxed.id);
    for (const { id } of [taxed, without]) await makeCommission(api, id, { amount: 10_000, currency: 'eur' });

    const visitor = await atDashboard(chromium, world, { api, path: '/settings/account', viewport: PHONE });
    const { page } = visitor;
    await page.getByLabel('Commissions are').selectOption('Net: the tax is paid on top');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await expect.poll(async () => (await api.get('/v2/account')).body.commissions_are).toBe('net');

    await page.goto(`${world.url}/payouts/new`);
    await page.getByText('plus 19.00 EUR of tax: 119.00 EUR').waitFor();
    await page.getByText('no tax: no agreement to self-billing').waitFor();
    await page.getByText('leaves the bank, commissions 200.00 EUR').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create payout for 2 affiliates' }).click();
    await page.getByText('Tax on top').waitFor();
    await page.getByText('219.00').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await expectAccessible(page);

    const { id } = (await api.get(`${PAYOUTS}/current`)).body;
    await page.goto(`${world.url}/payouts/${id}?step=complete`);
    await page.getByRole('button', { name: /^Paid in part: Ada Lovelace/ }).click();
    const part = page.getByRole('dialog');
    await part.getByRole('textbox').fill('50.00');
    await part.getByText('57.98 EUR is owed again.').waitFor();
    await part.getByRole('button', { name: /50\.00/ }).click();
    await part.waitFor({ state: 'detached' });
    expectQuiet(visitor);
    const changed = await api.get(`${AFFILIATES}/${taxed.id}`);
    expect(changed.body.commissions_are).toBe(null);
  });
});
