import { expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission } from '../api/fixtures.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

const SSN = '536-90-4399';
const SIGNED = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'US',
  address: { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' },
};

inChromium('tax profiles', (chromium) => {
  const world = useWorld();

  test.each(
    someOf(
      [
        ['a phone', PHONE],
        ['a wide screen', WIDE],
      ] as const,
      1,
    ),
  )(
    'on %s a signed form is stored; the tax id is sent once and then shown by its end',
    async (_, viewport) => {
      const { id } = await makeAffiliate(world.api, {
        name_first: 'Ada',
        name_last: 'Lovelace',
        country: 'US',
      });
      const visitor = await atDashboard(chromium, world, { path: `/affiliates/${id}`, viewport });
      const { page } = visitor;
      await page.getByText('No tax profile.').waitFor();
      await page.getByRole('button', { name: 'Set tax profile' }).click();
      const form = page.getByRole('dialog', { name: 'Tax profile of Ada Lovelace' });
      await form.getByRole('combobox').first().and(page.locator(':focus')).waitFor();
      const save = form.getByRole('button', { name: 'Save tax profile' });
      expect(await save.isDisabled()).toBe(true);
      await form.getByLabel('Address', { exact: true }).fill('1 Main St');
      await form.getByLabel('City').fill('Boston');
      await form.getByLabel('State or province').fill('MA');
      await form.getByLabel('Postal code').fill('02108');
      await form.getByLabel('Kind of tax id').selectOption('US social security number (SSN)');
      await form.getByLabel('Tax id', { exact: true }).fill('536-90-43');
      await form.getByLabel('Signed form').selectOption('W-8BEN-E (business)');
      await form.getByLabel('Signed on').fill('2026-01-15');
      await form.getByLabel('Document of the form').fill('scan-17');
      await expectAccessible(page);
      await save.click();
      await form.getByText(/form\.type w8bene is for businesses/i).waitFor();
      await form.getByLabel('Signed form').selectOption('W-9');
      await save.click();
      await form.getByText(/tax_id\.number must/i).waitFor();
      await form.getByLabel('Tax id', { exact: true }).fill(SSN);
      await save.click();
      await form.waitFor({ state: 'detached' });
      await page.getByText('US social security number (SSN), ends in 4399').waitFor();
      await page.getByText('W-9, signed on 15 Jan 2026').waitFor();
      await page.getByText('Kept at: scan-17').waitFor();
      expect(await page.content()).not.toContain('4399'.padStart(9, '53690'));
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
      expectQuiet(visitor);
    },
  );

  longRun.test('a change keeps the tax id and the agreement, a removal says what is lost', async () => {
    const { id } = await makeAffiliate(world.api, { name_first: 'Ada', name_last: 'Lovelace' });
    const path = `${AFFILIATES}/${id}/tax-profile`;
    const agreement = { agreed_on: '2026-02-01', agreed_by: 'Ada L.', document: 'mail of 1 February' };
    const tax_id = { type: 'us_ssn', number: SSN };
    const before = await world.api.put(path, { ...SIGNED, tax_id, self_billing: agreement });
    expect(before.status, before.text).toBe(200);
    const visitor = await atDashboard(chromium, world, { path: `/affiliates/${id}` });
    const { page } = visitor;
    await page.getByText('Ada L. agreed to self-billing on 1 Feb 2026').waitFor();
    await page.getByRole('button', { name: 'Change tax profile' }).click();
    const form = page.getByRole('dialog');
    expect(await form.getByLabel('Kind of tax id').inputValue()).toBe('keep');
    await form.getByLabel('Legal name').fill('Ada King');
    await form.getByRole('button', { name: 'Save tax profile' }).click();
    await form.waitFor({ state: 'detached' });
    const { body } = await world.api.get(path);
    expect(body).toMatchObject({
      ...{ ...SIGNED, legal_name: 'Ada King', self_billing: agreement },
      tax_id: { type: 'us_ssn', ending: '4399' },
    });
    await page.getByRole('button', { name: 'Remove tax profile' }).click();
    const question = page.getByRole('dialog', { name: 'Remove the tax profile of Ada Lovelace?' });
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Remove tax profile' }).click();
    await page.getByText('No tax profile.').waitFor();
    expect((await world.api.get(path)).status).toBe(404);
    expectQuiet(visitor);
  });

  longRun.test('a viewer reads it and has no button to change it', async () => {
    const { id } = await makeAffiliate(world.api);
    await world.api.put(`${AFFILIATES}/${id}/tax-profile`, SIGNED);
    const visitor = await atDashboard(chromium, world, {
      role: 'viewer',
      path: `/affiliates/${id}?open=tax`,
    });
    const { page } = visitor;
    await page.getByText('1 Main St, Boston MA 02108, US').waitFor();
    expect(await page.getByRole('button', { name: /tax profile/ }).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expectQuiet(visitor);
  });

  test('forms that lapse are listed, lapsed ones are named as such, and a payout leaves them out', async () => {
    const year = new Date().getUTCFullYear();
    const address = { line1: 'Hauptstr. 1', city: 'Berlin' };
    const signer = async (name: string, signed: number) => {
      const { id } = await makeAffiliate(world.api, { name_first: name });
      const form = { type: 'w8ben', signed_on: `${signed}-02-01` };
      const profile = { legal_type: 'person', legal_name: name, country: 'DE', address, form };
      expect((await world.api.put(`${AFFILIATES}/${id}/tax-profile`, profile)).status).toBe(200);
      await makeCommission(world.api, id, { amount: 500, currency: 'usd' });
    };
    await signer('Zoë', year - 3);
    await signer('Bob', year - 4);
    const visitor = await atDashboard(chromium, world, { path: '/reports/tax-forms', viewport: PHONE });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Zoë' }).waitFor();
    await page.getByText(`31 Dec ${year}`).waitFor();
    expect(await page.getByRole('link', { name: 'Bob' }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Lapsed', exact: true }).click();
    await page.getByRole('link', { name: 'Bob' }).click();
    await page.getByText(`Lapsed: it was valid until 31 Dec ${year - 1}`).waitFor();
    await page.goto(`${world.url}/settings/account`);
    await page.getByLabel('Tax form', { exact: true }).selectOption('Everybody needs a W-9 or W-8');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved').waitFor();
    await page.goto(`${world.url}/payouts/new?view=out`);
    await page.getByText('Tax form lapsed').first().waitFor();
    expectQuiet(visitor);
    await world.api.patch('/v2/account', { payout_form: 'none' });
  });

  longRun.test('agreements that end soon, and ended ones, are listed with their last day', async () => {
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    for (const [name, days] of [
      ['Mia', 20],
      ['Tom', -2],
    ] as const) {
      const { id } = await makeAffiliate(world.api, { name_first: name });
      const profile = {
        ...{
          legal_type: 'person',
          legal_name: name,
          country: 'DE',
          address: { line1: 'Weg 1', city: 'Berlin' },
        },
        self_billing: { agreed_on: '2020-01-01', agreed_by: `${name} Berg`, expires_on: day(days) },
      };
      expect((await world.api.put(`${AFFILIATES}/${id}/tax-profile`, profile)).status).toBe(200);
    }
    const visitor = await atDashboard(chromium, world, { path: '/', viewport: WIDE });
    const { page } = visitor;
    await page.getByRole('link', { name: '1 self-billing agreement ending within 90 days' }).click();
    await page.getByRole('link', { name: 'Mia', exact: true }).waitFor();
    await page.getByText('Mia Berg').waitFor();
    expect(await page.getByRole('link', { name: 'Tom', exact: true }).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Ended agreements' }).click();
    await page.getByRole('link', { name: 'Tom', exact: true }).waitFor();
    expectQuiet(visitor);
  });

  longRun.test('the tax details of the account are set, refused by field, and removed', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/settings/account', viewport: PHONE });
    const { page } = visitor;
    await page.getByLabel('Legal name of your company').fill('Shop GmbH');
    await page.getByLabel('Tax country').fill('de');
    await page.getByLabel('Address', { exact: true }).fill('Hauptstr. 1');
    await page.getByLabel('City').fill('Köln');
    await page.getByLabel(/^VAT id/).fill('DE136695977');
    const save = page.getByRole('button', { name: 'Save settings' });
    await save.click();
    await page.getByText(/tax_profile\.vat_id/i).waitFor();
    await page.getByLabel(/^VAT id/).fill('DE136695976');
    await save.click();
    await page.getByText('Settings saved').waitFor();
    await expectAccessible(page);
    expect((await world.api.get('/v2/account')).body.tax_profile).toMatchObject({
      ...{ legal_name: 'Shop GmbH', country: 'DE', vat_id: 'DE136695976', tax_number: null },
      address: { line1: 'Hauptstr. 1', city: 'Köln', region: null },
    });
    await page.reload();
    for (const label of ['Legal name of your company', 'Tax country', 'Address', 'City']) {
      await page.getByLabel(label, { exact: true }).fill('');
    }
    await page.getByLabel(/^VAT id/).fill('');
    await save.click();
    await page.getByText('Settings saved').waitFor();
    expect((await world.api.get('/v2/account')).body.tax_profile).toBeNull();
    expectQuiet(visitor);
  });
});
