import { createHash } from 'node:crypto';
import type { Tx } from '../../db/connect.ts';
import { publishForeign } from '../../delivery/queue.ts';
import { fail } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { newEventId, takeExternalId } from './store.ts';
import { isEventType, ownPrefixOf } from './types.ts';

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
  const reserved = ownPrefixOf(type);
  if (reserved) {
    throw fail('reserved_event_type', `type: events under ${reserved} are published by Payhook only`);
  }
  const id = externalId === undefined ? null : await newEventId(tx);
  if (id !== null && externalId !== undefined) {
    const hash = contentHash(type, data);
    const earlier = await takeExternalId(tx, account, { id, externalId, hash });
    if (earlier) {
      if (!earlier.hash.equals(hash)) {
        throw fail('duplicate_external_id', `external_id: ${externalId} was published with other content`);
      }
      return { json: earlier.payload, isNew: false };
    }
  }
  // a byte order mark is none of JSON's, though the body's reader lets one pass
  const body = rawBody.replace(/^\ufeff/, '');
  const json = await publishForeign(tx, { account, type, id, body }).catch((error: { code?: string }) => {
    throw UNREADABLE.has(error.code ?? '') ? hiddenValue() : error;
  });
  return { json, isNew: true };
}

// PostgreSQL's codes for text that is no JSON to it, for \u0000 in it, and for nesting it cannot follow.
const UNREADABLE: ReadonlySet<string> = new Set(['22P02', '22P05', '54001']);

// The check of the body sees the last of several values of one name; PostgreSQL reads the others too.
const hiddenValue = () =>
  fail(
    'invalid_body',
    'a name stands twice in an object, and the value in front has NUL characters, lone surrogates or too deep nesting',
  );

/** The same for the same content: the order of keys makes no difference, nor what JavaScript rounds away of numbers. */
function contentHash(type: string, data: PlatformEvent['data']): Buffer {
  const content = JSON.stringify([type, data], (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(content).digest();
}
