import { beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { agree, letInvoice, VAT_ID } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  newestEvent,
  nothingChanges,
  PAYOUTS,
  parseCsv,
  unique,
} from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
  await letInvoice(api, { commissions_are: 'net' });
});

async function done(answer: ReturnType<Api['get']>): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

/** An affiliate in Germany with a VAT id who agreed to self-billing. */
async function supplier(): Promise<number> {
  const { id } = await makeAffiliate(api, {
    payout_method: 'paypal',
    paypal_email: `${unique('p')}@example.com`,
  });
  await agree(api, id);
  return id;
}

const earn = (id: number, amount: number, currency = 'eur') => makeCommission(api, id, { amount, currency });
const lineOf = (payout: Json, id: number): Json =>
  payout.affiliates.find((line: Json) => line.affiliate_id === id).totals[0];
const returned = (payout: Json, id: number, more: object = {}) =>
  api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, { reason: 'closed', ...more });
const invoices = async (): Promise<Json[]> => (await done(api.get('/v2/affiliates/invoices?sort=id'))).data;
const issue = (payout: Json) => done(api.post(`${PAYOUTS}/${payout.id}/invoices`));
const balance = async (id: number) => (await done(api.get(`${AFFILIATES}/${id}`))).balance;
const amountsIn = (file: string) =>
  parseCsv(file).map((cells) => cells.find((cell) => /^\d+\.\d\d$/.test(cell)));

