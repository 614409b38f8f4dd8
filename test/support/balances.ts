import { expect } from 'vitest';
import type { Api } from './api.ts';

interface Sum {
  readonly currency: string;
  readonly amount: number;
  readonly affiliate_count: number;
}

/** Checks that what the balances say is owed is what a payout without filters would include and leave out now. */
export async function expectOwed(api: Api): Promise<void> {
  const { body: told } = await api.get('/v2/affiliates/balances');
  const { body: preview } = await api.post('/v2/affiliates/payouts/preview');
  const current = told.current_payout_id ? (await api.get('/v2/affiliates/payouts/current')).body.totals : [];
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
  const found = told.balances.flatMap(({ currency, owed, without_destination, ...states }: Told) => {
    const parts = Object.entries(states).filter(([, { amount }]) => amount !== 0);
    expect(owed).toBe(parts.reduce((sum, [, { amount }]) => sum + amount, 0));
    const without = lost.filter((total: Sum) => total.currency === currency);
    expect(without_destination).toEqual({
      amount: without.reduce((sum: number, { amount }: Sum) => sum + amount, 0),
      affiliate_count: without.length,
    });
    return parts.map(([state, { amount, affiliate_count }]) => [currency, state, amount, affiliate_count]);
  });
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
type Told = { currency: string; owed: number; without_destination: State } & Record<string, State> & {
    currency: string;
    owed: number;
  };
