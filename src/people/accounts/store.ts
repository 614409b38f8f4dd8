import sql, { type Sql } from 'sql-template-tag';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type Account, type Payer, record } from './record.ts';

export async function insertAccount(tx: Tx, name: string): Promise<{ id: AccountId; json: Json<Account> }> {
  const { id } = await oneRow<{ id: AccountId }>(
    tx,
    sql`insert into accounts (name) values (${name}) returning id`,
  );
  await rows(tx, sql`insert into payout_books (account_id) values (${id})`);
  return { id, json: await oneRecord(tx, record, sql`accounts a where a.id = ${id}`) };
}

export function readAccount(db: Reader, id: AccountId): Promise<Json<Account> | null> {
  return maybeRecord(db, record, sql`accounts a where a.id = ${id}`);
}

/** Whom bank files are from, as JSON. */
export async function readPayer(db: Reader, id: AccountId): Promise<Json<Payer>> {
  const { json } = await oneRow<{ json: Json<Payer> }>(
    db,
    sql`select json_build_object('debtor', debtor, 'originator', originator)::text as json
        from accounts where id = ${id}`,
  );
  return json;
}

/** The time zone of an account, or null. */
export async function readZone(db: Reader, id: AccountId): Promise<string | null> {
  const row = await maybeRow<{ time_zone: string }>(
    db,
    sql`select time_zone from accounts where id = ${id}`,
    'account_zone',
  );
  return row?.time_zone ?? null;
}

/** The account's rule for approving payouts, or null. */
export async function readApproval(db: Reader, id: AccountId): Promise<Account['approval'] | null> {
  const row = await maybeRow<Pick<Account, 'approval'>>(
    db,
    sql`select approval from accounts where id = ${id}`,
    'account_approval',
  );
  return row?.approval ?? null;
}

/** Whether payouts need a second person, or a changed destination waits. */
export async function readProtection(db: Reader, id: AccountId): Promise<boolean> {
  const { is_on } = await oneRow<{ is_on: boolean }>(
    db,
    sql`select approval <> 'none' or destination_wait_hours > 0 as is_on from accounts where id = ${id}`,
  );
  return is_on;
}

/** For how many hours a changed destination is not paid. */
export async function readDestinationWait(db: Reader, id: AccountId): Promise<number> {
  const { hours } = await oneRow<{ hours: number }>(
    db,
    sql`select destination_wait_hours as hours from accounts where id = ${id}`,
  );
  return hours;
}

/** Whether a signal blocks payouts. */
export async function readsBlocks(db: Reader, id: AccountId): Promise<boolean> {
  const { blocks } = await oneRow<{ blocks: boolean }>(
    db,
    sql`select jsonb_path_exists(payout_signals, '$.*.action ? (@ == "block")') as blocks from accounts where id = ${id}`,
  );
  return blocks;
}

/** How PostgreSQL spells the name of a time zone, given in any case; null when it does not know it. */
export async function spelledZone(db: Reader, name: string): Promise<string | null> {
  const row = await maybeRow<{ name: string }>(
    db,
    sql`select name from pg_timezone_names where lower(name) = lower(${name}) order by name = ${name} desc limit 1`,
  );
  return row?.name ?? null;
}

export interface AccountRow {
  readonly id: AccountId;
  readonly name: string;
  /** `payhook demo` filled it. */
  readonly is_demo: boolean;
}

/** All accounts, the oldest first. */
export function allAccounts(db: Reader): Promise<AccountRow[]> {
  return rows(db, sql`select id, name, is_demo from accounts order by id`);
}

/** Marks an account (UUID) as filled by the demo, so it may be deleted. */
export async function markDemo(tx: Tx, id: AccountId): Promise<void> {
  await rows(tx, sql`update accounts set is_demo = true where id = ${id}`);
}

export function updateAccount(tx: Tx, id: AccountId, assignments: Sql): Promise<Json<Account>> {
  const changed = sql`update accounts set ${assignments}, updated_at = now() where id = ${id} returning *`;
  return oneRecord(tx, record, sql`changed a`, { ctes: sql`changed as (${changed})` });
}
