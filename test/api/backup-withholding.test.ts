import { beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { letInvoice } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const REPORT = '/v2/affiliates/reports/us-tax';
const SSN = { type: 'us_ssn', number: '536-90-4399' };
const W9 = { type: 'w9', signed_on: '2026-01-15' };
const LAPSED_W8 = { type: 'w8ben', signed_on: '2020-01-15' };

async function done(answer: ReturnType<Api['get']>): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

const withhold = (backup_withholding: string) => done(api.patch('/v2/account', { backup_withholding }));

/** An affiliate in the United States, with the given parts of a tax profile if there are any. */
async function american(profile: object | null = null, more: object = {}): Promise<number> {
  const { id } = await makeAffiliate(api, {
    country: 'US',
    payout_method: 'other',
    name_first: 'Ada',
    ...more,
  });
  if (profile !== null)
    await done(
      api.put(`${AFFILIATES}/${id}/tax-profile`, {
        ...{ legal_type: 'person', legal_name: 'Ada Lovelace', country: 'US' },
        ...{
          address: { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' },
          ...profile,
        },
      }),
    );
  return id;
}

const earn = (id: number, amount: number, currency = 'usd') => makeCommission(api, id, { amount, currency });
const lineOf = (payout: Json, id: number): Json =>
  payout.affiliates.find((line: Json) => line.affiliate_id === id).totals[0];
const withheldOf = (payout: Json, id: number): number => lineOf(payout, id).with_tax?.withheld_amount ?? 0;
const preview = () => done(api.post(`${PAYOUTS}/preview`));
const yearOf = (payout: Json) => payout.paid_at.slice(0, 4);
const back = (payout: Json, id: number, more: object = {}) =>
  api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, { reason: 'closed', ...more });

test('nothing is withheld until the account says so, and other rules are refused by name', async () => {
  const id = await american();
  await earn(id, 10_000);
  expect((await done(api.get('/v2/account'))).backup_withholding).toBe('none');
  expect(lineOf(await preview(), id)).not.toHaveProperty('with_tax');
  await nothingChanges(world, async () => {
    for (const rule of ['24', null, 'w9'])
      expectRefusal(
        await api.patch('/v2/account', { backup_withholding: rule }),
        400,
        'invalid_body',
        'backup_withholding',
      );
  });
});

test('24 % are withheld: files pay the rest, the whole amount is settled, and line, CSV, statement and list show it', async () => {
  await withhold('always');
  const id = await american();
  await earn(id, 10_002);
  const shown = await preview();
  const payout = await makePayout(api);
  // 24 % of 100.02 are 24.0048
  const withTax = {
    ...{ amount: 7602, tax_amount: 0, withheld_amount: 2400, paid_amount: 0, returned_amount: 0 },
    ...{ tax_category: null, tax_rate: null, exemption: null, withholding_rate: 2400, reason: null },
  };
  for (const one of [shown, payout]) {
    expect(lineOf(one, id)).toMatchObject({ amount: 10_002, with_tax: withTax });
    expect(one.totals[0].with_tax).toEqual({
      ...{ amount: 7602, tax_amount: 0, withheld_amount: 2400, paid_amount: 0 },
    });
  }
  const summary = parseCsv((await api.get(`${PAYOUTS}/${payout.id}/payment-files/summary`)).text);
  expect(summary[1]?.[summary[0]?.indexOf('amount') ?? -1]).toBe('76.02');

  const paid = await completePayout(api, payout);
  expect(lineOf(paid, id)).toMatchObject({ paid_amount: 10_002, with_tax: { paid_amount: 7602 } });
  const [balance] = (await done(api.get(`${AFFILIATES}/${id}`))).balance;
  expect(balance).toMatchObject({ currency: 'usd', unpaid: 0, paid: 10_002 });
  const [header = [], ...rows] = parseCsv((await api.get(`${PAYOUTS}/${payout.id}/download`)).text);
  const column = (name: string) => rows.map((row) => row[header.indexOf(name)]);
  expect([column('type'), column('amount')]).toEqual([
    ['sale', 'withheld'],
    ['100.02', '-24.00'],
  ]);
  const statement = await api.get(`${AFFILIATES}/${id}/statement/download`);
  expect(statement.text).toContain(`payout ${payout.number}, of which 24.00 of tax withheld`);

  const year = yearOf(paid);
  const { data } = await done(api.get(`${REPORT}/rows?year=${year}`));
  // Form 1099-NEC is due below the threshold too, if something was withheld
  expect(data).toMatchObject([{ reportable_amount: 10_002, withheld_amount: 2400, missing_form: 'w9' }]);
  expect(await done(api.get(`${REPORT}?year=${year}`))).toMatchObject({
    withheld_amount: 2400,
    reportable: { affiliate_count: 1, amount: 10_002 },
  });
  const file = async (format: string, name: string) => {
    const [head = [], row] = parseCsv(
      (await api.post(`${REPORT}/export?year=${year}&format=${format}`)).text,
    );
    return row?.[head.indexOf(name)];
  };
  expect(await file('filing_service', 'federal_income_tax_withheld')).toBe('24.00');
  expect(await file('filing_service', 'nonemployee_compensation')).toBe('100.02');
  expect(await file('iris', 'Box 4 - Federal income tax withheld')).toBe('24.00');
});

test('half a unit is rounded up, and a refund before completion lowers what is withheld', async () => {
  await withhold('always');
  const amounts = [1, 2, 3, 25, 75, 125, 99_999];
  const people = await Promise.all(amounts.map(() => american()));
  const made = await Promise.all(people.map((id, index) => earn(id, amounts[index] ?? 0)));
  const payout = await makePayout(api);
  expect(people.map((id) => withheldOf(payout, id))).toEqual([0, 0, 1, 6, 18, 30, 24_000]);
  await done(
    api.post(`/v2/affiliates/commissions/${made[6]?.id}/refund`, { external_id: 'r', amount: 99_899 }),
  );
  const now = await done(api.get(`${PAYOUTS}/current`));
  expect(lineOf(now, people[6] ?? 0)).toMatchObject({
    amount: 100,
    with_tax: { amount: 76, withheld_amount: 24 },
  });
});

describe('withheld is from', () => {
  test('affiliates in the United States without a W-9 and a US tax id, in US dollars, PayPal aside', async () => {
    await withhold('always');
    const cases: readonly (readonly [who: number, isWithheld: boolean])[] = [
      [await american(), true],
      [await american({}), true],
      [await american({ form: W9 }), true],
      [await american({ tax_id: SSN }), true],
      [await american({ form: W9, tax_id: { type: 'other', number: '12345' } }), true],
      [await american({ form: W9, tax_id: SSN }), false],
      [await american({ country: 'DE', form: { type: 'w8ben', signed_on: '2026-01-15' } }), false],
      [await american({ country: 'DE', form: LAPSED_W8 }), false],
      [await american(null, { country: 'DE' }), false],
      [await american(null, { country: null }), false],
      [await american(null, { payout_method: 'paypal', paypal_email: 'a@example.com' }), false],
    ];
    for (const [id] of cases) await earn(id, 10_000);
    const inEuros = await american();
    await earn(inEuros, 10_000, 'eur');
    const payout = await makePayout(api);
    expect(cases.map(([id]) => withheldOf(payout, id))).toEqual(cases.map(([, is]) => (is ? 2400 : 0)));
    expect(withheldOf(payout, inEuros)).toBe(0);

    // what a payout withholds is fixed; the next one asks again
    const [[first = 0] = []] = cases;
    await done(
      api.put(`${AFFILIATES}/${first}/tax-profile`, {
        ...{ legal_type: 'person', legal_name: 'Ada', country: 'US', form: W9, tax_id: SSN },
        address: { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' },
      }),
    );
    await withhold('none');
    expect(withheldOf(await done(api.get(`${PAYOUTS}/${payout.id}`)), first)).toBe(2400);
    await withhold('always');
    expect((await api.request('DELETE', `${PAYOUTS}/${payout.id}`)).status).toBe(204);
    expect(withheldOf(await makePayout(api), first)).toBe(0);
  });

  test('with a threshold: the payment that reaches it and all that follow, and those of the next year', async () => {
    await withhold('at_threshold');
    const [id, once] = [await american(), await american()];
    const pay = async (amount: number, who: number, at?: string) => {
      await earn(who, amount);
      const payout = await makePayout(api);
      await completePayout(api, payout);
      if (at !== undefined)
        await world.query('update payouts set paid_at = $2 where public_id($$po$$, id) = $1', [
          payout.id,
          at,
        ]);
      return withheldOf(payout, who);
    };
    // the threshold is 2,000 dollars: 26 USC 3406(b)(6)(A)
    expect(await pay(199_999, id)).toBe(0);
    expect(await pay(1000, id)).toBe(240);
    expect(await pay(1000, id)).toBe(240);
    // (C): something was withheld in the year before; (B): a form was due for the year before
    const year = new Date().getUTCFullYear() - 1;
    await world.query(
      `update payouts set paid_at = $2 where account_id = (
         select account_id from payouts where public_id('po', id) = $1)`,
      [(await done(api.get(PAYOUTS))).data[0].id, `${year}-06-01T12:00:00Z`],
    );
    expect(await pay(1000, id)).toBe(240);
    expect(await pay(1000, once)).toBe(0);
    expect(await pay(300_000, once, `${year}-06-01T12:00:00Z`)).toBe(72_000);
    expect(await pay(1000, once)).toBe(240);
  });
});

test('a part and a return are split in proportion, and what was withheld of them is reversed', async () => {
  await withhold('always');
  const id = await american();
  await earn(id, 10_000);
  const payout = await makePayout(api);
  // what leaves the bank is the limit, not what is owed
  expect(
    await api.put(`${PAYOUTS}/${payout.id}`, {
      commissions: [{ affiliate_id: id, currency: 'usd', is_paid: true, amount: 7601 }],
    }),
  ).toMatchObject({ status: 400 });
  const paid = await done(
    api.put(`${PAYOUTS}/${payout.id}`, {
      commissions: [{ affiliate_id: id, currency: 'usd', is_paid: true, amount: 3801 }],
    }),
  );
  // 38.01 of 76.00 pays 50.01 of 100.00
  expect(lineOf(paid, id)).toMatchObject({ paid_amount: 5001, carried_amount: 4999 });
  expect(lineOf(paid, id).with_tax.paid_amount).toBe(3801);
  await done(back(payout, id, { amount: 1000, external_id: 'r1' }));
  await done(back(payout, id, { amount: 1000, external_id: 'r1' }));
  const { data } = await done(api.get(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`));
  expect(data).toMatchObject([{ amount: 1316, tax_amount: 0, withheld_amount: 316 }]);
  const rest = await done(back(payout, id));
  expect(rest.totals[0]).toMatchObject({ returned_amount: 5001, with_tax: { returned_amount: 3801 } });
  const list = await done(api.get(`${REPORT}/rows?year=${yearOf(paid)}`));
  expect(list.data).toMatchObject([
    { reportable_amount: 0, withheld_amount: 0, payments: [{ net_amount: 0 }] },
  ]);
  const [first] = (await done(api.get(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned?sort=id`))).data;
  expect(
    (await api.request('DELETE', `${PAYOUTS}/${payout.id}/affiliates/${id}/returned/${first.id}`)).status,
  ).toBe(204);
  const again = await done(api.get(`${REPORT}/rows?year=${yearOf(paid)}`));
  expect(again.data).toMatchObject([{ reportable_amount: 1316, withheld_amount: 316 }]);
  expect((await done(api.get(`${AFFILIATES}/${id}`))).balance[0].unpaid).toBe(10_000 - 1316);
});

test('the invoice of such a line has the whole commission, and no tax is paid on top of it', async () => {
  await letInvoice(api, { commissions_are: 'net', backup_withholding: 'always' });
  await done(
    api.patch('/v2/account', {
      invoicing: { rules: [{ country: 'US', category: 'O', exemption: 'Not subject to VAT' }] },
    }),
  );
  const id = await american({ self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' } });
  await earn(id, 10_000);
  const payout = await makePayout(api);
  expect(lineOf(payout, id).with_tax).toMatchObject({ tax_amount: 0, withheld_amount: 2400, reason: null });
  await completePayout(api, payout);
  expect((await done(api.post(`${PAYOUTS}/${payout.id}/invoices`))).issued).toBe(1);
  await done(back(payout, id, { amount: 3800 }));
  const { data } = await done(api.get('/v2/affiliates/invoices?sort=id'));
  expect(data).toMatchObject([
    { kind: 'invoice', amount: 10_000, net_amount: 10_000, tax_amount: 0 },
    { kind: 'credit_note', amount: 5000, net_amount: 5000, tax_amount: 0 },
  ]);
});
