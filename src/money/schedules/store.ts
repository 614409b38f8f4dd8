import sql from 'sql-template-tag';
import { type ListDefinition, type ListQuery, listPage, type Page } from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import type { Principal } from '../../contract/route.ts';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId, ScheduleId, UserId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Rhythm } from './days.ts';
import { record, type Schedule } from './record.ts';

export const scheduleList: ListDefinition = {
  id: 's.id',
  sort: { created_at: 's.id', name: ['s.name', 's.id'] },
  filters: {},
};

export function listSchedules(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Schedule>> {
  return listPage(db, {
    list,
    name: 'payout_schedules',
    table: 'payout_schedules',
    alias: 's',
    where: sql`s.account_id = ${account}`,
    record,
  });
}

/** A schedule of an account. */
export interface Which {
  readonly account: AccountId;
  readonly id: ScheduleId;
}

const one = ({ account, id }: Which) =>
  sql`payout_schedules s where s.account_id = ${account} and s.id = ${id}`;

export function readSchedule(db: Reader, which: Which): Promise<Json<Schedule> | null> {
  return maybeRecord(db, record, one(which));
}

/** As `readSchedule`, but locks the row until the transaction ends. */
export async function lockSchedule(tx: Tx, which: Which): Promise<Json<Schedule> | null> {
  await rows(
    tx,
    sql`select from payout_schedules s where s.account_id = ${which.account} and s.id = ${which.id} for update`,
  );
  return readSchedule(tx, which);
}

/** A schedule as it is stored. */
export interface StoredSchedule extends Rhythm {
  readonly name: string;
  readonly filters: unknown;
  readonly search: string;
  readonly ignore_minimum: boolean;
  readonly is_active: boolean;
  readonly next_on: string;
}

/** The author: a principal, and the person behind it. */
export interface Maker {
  readonly principal: Pick<Principal, 'account' | 'kind' | 'id'>;
  readonly user: UserId | null;
}

/** Inserts a schedule, or replaces the one with this id. */
export async function writeSchedule(
  tx: Tx,
  id: ScheduleId | null,
  s: StoredSchedule,
  { principal, user }: Maker,
): Promise<Json<Schedule>> {
  const filters = s.filters == null ? null : JSON.stringify(s.filters);
  const { account, kind, id: maker } = principal;
  const values = sql`${s.name}, ${s.every}, ${s.day}, ${filters}, ${s.search}, ${s.ignore_minimum}, ${s.is_active},
    ${kind}, ${maker}, ${user}, ${s.next_on}`;
  const columns = sql`name, every, day, filters, search, ignore_minimum, is_active, maker_kind, maker_id, maker_user, next_on`;
  const written =
    id === null
      ? sql`insert into payout_schedules (account_id, ${columns}) values (${account}, ${values}) returning *`
      : sql`update payout_schedules set (${columns}, updated_at) = (${values}, clock_time())
            where account_id = ${account} and id = ${id} returning *`;
  return oneRecord(tx, record, sql`written s`, { ctes: sql`written as (${written})` });
}

/** Deletes a schedule. Returns whether there was one. */
export async function deleteSchedule(tx: Tx, { account, id }: Which): Promise<boolean> {
  const gone = await rows(
    tx,
    sql`delete from payout_schedules where account_id = ${account} and id = ${id} returning 1`,
  );
  return gone.length > 0;
}

/** A schedule that is due. */
export interface DueSchedule extends Rhythm {
  readonly account: AccountId;
  readonly id: ScheduleId;
  readonly name: string;
  /** JSON; null = none. */
  readonly filters: string | null;
  readonly search: string;
  readonly ignore_minimum: boolean;
  readonly maker_kind: Principal['kind'];
  readonly maker_id: string;
  readonly maker_user: UserId | null;
  /** Today in the account's time zone. */
  readonly today: string;
}

/** Locks the next due schedule that is not excluded and not locked by others, or returns null. */
export function lockDue(tx: Tx, excluded: readonly ScheduleId[]): Promise<DueSchedule | null> {
  return maybeRow(
    tx,
    sql`select s.account_id as account, s.id, s.name, s.every, s.day, s.filters::text as filters, s.search, s.ignore_minimum,
               s.maker_kind, s.maker_id, s.maker_user, to_char(now() at time zone a.time_zone, 'YYYY-MM-DD') as today
        from payout_schedules s join accounts a on a.id = s.account_id
        where s.is_active and s.next_on <= (now() at time zone a.time_zone)::date and s.id <> all(${excluded}::uuid[])
        order by s.next_on, s.id limit 1
        for update of s skip locked`,
  );
}

/** The result of running a due schedule. */
export type Outcome =
  | { readonly outcome: 'created'; readonly payout: PayoutId }
  | { readonly outcome: 'empty' | 'refused'; readonly reason: string };

/** Records the result of a run and the next due day. Missed days are not made up for. */
export async function noteRun(
  tx: Tx,
  { account, id, today }: DueSchedule,
  result: Outcome,
  next: string,
): Promise<void> {
  const payout = result.outcome === 'created' ? result.payout : null;
  const reason = result.outcome === 'created' ? null : result.reason;
  await rows(
    tx,
    sql`update payout_schedules set last_on = ${today}, last_at = clock_time(), last_outcome = ${result.outcome},
          last_reason = ${reason}, last_payout_id = ${payout}, next_on = ${next}
        where account_id = ${account} and id = ${id}`,
  );
}
