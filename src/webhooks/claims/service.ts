import type { Env } from '../../contract/env.ts';
import type { Principal } from '../../contract/route.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, type Uuid, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import type { Vault } from '../../kernel/vault.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import { giveBack } from '../../outbox/ending.ts';
import { checkSubscription, endpointDisabled, pullEndpoint } from '../endpoints/service.ts';
import { claimed } from '../engine/claim.ts';
import { createKeyring } from '../engine/keyring.ts';
import { signed } from '../engine/message.ts';
import { type Report, settleClaimed } from '../engine/pulled.ts';
import { formHeaders } from '../forms/forms.ts';
import { lacksAffiliates, needsAffiliates } from '../types/types.ts';
import type {
  Acknowledgements,
  AcknowledgeRequest,
  ClaimedEvent,
  ClaimRequest,
  EndpointToken,
  ExtendRequest,
  Extensions,
  WebhookClaim,
} from './record.ts';
import {
  endpointByToken,
  extend,
  findEnded,
  type Lease,
  replaceToken,
  type TakenRow,
  take,
} from './store.ts';

/** The scopes of the token of an endpoint: who created it could read every event there. */
const SCOPES: ReadonlySet<Scope> = new Set(['webhooks', 'affiliates']);

/** An answer without events. */
export const NOTHING: Json<WebhookClaim> = toJson({ object: 'webhook_claim', items: [] });

/**
 * Takes events of a pull endpoint for the time of a lease. Throws `resource_missing`, `not_a_pull_endpoint`, `endpoint_disabled`,
 * `insufficient_scope`.
 */
export async function claimEvents(
  tx: Tx,
  { principal, vault }: { readonly principal: Principal } & Pick<Env, 'vault'>,
  id: string,
  { limit = 10, lease_seconds: leaseSeconds = 30, consumer }: ClaimRequest,
): Promise<Json<WebhookClaim>> {
  const { account } = principal;
  const { endpoint, row } = await pullEndpoint(tx, account, id);
  if (row.disabled_at !== null) throw endpointDisabled();
  checkSubscription(principal, row.event_types);
  const taken = await take(
    tx,
    { account, endpoint },
    { limit, leaseSeconds, claimedBy: principal.id, consumer: consumer ?? null },
  );
  // an earlier subscription may have been wider
  const hidden = taken.find(({ type }) => needsAffiliates([type]));
  if (hidden && !principal.scopes.has('affiliates')) throw lacksAffiliates(`${hidden.type} needs`);
  if (taken.length === 0) return NOTHING;
  countClaims(tx, taken.length);
  return toJson<WebhookClaim>({ object: 'webhook_claim', items: taken.map((each) => eventOf(each, vault)) });
}

function countClaims(tx: Tx, count: number): void {
  const instruments = instrumentsOf(tx);
  if (instruments) tx.onEnd((isCommitted) => isCommitted && instruments.count('claim', count));
}

const keyrings = new WeakMap<Vault, ReturnType<typeof createKeyring>>();

/** A claimed event with the headers of a request that would be sent now. */
function eventOf({ token, type, attempt, expires_at, now, ...row }: TakenRow, vault: Vault): ClaimedEvent {
  const keyring = keyrings.get(vault) ?? createKeyring(vault);
  keyrings.set(vault, keyring);
  const delivery = claimed(row);
  const id = idOf('evt', delivery.event);
  const message = {
    id,
    body: delivery.payload,
    added: formHeaders(delivery),
    trace: delivery.trace,
    timestamp: Number(now),
  };
  const { headers } = signed(delivery, message, keyring.open(delivery));
  return {
    id,
    object: 'claimed_event',
    type,
    attempt,
    lease_id: leaseIdOf(token),
    lease_expires_at: expires_at,
    headers,
    body: delivery.payload,
  };
}

const leaseIdOf = (token: string) => idOf('lease', token as Uuid<'lease'>);

/** An item that names a lease, and the lease; null if an id is ill-formed, so there is none. */
interface Item {
  readonly lease: Lease | null;
  readonly key: string;
}

const keyOf = ({ event, token }: Lease) => `${event} ${token}`;

function itemOf({ id, lease_id }: { readonly id: string; readonly lease_id: string }): Item {
  const [event, token] = [uuidOf('evt', id), uuidOf('lease', lease_id)];
  if (event === null || token === null) return { lease: null, key: '' };
  const lease = { event, token };
  return { lease, key: keyOf(lease) };
}

/**
 * Ends the attempts of claimed events. An acknowledgement that was made before, with the same status, is accepted again; one
 * whose lease has ended changes nothing. Throws `resource_missing`, `not_a_pull_endpoint`, `invalid_body`.
 */
