import type { Scope } from '../../contract/scopes.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type EndpointId, type EventId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { holdLog, retryNow } from '../../outbox/queue.ts';
import { lacksAffiliates, needsAffiliates } from '../types/types.ts';
import type { WebhookEvent, WebhookEventWithAttempts } from './record.ts';
import { hadEndpoint, lockDelivery, readDelivery, readDeliveryWhole } from './store.ts';

interface Delivery {
  /** UUIDs. */
  readonly endpoint: EndpointId;
  readonly event: EventId;
}

const missing = () => fail('resource_missing', 'no such webhook event at this webhook endpoint');

function deliveryOf(endpointId: string, eventId: string): Delivery {
  const [endpoint, event] = [uuidOf('we', endpointId), uuidOf('evt', eventId)];
  if (endpoint === null || event === null) throw missing();
  return { endpoint, event };
}

/** The UUID of an existing or deleted endpoint of the account. Throws `resource_missing`. */
export async function loggedEndpoint(db: Reader, account: AccountId, id: string): Promise<EndpointId> {
  const endpoint = uuidOf('we', id);
  if (endpoint === null || !(await hadEndpoint(db, account, endpoint))) {
    throw fail('resource_missing', 'no such webhook endpoint');
  }
  return endpoint;
}

/** The log record of an event at an endpoint (UUIDs). Throws `resource_missing`. */
export async function getDelivery(
  db: Reader,
  account: AccountId,
  delivery: Delivery,
): Promise<Json<WebhookEvent>> {
  const json = await readDelivery(db, account, delivery);
  if (json === null) throw missing();
  return json;
}

/** The caller who reads an event. */
export interface Caller {
  readonly account: AccountId;
  readonly scopes: ReadonlySet<Scope>;
}

/** The log record by its ids, with payload and attempts. Throws `resource_missing`, `insufficient_scope`. */
export async function getDeliveryWhole(
  db: Reader,
  caller: Caller,
  ids: { id: string; event_id: string },
): Promise<Json<WebhookEventWithAttempts>> {
  const found = await readDeliveryWhole(db, caller.account, deliveryOf(ids.id, ids.event_id));
  if (found === null) throw missing();
  checkScopes(caller, found.type);
  return found.json;
}

/**
 * A credential that may not read a record may not read an event about it, or have it sent. Throws `insufficient_scope`.
 */
export function checkScopes({ scopes }: Caller, type: string): void {
  if (scopes.has('affiliates') || !needsAffiliates([type])) return;
  throw lacksAffiliates(`${type} needs`);
}

/**
 * Sends an event again now, with the same `webhook-id`. Success makes it `delivered`; a failure leaves the earlier status
 * and the rest of the schedule unchanged. Throws `resource_missing`, `insufficient_scope`, `endpoint_disabled`,
 * `endpoint_deleted`.
 */
export async function retryDelivery(
  tx: Tx,
  caller: Caller,
  ids: { id: string; event_id: string },
): Promise<void> {
  const { account } = caller;
  const delivery = deliveryOf(ids.id, ids.event_id);
  await holdLog(tx);
  const state = await lockDelivery(tx, account, delivery);
  if (state === null) throw missing();
  checkScopes(caller, state.type);
  if (state.deleted) throw fail('endpoint_deleted', 'the webhook endpoint was deleted; only its log is left');
  if (state.disabled) {
    throw fail('endpoint_disabled', 'the webhook endpoint is disabled: enable it, then retry');
  }
  await retryNow(tx, { account, ...delivery });
}