describe('commissions that are net', () => {
  test('are paid with the tax on top, in the preview, the payout, its events, its files and the invoice', async () => {
    const id = await supplier();
    await earn(id, 10_000);
    const taxed = {
      ...{
        amount: 11_900,
        tax_amount: 1900,
        withheld_amount: 0,
        paid_amount: 0,
        returned_amount: 0,
        tax_category: 'S',
        tax_rate: 1900,
      },
      ...{ exemption: null, withholding_rate: null, reason: null },
    };
    const preview = await done(api.post(`${PAYOUTS}/preview`));
    const listed = await done(api.post(`${PAYOUTS}/preview/affiliates`));
    expect(listed.data[0].totals[0].with_tax).toEqual(taxed);
    expect(preview).toMatchObject({ amount: 10_000, totals: [{ amount: 10_000, paid_amount: 0 }] });
    const payout = await makePayout(api);
    for (const one of [preview, payout]) {
      expect(one.totals[0].with_tax).toEqual({
        amount: 11_900,
        tax_amount: 1900,
        withheld_amount: 0,
        paid_amount: 0,
      });
      expect(lineOf(one, id)).toMatchObject({ amount: 10_000, with_tax: taxed });
    }
    expect((await newestEvent(world, api, 'payout.created')).totals[0].with_tax.amount).toBe(11_900);
    const paypal = await api.get(`${PAYOUTS}/${payout.id}/payment-files/paypal`);
    expect(amountsIn(paypal.text)).toEqual(['119.00']);
    const needed = await done(api.get(`${PAYOUTS}/${payout.id}/payment-files`));
    expect(needed.files[0]).toMatchObject({ format: 'paypal', amount: 11_900 });

    const paid = await completePayout(api, payout);
    expect(paid.totals[0]).toMatchObject({
      ...{ amount: 10_000, paid_amount: 10_000, carried_amount: 0 },
      with_tax: { amount: 11_900, tax_amount: 1900, paid_amount: 11_900 },
    });
    const file = await api.get(`${PAYOUTS}/${payout.id}/download`);
    const rows = parseCsv(file.text);
    const column = (name: string) => rows.slice(1).map((row) => row[rows[0]?.indexOf(name) ?? -1]);
    expect([column('type'), column('amount')]).toEqual([
      ['sale', 'tax'],
      ['100.00', '19.00'],
    ]);
    expect((await balance(id))[0]).toMatchObject({ currency: 'eur', unpaid: 0, paid: 10_000 });
    expect((await issue(payout)).issued).toBe(1);
    expect(await invoices()).toMatchObject([
      { amount: 11_900, net_amount: 10_000, tax_amount: 1900, rounding_amount: 0, tax_rate: 1900 },
    ]);
    const statement = await api.get(`${AFFILIATES}/${id}/statement/download`);
    expect(statement.text).toContain(`payout ${payout.number}, plus 19.00 of tax`);
  });

  test('have no tax, with the reason, where no invoice can show it', async () => {
    await done(
      api.patch('/v2/account', {
        invoicing: {
          rules: [
            { country: 'DE', legal_type: 'business', has_vat_id: true, category: 'S', rate: 1900 },
            { country: 'DE', category: 'E', exemption: 'Small business' },
            { country: 'FR', category: 'AE', exemption: 'Reverse charge' },
          ],
        },
      }),
    );
    const profile = async (more: object): Promise<number> => {
      const { id } = await makeAffiliate(api);
      await done(
        api.put(`${AFFILIATES}/${id}/tax-profile`, {
          ...{
            legal_type: 'business',
            legal_name: 'Ada',
            country: 'DE',
            address: { line1: 'A 1', city: 'B' },
          },
          ...{ tax_id: { type: 'vat', number: VAT_ID } },
          ...{ self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' }, ...more },
        }),
      );
      return id;
    };
    const cases: readonly (readonly [number, object])[] = [
      [(await makeAffiliate(api)).id, { tax_category: null, reason: 'no_agreement' }],
      [await profile({ self_billing: null }), { tax_category: null, reason: 'no_agreement' }],
      [
        await profile({
          self_billing: { agreed_on: '2020-01-01', agreed_by: 'A', expires_on: '2020-12-31' },
        }),
        { tax_category: null, reason: 'agreement_expired' },
      ],
      [await profile({ country: 'US', tax_id: { type: 'other', number: '12345' } }), { reason: 'no_rule' }],
      [await profile({ country: 'FR', tax_id: null }), { tax_category: null, reason: 'no_tax_id' }],
      [
        await profile({ legal_type: 'person' }),
        { tax_category: 'E', tax_rate: 0, exemption: 'Small business', reason: null },
      ],
      [
        await profile({ country: 'FR', tax_id: { type: 'vat', number: 'FR83404833048' } }),
        { tax_category: 'AE', exemption: 'Reverse charge', reason: null },
      ],
    ];
    for (const [id] of cases) await earn(id, 5000);
    const payout = await makePayout(api);
    for (const [id, expected] of cases) {
      expect(lineOf(payout, id).with_tax).toMatchObject({ amount: 5000, tax_amount: 0, ...expected });
    }
    await completePayout(api, payout);
    const { issued, skipped } = await issue(payout);
    const reasons = cases.flatMap(
      ([, { reason }]: readonly [number, { reason?: string | null }]) => reason ?? [],
    );
    expect({ issued, reasons: skipped.map(({ reason }: Json) => reason) }).toEqual({ issued: 2, reasons });
    for (const invoice of await invoices())
      expect(invoice).toMatchObject({ net_amount: 5000, tax_amount: 0 });
    await done(api.patch('/v2/account', { invoicing: null }));
    const last = await supplier();
    await earn(last, 5000);
    expect(lineOf(await makePayout(api), last).with_tax.reason).toBe('no_invoicing');
  });

  test('are as the account says, unless the affiliate differs; a payout that exists never changes', async () => {
    const [own, other, gross] = [await supplier(), await supplier(), await supplier()];
    await done(api.patch(`${AFFILIATES}/${gross}`, { commissions_are: 'gross' }));
    for (const id of [own, other, gross]) await earn(id, 1000);
    const payout = await makePayout(api);
    expect(payout.totals[0]).toMatchObject({ amount: 3000, with_tax: { amount: 3380, tax_amount: 380 } });
    expect(lineOf(payout, gross)).not.toHaveProperty('with_tax');

    await letInvoice(api, { rate: 700 });
    await done(api.patch('/v2/account', { commissions_are: 'gross' }));
    await done(api.delete(`${AFFILIATES}/${other}/tax-profile`));
    const again = await done(api.get(`${PAYOUTS}/${payout.id}`));
    expect(again.totals).toEqual(payout.totals);
    await completePayout(api, payout);
    // the rate of the line is on the invoice, not that of today
    expect(await issue(payout)).toMatchObject({
      issued: 2,
      skipped: [{ affiliate_id: other, reason: 'no_agreement' }],
    });
    const [first, second] = await invoices();
    expect(first).toMatchObject({ affiliate_id: own, net_amount: 1000, tax_amount: 190, tax_rate: 1900 });
    expect(second).toMatchObject({ affiliate_id: gross, amount: 1000, net_amount: 935, tax_rate: 700 });

    await earn(own, 1000);
    const next = await makePayout(api);
    expect(next.totals[0]).not.toHaveProperty('with_tax');
  });

  test('that were paid without tax get no invoice with tax later', async () => {
    await done(api.patch('/v2/account', { invoicing: { rules: [{ country: 'FR', category: 'Z' }] } }));
    const id = await supplier();
    await earn(id, 1000);
    const payout = await completePayout(api, await makePayout(api));
    expect((await issue(payout)).skipped).toMatchObject([{ reason: 'no_rule' }]);
    await letInvoice(api);
    expect(await issue(payout)).toMatchObject({ issued: 0, skipped: [{ reason: 'tax_not_paid' }] });
    await done(
      api.patch('/v2/account', { invoicing: { rules: [{ category: 'E', exemption: 'Small business' }] } }),
    );
    expect((await issue(payout)).issued).toBe(1);
    expect(await invoices()).toMatchObject([{ net_amount: 1000, tax_amount: 0, tax_category: 'E' }]);
  });

  test('are compared net with the minimum, and a refund before completion lowers the tax with the amount', async () => {
    await done(api.patch('/v2/account', { minimum_payout: { eur: 1100 } }));
    const [id, below] = [await supplier(), await supplier()];
    const { id: commission } = await earn(id, 1150);
    await earn(below, 1000);
    const payout = await makePayout(api);
    expect(payout.excluded).toMatchObject([{ reason: 'below_minimum' }]);
    expect(lineOf(payout, id).with_tax.tax_amount).toBe(219);
    await letInvoice(api, { rate: 700 });
    await done(api.post(`${COMMISSIONS}/${commission}/refund`, { external_id: unique('r'), amount: 150 }));
    const changed = await done(api.get(`${PAYOUTS}/${payout.id}`));
    expect(lineOf(changed, id)).toMatchObject({ amount: 1000, with_tax: { amount: 1190, tax_amount: 190 } });
    expect(changed.totals[0].with_tax.amount).toBe(1190);
  });

  longRun.test('warn by what leaves the bank', async () => {
    await done(
      api.patch('/v2/account', {
        payout_signals: { first_payout_above: { action: 'warn', amounts: { eur: 1100 } } },
      }),
    );
    const id = await supplier();
    await earn(id, 1000);
    const { data } = await done(api.post(`${PAYOUTS}/preview/signals`));
    expect(data).toMatchObject([{ rule: 'first_payout_above', amount: 1190 }]);
    const payout = await makePayout(api);
    const stored = await done(api.get(`${PAYOUTS}/${payout.id}/signals`));
    expect(stored.data).toMatchObject([{ rule: 'first_payout_above', amount: 1190 }]);
  });

  longRun.test('are carried without their tax when a line is paid in part', async () => {
    const id = await supplier();
    await earn(id, 10_000);
    const payout = await makePayout(api);
    const entry = (amount: number) => [{ affiliate_id: id, is_paid: true, currency: 'eur', amount }];
    const tooMuch = { commissions: entry(11_901) };
    await nothingChanges(world, async () =>
      expectRefusal(
        await api.put(`${PAYOUTS}/${payout.id}`, tooMuch),
        400,
        'invalid_amount',
        '11901 of 11900',
      ),
    );
    const paid = await completePayout(api, payout, entry(5000));
    // 5000 × 10000 / 11900 = 4201.68
    expect(lineOf(paid, id)).toMatchObject({
      ...{ paid_amount: 4202, carried_amount: 5798 },
      with_tax: { amount: 11_900, tax_amount: 1900, paid_amount: 5000 },
    });
    expect((await balance(id))[0]).toMatchObject({ unpaid: 5798, paid: 4202 });
    await issue(payout);
    expect(await invoices()).toMatchObject([{ amount: 5000, net_amount: 4202, tax_amount: 798 }]);
    expect(lineOf(await makePayout(api), id)).toMatchObject({ amount: 5798, with_tax: { tax_amount: 1102 } });
  });

  test('are owed again without their tax when money comes back, and credit notes mirror it', async () => {
    const id = await supplier();
    await earn(id, 10_000);
    const payout = await completePayout(api, await makePayout(api));
    await issue(payout);
    const request = { amount: 5000, external_id: unique('back') };
    const line = await done(returned(payout, id, request));
    expect(line.totals[0]).toMatchObject({ returned_amount: 4202, with_tax: { returned_amount: 5000 } });
    expect(await done(returned(payout, id, request))).toEqual(line);
    expectRefusal(await returned(payout, id, { amount: 6901 }), 400, 'return_exceeds_paid', '6900');
    await done(returned(payout, id));
    expect((await balance(id))[0]).toMatchObject({ unpaid: 10_000, paid: 0 });
    const path = `${PAYOUTS}/${payout.id}/affiliates/${id}/returned`;
    const { data } = await done(api.get(`${path}?sort=id`));
    expect(data).toMatchObject([
      { amount: 4202, tax_amount: 798 },
      { amount: 5798, tax_amount: 1102 },
    ]);
    expect(await invoices()).toMatchObject([
      { kind: 'invoice', amount: 11_900 },
      { kind: 'credit_note', amount: 5000, net_amount: 4202, tax_amount: 798 },
      { kind: 'credit_note', amount: 6900, net_amount: 5798, tax_amount: 1102 },
    ]);
    await done(api.delete(`${path}/${data[0].id}`));
    expect((await invoices()).at(-1)).toMatchObject({ kind: 'invoice', net_amount: 4202, tax_amount: 798 });
    await done(returned(payout, id, { amount: 5000 }));
    expect((await balance(id))[0]).toMatchObject({ unpaid: 10_000, paid: 0 });
  });

  longRun.test('of one minor unit are paid and come back with their tax, or not at all', async () => {
    await letInvoice(api, { rate: 10_000, commissions_are: 'net' });
    const id = await supplier();
    await earn(id, 1);
    const payout = await makePayout(api);
    expect(lineOf(payout, id).with_tax).toMatchObject({ amount: 2, tax_amount: 1 });
    const part = { commissions: [{ affiliate_id: id, is_paid: true, currency: 'eur', amount: 1 }] };
    expectRefusal(await api.put(`${PAYOUTS}/${payout.id}`, part), 400, 'invalid_amount');
    const paid = await completePayout(api, payout);
    expectRefusal(await returned(paid, id, { amount: 1 }), 400, 'invalid_amount');
    await done(returned(paid, id, { amount: 2 }));
    expect((await balance(id))[0]).toMatchObject({ unpaid: 1 });
  });

  longRun.test('match results by what left the bank', async () => {
    const id = await supplier();
    await earn(id, 10_000);
    const payout = await makePayout(api);
    const read = (amount: string) =>
      api.upload(
        `${PAYOUTS}/${payout.id}/results`,
        csv('affiliate_id,is_paid,currency,amount', `${id},true,eur,${amount}`),
        { 'content-type': 'application/octet-stream' },
      );
    expect((await done(read('119.00'))).lines).toMatchObject([
      { amount: 11_900, line_amount: 11_900, outcome: 'paid' },
    ]);
    expect((await done(read('119.01'))).problems).toMatchObject([{ kind: 'other_amount' }]);
    const paid = await completePayout(api, payout);
    const booked = await done(read('119.00'));
    expect(booked.lines).toMatchObject([{ is_booked: true }]);
    expect(paid.totals[0].with_tax.paid_amount).toBe(11_900);
  });
});

test('commissions that are gross show nothing about tax on top', async () => {
  await done(api.patch('/v2/account', { commissions_are: 'gross' }));
  const id = await supplier();
  await earn(id, 11_900);
  const payout = await makePayout(api);
  expect(JSON.stringify(payout)).not.toContain('with_tax');
  const paid = await completePayout(api, payout);
  await issue(paid);
  expect(await invoices()).toMatchObject([{ amount: 11_900, net_amount: 10_000, tax_amount: 1900 }]);
  await done(returned(paid, id, { amount: 5000 }));
  expect(JSON.stringify(await done(api.get(`${PAYOUTS}/${payout.id}`)))).not.toContain('with_tax');
  const path = `${PAYOUTS}/${payout.id}/affiliates/${id}/returned`;
  expect((await done(api.get(path))).data).toMatchObject([{ amount: 5000, tax_amount: 0 }]);
});

test('the import of affiliates and the settings take only net and gross', async () => {
  for (const value of ['both', 7]) {
    expectRefusal(await api.patch('/v2/account', { commissions_are: value }), 400, 'invalid_body');
    expectRefusal(
      await api.post(AFFILIATES, { email: 'a@b.example', commissions_are: value }),
      400,
      'invalid_body',
    );
  }
  expectRefusal(await api.patch('/v2/account', { commissions_are: null }), 400, 'invalid_body');
  const lines = [
    'email,commissions_are',
    'net@example.com,net',
    'gross@example.com,gross',
    'none@example.com,',
  ];
  const answer = await api.upload(`${AFFILIATES}/import`, csv(...lines));
  expect(answer.body, answer.text).toMatchObject({ created: 3 });
  const { data } = await done(api.get(`${AFFILIATES}?sort=id`));
  expect(data.map(({ commissions_are }: Json) => commissions_are)).toEqual(['net', 'gross', null]);
  const wrong = await api.upload(
    `${AFFILIATES}/import`,
    csv('email,commissions_are', 'net@example.com,both'),
  );
  expectRefusal(wrong, 400, 'invalid_lines', 'commissions_are must be one of');
});
