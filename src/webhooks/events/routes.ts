import { batchRoute, created, ok } from '../../contract/route.ts';
import { Failure } from '../../kernel/errors.ts';
import { MAX_PAYLOAD_BYTES } from '../../outbox/queue.ts';
import { publishPlatformEvents, SURELY_FITS_BYTES } from './publish.ts';
import { event, newEvent } from './record.ts';

export const publish = batchRoute({
  operation: 'publishEvent',
  method: 'POST',
  path: '/v2/events',
  access: 'full',
  summary: 'Publish an event of your own',
  description:
    'Delivers the event to the endpoints that subscribed to its type. Sending it again under the same `external_id` answers ' +
    '200 with the stored event. Types that begin with one of our own prefixes are refused.',
  bodyLimit: 2 * MAX_PAYLOAD_BYTES,
  passesOn: 'data',
  body: newEvent,
  returns: { 200: event, 201: event },
  errors: [
    'invalid_event_type',
    'reserved_event_type',
    'duplicate_external_id',
    'payload_too_large',
    'resource_missing',
  ],
  unaudited: true,
  batch: {
    // who is refused for its size is found out with nobody else in the transaction
    aloneAbove: SURELY_FITS_BYTES,
    locks: ({ external_id: externalId }) => externalId ?? null,
    handle: async (tx, publications) => {
      const published = await publishPlatformEvents(tx, publications);
      return published.map((one) =>
        one instanceof Failure ? one : one.isNew ? created(one.json) : ok(one.json),
      );
    },
  },
});
