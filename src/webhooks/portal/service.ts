import type { Principal } from '../../contract/route.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Database, Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { hashSecret, isSecret, newSecret } from '../../kernel/secrets.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { note } from '../../people/audit/service.ts';
import { endpointUuid, missingEndpoint } from '../endpoints/service.ts';
import { knownTypes } from '../types/types.ts';
import { type NewPortalLink, type PortalLinkRequest, USUAL_TTL_SECONDS, withUrl } from './record.ts';
import {
  framesOfLink,
  insertLink,
  lockOwned,
  markRevoked,
  markUsed,
  type PortalRow,
  portalByHash,
  statusByHash,
} from './store.ts';

/** How long a portal stays open after its link was used. */
const PORTAL_SECONDS = 3600;
/** The scopes of its operations. Links are created by an owner or a key, who also have these scopes. */
const SCOPES: ReadonlySet<Scope> = new Set(['webhooks', 'affiliates', 'analytics']);

/**
 * Creates a link that opens a portal of an endpoint, or of all with its owner. `base` is the public address of our pages.
 * The link is only in the response: the hash of its secret is stored. Throws `resource_missing`, `invalid_body`,
 * `invalid_event_type`.
 */
export async function createLink(
  tx: Tx,
  { principal, base }: { principal: Principal; base: string },
  id: string,
  input: PortalLinkRequest,
): Promise<Json<NewPortalLink>> {
  const { account } = principal;
  const endpoint = endpointUuid(id);
  const owned = await lockOwned(tx, account, endpoint);
  if (owned === null) throw missingEndpoint();
  const { all_of_owner: isOfOwner = false, read_only: isReadOnly = false, event_types: requested } = input;
  if (isOfOwner && owned.owner === null) {
    throw fail('invalid_body', 'all_of_owner: the endpoint has no owner; give it one, or omit this');
  }
  const secret = newSecret('phpl_', tx.cell);
  const made = await insertLink(tx, account, {
    endpoint,
    isOfOwner,
    isReadOnly,
    eventTypes:
      requested === undefined ? owned.event_types : requested && knownTypes(requested, 'event_types'),
    hash: hashSecret(secret),
    ttlSeconds: input.ttl_seconds ?? USUAL_TTL_SECONDS,
    createdBy: principal.id,
  });
  // after the #, so that no log and no Referer contains the secret
  return withUrl(made.json, `${base}/portal?link=${idOf('pl', made.id)}#${secret}`);
}

/** Revokes a link and ends its portal. Throws `resource_missing`, also for a link that was already revoked. */
export async function revokeLink(tx: Tx, account: AccountId, id: string): Promise<void> {
  const link = uuidOf('pl', id);
  if (link === null || !(await markRevoked(tx, account, link))) {
    throw fail('resource_missing', 'no such portal link, or it is already revoked');
  }
}

/** The token of an open portal and its end, or why the link did not open one. */
export type Opened =
  | { readonly token: string; readonly endsAt: Timestamp }
  | { readonly refusal: 'used' | 'revoked' | 'expired' | 'unknown' };

/**
 * Opens the portal of a link, once: one of several concurrent requests gets the token. `id` must be that of the link,
 * because it decided which pages may frame the portal.
 */
export async function openPortal(
  db: Database,
  { id, secret, requestId }: { id: string; secret: string; requestId: string },
): Promise<Opened> {
  const link = uuidOf('pl', id);
  if (link === null || !isSecret('phpl_', secret)) return { refusal: 'unknown' };
  const hash = hashSecret(secret);
  const token = newSecret('phpt_', db.cell);
  return db.transaction(async (tx) => {
    const portal = await markUsed(tx, { link, hash, token: hashSecret(token), seconds: PORTAL_SECONDS });
    if (portal === null) return { refusal: refusalOf(await statusByHash(tx, link, hash)) };
    await note(tx, principalOf(portal), { action: 'openPortal', target: id, requestId });
    return { token, endsAt: portal.ends_at };
  });
}

function refusalOf(status: string | null): 'used' | 'revoked' | 'expired' | 'unknown' {
  if (status === null) return 'unknown';
  return status === 'revoked' || status === 'expired' ? status : 'used';
}

/** The principal of an open portal's token (SHA-256), or null. */
export async function findPortal(db: Reader, hash: Buffer): Promise<Principal | null> {
  const portal = await portalByHash(db, hash);
  return portal && principalOf(portal);
}

function principalOf(row: PortalRow): Principal {
  return {
    kind: 'portal',
    id: idOf('pl', row.id),
    account: row.account,
    scopes: SCOPES,
    role: row.is_read_only ? 'viewer' : 'member',
    portal: {
      endpoint: row.endpoint,
      owner: row.owner,
      isOfOwner: row.is_of_owner,
      eventTypes: row.event_types,
      filter: row.filter,
      endsAt: row.ends_at,
    },
  };
}

/** The origins of pages that may frame the portal of a link; none for an unknown link. */
export async function framesOf(db: Reader, id: string): Promise<readonly string[]> {
  const link = uuidOf('pl', id);
  return link === null ? [] : framesOfLink(db, link);
}
