import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { filesIn } from '../support/archives.ts';
import { longRun, someOf } from '../support/depth.ts';
import { agree } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('invoices in the dashboard', (chromium) => {
  const world = useWorld();

  test.each(
    someOf(
      [
        ['a wide screen', WIDE],
        ['a phone', PHONE],
      ] as const,
      1,
    ),
  )('a rule is set, invoices are issued and saved, on %s', async (_, viewport) => {
    const api = world.api;
    const own = { legal_name: 'Muster GmbH', country: 'DE', address: { line1: 'Weg 1', city: 'Berlin' } };
    await api.patch('/v2/account', { tax_profile: own, invoicing: null });
    const { id } = await makeAffiliate(api);
    const { id: stranger } = await makeAffiliate(api);
    await agree(api, id);
    for (const each of [id, stranger]) await makeCommission(api, each, { amount: 11_900, currency: 'eur' });
    const payout = await completePayout(api, await makePayout(api));

    const visitor = await atDashboard(chromium, world, { viewport, path: '/settings/account' });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const rule = page.getByRole('group', { name: 'Rule 1' });
    await rule.getByLabel('Country').fill('de');
    await rule.getByLabel('Rate in percent').fill('200');
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await rule.getByLabel('Rate in percent').fill('19');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Settings saved').first().waitFor();
    expect((await api.get('/v2/account')).body.invoicing).toMatchObject({
      prefix: 'SB-',
      rules: [{ country: 'DE', category: 'S', rate: 1900 }],
    });

    await page.goto(`${world.url}/payouts/${payout.id}`);
    await page.getByRole('button', { name: 'Issue invoices' }).click();
    await page.getByText('1 affiliate had not agreed to self-billing by the day of the payment').waitFor();
    const table = page.getByRole('region', { name: 'Invoices' });
    await table.getByText(/SB-\d{4}-00000\d/).waitFor();
    await expectAccessible(page);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      table.getByRole('button', { name: 'PDF' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^invoice-SB-\d{4}-00000\d\.pdf$/);
    const [archive] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'All as PDF' }).click(),
    ]);
    expect(archive.suggestedFilename()).toMatch(/^payout-\d+-.*-invoices-pdf\.zip$/);
    expect(Object.keys(await filesIn(readFileSync(await archive.path())))).toEqual([
      file.suggestedFilename(),
    ]);
    await page.getByRole('button', { name: 'All as Peppol files' }).click();
    await page.getByText('no invoice of the payout can be written').waitFor();
    expectQuiet(visitor);
  });

  longRun.test(
    'rates of another currency are asked for, and the page of an affiliate lists its invoices',
    async () => {
      const api = await world.otherAccount();
      const own = { legal_name: 'Muster GmbH', country: 'DE', address: { line1: 'Weg 1', city: 'Berlin' } };
      const rules = [{ country: 'DE', category: 'S', rate: 1900 }];
      await api.patch('/v2/account', { tax_profile: own, invoicing: { prefix: 'SB-', rules } });
      const { id } = await makeAffiliate(api);
      const { id: stranger } = await makeAffiliate(api);
      await agree(api, id);
      const visitor = await atDashboard(chromium, world, { api });
      const { page } = visitor;
      const table = page.getByRole('region', { name: 'Invoices' });
      await makeCommission(api, id, { amount: 11_900, currency: 'usd' });
      const foreign = await completePayout(api, await makePayout(api));
      await page.goto(`${world.url}/payouts/${foreign.id}`);
      await page.getByRole('button', { name: 'Issue invoices' }).click();
      await page.getByText('must state the VAT in the currency of their country').waitFor();
      await page.getByLabel('Rate USD/EUR').fill('0.8675');
      await page.getByLabel('Day of the rates').fill(foreign.paid_at.slice(0, 10));
      await page.getByLabel('Source of the rates').fill('ECB');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Issue with these rates' }).click();
      await table.getByText(/SB-\d{4}-00000\d/).waitFor();
      const { data } = (await api.get(`/v2/affiliates/invoices?payout_id=${foreign.id}`)).body;
      expect(data).toMatchObject([{ national_tax: { currency: 'eur', amount: 1648, source: 'ECB' } }]);

      await page.goto(`${world.url}/affiliates/${id}`);
      await table.getByText('119.00').first().waitFor();
      await expectAccessible(page);
      await page.goto(`${world.url}/affiliates/${stranger}`);
      await page.getByRole('heading', { name: 'Statement' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Invoices' }).count()).toBe(0);
      expectQuiet(visitor);
    },
  );
});
