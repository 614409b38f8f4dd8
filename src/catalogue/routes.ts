import { Type } from 'typebox';
import { page, readRoute } from '../contract/route.ts';
import { listOf, strict } from '../contract/schemas.ts';
import { event } from '../webhooks/events/schema.ts';
import { eventTypeList, listEventTypes } from './service.ts';

const eventType = strict(
  {
    object: Type.Literal('event_type'),
    type: Type.String({ examples: ['payout.paid'] }),
    description: Type.String({ description: 'when it happens' }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'the JSON schema of the whole event' }),
    example: event,
  },
  { title: 'EventType' },
);

export const listTypes = readRoute({
  operation: 'listEventTypes',
  path: '/v2/event-types',
  access: 'webhooks',
  summary: 'List the types of event',
  description: "The types Payhook publishes of its own. A platform's own types are not listed.",
  list: eventTypeList,
  returns: { 200: listOf(eventType) },
  handle: async ({ list }) => page(listEventTypes(list)),
});
