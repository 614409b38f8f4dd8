import { noContent, ok, page, readRoute, writeRoute } from '../contract/route.ts';
import { listOf } from '../contract/schemas.ts';
import { ownTypeInput } from '../webhooks/types/record.ts';
import { deleteOwnType } from '../webhooks/types/service.ts';
import { eventType } from './record.ts';
import { eventTypeList, getEventType, listEventTypes, putEventType } from './service.ts';

const path = '/v2/event-types/{type}';
const inPath = {
  type: {
    description: 'the name of the type',
    schema: { type: 'string', minLength: 1, maxLength: 100, examples: ['order.created'] },
  },
};

export const listTypes = readRoute({
  operation: 'listEventTypes',
  path: '/v2/event-types',
  scope: 'webhooks',
  needs: 'read',
  portal: 'own',
  summary: 'List the types of events',
  description:
    'The types that Payhook publishes, and your own. A portal gets those of your own that its link offers.',
  list: eventTypeList,
  returns: { 200: listOf(eventType) },
  handle: async ({ db, principal, list }) => page(await listEventTypes(db, principal, list)),
});

export const get = readRoute({
  operation: 'getEventType',
  path,
  inPath,
  scope: 'webhooks',
  needs: 'read',
  portal: 'own',
  summary: 'Get a type of event',
  returns: { 200: eventType },
  errors: ['resource_missing'],
  handle: async ({ db, principal, params }) => ok(await getEventType(db, principal, params.type)),
});

export const put = writeRoute({
  operation: 'putEventType',
  method: 'PUT',
  path,
  inPath,
  scope: 'webhooks',
  needs: 'webhooks',
  summary: 'Create or replace an event type of your own',
  description:
    'Fields that are left out get their default. Events of the type are checked against `data_schema` if the account has ' +
    '`event_validation`, from the next request on. At most 200 types. Types that begin with one of our own prefixes are refused.',
  body: ownTypeInput,
  bodyLimit: 256 << 10,
  returns: { 200: eventType },
  errors: ['invalid_event_type', 'reserved_event_type', 'invalid_schema', 'too_many_event_types'],
  handle: async ({ tx, principal, params, body }) => ok(await putEventType(tx, principal, params.type, body)),
});

export const remove = writeRoute({
  operation: 'deleteEventType',
  method: 'DELETE',
  path,
  inPath,
  scope: 'webhooks',
  needs: 'webhooks',
  summary: 'Delete an event type of your own',
  description: 'Events of the type are still published and sent, unchecked.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await deleteOwnType(tx, account, params.type);
    return noContent();
  },
});
