import sql, { type Sql } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId, RecoveryId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { countMissing } from '../../outbox/missing.ts';
import { isKept } from '../../outbox/queue.ts';
import { isCovered } from '../../outbox/subscriptions.ts';
import { endpointJoin, record, type WebhookRecovery } from './record.ts';

const isOpen = sql`r.completed_at is null and r.cancelled_at is null`;

/** The recoveries of one endpoint. */
export const recoveryList: ListDefinition = {
  id: 'r.id',
  sort: { id: 'r.id', created_at: 'r.id' },
  filters: idInstants('created_at', 'r.id'),
};

/** One page of the recoveries of an endpoint (UUID). */
export function listRecoveries(
  db: Reader,
  account: AccountId,
  endpoint: EndpointId,
  list: ListQuery,
): Promise<Page<WebhookRecovery>> {
  return listPage(db, {
    list,
    name: 'webhook_recoveries',
    table: 'webhook_recoveries',
    alias: 'r',
    where: sql`r.account_id = ${account} and r.endpoint_id = ${endpoint}`,
    record,
    join: endpointJoin,
  });
}

/** A recovery and its endpoint, by their UUIDs. */
export interface RecoveryKey {
  readonly endpoint: EndpointId;
  readonly recovery: RecoveryId;
}

/** The record, or null. */
export function readRecovery(
  db: Reader,
  account: AccountId,
  { endpoint, recovery }: RecoveryKey,
): Promise<Json<WebhookRecovery> | null> {
  return maybeRecord(
    db,
    record,
    sql`webhook_recoveries r ${endpointJoin}
        where r.account_id = ${account} and r.endpoint_id = ${endpoint} and r.id = ${recovery}`,
  );
}

/**
 * What a recovery needs, with the current time. Locks the endpoint's row, so that changes of it and other recoveries
 * wait.
 */
export function lockTarget(
  tx: Tx,
  account: AccountId,
  endpoint: EndpointId,
): Promise<{ disabled: boolean; deleted: boolean; now: Timestamp } | null> {
  return maybeRow(
    tx,
    sql`select disabled_at is not null as disabled, deleted_at is not null as deleted, now_ms() as now
        from webhook_endpoints where account_id = ${account} and id = ${endpoint} for no key update`,
  );
}

/** The open recovery (UUID) of an endpoint, or null. */
export async function openRecovery(
  tx: Tx,
  account: AccountId,
  endpoint: EndpointId,
): Promise<RecoveryId | null> {
  const row = await maybeRow<{ id: RecoveryId }>(
    tx,
    sql`select r.id from webhook_recoveries r
        where r.account_id = ${account} and r.endpoint_id = ${endpoint} and ${isOpen}`,
  );
  return row?.id ?? null;
}

/** The checked filters of a recovery. */
export interface Filters {
  readonly since: Timestamp;
  readonly until: Timestamp;
  /** Empty = events that have no row in the log of the endpoint. */
  readonly statuses: WebhookRecovery['filters']['status'];
  /** Null = all. */
  readonly types: readonly string[] | null;
}

/** The number of events that match now. */
export async function countMatching(
  db: Reader,
  account: AccountId,
  endpoint: EndpointId,
  { since, until, statuses, types }: Filters,
): Promise<number> {
  const among = (event: Sql, type: Sql) => sql`
    ${event} >= id_floor(${since}::timestamptz) and ${event} < id_floor(${until}::timestamptz) and ${isCovered(type, types)}`;
  if (statuses.length === 0)
    return countMissing(db, { account, endpoint, among: among(sql`v.id`, sql`v.type`) });
  const { count } = await oneRow<{ count: number }>(
    db,
    sql`select count(*)::float8 as count from deliveries d
        where d.account_id = ${account} and d.endpoint_id = ${endpoint}
          and d.status = any(${[...statuses]}::text[]) and ${among(sql`d.event_id`, sql`d.type`)} and ${isKept(sql`d.event_id`)}`,
  );
  return count;
}

/** Stores a recovery or discard that no worker has started. Returns its UUID. */
export async function insertRecovery(
  tx: Tx,
  account: AccountId,
  {
    action,
    endpoint,
    filters,
    createdBy,
  }: {
    action: WebhookRecovery['action'];
    endpoint: EndpointId;
    filters: Filters;
    createdBy: string;
  },
): Promise<RecoveryId> {
  const { since, until, statuses, types } = filters;
  const { id } = await oneRow<{ id: RecoveryId }>(
    tx,
    sql`insert into webhook_recoveries (account_id, endpoint_id, action, since, until, statuses, types, cursor, created_by)
        values (${account}, ${endpoint}, ${action}, ${since}, ${until}, ${[...statuses]}, ${types && [...types]},
                id_floor(${since}::timestamptz), ${createdBy}) returning id`,
  );
  return id;
}

/** Cancels a recovery. Returns false if there is none or it has ended. Waits for a running slice. */
export async function markCancelled(
  tx: Tx,
  account: AccountId,
  { endpoint, recovery }: RecoveryKey,
): Promise<boolean> {
  const done = await maybeRow(
    tx,
    sql`update webhook_recoveries r set cancelled_at = now_ms()
        where r.account_id = ${account} and r.endpoint_id = ${endpoint} and r.id = ${recovery} and ${isOpen}
        returning 1`,
  );
  return done !== null;
}
