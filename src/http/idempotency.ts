import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import sql, { join, raw } from 'sql-template-tag';
import type { Principal, Reply } from '../contract/route.ts';
import { SLICE_ROWS } from '../db/chores.ts';
import { TOLERANCE } from '../db/clock.ts';
import { type Database, oneRow, rows, type Tx } from '../db/database.ts';
import { keyInForce, sealingKey } from '../db/secret-key.ts';
import { linesOf, type Patterns, tellsOf, withoutAddress, withoutPerson } from '../erasure/person.ts';
import { Failure, fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';
import { isKeyed } from '../kernel/keyed-methods.ts';
import type { Vault } from '../kernel/vault.ts';

/** What identifies a request: the key's owner, the key, and a digest of method, path, query and body. */
export interface IdempotentRequest {
  readonly principal: Principal;
  readonly key: string;
  readonly digest: Buffer;
}

/** The Idempotency-Key of a request, if its method takes one. Throws `invalid_idempotency_key`. */
export function idempotencyKey({
  method,
  headers,
}: Pick<IncomingMessage, 'headers'> & { readonly method: string }): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined || !isKeyed(method)) return undefined;
  const key = String(header);
  if (!/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() === '') {
    throw fail('invalid_idempotency_key', 'Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return key;
}

/** The context of the keyed digests of requests. */
const contextOf = (account: string) => `idempotency_keys ${account}`;

/**
 * SHA-256 over the content of a request. Only a keyed digest of it is stored, because a body may contain a tax number,
 * which could be found by trying. The body is the canonical text of its JSON, or the digest of a file that was hashed
 * while it was read.
 */
export function requestDigest(method: string, url: string, body: string | Buffer): Buffer {
  return createHash('sha256').update(`${method} ${url}\n`).update(body).digest();
}

/**
 * Responds to requests inside their transaction. A request with a used key gets the stored response, or
 * `idempotency_key_reused`. Others are answered by `work`, and their responses are stored with their effects. If `work`
 * refuses, the key stays free. Waits for a request in progress with the same key; the given requests must have distinct
 * keys. `vault` computes the stored digests.
 */
export async function answerOnce<Request extends { readonly idempotent: IdempotentRequest | undefined }>(
  tx: Tx,
  requests: readonly Request[],
  { vault, secretField }: { readonly vault: Vault; readonly secretField: string | undefined },
  work: (fresh: readonly Request[]) => Promise<readonly (Reply | Failure)[]>,
): Promise<(Reply | Failure)[]> {
  const keyed = requests.flatMap(({ idempotent }) => idempotent ?? []);
  const { earlier, sealing } = await claimKeys(tx, vault, keyed);
  const fresh = requests.filter(({ idempotent }) => !earlier.has(idempotent));
  const answers = fresh.length === 0 ? [] : await work(fresh);
  const made = new Map(fresh.map((request, index) => [request, answers[index] as Reply | Failure]));
  await storeAnswers(tx, made, { secretField, digestOf: (one) => digestOf(vault, one, sealing) });
  return requests.map((request) => made.get(request) ?? (earlier.get(request.idempotent) as Reply | Failure));
}

type Answers = ReadonlyMap<IdempotentRequest | undefined, Reply | Failure>;

const digestOf = (vault: Vault, { principal, digest }: IdempotentRequest, fingerprint: string) =>
  vault.digest(digest, contextOf(principal.account), fingerprint);

interface Claimed {
  /** The stored responses of keys that were used before. */
  readonly earlier: Answers;
  /** The fingerprint of the secret key for the digests of the others. */
  readonly sealing: string;
}

/** Claims the free keys. Their digests are stored with the responses. */
async function claimKeys(tx: Tx, vault: Vault, requests: readonly IdempotentRequest[]): Promise<Claimed> {
  if (requests.length === 0) return { earlier: new Map(), sealing: '' };
  // in the order of the keys, so that two requests that claim several cannot deadlock
  const claimed = await rows<{ place: bigint; sealing: string }>(
    tx,
    sql`with requested as materialized (select * from ${requested(requests)}),
        claimed as (
          insert into idempotency_keys as k (account_id, credential, key, request_hash)
          select account_id, credential, key, '' from requested order by 1, 2, 3
          on conflict (account_id, credential, key) do update
            set request_hash = '', status = null, headers = null, body = null, created_at = excluded.created_at
            where excluded.created_at - k.created_at > interval '24 hours'
          returning account_id, credential, key)
        select place, ${keyInForce} as sealing from claimed join requested using (account_id, credential, key)`,
    'claim_idempotency_keys',
  );
  const places = new Set(claimed.map(({ place }) => Number(place) - 1));
  const others = requests.filter((_, place) => !places.has(place));
  const earlier: Answers = others.length === 0 ? new Map() : await answersUnder(tx, vault, others);
  if (earlier.size < others.length) throw new Error('an idempotency record disappeared while it was read');
  return { earlier, sealing: claimed[0]?.sealing ?? '' };
}

const requested = (requests: readonly IdempotentRequest[]) => sql`
  unnest(${requests.map(({ principal }) => principal.account)}::uuid[],
    ${requests.map(({ principal }) => principal.id)}::text[], ${requests.map(({ key }) => key)}::text[])
    with ordinality as requested (account_id, credential, key, place)`;

interface StoredAnswer {
  readonly place: bigint;
  readonly request_hash: Buffer;
  readonly status: number;
  readonly headers: string;
  readonly body: string | null;
}

async function answersUnder(tx: Tx, vault: Vault, requests: readonly IdempotentRequest[]): Promise<Answers> {
  const stored = await rows<StoredAnswer>(
    tx,
    sql`select place, request_hash, status, headers, body
        from ${requested(requests)} join idempotency_keys k using (account_id, credential, key)`,
  );
  return new Map(
    stored.map((answer) => {
      const request = requests[Number(answer.place) - 1] as IdempotentRequest;
      return [request, refusalOf(isSame(vault, request, answer.request_hash)) ?? answerOf(answer)];
    }),
  );
}

/** Whether a request matches the stored digest; null = unknown. */
function isSame(vault: Vault, { principal, digest }: IdempotentRequest, stored: Buffer): boolean | null {
  if (stored.length === PLAIN_BYTES) return stored.equals(digest);
  return vault.isDigestOf(stored, digest, contextOf(principal.account));
}

function refusalOf(same: boolean | null): Failure | null {
  if (same === true) return null;
  return fail(
    'idempotency_key_reused',
    same === false
      ? 'this Idempotency-Key was used with another body, query or path'
      : 'this Idempotency-Key was used before the secret key of the server changed, so it is unknown whether the ' +
          'request is the same: check whether it was carried out, and send a new one with another key',
  );
}

function answerOf({ status, headers: stored, body }: StoredAnswer): Reply {
  const headers = { ...(JSON.parse(stored) as Record<string, string>), 'idempotent-replayed': 'true' };
  if (body === null) return { kind: 'empty', status: status as 200 | 204, headers };
  return { kind: 'json', status, json: body, headers };
}

/** Stores responses under the claimed keys, with `secretField` set to null. A refusal releases its key. */
async function storeAnswers(
  tx: Tx,
  answers: ReadonlyMap<{ readonly idempotent: IdempotentRequest | undefined }, Reply | Failure>,
  {
    secretField,
    digestOf,
  }: { secretField: string | undefined; digestOf: (request: IdempotentRequest) => Buffer },
): Promise<void> {
  const keyed = [...answers].flatMap(([{ idempotent }, answer]) =>
    idempotent ? { idempotent, answer } : [],
  );
  if (keyed.length === 0) return;
  const each = <Value>(of: (answer: Reply) => Value) =>
    keyed.map(({ answer }) => (answer instanceof Failure ? null : of(answer)));
  // as separate values: the driver would write a long text into an array in one piece
  const bodies = each((reply) => bodyOf(reply, secretField));
  // planned every time, like every lookup of keys: a plan from when there were few would scan them all
  await rows(
    tx,
    sql`with answer as materialized (
          select * from unnest(${keyed.map(({ idempotent }) => idempotent.principal.account)}::uuid[],
            ${keyed.map(({ idempotent }) => idempotent.principal.id)}::text[],
            ${keyed.map(({ idempotent }) => idempotent.key)}::text[],
            ${each(({ status }) => status)}::int[], ${each(({ headers }) => JSON.stringify(headers))}::text[],
            array[${join(bodies)}]::text[],
            ${keyed.map(({ idempotent }) => digestOf(idempotent))}::bytea[])
            as r (account_id, credential, key, status, headers, body, request_hash)),
        given_back as (
          delete from idempotency_keys k using answer a
          where k.account_id = a.account_id and k.credential = a.credential and k.key = a.key and a.status is null)
        update idempotency_keys k
        set status = a.status, headers = a.headers::jsonb, body = a.body, request_hash = a.request_hash from answer a
        where k.account_id = a.account_id and k.credential = a.credential and k.key = a.key and a.status is not null`,
  );
}

function bodyOf(reply: Reply, secretField: string | undefined): string | null {
  if (reply.kind === 'file') throw new Error('a write cannot return a file');
  return reply.kind === 'json' ? blank(reply.json, secretField) : null;
}

function blank(json: string, secretField: string | undefined): string {
  if (secretField === undefined) return json;
  const fields = JSON.parse(json) as Record<string, unknown>;
  return Object.hasOwn(fields, secretField) ? JSON.stringify({ ...fields, [secretField]: null }) : json;
}

/** The length of digests stored by earlier versions: SHA-256 without a key. */
const PLAIN_BYTES = 32;

/**
 * Replaces unkeyed digests with keyed ones, each time it is called. Servers of the previous version write such digests
 * while they run, so it checks those of the last hour again.
 */
export function keyPlainDigests(db: Database, vault: Vault): () => Promise<void> {
  let since = '-infinity';
  return async () => {
    const { hour_ago: next } = await oneRow<{ hour_ago: string }>(
      db.reader,
      sql`select (now() - interval '1 hour')::text as hour_ago`,
    );
    for (let last: string | null = since; last !== null; ) {
      since = last;
      last = await db.transaction((tx) => keySlice(tx, vault, since));
    }
    since = next;
  };
}

/** Processes a slice from this time on. Returns the time of the last digest, or null. */
async function keySlice(tx: Tx, vault: Vault, since: string): Promise<string | null> {
  const plain = await rows<{
    account_id: string;
    credential: string;
    key: string;
    request_hash: Buffer;
    at: string;
  }>(
    tx,
    sql`select account_id, credential, key, request_hash, created_at::text as at from idempotency_keys
        where created_at >= ${since}::timestamptz and octet_length(request_hash) = ${PLAIN_BYTES}
        order by created_at limit ${SLICE_ROWS}::int for update skip locked`,
  );
  if (plain.length === 0) return null;
  const fingerprint = await sealingKey(tx);
  const each = <Value>(of: (row: (typeof plain)[number]) => Value) => plain.map(of);
  await rows(
    tx,
    sql`update idempotency_keys k set request_hash = c.request_hash
        from unnest(${each((row) => row.account_id)}::uuid[], ${each((row) => row.credential)}::text[],
          ${each((row) => row.key)}::text[],
          ${each((row) => vault.digest(row.request_hash, contextOf(row.account_id), fingerprint))}::bytea[])
          as c (account_id, credential, key, request_hash)
        where k.account_id = c.account_id and k.credential = c.credential and k.key = c.key`,
  );
  return plain.at(-1)?.at ?? null;
}

/** Deletes a slice of the responses that are older than 24 hours at `at`. Returns their number. */
export async function forgetOldReplies(tx: Tx, at: string): Promise<number> {
  const old = sql`created_at < ${at}::timestamptz - interval '24 hours'`;
  const gone = await rows(
    tx,
    sql`delete from idempotency_keys where ctid = any(array(
          select ctid from idempotency_keys where ${old} limit ${SLICE_ROWS}::int))
          -- checked again on the current row, after a transaction that is renewing it has committed
          and ${old}
        returning 1`,
  );
  return gone.length;
}

/** Corrects responses dated in the future by a clock that was ahead: otherwise they would be kept until then. */
export async function redateReplies(tx: Tx): Promise<number> {
  const redated = await rows(
    tx,
    sql`update idempotency_keys set created_at = now() where ctid = any(array(
          select ctid from idempotency_keys where created_at > now() + ${TOLERANCE} limit ${SLICE_ROWS}::int
          for update skip locked))
        returning 1`,
  );
  return redated.length;
}

/**
 * Removes the person behind an affiliate from the stored responses of an account (UUID), and from their keys. `record` is
 * the current affiliate as JSON text, for responses that were the affiliate.
 */
export async function eraseFromReplies(
  tx: Tx,
  account: AccountId,
  { affiliate, record, patterns }: { affiliate: bigint; record: string; patterns: Patterns },
): Promise<void> {
  const isRecord = sql`coalesce(starts_with(body, ${`{"id":${affiliate},"object":"affiliate"`}), false)`;
  await rows(
    tx,
    sql`update idempotency_keys
        set key = ${withoutAddress(sql`key`, patterns)},
            body = case when ${isRecord} then ${record} else ${withoutPerson(sql`body`, patterns)} end
        where account_id = ${account}
          and (${isRecord} or ${tellsOf(linesOf([raw('key'), raw('body')]), patterns)})`,
  );
}
