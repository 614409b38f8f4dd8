import { expect } from 'vitest';
import type { AffiliateStatement } from '../../src/client/api.ts';
import type { Api } from './api.ts';

interface Sum {
  readonly currency: string;
  readonly amount: number;
  readonly affiliate_count: number;
}

/** Checks that the owed balances equal what a payout without filters would include and leave out now. */
export async function expectOwed(api: Api): Promise<void> {
  const { body: summary } = await api.get('/v2/affiliates/balances');
  const { body: preview } = await api.post('/v2/affiliates/payouts/preview');
  const current = summary.current_payout_id
    ? (await api.get('/v2/affiliates/payouts/current')).body.totals
    : [];
  const expected: unknown[] = [];
  const add = (state: string, sums: readonly Sum[]) => {
    for (const { currency, amount, affiliate_count } of sums)
      if (amount !== 0) expected.push([currency, state, amount, affiliate_count]);
  };
  add('payable', preview.totals);
  add('in_payout', current);
  for (const { reason, totals } of preview.excluded) add(reason, totals);
  const { body: lines } = await api.post('/v2/affiliates/payouts/preview/affiliates?per_page=100');
  expect(lines.pagination.pages).toBeLessThan(2);
  const lost = lines.data.filter(hasNoDestination).flatMap((line: Line) => line.totals);
  const found = summary.balances.flatMap(
    ({ currency, owed, without_destination, ...states }: CurrencyBalance) => {
      const parts = Object.entries(states).filter(([, { amount }]) => amount !== 0);
      expect(owed).toBe(parts.reduce((sum, [, { amount }]) => sum + amount, 0));
      const without = lost.filter((total: Sum) => total.currency === currency);
      expect(without_destination).toEqual({
        amount: without.reduce((sum: number, { amount }: Sum) => sum + amount, 0),
        affiliate_count: without.length,
      });
      return parts.map(([state, { amount, affiliate_count }]) => [currency, state, amount, affiliate_count]);
    },
  );
  expect(found.sort()).toEqual(expected.sort());
}

interface Line {
  readonly name: string | null;
  readonly paypal_email: string | null;
  readonly payout_method: string | null;
  readonly totals: readonly Sum[];
}

const hasNoDestination = ({ name, paypal_email, payout_method }: Line) =>
  payout_method === 'wise' ? !name : payout_method !== 'other' && paypal_email === null;

type State = Pick<Sum, 'amount' | 'affiliate_count'>;
type CurrencyBalance = { currency: string; owed: number; without_destination: State } & Record<
  string,
  State
> & {
    currency: string;
    owed: number;
  };

/** Fails unless an affiliate's statement closes with the owed balance, and statements of adjacent periods join. */
export async function expectStatement(api: Api, affiliate: number): Promise<void> {
  const path = `/v2/affiliates/${affiliate}/statement`;
  const read = async (query = ''): Promise<Statement[]> => (await api.get(`${path}${query}`)).body.currencies;
  const { balance } = (await api.get(`/v2/affiliates/${affiliate}`)).body;
  const all = await read();
  const owed = all.map(({ currency, closing_amount, paid_amount, returned_amount }) => ({
    currency,
    owed: closing_amount,
    paid: 0 - paid_amount - returned_amount,
  }));
  const expected = balance.map(({ currency, pending, unpaid, in_payout, paid }: Record<string, number>) => ({
    currency,
    owed: Number(pending) + Number(unpaid) + Number(in_payout),
    paid,
  }));
  expect(owed.filter((each) => each.owed !== 0 || each.paid !== 0)).toEqual(expected);
  const today = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const [before, since] = [await read(`?to=${yesterday}`), await read(`?from=${today}`)];
  for (const sums of all) {
    const { opening_amount: opening, closing_amount: closing, currency, ...changes } = sums;
    expect(opening).toBe(0);
    expect(Object.values(changes).reduce((sum, amount) => sum + amount, 0)).toBe(closing);
    const of = (list: Statement[]) => list.find((each) => each.currency === currency);
    expect(of(since)?.opening_amount ?? 0).toBe(of(before)?.closing_amount ?? 0);
    expect(of(since)?.closing_amount ?? of(before)?.closing_amount).toBe(closing);
  }
}

type Statement = AffiliateStatement['currencies'][number];
