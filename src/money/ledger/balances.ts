import sql, { type Sql } from 'sql-template-tag';
import { untilDone } from '../../db/chores.ts';
import { type Database, oneRow, rows, type Tx } from '../../db/connect.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { noteSeries, voidedOf } from './series.ts';

/*
 * What each affiliate is owed and was paid, per currency, without adding up commissions. Whatever changes that notes the
 * change in the same transaction; the notes are folded into `affiliate_balances` now and then, and who asks adds what is
 * not folded yet. What is on hold becomes unpaid by itself: the sums are those of a mark in time, and who asks moves
 * what became available since then, which an index finds. Always in one statement, so that it does not matter when the
 * notes are folded or the mark moves.
 */

/** The columns of commissions that notes are made of. */
export const NOTED = sql`affiliate_id, currency, program_id, available_at, amount, payout_id, voided_at, type, occurred_at,
  original_amount, refunded_amount, returns_payout_id`;

/** Which commissions are owed and in no payout. */
const OPEN = sql`payout_id is null and voided_at is null`;

const markOf = (account: Sql) => sql`coalesce(
  (select m.available_at from affiliate_balance_marks m where m.account_id = ${account}), id_time(${account}))`;

/**
 * The statement that notes changes of balances. `changes` is a query of affiliate_id, currency, program_id,
 * available_at, owed, paid (minor units, by how much more) and last_paid_at.
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

/** The statement that notes commissions which came in: rows of the CTE `made`, `NOTED` of each. */
export const noteNew = (account: AccountId): Sql => note(account, owed('', sql`made`, sql`program_id`));

/**
 * The statement that notes commissions which changed: `NOTED` of each row of the CTEs `before`, which is read before the
 * change by somebody who holds the rows, and `after`.
 */
export const noteChanged = (account: AccountId): Sql =>
  note(account, sql`${owed('-', sql`before`, NO_PROGRAM)} union all ${owed('', sql`after`, NO_PROGRAM)}`);

/** The statement that notes commissions of the CTE `released`, `NOTED` of each, which were in a payout and are in none now. */
export const noteReleased = (account: AccountId): Sql => note(account, owed('', sql`released`, NO_PROGRAM));

/**
 * The statement that notes commissions of the CTE `claimed` (affiliate_id, currency, available_at, amount), which are in a
 * payout now and were in none.
 */
export const noteClaimed = (account: AccountId): Sql =>
  note(
    account,
    sql`select affiliate_id, currency, ${NO_PROGRAM} as program_id, available_at, -amount as owed, 0 as paid,
               null::timestamptz as last_paid_at
        from claimed`,
  );

/** The statement that notes what was paid: a query of affiliate_id, currency, amount (below zero: came back) and paid_at. */
export const notePaid = (account: AccountId, paid: Sql): Sql =>
  note(
    account,
    sql`select affiliate_id, currency, ${NO_PROGRAM} as program_id, '-infinity'::timestamptz as available_at, 0 as owed,
               amount as paid, paid_at as last_paid_at
        from (${paid}) p`,
  );

/** Changes commissions that the caller has locked, and notes what that changes of balances, and what was voided. */
export async function changeCommissions(
  tx: Tx,
  account: AccountId,
  { which, set }: { readonly which: Sql; readonly set: Sql },
): Promise<void> {
  await rows(
    tx,
    sql`with before as materialized (
          select id, ${NOTED} from commissions where account_id = ${account} and ${which}),
        after as (
          update commissions set ${set}, updated_at = clock_timestamp()
          where account_id = ${account} and id in (select id from before) returning ${NOTED}),
        balanced as (${noteChanged(account)}),
        told as (${noteSeries(account, sql`${voidedOf('-', sql`before`)} union all ${voidedOf('', sql`after`)}`)})
        select 1`,
  );
}

/** Takes commissions out of a payout: owed again, and noted so. */
export async function releaseCommissions(tx: Tx, account: AccountId, which: Sql): Promise<void> {
  await rows(
    tx,
    sql`with released as (
          update commissions c set payout_id = null, updated_at = clock_timestamp()
          where c.account_id = ${account} and ${which} returning ${NOTED}),
        balanced as (${noteReleased(account)})
        select 1`,
  );
}

const sign = (amount: Sql) => sql`
  affiliate_id, currency, ${amount} as unpaid, -(${amount}) as pending, 0 as paid, null::timestamptz as last_paid_at`;

