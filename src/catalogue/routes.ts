import { page, readRoute } from '../contract/route.ts';
import { listOf } from '../contract/schemas.ts';
import { eventType } from './record.ts';
import { eventTypeList, listEventTypes } from './service.ts';

export const listTypes = readRoute({
  operation: 'listEventTypes',
  path: '/v2/event-types',
  scope: 'webhooks',
  needs: 'read',
  portal: 'own',
  summary: 'List the types of events',
  description: "The types that Payhook publishes. A platform's own types are not listed.",
  list: eventTypeList,
  returns: { 200: listOf(eventType) },
  handle: async ({ list }) => page(listEventTypes(list)),
});
