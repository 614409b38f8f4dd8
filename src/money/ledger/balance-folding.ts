import sql, { type Sql } from 'sql-template-tag';
import { SLICE_ROWS, type Slice, untilDone } from '../../db/chores.ts';
import { type Database, oneRow, rows, type Tx } from '../../db/database.ts';
import { LOCKS, takeLock } from '../../db/locks.ts';
import { type AccountId, nil } from '../../kernel/ids.ts';
import { markOf, OPEN } from './balances.ts';
import { judging, SUM_MOVED } from './owed.ts';

const FOLDED_AT_ONCE = 20_000;

export const BALANCES_CHORE = 'affiliate balances';

/** Accounts handled in one run. The next run continues after them. */
const ACCOUNTS_AT_ONCE = 1000;

/**
 * Adds the notes to the sums, moves the marks of some accounts, and recomputes the states of balances whose affiliates
 * have changed, or whose account changed its minimums. One run at a time. Readers see the same sums before and after,
 * because they add what is not folded yet. Handles the accounts after `after` and returns the last of them, or null at
 * the end.
 */
export async function foldBalances(db: Database, after: AccountId | null = null): Promise<AccountId | null> {
  const accounts = await rows<{ id: AccountId }>(
    db.reader,
    sql`select id from accounts where id > ${after ?? nil()} order by id limit ${ACCOUNTS_AT_ONCE}::int`,
    'accounts_to_fold',
  );
  const last = accounts.at(-1)?.id ?? null;
  const some = sql`(select * from accounts where id > ${after ?? nil()} and id <= ${last ?? nil()})`;
  const slices: Slice[] = [
    foldNotes,
    (tx) => moveMarks(tx, some),
    judgeChanged,
    (tx) => judgeAccounts(tx, some),
  ];
  for (const slice of slices) await untilDone(db, BALANCES_CHORE, slice);
  return accounts.length < ACCOUNTS_AT_ONCE ? null : last;
}

/** Repeats `foldBalances` over all accounts in turn. */
export function foldingOf(db: Database): () => Promise<void> {
  let after: AccountId | null = null;
  return async () => {
    after = await foldBalances(db, after);
  };
}

/**
 * Recomputes when affiliates (a query of their ids) were last paid, after some of their paid lines were removed. Their
 * sums are already correct, but a maximum cannot be reduced by subtraction.
 */
export async function recomputeLastPaid(tx: Tx, account: AccountId, affiliates: Sql): Promise<void> {
  await takeLock(tx, LOCKS.chore(BALANCES_CHORE));
  while ((await foldNotes(tx)) === FOLDED_AT_ONCE);
  await rows(
    tx,
    sql`update affiliate_balances b set last_paid_at = (
          select max(p.paid_at) from payout_lines l
          join payout_line_totals t on t.account_id = l.account_id and t.payout_id = l.payout_id
            and t.affiliate_id = l.affiliate_id and t.currency = b.currency and t.is_paid
          join payouts p on p.account_id = l.account_id and p.id = l.payout_id
          where l.account_id = b.account_id and l.affiliate_id = b.affiliate_id)
        where b.account_id = ${account} and b.affiliate_id in (${affiliates})`,
  );
}

/** CTEs that write `delta`: as for `judging`, with `paid` and `last_paid_at`. Unchanged balances are not written. */
const APPLIED = sql`
  ${judging(sql`false`)},
  added as (
    insert into affiliate_balances as b (account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at, state)
    select account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at, state from judged
    where (unpaid, pending, paid) <> (0, 0, 0) or last_paid_at is not null or state is distinct from old_state
    on conflict (account_id, affiliate_id, currency) do update
    set unpaid = b.unpaid + excluded.unpaid, pending = b.pending + excluded.pending, paid = b.paid + excluded.paid,
        last_paid_at = greatest(b.last_paid_at, excluded.last_paid_at), state = excluded.state),
  summed as (${SUM_MOVED})`;

/** All balances of some affiliates or accounts, as a `delta` of zeros. */
const unchanged = (which: Sql): Sql => sql`
  select b.account_id, b.affiliate_id, b.currency, 0::numeric as unpaid, 0::numeric as pending, 0::numeric as paid,
         null::timestamptz as last_paid_at
  from affiliate_balances b where ${which}`;

