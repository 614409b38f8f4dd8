import { expect } from 'vitest';
import type { Api } from './api.ts';

interface Sum {
  readonly currency: string;
  readonly amount: number;
  readonly affiliate_count: number;
}

/** What is owed in all, told by the balances, must be what a payout without filters would take and leave now. */
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
  const found = told.balances.flatMap(({ currency, owed, without_destination, ...states }: Told) => {
    const parts = Object.entries(states).filter(([, { amount }]) => amount !== 0);
    expect(owed).toBe(parts.reduce((sum, [, { amount }]) => sum + amount, 0));
    expect(without_destination.amount).toBeLessThanOrEqual(states.payable?.amount ?? 0);
    return parts.map(([state, { amount, affiliate_count }]) => [currency, state, amount, affiliate_count]);
  });
  expect(found.sort()).toEqual(expected.sort());
}

type State = Pick<Sum, 'amount' | 'affiliate_count'>;
type Told = { currency: string; owed: number; without_destination: State } & Record<string, State> & {
    currency: string;
    owed: number;
  };
