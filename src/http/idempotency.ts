import { createHash } from 'node:crypto';
import sql from 'sql-template-tag';
import { type Database, maybeRow, oneRow, rows, type Tx } from '../db/connect.ts';
import { fail } from '../kernel/errors.ts';
import type { Principal, Reply } from './route.ts';

/** What makes two requests the same: the key's owner, the key, and a digest of method, path, query and body. */
export interface IdempotentRequest {
  readonly principal: Principal;
  readonly key: string;
  readonly digest: Buffer;
}

/** Checks an Idempotency-Key header. Throws `invalid_idempotency_key`. */
export function checkKey(key: string): string {
  if (!/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() === '') {
    throw fail('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return key;
}

/** SHA-256 over what the request asks for. Hash a file while it is read and pass its digest as the body. */
export function requestDigest(method: string, url: string, body: Buffer): Buffer {
  return createHash('sha256').update(`${method} ${url}\n`).update(body).digest();
}

/**
 * Claims the key inside the request's transaction. null: this request is the first and must `storeReply`. A twin
 * under way makes the insert wait for its end: then there is its stored answer, or nothing and this one goes on.
 * Throws `idempotency_key_reused` when the key belongs to another request.
 */
export async function claimKey(tx: Tx, request: IdempotentRequest): Promise<Reply | null> {
  const { principal, key, digest } = request;
  const claimed = await maybeRow(
    tx,
    sql`insert into idempotency_keys as k (account_id, credential, key, request_hash)
        values (${principal.account}, ${principal.id}, ${key}, ${digest})
        on conflict (account_id, credential, key) do update
          set request_hash = excluded.request_hash, status = null, headers = null, body = null, created_at = now()
          where k.created_at < now() - interval '24 hours'
        returning 1`,
  );
  if (claimed) return null;
  const stored = await oneRow<{ request_hash: Buffer; status: number; headers: string; body: string | null }>(
    tx,
    sql`select request_hash, status, headers, body from idempotency_keys
        where account_id = ${principal.account} and credential = ${principal.id} and key = ${key}`,
  );
  if (!stored.request_hash.equals(digest)) {
    throw fail('idempotency_key_reused', 'this Idempotency-Key was used with another body, query or path');
  }
  const headers = {
    ...(JSON.parse(stored.headers) as Record<string, string>),
    'idempotent-replayed': 'true',
  };
  if (stored.body === null) return { kind: 'empty', status: stored.status as 200 | 204, headers };
  return { kind: 'json', status: stored.status, json: stored.body, headers };
}

/** Stores the answer beside its effect; `secretField` is stored as null. */
export async function storeReply(
  tx: Tx,
  request: IdempotentRequest,
  reply: Reply,
  secretField: string | undefined,
): Promise<void> {
  if (reply.kind === 'file') throw new Error('a file is no answer of a writing operation');
  const body = reply.kind === 'json' ? blank(reply.json, secretField) : null;
  await rows(
    tx,
    sql`update idempotency_keys set status = ${reply.status}, headers = ${JSON.stringify(reply.headers)}, body = ${body}
        where account_id = ${request.principal.account} and credential = ${request.principal.id}
          and key = ${request.key}`,
  );
}

function blank(json: string, secretField: string | undefined): string {
  if (secretField === undefined) return json;
  return JSON.stringify({ ...(JSON.parse(json) as Record<string, unknown>), [secretField]: null });
}

/** Forgets answers older than 24 hours, a bounded slice at a time; returns how many. */
export async function forgetOldReplies(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const gone = await rows(
      tx,
      sql`delete from idempotency_keys where ctid = any(array(
            select ctid from idempotency_keys where created_at < now() - interval '24 hours' limit 10000))
          returning 1`,
    );
    return gone.length;
  });
}
