import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';

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

/** The record of an API key. */
export const apiKey = strict(fields, { title: 'ApiKey' });
export type ApiKey = Static<typeof apiKey>;

/** Its columns, over `api_keys k`. */
export const record = columnsOf(apiKey, {
  id: "public_id('key', k.id)",
  object: "'api_key'",
  name: 'k.name',
  hint: 'k.hint',
  created_by: 'k.created_by',
  last_used_at: 'iso(k.last_used_at)',
  revoked_at: 'iso(k.revoked_at)',
  created_at: 'iso(id_time(k.id))',
});

/** The record with the key itself, as the response of its creation. */
export const newKey = strict(
  {
    ...fields,
    key: nullable(
      Type.String({ description: 'the secret, shown once; null when a stored answer is replayed' }),
    ),
  },
  { title: 'NewApiKey' },
);
export type NewKey = Static<typeof newKey>;

/** The record with the key that was just generated. */
export const withKey = (json: Json<ApiKey>, made: string): Json<NewKey> =>
  extended(json, { key: toJson(made) });
