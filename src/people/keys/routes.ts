import { Type } from 'typebox';
import { created, noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { createKey, removeKey } from './service.ts';
import { keyList, listKeys } from './store.ts';

const fields = {
  id: Type.String({ examples: ['key_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('api_key'),
  name: Type.String(),
  hint: Type.String({ description: 'the first and last characters of the key' }),
  created_by: Type.String({ description: 'the id of the key or user that made it' }),
  last_used_at: nullable({ ...timestamp, description: 'to the minute' }),
  revoked_at: nullable(timestamp),
  created_at: timestamp,
};
const apiKey = strict(fields, { title: 'ApiKey' });
const newKey = strict(
  {
    ...fields,
    key: nullable(
      Type.String({ description: 'the secret, shown once; null when a stored answer is replayed' }),
    ),
  },
  { title: 'NewApiKey' },
);

export const list = readRoute({
  operation: 'listApiKeys',
  path: '/v2/api-keys',
  access: 'full',
  summary: 'List API keys',
  list: keyList,
  returns: { 200: listOf(apiKey) },
  handle: async ({ db, account, list }) => page(await listKeys(db, account, list)),
});

export const create = writeRoute({
  operation: 'createApiKey',
  method: 'POST',
  path: '/v2/api-keys',
  access: 'full',
  summary: 'Create an API key',
  description: 'The secret is shown in this answer only. Any key grants full access to the account.',
  body: strict({ name: text(100) }),
  returns: { 201: newKey },
  errors: ['duplicate_name'],
  secretField: 'key',
  handle: async ({ tx, account, principal, body }) => {
    const { json } = await createKey(tx, account, { name: body.name, createdBy: principal.id });
    return created(json);
  },
});

export const revoke = writeRoute({
  operation: 'revokeApiKey',
  method: 'DELETE',
  path: '/v2/api-keys/{key_id}',
  access: 'full',
  summary: 'Revoke an API key',
  description: 'It stops working at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await removeKey(tx, account, params.key_id);
    return noContent();
  },
});
