import { createHash } from 'node:crypto';
import type { Tx } from '../../db/connect.ts';
import { publishForeign } from '../../delivery/queue.ts';
import { fail } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { newEventId, readPayload, takeExternalId } from './store.ts';
import { isEventType, OWN_PREFIXES } from './types.ts';

interface PlatformEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly external_id?: string;
}

/**
 * Publishes an event of the platform's own. `rawBody` is the request's text, whose `data` is passed on as it came. The
 * same again under the same `external_id` gives the event that was stored. Throws `invalid_event_type`,
 * `reserved_event_type`, `duplicate_external_id`, `payload_too_large`.
 */
export async function publishPlatformEvent(
  tx: Tx,
  account: string,
  event: PlatformEvent,
  rawBody: string,
): Promise<{ json: Json<unknown>; isNew: boolean }> {
  const { type, data, external_id: externalId } = event;
  if (!isEventType(type)) {
    throw fail('invalid_event_type', 'type must be a dotted name such as order.created');
  }
  const reserved = OWN_PREFIXES.find((prefix) => type.startsWith(prefix));
  if (reserved) {
    throw fail('reserved_event_type', `type: events under ${reserved} are published by Payhook only`);
  }
  const id = await newEventId(tx);
  if (externalId !== undefined) {
    // numbers that JavaScript rounds to the same value are the same here
    const hash = createHash('sha256')
      .update(JSON.stringify([type, data]))
      .digest();
    const earlier = await takeExternalId(tx, account, { id, externalId, hash });
    if (earlier) {
      if (!earlier.hash.equals(hash)) {
        throw fail('duplicate_external_id', `external_id: ${externalId} was published with other content`);
      }
      return { json: await readPayload(tx, account, earlier.event), isNew: false };
    }
  }
  await publishForeign(tx, { account, type, id, body: rawBody });
  return { json: await readPayload(tx, account, id), isNew: true };
}
