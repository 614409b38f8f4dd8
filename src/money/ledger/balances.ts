import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { noteSeries, voidedOf } from './series.ts';

/*
 * What each affiliate is owed and was paid, per currency, without adding up commissions. Every change records its effect
 * as a note in the same transaction, and notes are periodically folded into `affiliate_balances`. Readers add the notes
 * that are not folded yet. Commissions become unpaid when their hold ends: the sums are as of a mark in time, and readers
 * use an index to find what became available since. A read is a single statement, so it does not matter when notes are
 * folded or the mark moves.
 */

/** The columns of commissions that notes are built from. */
export const NOTED = sql`affiliate_id, currency, program_id, available_at, amount, payout_id, voided_at, type, occurred_at,
  original_amount, refunded_amount, returns_payout_id`;

/** Commissions that are owed and not in a payout. */
export const OPEN = sql`payout_id is null and voided_at is null`;

/** The mark of an account: amounts available up to it count as unpaid in the sums. */
export const markOf = (account: Sql) => sql`coalesce(
  (select m.available_at from affiliate_balance_marks m where m.account_id = ${account}), id_time(${account}))`;

/**
 * The statement that records changes of balances. `changes` is a query of affiliate_id, currency, program_id,
 * available_at, owed, paid (increments in minor units) and last_paid_at.
 */
function note(account: AccountId, changes: Sql): Sql {
  return sql`insert into affiliate_balance_notes (account_id, affiliate_id, currency, program_id, available_at, owed, paid,
      last_paid_at)
    select ${account}::uuid, affiliate_id, currency, program_id,
           case when available_at <= ${markOf(sql`${account}::uuid`)} then '-infinity' else available_at end,
           sum(owed), sum(paid), max(last_paid_at)
    from (${changes}) changed group by 2, 3, 4, 5
    having sum(owed) <> 0 or sum(paid) <> 0 or program_id is not null`;
}

const owed = (sign: '' | '-', source: Sql, program: Sql) => sql`
  select affiliate_id, currency, ${program} as program_id, available_at,
         ${sign === '-' ? sql`-amount` : sql`amount`} as owed, 0 as paid, null::timestamptz as last_paid_at
  from ${source} where ${OPEN}`;
const NO_PROGRAM = sql`null::bigint`;

/** The statement that records new commissions: rows of the CTE `made`, with the columns `NOTED`. */
export const noteNew = (account: AccountId): Sql => note(account, owed('', sql`made`, sql`program_id`));

/**
 * The statement that records changed commissions: the columns `NOTED` of the CTEs `before`, read before the change
 * while the rows are locked, and `after`.
 */
export const noteChanged = (account: AccountId): Sql =>
  note(account, sql`${owed('-', sql`before`, NO_PROGRAM)} union all ${owed('', sql`after`, NO_PROGRAM)}`);

/** The statement that records commissions of the CTE `released`, with the columns `NOTED`, which have left a payout. */
export const noteReleased = (account: AccountId): Sql => note(account, owed('', sql`released`, NO_PROGRAM));

/**
 * The statement that records commissions of the CTE `claimed` (affiliate_id, currency, available_at, amount), which
 * have entered a payout.
 */
export const noteClaimed = (account: AccountId): Sql =>
  note(
    account,
    sql`select affiliate_id, currency, ${NO_PROGRAM} as program_id, available_at, -amount as owed, 0 as paid,
               null::timestamptz as last_paid_at
        from claimed`,
  );

/** The statement that records payments: a query of affiliate_id, currency, amount (negative: returned) and paid_at. */
export const notePaid = (account: AccountId, paid: Sql): Sql =>
  note(
    account,
    sql`select affiliate_id, currency, ${NO_PROGRAM} as program_id, '-infinity'::timestamptz as available_at, 0 as owed,
               amount as paid, paid_at as last_paid_at
        from (${paid}) p`,
  );

const revoided = sql`${voidedOf('-', sql`before`)} union all ${voidedOf('', sql`after`)}`;

/**
 * Changes commissions that the caller has locked, and records the effect on balances. `happened` is the effect on the
 * time series, from the CTEs `before` and `after`. The default is the voided amount.
 */