/**
 * The CTE `fresh`: what of an account is not in its sums, a row per affiliate and currency with unpaid, pending, paid and
 * last_paid_at, of one affiliate where one is given.
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
      -- the clock was set back
      select ${sign(sql`-amount`)} ${due(sql`now()`, mark)}) part
    group by 1, 2)`;
}

/** The query of all balances of an account that are not zero, behind `fresh`: affiliate_id, currency, unpaid, pending. */
export const owedBalances = (account: AccountId): Sql => sql`
  select b.affiliate_id, b.currency, b.unpaid, b.pending from affiliate_balances b
  where b.account_id = ${account} and (b.unpaid <> 0 or b.pending <> 0)
    and ((b.affiliate_id, b.currency) in (select affiliate_id, currency from fresh)) is not true
  union all
  select f.affiliate_id, f.currency, f.unpaid + coalesce(b.unpaid, 0), f.pending + coalesce(b.pending, 0)
  from fresh f left join affiliate_balances b
    on b.account_id = ${account} and b.affiliate_id = f.affiliate_id and b.currency = f.currency
  where f.unpaid + coalesce(b.unpaid, 0) <> 0 or f.pending + coalesce(b.pending, 0) <> 0`;

/** The lateral join `b` of affiliates `a`, behind `fresh`: `balance`, as their record has it, and `last_paid_at`. */
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

/** Whether the affiliate `a` ever earned in a program. */
export const earnedIn = (account: AccountId, program: string): Sql => sql`(
  exists (select from program_affiliates g
    where g.account_id = ${account} and g.program_id = ${program}::bigint and g.affiliate_id = a.id)
  or a.id in (select n.affiliate_id from affiliate_balance_notes n
    where n.account_id = ${account} and n.program_id = ${program}::bigint))`;

const FOLDED_AT_ONCE = 20_000;

export const BALANCES_CHORE = 'affiliate balances';

/** Adds the notes to the sums, then moves the marks, never both at once. Readers see the same sums before and after. */
export async function foldBalances(db: Database): Promise<void> {
  await untilDone(db, BALANCES_CHORE, foldNotes);
  await untilDone(db, BALANCES_CHORE, moveMarks);
}

const ADDED = sql`on conflict (account_id, affiliate_id, currency) do update
  set unpaid = b.unpaid + excluded.unpaid, pending = b.pending + excluded.pending, paid = b.paid + excluded.paid,
      last_paid_at = greatest(b.last_paid_at, excluded.last_paid_at)`;

async function foldNotes(tx: Tx): Promise<number> {
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    sql`with gone as (
          delete from affiliate_balance_notes
          where ctid = any(array(select ctid from affiliate_balance_notes limit ${FOLDED_AT_ONCE}::int)) returning *),
        mark as materialized (
          select a.account_id, ${markOf(sql`a.account_id`)} as at from (select distinct account_id from gone) a),
        added as (
          insert into affiliate_balances as b (account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at)
          select g.account_id, g.affiliate_id, g.currency,
                 sum(case when g.available_at <= m.at then g.owed else 0 end),
                 sum(case when g.available_at <= m.at then 0 else g.owed end), sum(g.paid), max(g.last_paid_at)
          from gone g join mark m on m.account_id = g.account_id
          group by 1, 2, 3 ${ADDED}),
        earned as (
          insert into program_affiliates (account_id, program_id, affiliate_id)
          select distinct account_id, program_id, affiliate_id from gone where program_id is not null
          on conflict do nothing)
        select count(*)::int as folded from gone`,
    'fold_balances',
  );
  return folded;
}

/** What became available since the mark is unpaid: all of it, less what the notes say, which are not in the sums. */
async function moveMarks(tx: Tx): Promise<number> {
  const due = sql`m.available_at > d.since and m.available_at <= d.until`;
  await rows(
    tx,
    sql`with due as materialized (
          select a.id as account_id, a.since, now_ms() as until
          from (select id, ${markOf(sql`a.id`)} as since from accounts a) a
          where exists (select from commissions c where c.account_id = a.id and ${OPEN}
            and c.available_at > a.since and c.available_at <= now_ms())),
        moved as (
          select account_id, affiliate_id, currency, sum(amount) as amount
          from (
            select d.account_id, m.affiliate_id, m.currency, m.amount
            from due d join commissions m on m.account_id = d.account_id and ${OPEN} and ${due}
            union all
            select d.account_id, m.affiliate_id, m.currency, -m.owed
            from due d join affiliate_balance_notes m on m.account_id = d.account_id and ${due}) part
          group by 1, 2, 3 having sum(amount) <> 0),
        added as (
          insert into affiliate_balances as b (account_id, affiliate_id, currency, unpaid, pending, paid)
          select account_id, affiliate_id, currency, amount, -amount, 0 from moved ${ADDED})
        insert into affiliate_balance_marks as m (account_id, available_at) select account_id, until from due
        on conflict (account_id) do update set available_at = greatest(m.available_at, excluded.available_at)`,
    'move_balance_marks',
  );
  return 0; // all accounts at once
}
