import fc from 'fast-check';
import { expect, test } from 'vitest';
import { netPart } from '../../src/terms/with-tax.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  parseCsv,
  unique,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

/** Two with a VAT id, one without a profile, one with a VAT id whose commissions are gross, and one in the United States without a form. */
const PEOPLE = 5;
const GROSS = 3;
const AMERICAN = 4;
const WITHOUT_INVOICE = [2, AMERICAN];

const person = fc.nat({ max: PEOPLE - 1 });
const share = fc.nat({ max: 1000 });
const earning = fc.record({
  person,
  amount: fc.oneof(fc.constantFrom(1, 2, 3, 7, 100, 10_000), fc.integer({ min: 1, max: 99_999 })),
  currency: fc.constantFrom('eur', 'jpy', 'usd'),
  /** A debt of a part of it, in thousandths; none above 500. */
  debt: share,
});
const change = fc.record({
  act: fc.constantFrom('refund' as const, 'void' as const),
  which: fc.nat(50),
  share,
});
/** What happens to a line: 0 to 600 paid in full, to 900 in part, above that released. */
const fate = share;
/** `undo` undoes the last return in force of the line, if there is one. */
const back = fc.record({
  line: fc.nat(7),
  share: fc.oneof(share, fc.constant(1000)),
  undo: fc.nat(3).map((n) => n === 0),
});
const round = fc.record({
  earnings: fc.array(earning, { minLength: 1, maxLength: 5 }),
  before: fc.array(change, { maxLength: 2 }),
  during: fc.array(change, { maxLength: 3 }),
  isDeleted: fc.boolean(),
  rate: fc.constantFrom(1900, 700, 2550, 10_000, 1),
  fates: fc.array(fate, { minLength: PEOPLE * 3, maxLength: PEOPLE * 3 }),
  issuesAfter: fc.nat(2),
  backs: fc.array(back, { maxLength: 5 }),
});
const history = fc.array(round, { minLength: 1, maxLength: 3 });
type Round = typeof round extends fc.Arbitrary<infer Value> ? Value : never;

async function done(answer: ReturnType<Api['get']>): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

interface Stage {
  readonly api: Api;
  readonly ids: readonly number[];
  readonly commissions: string[];
  readonly note: (line: string) => void;
}

async function setStage(note: Stage['note']): Promise<Stage> {
  const api = await world.otherAccount();
  await letInvoice(api, { commissions_are: 'net', backup_withholding: 'always' });
  const ids: number[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const who = { [GROSS]: { commissions_are: 'gross' }, [AMERICAN]: { country: 'US' } }[index];
    const { id } = await makeAffiliate(api, who ?? {});
    ids.push(id);
    if (!WITHOUT_INVOICE.includes(index)) await agree(api, id);
  }
  return { api, ids, commissions: [], note };
}

async function earn(
  { api, ids, commissions }: Stage,
  { person, amount, currency, debt }: Round['earnings'][number],
) {
  const id = ids[person] ?? 0;
  commissions.push((await makeCommission(api, id, { amount, currency })).id);
  const owed = Math.trunc((amount * debt) / 1000);
  if (debt <= 500 && owed > 0) {
    await done(
      api.post(`${AFFILIATES}/${id}/adjustments`, { external_id: unique('debt'), amount: -owed, currency }),
    );
  }
}

/** Refunds or voids a commission; the interface refuses it where the commission allows neither. */
async function take({ api, commissions }: Stage, { act, which, share }: Round['during'][number]) {
  const commission = commissions[which % Math.max(commissions.length, 1)];
  if (commission === undefined) return;
  const { amount } = await done(api.get(`${COMMISSIONS}/${commission}`));
  const part = Math.max(1, Math.trunc((amount * share) / 1000));
  const body = act === 'refund' ? { external_id: unique('r'), amount: part } : undefined;
  const { status, text } = await api.post(`${COMMISSIONS}/${commission}/${act}`, body);
  expect([200, 201, 400, 409], text).toContain(status);
}

const linesOf = ({ affiliates }: Json): Json[] =>
  affiliates.flatMap(({ affiliate_id, totals }: Json) =>
    totals.map((total: Json) => ({ affiliate_id, ...total })),
  );
const toPay = ({ amount, with_tax }: Json): number => with_tax?.amount ?? amount;
const paidOf = ({ paid_amount, with_tax }: Json): number => with_tax?.paid_amount ?? paid_amount;
const backOf = ({ returned_amount, with_tax }: Json): number => with_tax?.returned_amount ?? returned_amount;
const taxed = (net: number, rate: number) => Math.floor((net * rate + 5000) / 10_000);

