import sql, { raw } from 'sql-template-tag';
import {
  exactly,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { oneRecord } from '../../contract/records.ts';
import { finderByHash } from '../../db/by-hash.ts';
import { SLICE_ROWS } from '../../db/chores.ts';
import { TOLERANCE } from '../../db/clock.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { newIdIn } from '../../db/functions.ts';
import type { AccountId, EndpointId, PortalLinkId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { type PortalLink, record, statusOfLink } from './record.ts';

const STATUSES = ['unused', 'open', 'ended', 'expired', 'revoked'] as const;

export const linkList: ListDefinition = {
  id: 'p.id',
  sort: { id: 'p.id', created_at: 'p.id' },
  filters: {
    status: oneOf(STATUSES, (status) => sql`${raw(`(${statusOfLink})`)} = ${status}`),
    webhook_endpoint_id: opaqueId('we', 'p.endpoint_id'),
    owner: exactly('(case when p.is_of_owner then p.owner end)'),
    ...idInstants('created_at', 'p.id'),
  },
};

export function listLinks(db: Reader, account: AccountId, list: ListQuery): Promise<Page<PortalLink>> {
  return listPage(db, {
    list,
    name: 'portal_links',
    table: 'portal_links',
    alias: 'p',
    where: sql`p.account_id = ${account}`,
    record,
  });
}

/** The owner and the subscription of a live endpoint, locked until the transaction ends, or null. */
export function lockOwned(
  tx: Tx,
  account: AccountId,
  endpoint: EndpointId,
): Promise<{ readonly owner: string | null; readonly event_types: string[] | null } | null> {
  return maybeRow(
    tx,
    sql`select owner, event_types from webhook_endpoints
        where account_id = ${account} and id = ${endpoint} and deleted_at is null for share`,
  );
}

interface NewLink {
  readonly endpoint: EndpointId;
  readonly isOfOwner: boolean;
  readonly isReadOnly: boolean;
  readonly eventTypes: readonly string[] | null;
  readonly hash: Buffer;
  readonly ttlSeconds: number;
  readonly createdBy: string;
}

/** Stores a link for a locked endpoint, with the endpoint's current owner and filter. */
export async function insertLink(
  tx: Tx,
  account: AccountId,
  link: NewLink,
): Promise<{ readonly id: PortalLinkId; readonly json: Json<PortalLink> }> {
  const { id } = await oneRow<{ id: PortalLinkId }>(
    tx,
    sql`insert into portal_links (id, account_id, endpoint_id, owner, filter, is_of_owner, is_read_only, event_types, hash,
                                  expires_at, created_by)
        select ${newIdIn(tx.cell)}, e.account_id, e.id, e.owner, e.filter, ${link.isOfOwner}, ${link.isReadOnly}, ${link.eventTypes}::text[],
               ${link.hash}::bytea, now() + ${link.ttlSeconds}::int * interval '1 second', ${link.createdBy}
        from webhook_endpoints e where e.account_id = ${account} and e.id = ${link.endpoint} returning id`,
  );
  return { id, json: await oneRecord(tx, record, sql`portal_links p where p.id = ${id}`) };
}

/** Marks a link as revoked. Returns false if there is none, or it was revoked before. */
export async function markRevoked(tx: Tx, account: AccountId, link: PortalLinkId): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update portal_links set revoked_at = now()
        where account_id = ${account} and id = ${link} and revoked_at is null returning 1`,
  );
  return done.length === 1;
}

/** An open portal. */
export interface PortalRow {
  readonly id: PortalLinkId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly owner: string | null;
  readonly is_of_owner: boolean;
  readonly is_read_only: boolean;
  readonly event_types: string[] | null;
  readonly filter: string | null;
  readonly ends_at: Timestamp;
}

const portalColumns = sql`p.id, p.account_id as account, p.endpoint_id as endpoint, p.owner, p.is_of_owner,
  p.is_read_only, p.event_types, p.filter, iso(p.ends_at) as ends_at`;

/** Uses an unused link: its portal opens for `seconds` seconds. Returns null if it cannot be used. */
export function markUsed(
  tx: Tx,
  { link, hash, token, seconds }: { link: PortalLinkId; hash: Buffer; token: Buffer; seconds: number },
): Promise<PortalRow | null> {
  return maybeRow(
    tx,
    sql`with used as (
          update portal_links p
          set used_at = now(), token_hash = ${token}, ends_at = now() + ${seconds}::int * interval '1 second'
          where p.id = ${link} and p.hash = ${hash} and p.used_at is null and p.revoked_at is null and p.expires_at > now()
          returning *)
        select ${portalColumns} from used p`,
  );
}

/** The status of a link by its id and the hash of its secret, or null. */
export async function statusByHash(db: Reader, link: PortalLinkId, hash: Buffer): Promise<string | null> {
  const found = await maybeRow<{ status: string }>(
    db,
    sql`select ${raw(statusOfLink)} as status from portal_links p where p.id = ${link} and p.hash = ${hash}`,
  );
  return found?.status ?? null;
}

/** The open portal whose token has this hash, or null. */
export const portalByHash = finderByHash<PortalRow & { readonly hash: Buffer }>((db, hashes) =>
  rows(
    db,
    sql`select p.token_hash as hash, ${portalColumns} from portal_links p
        where p.token_hash = any(${hashes}::bytea[]) and p.revoked_at is null and p.ends_at > now()`,
    'portals_by_hash',
  ),
);

/** The origins that the link's account allows to frame its portals. */
export async function framesOfLink(db: Reader, link: PortalLinkId): Promise<readonly string[]> {
  const found = await maybeRow<{ origins: string[] }>(
    db,
    sql`select array(select jsonb_array_elements_text(a.portal_origins)) as origins
        from portal_links p join accounts a on a.id = p.account_id where p.id = ${link}`,
  );
  return found?.origins ?? [];
}

/** Deletes links a month after they could last be used. Returns their number. */
export async function deleteOldPortalLinks(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from portal_links where id = any(array(
          select id from portal_links where expires_at < ${at}::timestamptz - interval '30 days'
          limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** Caps the lifetimes of links and portals written while the clock ran fast. Returns their number. */
export async function repairPortalLinkTimes(tx: Tx): Promise<number> {
  const [link, portal] = [sql`interval '1 day'`, sql`interval '1 hour'`];
  const repaired = await rows(
    tx,
    sql`update portal_links set expires_at = least(expires_at, now() + ${link}), ends_at = least(ends_at, now() + ${portal})
        where expires_at > now() + ${link} + ${TOLERANCE} or ends_at > now() + ${portal} + ${TOLERANCE} returning 1`,
  );
  return repaired.length;
}
