import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/connect.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { fresh, owedBalances } from '../ledger/balances.ts';
import { refuseInexact } from '../ledger/totals.ts';
import type { OwedInAll } from './record.ts';

/**
 * Whether it is known where to send the money of an affiliate `a`: PayPal pays to `paypal_email`, Wise asks a name for,
 * and of any other method nothing is kept here.
 */
export const HAS_DESTINATION = sql`(case a.payout_method
  when 'wise' then trim(concat(a.name_first, a.name_last)) <> '' when 'other' then true
  else a.paypal_email is not null end)`;

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
const OWED = STATES.filter((state) => state !== 'without_destination');

/**
 * What all affiliates of an account are owed, by currency and state: the rules of a payout without filters
 * (`decidedGroups` of a payout's plan), applied to sums instead of commissions. Throws `amount_too_large`.
 */
export async function readBalances(db: Reader, account: AccountId): Promise<Json<OwedInAll>> {
  const { head, states, largest } = await oneRow<{ head: string; states: string; largest: bigint }>(
    db,
    sql`with ${fresh(account)},
        owed as (${owedBalances(account)}),
        judged as (
          select o.currency, o.unpaid, o.pending, ${HAS_DESTINATION} as has_destination,
                 case when a.status = 'inactive' then 'affiliate_inactive'
                      when not a.is_ready_for_payout then 'not_ready'
                      when o.unpaid < 0 then 'negative_balance'
                      when o.unpaid < coalesce((a.minimum_payout ->> o.currency)::int8,
                             (acc.minimum_payout ->> o.currency)::int8, 0)
                        and ((o.affiliate_id, o.currency) in (
                          select affiliate_id, currency from commissions
                          where account_id = ${account} and returns_payout_id is not null and payout_id is null
                            and voided_at is null and available_at <= now())) is not true then 'below_minimum'
                      else 'payable' end as state
          from owed o
          join affiliates a on a.account_id = ${account} and a.id = o.affiliate_id
          join accounts acc on acc.id = ${account}),
        summed as materialized (
          select currency, state, has_destination, sum(unpaid) as unpaid, count(*) filter (where unpaid <> 0) as unpaid_count,
                 sum(pending) as pending, count(*) filter (where pending <> 0) as pending_count, count(*) as count
          from judged group by 1, 2, 3),
        current as materialized (
          select id, totals from payouts where account_id = ${account} and status = 'unpaid'),
        part as (
          select currency, state, unpaid as amount, unpaid_count as count from summed
          where state not in ('affiliate_inactive', 'not_ready')
          union all
          select currency, 'on_hold', pending, pending_count from summed
          where state not in ('affiliate_inactive', 'not_ready')
          union all
          select currency, state, unpaid + pending, count from summed
          where state in ('affiliate_inactive', 'not_ready')
          union all
          select currency, 'without_destination', unpaid, unpaid_count from summed
          where state = 'payable' and not has_destination
          union all
          select t ->> 'currency', 'in_payout', (t ->> 'amount')::numeric, (t ->> 'affiliate_count')::int8
          from current cross join json_array_elements(totals) t),
        state as (
          select currency, state, sum(amount) as amount, sum(count)::int8 as affiliate_count from part group by 1, 2)
        select json_build_object('object', 'affiliate_balances',
                 'current_payout_id', (select public_id('po', id) from current))::text as head,
               (select coalesce(json_agg(s order by currency), '[]') from state s where affiliate_count > 0)::text as states,
               (select coalesce(max(sum), 0) from (select sum(abs(amount)) from state where state <> 'without_destination' group by currency) m)::int8 as largest`,
    'balances',
  );
  refuseInexact(largest);
  const found = JSON.parse(states) as readonly StateRow[];
  const balances = [...new Set(found.map(({ currency }) => currency))].map((currency) => {
    const of = (state: string) => {
      const row = found.find((each) => each.currency === currency && each.state === state);
      return { amount: row?.amount ?? 0, affiliate_count: row?.affiliate_count ?? 0 };
    };
    const parts = Object.fromEntries(STATES.map((state) => [state, of(state)])) as Record<
      (typeof STATES)[number],
      State
    >;
    return { currency, owed: OWED.reduce((sum, state) => sum + of(state).amount, 0), ...parts };
  });
  return toJson({ ...(JSON.parse(head) as Omit<OwedInAll, 'balances'>), balances });
}

type State = OwedInAll['balances'][number]['payable'];
interface StateRow extends State {
  readonly currency: string;
  readonly state: string;
}