export async function acknowledgeEvents(
  tx: Tx,
  { account, scheduleMs }: { readonly account: AccountId } & Pick<Env, 'scheduleMs'>,
  id: string,
  { items }: AcknowledgeRequest,
): Promise<Json<Acknowledgements>> {
  const { endpoint } = await pullEndpoint(tx, account, id);
  const place = { account, endpoint };
  const wanted = new Map<string, Report>();
  for (const [index, item] of items.entries()) {
    const { lease, key } = itemOf(item);
    if (item.status === 'delivered' && item.error !== undefined)
      throw fail('invalid_body', `items[${index}].error must be left out with the status delivered`);
    if (lease === null) continue;
    const report = { ...lease, status: item.status, error: errorOf(item) };
    const other = wanted.get(key);
    if (other && other.status !== item.status)
      throw fail(
        'invalid_body',
        `items[${index}].status must be ${other.status}, as in an item before with the same lease`,
      );
    wanted.set(key, other ?? report);
  }
  const reports = [...wanted.values()];
  const settled = await settleClaimed(tx, place, reports, scheduleMs);
  const rest = reports.filter((report) => !settled.has(keyOf(report)));
  const ended = new Map(
    (rest.length === 0 ? [] : await findEnded(tx, place, rest)).map((each) => [keyOf(each), each]),
  );
  return toJson<Acknowledgements>({
    object: 'webhook_acknowledgements',
    items: items.map((item) => {
      const { key } = itemOf(item);
      const isDone = settled.has(key) || ended.get(key)?.status === item.status;
      return { id: item.id, lease_id: item.lease_id, result: isDone ? 'acknowledged' : 'lease_lost' };
    }),
  });
}

function errorOf({ status, error }: AcknowledgeRequest['items'][number]): Report['error'] {
  if (status === 'delivered') return null;
  if (status === 'cancelled')
    return { code: 'consumer_cancelled', message: error ?? 'the consumer gave up the event' };
  return { code: 'consumer_failed', message: error ?? 'the consumer reported a failure' };
}

/**
 * Extends leases, or returns their events if `lease_seconds` is 0. Throws `resource_missing`, `not_a_pull_endpoint`.
 */
export async function extendLeases(
  tx: Tx,
  account: AccountId,
  id: string,
  { items, lease_seconds: seconds }: ExtendRequest,
): Promise<Json<Extensions>> {
  const { endpoint } = await pullEndpoint(tx, account, id);
  const all = items.map(itemOf);
  const leases = [
    ...new Map(all.flatMap(({ lease, key }) => (lease ? [[key, lease] as const] : []))).values(),
  ];
  const moved = new Map(
    (await extend(tx, { account, endpoint }, leases, seconds)).map((each) => [keyOf(each), each]),
  );
  if (seconds === 0) {
    for (const token of new Set([...moved.values()].map((lease) => lease.token))) {
      const events = [...moved.values()].flatMap((lease) => (lease.token === token ? [lease.event] : []));
      await giveBack(tx, { endpoint, events, token });
    }
  }
  return toJson<Extensions>({
    object: 'webhook_leases',
    items: items.map(({ id: event, lease_id }, index) => {
      const found = moved.get(all[index]?.key ?? '');
      if (!found) return { id: event, lease_id, result: 'lease_lost', lease_expires_at: null };
      return seconds === 0
        ? { id: event, lease_id, result: 'returned', lease_expires_at: null }
        : { id: event, lease_id, result: 'extended', lease_expires_at: found.expires_at };
    }),
  });
}

/**
 * Creates the token of a pull endpoint, which is only in the response: its hash is stored. The previous one stops at once or after
 * `overlapSeconds`. Throws `resource_missing`, `not_a_pull_endpoint`, `insufficient_scope`.
 */
export async function createToken(
  tx: Tx,
  principal: Principal,
  id: string,
  overlapSeconds: number,
): Promise<Json<EndpointToken>> {
  const { account } = principal;
  const { endpoint, row } = await pullEndpoint(tx, account, id, { locks: true });
  // whoever has the token reads every event
  checkSubscription(principal, row.event_types);
  const token = newSecret('phw_', tx.cell);
  const until = await replaceToken(tx, { account, endpoint }, { hash: hashSecret(token), overlapSeconds });
  return toJson<EndpointToken>({ object: 'webhook_endpoint_token', token, previous_token_expires_at: until });
}

/** The principal of the token of a live pull endpoint (SHA-256), or null. */
export async function findConsumer(db: Reader, hash: Buffer): Promise<Principal | null> {
  const found = await endpointByToken(db, hash);
  if (found === null) return null;
  const { account, endpoint } = found;
  return { kind: 'endpoint', id: idOf('we', endpoint), account, scopes: SCOPES, role: 'member', endpoint };
}