export async function changeCommissions(
  tx: Tx,
  account: AccountId,
  { which, set, happened = revoided }: { readonly which: Sql; readonly set: Sql; readonly happened?: Sql },
): Promise<void> {
  await rows(
    tx,
    sql`with before as materialized (
          select id, ${NOTED} from commissions where account_id = ${account} and ${which}),
        after as (
          update commissions set ${set}, updated_at = at.now from (select clock_time() as now) at
          where account_id = ${account} and id in (select id from before) returning ${NOTED}),
        balanced as (${noteChanged(account)}),
        noted as (${noteSeries(account, happened)})
        select 1`,
  );
}

/** Removes commissions from a payout. They are recorded as owed again. */
export async function releaseCommissions(tx: Tx, account: AccountId, which: Sql): Promise<void> {
  await rows(
    tx,
    sql`with released as (
          update commissions c set payout_id = null, updated_at = clock_time()
          where c.account_id = ${account} and ${which} returning ${NOTED}),
        balanced as (${noteReleased(account)})
        select 1`,
  );
}

const sign = (amount: Sql) => sql`
  affiliate_id, currency, ${amount} as unpaid, -(${amount}) as pending, 0 as paid, null::timestamptz as last_paid_at`;

/**
 * The CTE `fresh`: amounts that are not in an account's sums yet, per affiliate and currency, with unpaid, pending, paid
 * and last_paid_at. Limited to one affiliate if given.
 */
export function fresh(account: AccountId, affiliate?: number): Sql {
  const mark = markOf(sql`${account}::uuid`);
  const only = affiliate === undefined ? sql`true` : sql`affiliate_id = ${affiliate}`;
  const due = (from: Sql, until: Sql) => sql`from commissions
    where account_id = ${account} and ${OPEN} and ${only} and available_at > ${from} and available_at <= ${until}`;
  return sql`fresh as materialized (
    select affiliate_id, currency, sum(unpaid) as unpaid, sum(pending) as pending, sum(paid) as paid,
           max(last_paid_at) as last_paid_at
    from (
      select affiliate_id, currency, case when available_at <= ${mark} then owed else 0 end as unpaid,
             case when available_at <= ${mark} then 0 else owed end as pending, paid, last_paid_at
      from affiliate_balance_notes where account_id = ${account} and ${only}
      union all
      select ${sign(sql`amount`)} ${due(mark, sql`now()`)}
      union all
      -- after the clock was set back
      select ${sign(sql`-amount`)} ${due(sql`now()`, mark)}) part
    group by 1, 2)`;
}

/** The lateral join `b` of affiliates `a`, with `balance` as in their record and `last_paid_at`. Needs `fresh`. */
export const balanceJoin = (account: AccountId): Sql => sql`cross join lateral (
  select coalesce(json_agg(
           (select r from (select currency, pending, unpaid, in_payout, paid) r) order by currency)
             filter (where (pending, unpaid, in_payout, paid) <> (0, 0, 0, 0)), '[]') as balance,
         max(last_paid_at) as last_paid_at
  from (
    select currency, sum(pending) as pending, sum(unpaid) as unpaid, sum(in_payout) as in_payout, sum(paid) as paid,
           max(last_paid_at) as last_paid_at
    from (
      select currency, pending, unpaid, 0 as in_payout, paid, last_paid_at from affiliate_balances
      where account_id = ${account} and affiliate_id = a.id
      union all
      select currency, pending, unpaid, 0, paid, last_paid_at from fresh where affiliate_id = a.id
      union all
      select t.currency, 0, 0, t.amount, 0, null from payout_line_totals t
      where t.account_id = ${account} and t.affiliate_id = a.id
        and t.payout_id = (select id from payouts where account_id = ${account} and status = 'unpaid')) part
    group by currency) summed) b`;

/** Whether the affiliate `a` has ever earned in a program. */
export const earnedIn = (account: AccountId, program: string): Sql => sql`(
  exists (select from program_affiliates g
    where g.account_id = ${account} and g.program_id = ${program}::bigint and g.affiliate_id = a.id)
  or a.id in (select n.affiliate_id from affiliate_balance_notes n
    where n.account_id = ${account} and n.program_id = ${program}::bigint))`;

/** A query of all affiliates (`id`) who have ever earned in a program. */
export const earnersIn = (account: AccountId, program: string): Sql => sql`
  select affiliate_id as id from program_affiliates where account_id = ${account} and program_id = ${program}::bigint
  union all
  select distinct n.affiliate_id from affiliate_balance_notes n
  where n.account_id = ${account} and n.program_id = ${program}::bigint
    and not exists (select from program_affiliates g
      where g.account_id = ${account} and g.program_id = ${program}::bigint and g.affiliate_id = n.affiliate_id)`;
