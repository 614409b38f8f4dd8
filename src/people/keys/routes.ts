import { created, noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict, text } from '../../contract/schemas.ts';
import { apiKey, newKey } from './record.ts';
import { createKey, removeKey } from './service.ts';
import { keyList, listKeys } from './store.ts';

export const list = readRoute({
  operation: 'listApiKeys',
  path: '/v2/api-keys',
  needs: 'people',
  summary: 'List API keys',
  list: keyList,
  returns: { 200: listOf(apiKey) },
  handle: async ({ db, account, list }) => page(await listKeys(db, account, list)),
});

export const create = writeRoute({
  operation: 'createApiKey',
  method: 'POST',
  path: '/v2/api-keys',
  needs: 'people',
  summary: 'Create an API key',
  description: 'The secret is shown in this answer only. Any key grants full access to the account.',
  body: strict({ name: text(100) }),
  returns: { 201: newKey },
  errors: ['duplicate_name'],
  secret: 'key',
  handle: async ({ tx, account, principal, body }) => {
    const { json } = await createKey(tx, account, { name: body.name, createdBy: principal.id });
    return created(json);
  },
});

export const revoke = writeRoute({
  operation: 'deleteApiKey',
  method: 'DELETE',
  path: '/v2/api-keys/{key_id}',
  needs: 'people',
  summary: 'Delete an API key',
  description: 'Revokes it: it stops working at once, on every server process. The record stays.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await removeKey(tx, account, params.key_id);
    return noContent();
  },
});