/** Every line has the tax of its terms, and the sums of the payout are those of its lines. */
function expectTaxes({ ids }: Stage, payout: Json, rate: number): void {
  for (const line of linesOf(payout)) {
    const index = ids.indexOf(line.affiliate_id);
    if (index === GROSS) {
      expect(line).not.toHaveProperty('with_tax');
      continue;
    }
    const isWithheld = index === AMERICAN && line.currency === 'usd';
    const tax = WITHOUT_INVOICE.includes(index) ? 0 : taxed(line.amount, rate);
    const withheld = isWithheld ? taxed(line.amount, 2400) : 0;
    expect(line.with_tax).toMatchObject({
      ...{ amount: line.amount + tax - withheld, tax_amount: tax, withheld_amount: withheld },
      ...{ withholding_rate: isWithheld ? 2400 : null },
    });
    expect(line.with_tax.reason).toBe(WITHOUT_INVOICE.includes(index) && !isWithheld ? 'no_agreement' : null);
  }
  for (const total of payout.totals) {
    const own = linesOf(payout).filter(({ currency }) => currency === total.currency);
    expect(toPay(total)).toBe(own.reduce((sum, line) => sum + toPay(line), 0));
    expect(paidOf(total)).toBe(own.reduce((sum, line) => sum + paidOf(line), 0));
  }
}

/** The file for paying has what leaves the bank. */
async function expectFile({ api }: Stage, payout: Json): Promise<void> {
  const { text } = await api.get(`${PAYOUTS}/${payout.id}/payment-files/summary`);
  const [header = [], ...rows] = parseCsv(text);
  const [amount, currency] = [header.indexOf('amount'), header.indexOf('currency')];
  const sums = new Map<string, number>();
  for (const row of rows) {
    const code = row[currency]?.toLowerCase() ?? '';
    const digits = code === 'jpy' ? 1 : 100;
    sums.set(code, (sums.get(code) ?? 0) + Math.round(Number(row[amount]) * digits));
  }
  expect(Object.fromEntries(sums)).toEqual(
    Object.fromEntries(
      payout.totals
        .map((total: Json) => [total.currency, payout.status === 'paid' ? paidOf(total) : toPay(total)])
        .filter(([, sum]: [string, number]) => sum > 0),
    ),
  );
}

/** The parts of a line, in the numbers of the model. */
const split = (payment: number, net: number, tax: number) =>
  Number(netPart(BigInt(payment), BigInt(net), BigInt(tax)));

/** Completes the payout by the fates of its lines. */
async function complete({ api, note }: Stage, payout: Json, fates: readonly number[]): Promise<Json> {
  const wanted = linesOf(payout).map((line, index) => {
    const chance = fates[index] ?? 0;
    const part = Math.max(1, Math.trunc((toPay(line) * (chance - 600)) / 300));
    const isPart = chance > 600 && chance <= 900 && part < toPay(line) && line.amount > 1;
    return { line, isPaid: index === 0 || chance <= 900, paid: isPart ? part : toPay(line) };
  });
  const commissions = wanted.map(({ line, isPaid, paid }) => ({
    ...{ affiliate_id: line.affiliate_id, currency: line.currency, is_paid: isPaid },
    ...(isPaid && paid < toPay(line) ? { amount: paid } : {}),
  }));
  note(JSON.stringify(commissions));
  const result = await done(api.put(`${PAYOUTS}/${payout.id}`, { commissions }));
  for (const [index, line] of linesOf(result).entries()) {
    const { isPaid = false, paid = 0 } = wanted[index] ?? {};
    const net = isPaid ? split(paid, line.amount, toPay(line) - line.amount) : 0;
    expect(line).toMatchObject({ paid_amount: net, carried_amount: isPaid ? line.amount - net : 0 });
    expect(paidOf(line)).toBe(isPaid ? paid : 0);
  }
  return result;
}

