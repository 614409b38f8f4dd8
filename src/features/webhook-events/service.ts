import type { Reader, Tx } from '../../db/connect.ts';
import { retryNow } from '../../delivery/queue.ts';
import { fail } from '../../kernel/errors.ts';
import { uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { hadEndpoint, lockDelivery, readDelivery, readDeliveryWhole } from './store.ts';

interface Delivery {
  /** UUIDs. */
  readonly endpoint: string;
  readonly event: string;
}

const missing = () => fail('resource_missing', 'no such webhook event at this webhook endpoint');

function deliveryOf(endpointId: string, eventId: string): Delivery {
  const [endpoint, event] = [uuidOf('we', endpointId), uuidOf('evt', eventId)];
  if (endpoint === null || event === null) throw missing();
  return { endpoint, event };
}

/** The UUID of an endpoint that the account has or had. Throws `resource_missing`. */
export async function loggedEndpoint(db: Reader, account: string, id: string): Promise<string> {
  const endpoint = uuidOf('we', id);
  if (endpoint === null || !(await hadEndpoint(db, account, endpoint))) {
    throw fail('resource_missing', 'no such webhook endpoint');
  }
  return endpoint;
}

/** The log record of an event at an endpoint (UUIDs). Throws `resource_missing`. */
export async function getDelivery(db: Reader, account: string, delivery: Delivery): Promise<Json<unknown>> {
  const json = await readDelivery(db, account, delivery);
  if (json === null) throw missing();
  return json;
}

/** The log record by its ids, with payload and attempts. Throws `resource_missing`. */
export async function getDeliveryWhole(
  db: Reader,
  account: string,
  ids: { id: string; event_id: string },
): Promise<Json<unknown>> {
  const json = await readDeliveryWhole(db, account, deliveryOf(ids.id, ids.event_id));
  if (json === null) throw missing();
  return json;
}

/**
 * Sends an event again, now, with the same `webhook-id`. Success makes it `delivered`; after a failure the earlier
 * status and the rest of the schedule stand. Throws `resource_missing`, `endpoint_disabled`, `endpoint_deleted`.
 */
export async function retryDelivery(
  tx: Tx,
  account: string,
  ids: { id: string; event_id: string },
): Promise<void> {
  const delivery = deliveryOf(ids.id, ids.event_id);
  const state = await lockDelivery(tx, account, delivery);
  if (state === null) throw missing();
  if (state.deleted) throw fail('endpoint_deleted', 'the webhook endpoint was deleted; only its log is left');
  if (state.disabled) {
    throw fail('endpoint_disabled', 'the webhook endpoint is disabled: enable it, then retry');
  }
  await retryNow(tx, { account, ...delivery });
}
