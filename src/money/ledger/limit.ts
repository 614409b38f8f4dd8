import sql, { raw, type Sql } from 'sql-template-tag';
import { NeedsLocksFirst } from '../../db/again.ts';
import { rows, type Tx } from '../../db/database.ts';
import { type Failure, fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { MAX_JSON_INTEGER } from '../../kernel/money.ts';
import { OPEN } from './balances.ts';
import { lockBooks } from './books.ts';

/*
 * No balance of an affiliate in a currency exceeds 2^53 - 1 minor units, above or below zero: JSON clients would round
 * it. The limit applies to credits (open commissions above zero, those in the unpaid payout, and paid amounts) and debts
 * (open commissions below zero). Every balance lies between the two, also when time or a payout moves amounts.
 *
 * Commissions are created concurrently, so no transaction knows the exact sums. Far below the limit none needs to: each
 * writer checks, in a statement it runs anyway, that the folded sums and the large notes stay below a quarter of the
 * limit. The other three quarters leave room for what it cannot see: half a million small notes of the affiliate, and a
 * thousand concurrent transactions of at most MOST_UNLOCKED each. A writer above that threshold locks the books and the
 * affiliate. Other inserts hold a share of that lock from their foreign key on, and check after taking it, so sums read
 * under the lock are exact (docs/decisions/0074-balances-are-summed-exactly-near-their-limit.md).
 */

/** Balances below this, in minor units, are not added up exactly. */
const SURELY_BELOW = 2n ** 51n;
/** The most that a transaction adds to a balance without the lock, in minor units. */
export const MOST_UNLOCKED = 2n ** 42n;
/** As in the index of migration 0058. */
const LARGE_NOTE = raw(String(2n ** 32n));

/** An affiliate with a currency. */
interface Pair {
  readonly affiliate_id: bigint;
  readonly currency: string;
}

/** Whether the balance of an affiliate in a currency (expressions) may be near the limit. */
export const isNearLimit = (account: AccountId, affiliate: Sql, currency: Sql): Sql => {
  const own = (alias: string) => sql`
    ${raw(alias)}.account_id = ${account} and ${raw(alias)}.affiliate_id = ${affiliate} and ${raw(alias)}.currency = ${currency}`;
  return sql`(
    coalesce((select abs(b.unpaid) + abs(b.pending) + abs(b.paid) from affiliate_balances b where ${own('b')}), 0)
    + coalesce((select sum(abs(n.owed) + abs(n.paid)) from affiliate_balance_notes n
        where ${own('n')} and greatest(abs(n.owed), abs(n.paid)) >= ${LARGE_NOTE}), 0)
    + coalesce((select abs(t.amount) from payout_line_totals t where ${own('t')}
        and t.payout_id = (select id from payouts where account_id = ${account} and status = 'unpaid')), 0)
    > ${SURELY_BELOW}::int8)`;
};

const locked = new WeakMap<Tx, Set<bigint>>();

/** The affiliates whose balances this transaction has locked. */
const lockedIn = (tx: Tx): ReadonlySet<bigint> => locked.get(tx) ?? new Set();

/** Locks balances of the account's affiliates until the transaction ends. Call it before writing any of them. */
export async function lockBalances(tx: Tx, account: AccountId, affiliates: readonly bigint[]): Promise<void> {
  if (affiliates.length === 0) return;
  await lockBooks(tx, account);
  await rows(
    tx,
    sql`select 1 from affiliates where account_id = ${account} and id = any(${affiliates}::int8[]) order by id for update`,
  );
  locked.set(tx, new Set([...lockedIn(tx), ...affiliates]));
}

/**
 * Called after commissions were written and balances found near the limit. Restarts the transaction with the lock, unless
 * it already holds it.
 */
export function beginLocked(tx: Tx, account: AccountId, affiliates: readonly bigint[]): void {
  const before = lockedIn(tx);
  if (affiliates.every((id) => before.has(id))) return;
  const all = [...new Set([...before, ...affiliates])];
  throw new NeedsLocksFirst((again) => lockBalances(again, account, all));
}

/** The credits and debts of the pairs `p` in minor units, exact under the lock: a lateral join `now`. */
const exactly = (account: AccountId): Sql => {
  const own = sql`account_id = ${account} and affiliate_id = p.affiliate_id and currency = p.currency`;
  const current = sql`(select id from payouts where account_id = ${account} and status = 'unpaid')`;
  return sql`cross join lateral (
    select coalesce(sum(part.amount) filter (where part.amount > 0), 0) as credits,
           -coalesce(sum(part.amount) filter (where part.amount < 0), 0) as debts
    from (
      select amount from commissions where ${own} and ${OPEN}
      union all
      select amount from commissions where ${own} and payout_id = ${current}
      union all
      select greatest(0, coalesce((select paid from affiliate_balances where ${own}), 0)
        + coalesce((select sum(paid) from affiliate_balance_notes where ${own}), 0))) part) now`;
};

/** A source line that would bring a balance over the limit. */
export interface BeyondLimit extends Pair {
  readonly line: number;
  /** The credits, or the debts as a negative amount, including all new lines up to this one. */
  readonly sum: bigint;
}

/**
 * Selects, in order, the unwritten lines of a source `s` of commissions that would bring a balance over the limit.
 * Considers only locked affiliates: the others are far below it. Returns null if none is locked.
 */
export function beyondLimitIn(tx: Tx, account: AccountId, source: Sql): Sql | null {
  const affiliates = [...lockedIn(tx)];
  if (affiliates.length === 0) return null;
  return sql`with fresh as materialized (
          select distinct on (s.external_id) s.external_id, s.line, s.affiliate_id, s.currency, s.amount
          from ${source}
          where s.affiliate_id = any(${affiliates}::int8[]) and not exists (
            select from commissions c where c.account_id = ${account} and c.external_id = s.external_id)
          order by s.external_id, s.line),
        added as (
          select *, sum(greatest(amount, 0)) over up_to_here as credits, sum(greatest(-amount, 0)) over up_to_here as debts
          from fresh window up_to_here as (partition by affiliate_id, currency order by line)),
        -- once per pair, not per line
        now as materialized (
          select p.*, now.credits, now.debts from (select distinct affiliate_id, currency from fresh) p ${exactly(account)})
        select f.line, f.affiliate_id, f.currency,
               case when f.amount < 0 then -(now.debts + f.debts) else now.credits + f.credits end as sum
        from now join added f on f.affiliate_id = now.affiliate_id and f.currency = now.currency
        where case when f.amount < 0 then now.debts + f.debts else now.credits + f.credits end > ${MAX_JSON_INTEGER}::int8
        order by f.line`;
}

/** The lines that `beyondLimitIn` selects. */
export async function linesBeyondLimit(tx: Tx, account: AccountId, source: Sql): Promise<BeyondLimit[]> {
  const found = beyondLimitIn(tx, account, source);
  return found === null ? [] : rows(tx, found);
}

/**
 * Throws `amount_too_large` if a changed commission or a new debt brought the affiliate's balance over the limit. The
 * caller has locked the books.
 */
export async function refuseBeyondLimit(
  tx: Tx,
  account: AccountId,
  { affiliate_id, currency }: Pair,
  what: 'credits' | 'debts',
): Promise<void> {
  const pair = sql`(select ${affiliate_id}::int8 as affiliate_id, ${currency}::text as currency) p`;
  const [near] = await rows(
    tx,
    sql`select 1 from ${pair} where ${isNearLimit(account, sql`p.affiliate_id`, sql`p.currency`)}`,
  );
  if (near === undefined) return;
  beginLocked(tx, account, [affiliate_id]);
  const sums = await rows<{ credits: bigint; debts: bigint }>(
    tx,
    sql`select now.credits, now.debts from ${pair} ${exactly(account)}`,
  );
  const sum = sums[0]?.[what] ?? 0n;
  if (sum <= MAX_JSON_INTEGER) return;
  throw beyondLimit({ affiliate_id, currency, sum: what === 'credits' ? sum : -sum });
}

/** The refusal: `amount_too_large`, naming the affiliate. */
export function beyondLimit(found: Pair & { readonly sum: bigint }): Failure {
  return fail('amount_too_large', beyondLimitRule(found));
}

/** The message of `beyondLimit`. */
export function beyondLimitRule({ affiliate_id, currency, sum }: Pair & { readonly sum: bigint }): string {
  const [what, most] = sum < 0n ? ['debts', -MAX_JSON_INTEGER] : ['commissions', MAX_JSON_INTEGER];
  return (
    `the ${what} of affiliate ${affiliate_id} in ${currency} would add up to ${sum} minor units; ` +
    `the ${sum < 0n ? 'minimum' : 'maximum'} is ${most}`
  );
}