/** Books or undoes a return of a line, and compares it with the model. */
async function bringBack(
  { api, note }: Stage,
  id: string,
  { line: which, share, undo }: Round['backs'][number],
) {
  const all = linesOf(await done(api.get(`${PAYOUTS}/${id}`))).filter(({ is_paid }) => is_paid);
  const line = all[which % all.length];
  const path = `${PAYOUTS}/${id}/affiliates/${line.affiliate_id}/returned`;
  if (undo) {
    const { data } = await done(api.get(`${path}?currency=${line.currency}&is_undone=false`));
    if (data.length > 0) expect((await api.request('DELETE', `${path}/${data[0].id}`)).status).toBe(204);
    return;
  }
  const rest = paidOf(line) - backOf(line);
  const amount = share === 1000 ? rest : Math.trunc((rest * share) / 1000);
  if (amount === 0) return;
  note(`return ${amount} of ${rest} from ${line.affiliate_id} in ${line.currency}`);
  const net = line.paid_amount - line.returned_amount;
  const hasTax = rest > net;
  const answer = await api.post(path, { reason: 'closed', currency: line.currency, amount });
  if (net === 1 && hasTax && amount < rest) {
    expect(answer.status).toBe(400);
    return;
  }
  const after = (await done(Promise.resolve(answer))).totals.find(
    ({ currency }: Json) => currency === line.currency,
  );
  expect(backOf(after)).toBe(backOf(line) + amount);
  expect(after.returned_amount).toBe(line.returned_amount + split(amount, net, rest - net));
  if (amount === rest)
    expect([after.returned_amount, backOf(after)]).toEqual([after.paid_amount, paidOf(after)]);
}

/** Invoices less credit notes have what was paid and kept of each line: its commission as the net amount, and its tax. */
async function expectInvoices({ api, ids }: Stage, id: string): Promise<void> {
  const payout = await done(api.get(`${PAYOUTS}/${id}`));
  const quoted_on = payout.paid_at.slice(0, 10);
  const rates = ['jpy', 'usd'].map((currency) => ({
    ...{ currency, national_currency: 'eur', rate: '0.0061', quoted_on, source: 'ECB' },
  }));
  await done(api.post(`${PAYOUTS}/${id}/invoices`, { rates }));
  const { data } = await done(api.get(`/v2/affiliates/invoices?payout_id=${id}&per_page=100`));
  for (const line of linesOf(payout)) {
    const own = data.filter(
      (one: Json) => one.affiliate_id === line.affiliate_id && one.currency === line.currency,
    );
    if (WITHOUT_INVOICE.includes(ids.indexOf(line.affiliate_id))) {
      expect(own).toEqual([]);
      continue;
    }
    const sum = (field: string): number =>
      own.reduce((all: number, one: Json) => all + (one.kind === 'invoice' ? one[field] : -one[field]), 0);
    const kept = line.paid_amount - line.returned_amount;
    expect(sum('amount')).toBe(paidOf(line) - backOf(line));
    if (line.with_tax === undefined) continue;
    expect([sum('net_amount'), sum('rounding_amount')]).toEqual([kept, 0]);
    expect(sum('tax_amount')).toBe(paidOf(line) - backOf(line) - kept);
  }
}

/** One payout, from what is earned to what comes back. */
async function play(
  stage: Stage,
  { earnings, before, during, isDeleted, rate, fates, issuesAfter, backs }: Round,
) {
  const { api } = stage;
  for (const each of earnings) await earn(stage, each);
  for (const each of before) await take(stage, each);
  await letInvoice(api, { rate });
  const preview = await done(api.post(`${PAYOUTS}/preview`));
  if (preview.totals.length === 0) return;
  expectTaxes(stage, preview, rate);
  const made = await makePayout(api);
  expect([made.totals, made.affiliates]).toEqual([preview.totals, preview.affiliates]);
  if (isDeleted) {
    expect((await api.request('DELETE', `${PAYOUTS}/${made.id}`)).status).toBe(204);
    const again = await makePayout(api);
    expect([again.totals, again.affiliates]).toEqual([made.totals, made.affiliates]);
  }
  // what is fixed in a line is not changed by the rules of another day
  await letInvoice(api, { rate: 1234 });
  for (const each of during) await take(stage, each);
  const current = await api.get(`${PAYOUTS}/current`);
  if (current.status === 404) return;
  expectTaxes(stage, current.body, rate);
  await expectFile(stage, current.body);
  const paid = await complete(stage, current.body, fates);
  expectTaxes(stage, paid, rate);
  await expectFile(stage, paid);
  for (const [index, each] of backs.entries()) {
    if (index === issuesAfter) await expectInvoices(stage, paid.id);
    await bringBack(stage, paid.id, each);
  }
  await expectInvoices(stage, paid.id);
}

test('net commissions are paid with their tax, or less what is withheld, and no unit is lost by parts, returns and undone returns', async () => {
  await expectProperty({
    name: 'tax on top',
    arbitrary: history,
    cases: rounds(2, 8),
    check: async (rounds, { note }) => {
      const stage = await setStage(note);
      for (const each of rounds) await play(stage, each);
    },
  });
});
