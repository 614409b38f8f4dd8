import type { Database, Reader, Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/faults.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type KeyId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import { type NewKey, withKey } from './record.ts';
import { insertKey, keyByHash, type LiveKey, revokeKey, touch } from './store.ts';

/**
 * Creates an API key with full access to the account (UUID). The secret is only in the response: its hash is
 * stored. Throws `duplicate_name` when a live key of the account has the name.
 */
export async function createKey(
  tx: Tx,
  account: AccountId,
  input: { name: string; createdBy: string },
): Promise<{ json: Json<NewKey>; secret: string }> {
  const secret = newSecret('ph_', tx.cell);
  const hint = `${secret.slice(0, 6)}…${secret.slice(-4)}`;
  try {
    const record = await insertKey(tx, { account, ...input, hash: hashSecret(secret), hint });
    return { json: withKey(record, secret), secret };
  } catch (error) {
    if (uniqueViolation(error) !== 'api_keys_name') throw error;
    throw fail('duplicate_name', `name: a key named ${input.name} exists; revoke it or choose another name`);
  }
}

/** Revokes a key, at once on every server. Throws `resource_missing`, also for one that was already revoked. */
export async function removeKey(tx: Tx, account: AccountId, id: string): Promise<void> {
  const uuid = uuidOf('key', id);
  if (uuid === null || !(await revokeKey(tx, account, uuid))) {
    throw fail('resource_missing', 'no such active API key');
  }
}

/** The live key with a hash (SHA-256 of the secret), or null. Looked up on every request, so that a revoked key stops at once. */
export function findKey(db: Reader, hash: Buffer): Promise<LiveKey | null> {
  return keyByHash(db, hash);
}

const TOUCH_EVERY_MS = 60_000;
const noted = new WeakMap<Database, Map<KeyId, number>>();

/**
 * Notes that a key was used, outside the request's transaction and at most once a minute per key and connection
 * pool.
 */
export function touchKey(db: Database, id: KeyId): void {
  const now = performance.now();
  const touched = noted.get(db) ?? new Map<KeyId, number>();
  noted.set(db, touched);
  const last = touched.get(id);
  if (last !== undefined && now - last < TOUCH_EVERY_MS) return;
  touched.set(id, now);
  db.transaction((tx) => touch(tx, id)).catch(() => touched.delete(id));
}
