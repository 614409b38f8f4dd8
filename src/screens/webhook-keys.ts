import { placeOf } from '../cells/directory.ts';
import { json, type PageInput, type PageReply, type PageRoute } from '../contract/web-pages.ts';
import type { Database } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';
import { namedIn, PUBLIC_KEYS_PATH, publicKeysOf } from '../webhooks/endpoints/public-keys.ts';

/** A receiver may keep the keys so long: while a key is replaced, both sign. */
const CACHING = 'public, max-age=300';

/** The database of an account; null = none can be reached. */
async function databaseOf({ cells }: PageInput, account: AccountId): Promise<Database | null> {
  const isAlone = cells.list().length === 1;
  const cell = isAlone ? 0 : ((await placeOf(cells.first.anonymous.reader, account)) ?? 0);
  return cells.of(cell)?.anonymous ?? null;
}

/**
 * GET /webhook-keys/{account}/{endpoint}: the public keys of an endpoint as a JSON Web Key Set (RFC 7517), for anyone. An
 * endpoint that signs with a secret is answered as one that does not exist.
 */
async function showKeys(input: PageInput): Promise<PageReply> {
  const named = namedIn(input.path);
  const db = named && (await databaseOf(input, named.account));
  const keys = db ? await publicKeysOf(db.reader, { ...named, vault: input.vault }, named.endpoint) : [];
  if (keys.length > 0) return json(200, { keys }, { 'cache-control': CACHING });
  return json(404, { error: 'not_found', error_description: 'there is no public key here' });
}

/** The public keys of endpoints. */
export const WEBHOOK_KEYS_ROUTE: PageRoute = {
  method: 'GET',
  path: `${PUBLIC_KEYS_PATH}/*`,
  errors: 'oauth',
  isPublic: true,
  handle: showKeys,
};
