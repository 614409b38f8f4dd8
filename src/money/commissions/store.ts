import sql, { raw, type Sql } from 'sql-template-tag';
import { isNullable, writable } from '../../contract/fields.ts';
import { maybeRow, oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, CommissionId, ImportId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { arrivals } from '../ledger/arrivals.ts';
import { changeCommissions, NOTED } from '../ledger/balances.ts';
import { isNearLimit } from '../ledger/limit.ts';
import type { Orders } from '../refund-lines/locks.ts';
import { applyWaiting } from '../refund-lines/waiting.ts';
import { COMMISSION_FIELDS } from './fields.ts';
import {
  type Commission,
  type ImportedCommissions,
  type LockedCommission,
  payoutJoin,
  record,
} from './record.ts';

/** The fields that are columns; a source of commissions has them, `line` and `affiliate_id`. */
export const STORED = writable(COMMISSION_FIELDS).filter(([, field]) => field.sql !== null);
/** The columns that a commission has as they were given; a time that was left out is that of the request. */
const GIVEN = STORED.filter(([name]) => name !== 'occurred_at');

/** The names of fields, as columns of a table with this alias. */
export const columnsOf = (fields: typeof STORED, alias = ''): Sql =>
  raw(fields.map(([name]) => alias + name).join(', '));

/** Input items (with `line` and `affiliate_id`) as a source of rows `s`. */
export function itemSource(items: readonly object[]): Sql {
  return sql`(select * from json_populate_recordset(null::commission_input, ${JSON.stringify(items)}::json)) s`;
}

/** Selects, with the columns named, the lines whose affiliate or program does not exist, and which of them. */
export const unknownIn = (account: AccountId, source: Sql, columns: Sql): Sql => sql`
  select ${columns}, case when a.id is null then 'affiliate' else 'program' end as what
  from ${source}
  left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
  left join affiliate_programs g on g.account_id = ${account} and g.id = s.program_id
  where a.id is null or (s.program_id is not null and g.id is null)`;

/** Lines whose affiliate or program does not exist, with the error. */
export const unknownReferences = (
  tx: Tx,
  account: AccountId,
  source: Sql,
): Promise<{ line: number; what: 'affiliate' | 'program' }[]> =>
  rows(tx, sql`${unknownIn(account, source, sql`s.line`)} order by s.line`);

/**
 * A hold ends at the same local time that number of days later in the account's time zone, even if a day has 23 or 25 hours.
 */
const holdEnd = sql`case when hold.days = 0 then at.occurred
  else (at.occurred at time zone a.time_zone + make_interval(days => hold.days)) at time zone a.time_zone end`;

/**
 * Inserts what does not exist yet, in the order of external_id whatever the input order: two requests that insert the
 * same commissions then wait for each other in one order and cannot deadlock.
 */
const insertNew = (account: AccountId, source: Sql, importId: ImportId | null) => sql`
  insert into commissions (account_id, affiliate_id, original_amount, ${columnsOf(GIVEN)}, occurred_at, available_at, import_id)
  select ${account}, s.affiliate_id, s.amount, ${columnsOf(GIVEN, 's.')}, at.occurred, ${holdEnd}, ${importId}::uuid
  from ${source}
  cross join lateral (select coalesce(s.occurred_at, now_ms()) as occurred) at
  join accounts a on a.id = ${account}
  left join affiliate_programs g on g.account_id = ${account} and g.id = s.program_id
  cross join lateral (
    select case when s.type = 'adjustment' then 0 else coalesce(g.hold_days, a.hold_days) end as days) hold
  order by s.external_id collate "C", s.line
  on conflict (account_id, external_id) do nothing
  returning external_id, ${NOTED}`;

/**
 * Inserts what does not exist yet (by external_id) and returns the number of new rows. Applies refunds that arrived
 * before them.
 */
export async function insertCommissions(
  tx: Tx,
  account: AccountId,
  source: Sql,
  { orders, importId = null }: { orders: Orders; importId?: ImportId | null },
): Promise<number> {
  const { count } = await oneRow<{ count: number }>(
    tx,
    sql`with made as (${insertNew(account, source, importId)}), ${arrivals(account)}
        select count(*)::int as count from made`,
  );
  if (count > 0) await applyWaiting(tx, account, source, orders);
  return count;
}

/** The same, but returns the external_ids of the new rows. */
export async function insertAndName(
  tx: Tx,
  account: AccountId,
  source: Sql,
  orders: Orders,
): Promise<Set<string>> {
  const made = await rows<{ external_id: string }>(
    tx,
    sql`with made as (${insertNew(account, source, null)}), ${arrivals(account)}
        select external_id from made`,
  );
  if (made.length > 0) await applyWaiting(tx, account, source, orders);
  return new Set(made.map((row) => row.external_id));
}

// Compares the columns that never change after creation with the original input; a missing time matches any time.
const COMPARED = GIVEN.filter(([name]) => name !== 'external_id' && name !== 'amount');
const ALWAYS = COMPARED.filter(([, { input }]) => !isNullable(input));
const OPTIONAL = COMPARED.filter(([, { input }]) => isNullable(input));
const sameInput = sql`
  (c.affiliate_id, c.original_amount, ${columnsOf(ALWAYS, 'c.')}) = (s.affiliate_id, s.amount, ${columnsOf(ALWAYS, 's.')})
  and (${columnsOf(OPTIONAL, 'c.')}) is not distinct from (${columnsOf(OPTIONAL, 's.')})
  and (s.occurred_at is null or c.occurred_at = s.occurred_at)`;

/** Selects the lines whose external_id is already stored with different content. */
export const contradictionsIn = (account: AccountId, source: Sql): Sql => sql`
  select s.line, s.external_id from ${source}
  join commissions c on c.account_id = ${account} and c.external_id = s.external_id
  where (${sameInput}) is not true`;

/** Lines whose external_id is already stored with different content. */
export async function contradictions(tx: Tx, account: AccountId, source: Sql): Promise<number[]> {
  const found = await rows<{ line: number }>(tx, sql`${contradictionsIn(account, source)} order by s.line`);
  return found.map((row) => row.line);
}

/** The stored records of input lines, and whose balances may be near the limit now. */
export function recordsOf(
  tx: Tx,
  account: AccountId,
  source: Sql,
): Promise<{ line: number; json: Json<Commission>; affiliate_id: bigint; is_near_limit: boolean }[]> {
  const near = sql`
    select s.affiliate_id, s.currency from (select distinct affiliate_id, currency from ${source}) s
    where ${isNearLimit(account, sql`s.affiliate_id`, sql`s.currency`)}`;
  return rows(
    tx,
    sql`with near as materialized (${near})
        select s.line, (select row_to_json(r)::text from (select ${record}) r) as json, s.affiliate_id,
               (s.affiliate_id, s.currency) in (select affiliate_id, currency from near) as is_near_limit
        from ${source} join commissions c on c.account_id = ${account} and c.external_id = s.external_id ${payoutJoin}
        order by s.line`,
  );
}

/** Sums of the source by currency, as the JSON of `totals`, and the largest of them. */
export function sumsOf(
  tx: Tx,
  source: Sql,
): Promise<{ json: Json<ImportedCommissions['totals']>; largest: bigint }> {
  return oneRow(
    tx,
    sql`select coalesce(json_agg(t order by t.currency), '[]')::text as json,
               coalesce(max(t.amount), 0)::int8 as largest from (
          select currency, sum(amount) as amount, count(*) as count from ${source} group by currency) t`,
  );
}

/** Locks a commission (UUID); null when the account has no such commission. */
export function lockCommission(
  tx: Tx,
  account: AccountId,
  id: CommissionId,
): Promise<LockedCommission | null> {
  return maybeRow(
    tx,
    sql`select c.id, c.affiliate_id, c.program_id, c.type, c.currency, c.amount, c.original_amount, c.refunded_amount,
          c.sale_amount, c.voided_at is not null as voided, c.held_available_at is not null as held, c.payout_id, c.returns_payout_id,
          coalesce(p.status = 'paid', false) as paid, (select row_to_json(r)::text from (select ${record}) r) as json
        from commissions c ${payoutJoin}
        where c.account_id = ${account} and c.id = ${id} for update of c`,
  );
}

export async function markVoided(
  tx: Tx,
  account: AccountId,
  id: CommissionId,
  reason: string | null,
): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`id = ${id}`,
    set: sql`voided_at = clock_time(), void_reason = ${reason}, payout_id = null,
      available_at = coalesce(held_available_at, available_at), held_available_at = null`,
  });
}

/** Holds a commission: it never becomes available, and remembers when it would have. */
export async function markHeld(tx: Tx, account: AccountId, id: CommissionId): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`id = ${id}`,
    set: sql`held_available_at = available_at, available_at = 'infinity', payout_id = null`,
  });
}

export async function markUnheld(tx: Tx, account: AccountId, id: CommissionId): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`id = ${id}`,
    set: sql`available_at = held_available_at, held_available_at = null`,
  });
}
