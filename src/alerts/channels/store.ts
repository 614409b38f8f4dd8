import sql, { join, raw } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, AlertChannelId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type AlertChannel, record } from './record.ts';

export const channelList: ListDefinition = {
  id: 'c.id',
  sort: { id: 'c.id', created_at: 'c.id', name: 'c.name' },
  filters: idInstants('created_at', 'c.id'),
};

export function listChannels(db: Reader, account: AccountId, list: ListQuery): Promise<Page<AlertChannel>> {
  return listPage(db, {
    list,
    name: 'alert_channels',
    table: 'alert_channels',
    alias: 'c',
    where: sql`c.account_id = ${account}`,
    record,
  });
}

/** The record of a channel, or null. */
export function readChannel(
  db: Reader,
  account: AccountId,
  id: AlertChannelId,
): Promise<Json<AlertChannel> | null> {
  return maybeRecord(db, record, sql`alert_channels c where c.account_id = ${account} and c.id = ${id}`);
}

/** The sealed target of a channel, locked until the transaction ends, or null. */
export async function lockTarget(tx: Tx, account: AccountId, id: AlertChannelId): Promise<Buffer | null> {
  const found = await maybeRow<{ target: Buffer }>(
    tx,
    sql`select target from alert_channels where account_id = ${account} and id = ${id} for no key update`,
  );
  return found?.target ?? null;
}

/**
 * The number of an account's channels, and an id for another. Holds a lock on their creation until the transaction ends.
 */
export async function lockAndCount(
  tx: Tx,
  account: AccountId,
): Promise<{ count: number; id: AlertChannelId }> {
  await rows(tx, sql`select 1 from accounts where id = ${account} for no key update`);
  return oneRow(
    tx,
    sql`select count(*)::int as count, new_id() as id from alert_channels where account_id = ${account}`,
  );
}

/** Columns to write, with values for PostgreSQL. */
export type Columns = Readonly<Record<string, unknown>>;

export async function insertChannel(
  tx: Tx,
  account: AccountId,
  id: AlertChannelId,
  columns: Columns,
): Promise<void> {
  const names = Object.keys(columns).map((name) => raw(name));
  await rows(
    tx,
    sql`insert into alert_channels (account_id, id, ${join(names)})
        values (${account}, ${id}, ${join(Object.values(columns))})`,
  );
}

export async function updateChannel(
  tx: Tx,
  account: AccountId,
  id: AlertChannelId,
  columns: Columns,
): Promise<void> {
  const assignments = Object.entries(columns).map(([name, value]) => sql`${raw(name)} = ${value}`);
  await rows(
    tx,
    sql`update alert_channels set ${join([...assignments, sql`updated_at = now_ms()`])}
        where account_id = ${account} and id = ${id}`,
  );
}

/** Deletes a channel and its waiting alerts. Returns false if there is none. */
export async function deleteRow(tx: Tx, account: AccountId, id: AlertChannelId): Promise<boolean> {
  const gone = await rows(
    tx,
    sql`delete from alert_channels where account_id = ${account} and id = ${id} returning 1`,
  );
  return gone.length === 1;
}
