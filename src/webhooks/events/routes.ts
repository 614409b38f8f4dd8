import { Type } from 'typebox';
import { batchRoute, created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { Failure } from '../../kernel/errors.ts';
import { MAX_PAYLOAD_BYTES, SURELY_FITS_BYTES } from '../../outbox/event.ts';
import { publishBatch } from './batch.ts';
import { getPublished, listPublished, publishedList } from './list.ts';
import { publishPlatformEvents } from './publish.ts';
import {
  event,
  eventBatch,
  MOST_EVENTS,
  type NewEvent,
  newEvent,
  publishedEvent,
  publishedEventWhole,
} from './record.ts';

const BATCH_LIMIT = 16 << 20;
/** The average number of members and items. */
const PARTS_OF_EVENT = 500;

export const list = readRoute({
  operation: 'listEvents',
  path: '/v2/events',
  scope: 'webhooks',
  needs: 'read',
  summary: 'List published events',
  description:
    'Each event once, whatever number of endpoints got it, as long as the log is kept. The log itself is at ' +
    '`/v2/webhook-events/`. With `sort=created_at` the list misses nothing: it ends before the oldest transaction that ' +
    'publishes, so no event appears later in front of one that was returned. To read every event once, repeat a page ' +
    'until it has `next`, and continue there.',
  list: publishedList,
  returns: { 200: listOf(publishedEvent) },
  handle: async ({ db, primary, account, list: asked }) =>
    page(await listPublished({ db, primary }, account, asked)),
});

export const get = readRoute({
  operation: 'getEvent',
  path: '/v2/events/{event_id}',
  scope: 'webhooks',
  needs: 'read',
  summary: 'Get an event and its deliveries',
  description:
    'With the payload, its record at each endpoint that got it, and the reason why the other current endpoints did ' +
    'not. A token also needs the scope affiliates for events of payouts, commissions, affiliates and imports.',
  returns: { 200: publishedEventWhole },
  errors: ['resource_missing'],
  handle: async ({ db, principal, params }) => ok(await getPublished(db, principal, params.event_id)),
});

export const publish = batchRoute({
  operation: 'publishEvent',
  method: 'POST',
  path: '/v2/events',
  needs: 'own',
  summary: 'Publish an event of your own',
  description:
    'Delivers the event to the endpoints that subscribe to its type, or to those of one `owner`. Sending it again under the same `external_id` returns ' +
    '200 with the stored event. Types that begin with one of our own prefixes are refused.',
  bodyLimit: 2 * MAX_PAYLOAD_BYTES,
  passesOn: 'data',
  body: newEvent,
  returns: { 200: event, 201: event },
  creates: '/v2/events/{event_id}',
  errors: [
    'invalid_event_type',
    'reserved_event_type',
    'duplicate_external_id',
    'event_owner_missing',
    'event_violates_schema',
    'payload_too_large',
    'too_much_to_search',
    'resource_missing',
  ],
  unaudited: true,
  publishes: (body: NewEvent) => [body],
  sends: ['Payhook-Schema-Violation'],
  batch: {
    // refuses a body that is too large here, where it shares its transaction with no other request
    aloneAbove: SURELY_FITS_BYTES,
    locks: ({ external_id: externalId }) => externalId ?? null,
    mayWait: ({ ordering_key: orderingKey }) => orderingKey !== undefined,
    handle: async (tx, publications) => {
      const published = await publishPlatformEvents(tx, publications);
      return published.map((one) =>
        one instanceof Failure ? one : one.isNew ? created(one.json) : ok(one.json),
      );
    },
  },
});

export const publishMany = writeRoute({
  operation: 'publishEventBatch',
  method: 'POST',
  path: '/v2/events/batch',
  needs: 'own',
  summary: 'Publish up to 1,000 events of your own',
  description:
    'All or nothing, at most 16 MiB. Ordered endpoints get the events of a key in the order of the list. An event that was ' +
    'published before under its `external_id`, or occurs earlier in the list, is returned with status 200.',
  bodyLimit: BATCH_LIMIT,
  mostParts: MOST_EVENTS * PARTS_OF_EVENT,
  passesOn: 'events.*.data',
  body: strict({ events: Type.Array(newEvent, { minItems: 1, maxItems: MOST_EVENTS }) }),
  returns: { 200: eventBatch },
  errors: [
    'invalid_items',
    'duplicate_external_id',
    'event_owner_missing',
    'event_violates_schema',
    'payload_too_large',
    'too_much_to_search',
    'resource_missing',
  ],
  unaudited: true,
  publishes: ({ events }: { readonly events: readonly NewEvent[] }) => events,
  sends: ['Payhook-Schema-Violation'],
  handle: async ({ tx, account, body, json }) => ok(await publishBatch(tx, { account, body, json })),
});
