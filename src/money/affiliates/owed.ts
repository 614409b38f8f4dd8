import type { Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { readOwed } from '../ledger/owed.ts';
import { refuseInexact } from '../ledger/totals.ts';
import type { OwedInAll } from './record.ts';

const STATES = [
  'payable',
  'on_hold',
  'below_minimum',
  'negative_balance',
  'not_ready',
  'affiliate_inactive',
  'in_payout',
  'without_destination',
] as const;
type State = (typeof STATES)[number];
const OWED = STATES.filter((state) => state !== 'without_destination');

const nothing = () =>
  Object.fromEntries(STATES.map((state) => [state, { amount: 0n, count: 0n }])) as Record<
    State,
    { amount: bigint; count: bigint }
  >;

/** What all affiliates of an account are owed, by currency and state. Throws `amount_too_large`. */
export async function readBalances(db: Reader, account: AccountId): Promise<Json<OwedInAll>> {
  const sums = new Map<string, Record<State, { amount: bigint; count: bigint }>>();
  const add = (currency: string, state: State, amount: bigint, count: bigint) => {
    const of = sums.get(currency) ?? nothing();
    sums.set(currency, of);
    of[state].amount += amount;
    of[state].count += count;
  };
  const found = await readOwed(db, account);
  for (const { currency, state, unpaid, pending, count, unpaid_count, pending_count } of found) {
    if (state === 'affiliate_inactive' || state === 'not_ready') {
      add(currency, state, unpaid + pending, count);
      continue;
    }
    add(currency, state, unpaid, unpaid_count);
    if (state === 'without_destination') add(currency, 'payable', unpaid, unpaid_count);
    add(currency, 'on_hold', pending, pending_count);
  }
  const balances = [...sums].map(([currency, of]) => {
    const amounts = OWED.map((state) => of[state].amount);
    refuseInexact(amounts.reduce((sum, amount) => sum + (amount < 0n ? -amount : amount), 0n));
    const owed = amounts.reduce((sum, amount) => sum + amount, 0n);
    const states = STATES.map((state) => {
      const { amount, count } = of[state];
      return [state, { amount: Number(amount), affiliate_count: Number(count) }] as const;
    });
    return { currency, owed: Number(owed), ...(Object.fromEntries(states) as States) };
  });
  const current = found.find((each) => each.state === 'in_payout');
  return toJson({
    object: 'affiliate_balances',
    current_payout_id: current?.payout_id ?? null,
    balances,
  });
}

type States = Omit<OwedInAll['balances'][number], 'currency' | 'owed'>;
