import type { EventBatch, PublishEventBody } from './api.ts';
import { utf8 } from './bytes.ts';
import type { Calls, KeyedOptions } from './calls.ts';

/** An event whose data is JSON text that is sent unchanged, so that JavaScript does not round its numbers. */
export interface EventText extends Omit<PublishEventBody, 'data'> {
  /** A JSON object. */
  readonly dataText: string;
}

/** The JSON of an event. */
export function eventJson(event: PublishEventBody | EventText): string {
  if (!('dataText' in event)) return JSON.stringify(event);
  const { dataText, ...rest } = event;
  return `${JSON.stringify(rest).slice(0, -1)},"data":${dataText}}`;
}

const MOST_EVENTS = 1000;
/** Bytes of the events of a request: less than the 16 MiB that the server accepts. */
const MOST_BYTES = 15 << 20;

/**
 * Publishes events in requests of at most 1,000 events and 15 MiB, one after the other. With an idempotency key, each of
 * several requests has a key of its own, which is the same when the call is repeated.
 */
export async function publishAll(
  send: Calls['send'],
  events: readonly (PublishEventBody | EventText)[],
  options: KeyedOptions = {},
): Promise<EventBatch> {
  const batches = batchesOf(events.map(eventJson));
  const items: EventBatch['items'][number][] = [];
  for (const [number, texts] of batches.entries()) {
    const key = options.idempotencyKey;
    const idempotencyKey = batches.length > 1 && key !== undefined ? `${key}-${number}` : key;
    const json = `{"events":[${texts.join(',')}]}`;
    const batch = await send('publishEventBatch', {
      path: [],
      json,
      options: { ...options, idempotencyKey },
    });
    const before = items.length;
    for (const item of batch.items ?? []) items.push({ ...item, index: before + item.index });
  }
  return { object: 'event_batch', items };
}

/** Texts in groups that each fit into a request; at least one group, which may be empty. */
function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [[]];
  let bytes = 0;
  for (const text of texts) {
    const size = utf8(text).length + 1;
    const last = batches.at(-1) ?? [];
    const isFull = last.length === MOST_EVENTS || (last.length > 0 && bytes + size > MOST_BYTES);
    if (isFull) batches.push([text]);
    else last.push(text);
    bytes = isFull ? size : bytes + size;
  }
  return batches;
}
