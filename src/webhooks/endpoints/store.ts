import sql, { join, raw, type Sql } from 'sql-template-tag';
import {
  exactly,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import type { Portal, Principal } from '../../contract/route.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Columns } from './columns.ts';
import { reachOf } from './portal.ts';
import {
  type EndpointChange,
  eventRecord,
  portalRecord,
  record,
  stateJoin,
  type WebhookEndpoint,
} from './record.ts';

export const endpointList: ListDefinition = {
  id: 'e.id',
  sort: { id: 'e.id', created_at: 'e.id' },
  filters: {
    status: oneOf(['enabled', 'disabled'], (status) =>
      status === 'enabled' ? sql`e.disabled_at is null` : sql`e.disabled_at is not null`,
    ),
    owner: exactly('e.owner'),
    external_id: exactly('e.external_id'),
    ...idInstants('created_at', 'e.id'),
  },
};

/** The columns of the record as a caller sees it. */
const seenBy = (portal: Portal | undefined) => (portal ? portalRecord : record);

/** The live endpoints that a caller may reach. */
export function listEndpoints(
  db: Reader,
  { account, portal }: Pick<Principal, 'account' | 'portal'>,
  list: ListQuery,
): Promise<Page<WebhookEndpoint>> {
  const own = sql`e.account_id = ${account} and e.deleted_at is null`;
  return listPage(db, {
    list,
    name: portal ? 'portal_endpoints' : 'webhook_endpoints',
    table: 'webhook_endpoints',
    alias: 'e',
    where: portal ? sql`${own} and ${reachOf(portal)}` : own,
    record: seenBy(portal),
    join: stateJoin,
  });
}

/** The record of a live endpoint (UUID) as a caller sees it, or null. */
export function readEndpoint(
  db: Reader,
  { account, portal }: Pick<Principal, 'account' | 'portal'>,
  id: EndpointId,
): Promise<Json<WebhookEndpoint> | null> {
  return maybeRecord(
    db,
    seenBy(portal),
    sql`webhook_endpoints e ${stateJoin}
        where e.account_id = ${account} and e.id = ${id} and e.deleted_at is null`,
  );
}

/** The record of a live endpoint for an event, or null. The endpoint is locked until the transaction ends. */
export function lockForEvent(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
): Promise<Json<WebhookEndpoint> | null> {
  return maybeRecord(
    tx,
    eventRecord,
    sql`webhook_endpoints e ${stateJoin}
        where e.account_id = ${account} and e.id = ${id} and e.deleted_at is null for no key update of e`,
  );
}

/** What PATCH, rotation and deletion need to know. */
export interface EndpointRow {
  readonly url: string;
  readonly header_names: string[];
  readonly header_values: Buffer | null;
  readonly egress_sealed: Buffer | null;
  readonly signing: string | null;
  readonly secret: Buffer;
  readonly previous_signing: string | null;
  readonly previous_secret: Buffer | null;
  readonly previous_secret_until: string | null;
  readonly now: string;
  readonly disabled_at: string | null;
  readonly owner: string | null;
  readonly external_id: string | null;
  readonly ordered: boolean;
  readonly event_types: string[] | null;
  readonly filter: string | null;
  /** The most events in a request; null = one. */
  readonly batch_events: number | null;
  /** It has no URL: consumers claim its events. */
  readonly pull: boolean;
  readonly contact_email: string | null;
  readonly contact_confirmed_at: string | null;
}

const rowOf = (account: AccountId, id: EndpointId) =>
  sql`select url, header_names, header_values, egress_sealed, signing, secret, previous_secret, now_ms() as now,
        case when previous_secret_until > now() then previous_signing end as previous_signing,
        case when previous_secret_until > now() then previous_secret_until end as previous_secret_until, disabled_at,
        owner, external_id, ordered, event_types, filter, batch_events, pull, contact_email, contact_confirmed_at
      from webhook_endpoints where account_id = ${account} and id = ${id} and deleted_at is null`;

/** The row of a live endpoint, or null. */
export function endpointRow(db: Reader, account: AccountId, id: EndpointId): Promise<EndpointRow | null> {
  return maybeRow(db, rowOf(account, id));
}

/** The same, locked until the transaction ends. */
export function lockEndpoint(tx: Tx, account: AccountId, id: EndpointId): Promise<EndpointRow | null> {
  return maybeRow(tx, sql`${rowOf(account, id)} for no key update`);
}

/**
 * Lets nobody else create an endpoint, or compare one with the account's others, until the transaction ends. Call it before
 * locking an endpoint. Returns how many an owner may have (null = not set).
 */
export async function lockOthers(tx: Tx, account: AccountId): Promise<number | null> {
  const { most } = await oneRow<{ most: number | null }>(
    tx,
    sql`select endpoints_per_owner as most from accounts where id = ${account} for no key update`,
  );
  return most;
}

/**
 * How many live endpoints an account has, how many of them an owner, and how many an owner may have (null = not set). Locks
 * as `lockOthers` does.
 */
export async function lockAndCount(
  tx: Tx,
  account: AccountId,
  owner: string | null,
): Promise<{ readonly all: number; readonly ofOwner: number; readonly mostOfOwner: number | null }> {
  const mostOfOwner = await lockOthers(tx, account);
  const counts = await oneRow<{ all: number; ofOwner: number }>(
    tx,
    sql`select count(*)::int as all, (count(*) filter (where owner = ${owner}))::int as "ofOwner"
        from webhook_endpoints where account_id = ${account} and deleted_at is null`,
  );
  return { ...counts, mostOfOwner };
}

/** An id for a new endpoint, and the time. */
export function newEndpointId(tx: Tx): Promise<{ id: EndpointId; now: string }> {
  return oneRow(tx, sql`select new_id() as id, now_ms() as now`);
}

export async function insertEndpoint(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
  columns: Columns,
): Promise<void> {
  const names = Object.keys(columns).map((name) => raw(name));
  await rows(
    tx,
    sql`with made as (
          insert into webhook_endpoints (account_id, id, ${join(names)})
          values (${account}, ${id}, ${join(Object.values(columns))}) returning account_id, id)
        insert into endpoint_state (account_id, endpoint_id) select account_id, id from made`,
  );
}

/** Writes columns. Values that are there already are no change: `updated_at` then stays. */
export async function updateEndpoint(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
  columns: Columns,
): Promise<void> {
  const assignments = Object.entries(columns).map(([name, value]): Sql => sql`${raw(name)} = ${value}`);
  const here = sql`account_id = ${account} and id = ${id}`;
  const { row } = await oneRow<{ row: string }>(
    tx,
    sql`select to_jsonb(e)::text as row from webhook_endpoints e where ${here}`,
  );
  await rows(tx, sql`update webhook_endpoints set ${join(assignments)} where ${here}`);
  await rows(
    tx,
    sql`with changed as materialized (select 1 from webhook_endpoints e where ${here} and to_jsonb(e) <> ${row}::jsonb)
        update webhook_endpoints set updated_at = now_ms() where ${here} and exists (select from changed)`,
  );
}

/** The id of the live endpoint with this external_id, or null. */
export async function idByExternalId(
  db: Reader,
  account: AccountId,
  externalId: string,
): Promise<EndpointId | null> {
  // no external_id contains NUL, and PostgreSQL does not accept it
  if (externalId.includes('\0')) return null;
  const row = await maybeRow<{ id: EndpointId }>(
    db,
    sql`select id from webhook_endpoints
        where account_id = ${account} and external_id = ${externalId} and deleted_at is null`,
  );
  return row?.id ?? null;
}

/** Disables a live, enabled endpoint; false when there is none. */
export async function markDisabled(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
  reason: string,
): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update webhook_endpoints set disabled_at = now_ms(), disabled_reason = ${reason}, updated_at = now_ms()
        where account_id = ${account} and id = ${id} and disabled_at is null and deleted_at is null returning 1`,
  );
  return done.length === 1;
}

/** Notes that people were notified about an endpoint: they are also notified when it takes events again. */
export async function markTold(tx: Tx, account: AccountId, id: EndpointId): Promise<void> {
  await rows(
    tx,
    sql`update endpoint_state set told = greatest(told, 1), told_at = now_ms()
        where account_id = ${account} and endpoint_id = ${id}`,
  );
}

/**
 * Enables it: everything that waits is due at once with a new schedule, or discarded, and earlier failures no longer count.
 */
export async function markEnabled(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
  held: EndpointChange['held'] = 'send',
): Promise<void> {
  // an id has milliseconds, and an event of this one was held too
  const until = held === 'discard' ? sql`clock_time() + interval '1 millisecond'` : sql`discarded_until`;
  await rows(
    tx,
    sql`update webhook_endpoints
        set disabled_at = null, disabled_reason = null, resumptions = resumptions + 1, discarded_until = ${until},
            updated_at = now_ms()
        where account_id = ${account} and id = ${id}`,
  );
  await rows(
    tx,
    sql`update endpoint_state set lane = default, may_start_at = default, failing_since = null, failures = 0
        where account_id = ${account} and endpoint_id = ${id}`,
  );
  tx.announce();
}

/**
 * Stores the new secret, and the replaced one for as long as both sign. Returns when the overlap ends, or
 * null.
 */
export async function replaceSecret(
  tx: Tx,
  account: AccountId,
  id: EndpointId,
  { secret, overlapSeconds }: { secret: Buffer; overlapSeconds: number },
): Promise<string | null> {
  const { until } = await oneRow<{ until: string | null }>(
    tx,
    sql`with rotated as (
          update webhook_endpoints
          set previous_signing = case when ${overlapSeconds}::int > 0 then signing end,
              previous_secret = case when ${overlapSeconds}::int > 0 then secret end,
              previous_secret_until = now_ms() + nullif(${overlapSeconds}::int, 0) * interval '1 second',
              secret = ${secret}, updated_at = now_ms()
          where account_id = ${account} and id = ${id} returning previous_secret_until)
        select iso(previous_secret_until) as until from rotated`,
  );
  return until;
}

/**
 * Deletes a live endpoint: its secrets are removed, its recovery ends, its log stays. False when there is
 * none.
 */
export async function markDeleted(tx: Tx, account: AccountId, id: EndpointId): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update webhook_endpoints
        set deleted_at = now_ms(), secret = '', previous_signing = null, previous_secret = null,
            previous_secret_until = null, header_values = null, header_names = '{}', egress = null,
            egress_sealed = null, token_hash = null, previous_token_hash = null, previous_token_until = null, contact_email = null,
            contact_hash = null, contact_expires_at = null, contact_confirmed_at = null, updated_at = now_ms()
        where account_id = ${account} and id = ${id} and deleted_at is null returning 1`,
  );
  // after the lock, so that one created while this waited for it is seen
  await rows(
    tx,
    sql`update webhook_recoveries set cancelled_at = now_ms()
        where account_id = ${account} and endpoint_id = ${id} and completed_at is null and cancelled_at is null`,
  );
  return done.length === 1;
}

/**
 * The types of the events that wait to be sent to an endpoint, and of those a recovery is about to send
 * there.
 */
export async function typesWaiting(tx: Tx, account: AccountId, id: EndpointId): Promise<string[]> {
  const found = await rows<{ type: string }>(
    tx,
    sql`select distinct d.type from queue q
        join deliveries d on d.account_id = q.account_id and d.endpoint_id = q.endpoint_id and d.event_id = q.event_id
        where q.account_id = ${account} and q.endpoint_id = ${id}
        union
        select unnest(coalesce(types, '{*}')) from webhook_recoveries
        where account_id = ${account} and endpoint_id = ${id} and completed_at is null and cancelled_at is null
          and action = 'recover'`,
  );
  return found.map(({ type }) => type);
}