async function foldNotes(tx: Tx): Promise<number> {
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    sql`with gone as (
          delete from affiliate_balance_notes
          where ctid = any(array(select ctid from affiliate_balance_notes limit ${FOLDED_AT_ONCE}::int)) returning *),
        mark as materialized (
          select a.account_id, ${markOf(sql`a.account_id`)} as at from (select distinct account_id from gone) a),
        delta as (
          select g.account_id, g.affiliate_id, g.currency,
                 sum(case when g.available_at <= m.at then g.owed else 0 end) as unpaid,
                 sum(case when g.available_at <= m.at then 0 else g.owed end) as pending, sum(g.paid) as paid,
                 max(g.last_paid_at) as last_paid_at
          from gone g join mark m on m.account_id = g.account_id
          group by 1, 2, 3),
        ${APPLIED},
        earned as (
          insert into program_affiliates (account_id, program_id, affiliate_id)
          select distinct account_id, program_id, affiliate_id from gone where program_id is not null
          on conflict do nothing)
        select count(*)::int as folded from gone`,
    'fold_balances',
  );
  // until autovacuum runs, the planner would use the index sorted by unpaid amount, which scans the whole account for
  // each balance
  if (folded >= SLICE_ROWS) await rows(tx, sql`analyze affiliate_balances`);
  return folded;
}

/**
 * Moves amounts that became available since the mark to unpaid. Amounts that are still in notes are not in the sums and
 * stay out.
 */
async function moveMarks(tx: Tx, accounts: Sql): Promise<number> {
  const due = sql`m.available_at > d.since and m.available_at <= d.until`;
  await oneRow(
    tx,
    sql`with due as materialized (
          select a.id as account_id, a.since, now_ms() as until
          from (select id, ${markOf(sql`a.id`)} as since from ${accounts} a) a
          where exists (select from commissions c where c.account_id = a.id and ${OPEN}
            and c.available_at > a.since and c.available_at <= now_ms())),
        delta as (
          select account_id, affiliate_id, currency, sum(amount) as unpaid, -sum(amount) as pending, 0::numeric as paid,
                 null::timestamptz as last_paid_at
          from (
            select d.account_id, m.affiliate_id, m.currency, m.amount
            from due d join commissions m on m.account_id = d.account_id and ${OPEN} and ${due}
            union all
            select d.account_id, m.affiliate_id, m.currency, -m.owed
            from due d join affiliate_balance_notes m on m.account_id = d.account_id and ${due}) part
          group by 1, 2, 3 having sum(amount) <> 0),
        ${APPLIED},
        moved_marks as (
          insert into affiliate_balance_marks as m (account_id, available_at) select account_id, until from due
          on conflict (account_id) do update set available_at = greatest(m.available_at, excluded.available_at))
        select 1`,
    'move_balance_marks',
  );
  return 0;
}

async function judgeChanged(tx: Tx): Promise<number> {
  const { folded } = await oneRow<{ folded: number }>(
    tx,
    sql`with gone as (
          delete from affiliate_balance_stale
          where ctid = any(array(select ctid from affiliate_balance_stale limit ${FOLDED_AT_ONCE}::int)) returning *),
        delta as (${unchanged(sql`(b.account_id, b.affiliate_id) in (select account_id, affiliate_id from gone)`)}),
        ${APPLIED}
        select count(*)::int as folded from gone`,
    'judge_changed_affiliates',
  );
  return folded;
}

async function judgeAccounts(tx: Tx, accounts: Sql): Promise<number> {
  await oneRow(
    tx,
    sql`with stale as materialized (
          select a.id as account_id, a.minimum_payout
          from ${accounts} a
          -- the limit forces one lookup per account: a join may read the marks of all accounts
          left join lateral (select * from affiliate_balance_marks where account_id = a.id limit 1) m on true
          where m.minimum_payout is distinct from a.minimum_payout),
        delta as (${unchanged(sql`b.account_id in (select account_id from stale)`)}),
        ${APPLIED},
        noted as (
          insert into affiliate_balance_marks (account_id, available_at, minimum_payout)
          select s.account_id, ${markOf(sql`s.account_id`)}, s.minimum_payout from stale s
          on conflict (account_id) do update set minimum_payout = excluded.minimum_payout)
        select 1`,
    'judge_accounts',
  );
  return 0;
}
