import sql from 'sql-template-tag';
import { rolesWith } from '../contract/roles.ts';
import type { Scope } from '../contract/scopes.ts';
import { finderByHash } from '../db/by-hash.ts';
import { SLICE_ROWS } from '../db/chores.ts';
import { TOLERANCE } from '../db/clock.ts';
import { maybeRow, rows, type Tx } from '../db/database.ts';
import type { AccountId, ApplicationId, GrantId, UserId } from '../kernel/ids.ts';

/** The grant that a code or a token belongs to; ids are UUIDs. */
interface OfGrant {
  readonly grant_id: GrantId;
  readonly application_id: ApplicationId;
  readonly account_id: AccountId;
  readonly user_id: UserId;
  /** Not revoked, the application exists, and the user is still an owner. */
  readonly live: boolean;
}

export interface CodeRow extends OfGrant {
  readonly redirect_uri: string;
  readonly challenge: string | null;
  readonly granted: readonly Scope[];
  readonly expired: boolean;
  readonly used: boolean;
}

export interface TokenRow extends OfGrant {
  readonly kind: 'access' | 'refresh';
  readonly scopes: readonly Scope[];
  readonly expired: boolean;
  readonly used: boolean;
  /** Used more than ten seconds ago: too long for an honest client that sent two requests at once. */
  readonly used_long_ago: boolean;
}

/** The roles whose users may grant applications access. */
const GRANTING = rolesWith('people');

const ofGrant = sql`g.id as grant_id, g.application_id, g.account_id, g.user_id,
  g.revoked_at is null and p.deleted_at is null and u.removed_at is null
    and u.role = any(${GRANTING}) as live`;
const grantJoin = sql`join oauth_applications p on p.id = g.application_id
  join users u on u.account_id = g.account_id and u.id = g.user_id`;

/**
 * Inserts a grant that nothing can use yet. Returns its id (UUID), or null if the application was deleted, or the user is
 * no longer an owner. Both rows are locked until the transaction ends, so that whatever revokes their grants finds this
 * one.
 */
export async function insertGrant(
  tx: Tx,
  grant: { account: AccountId; user: UserId; application: ApplicationId; scopes: readonly Scope[] },
): Promise<GrantId | null> {
  const row = await maybeRow<{ id: GrantId }>(
    tx,
    sql`with p as (
          select id from oauth_applications where id = ${grant.application} and deleted_at is null for share),
        u as (
          select account_id, id from users
          where account_id = ${grant.account} and id = ${grant.user} and removed_at is null and role = any(${GRANTING})
          for share)
        insert into oauth_grants (account_id, application_id, user_id, scopes)
        select u.account_id, p.id, u.id, ${grant.scopes} from p, u returning id`,
  );
  return row?.id ?? null;
}

export async function insertCode(
  tx: Tx,
  code: { hash: Buffer; grant: GrantId; redirectUri: string; challenge: string | null; lifetime: number },
): Promise<void> {
  await rows(
    tx,
    sql`insert into oauth_codes (hash, grant_id, redirect_uri, challenge, expires_at)
        values (${code.hash}, ${code.grant}, ${code.redirectUri}, ${code.challenge},
                now() + ${code.lifetime}::int * interval '1 second')`,
  );
}

/** A code and its grant, both locked until the transaction ends, or null. */
export function lockCode(tx: Tx, hash: Buffer): Promise<CodeRow | null> {
  return maybeRow(
    tx,
    sql`select ${ofGrant}, c.redirect_uri, c.challenge, g.scopes as granted, c.expires_at <= now() as expired,
               c.used_at is not null as used
        from oauth_codes c join oauth_grants g on g.id = c.grant_id ${grantJoin}
        where c.hash = ${hash} for update of c, g`,
  );
}

export async function markCodeUsed(tx: Tx, hash: Buffer): Promise<void> {
  await rows(tx, sql`update oauth_codes set used_at = now_ms() where hash = ${hash}`);
}

export async function activateGrant(tx: Tx, grant: GrantId): Promise<void> {
  await rows(tx, sql`update oauth_grants set activated_at = now_ms() where id = ${grant}`);
}

/** Revokes a grant; one that was revoked before is unchanged. The caller has locked its row. */
export async function endGrant(tx: Tx, grant: GrantId, because: 'application' | 'reuse'): Promise<boolean> {
  const ended = await rows(
    tx,
    sql`update oauth_grants set revoked_at = now_ms(), revoked_because = ${because}
        where id = ${grant} and revoked_at is null returning 1`,
  );
  return ended.length === 1;
}

export async function insertToken(
  tx: Tx,
  token: {
    hash: Buffer;
    kind: 'access' | 'refresh';
    grant: GrantId;
    scopes: readonly Scope[];
    lifetime: number;
  },
): Promise<void> {
  await rows(
    tx,
    sql`insert into oauth_tokens (hash, kind, grant_id, scopes, expires_at)
        values (${token.hash}, ${token.kind}, ${token.grant}, ${token.scopes},
                now() + ${token.lifetime}::int * interval '1 second')`,
  );
}

/** A token and its grant, both locked until the transaction ends, or null. */
export function lockToken(tx: Tx, hash: Buffer): Promise<TokenRow | null> {
  return maybeRow(
    tx,
    sql`select ${ofGrant}, t.kind, t.scopes, t.expires_at <= now() as expired, t.used_at is not null as used,
               coalesce(t.used_at < now() - interval '10 seconds', false) as used_long_ago
        from oauth_tokens t join oauth_grants g on g.id = t.grant_id ${grantJoin}
        where t.hash = ${hash} for update of t, g`,
  );
}

/** Records that a refresh token was rotated. It is kept to detect reuse. */
export async function markTokenUsed(tx: Tx, hash: Buffer): Promise<void> {
  await rows(tx, sql`update oauth_tokens set used_at = now_ms() where hash = ${hash}`);
}

export async function extendToken(tx: Tx, hash: Buffer, lifetime: number): Promise<void> {
  await rows(
    tx,
    sql`update oauth_tokens set expires_at = now() + ${lifetime}::int * interval '1 second' where hash = ${hash}`,
  );
}

export async function deleteToken(tx: Tx, hash: Buffer): Promise<void> {
  await rows(tx, sql`delete from oauth_tokens where hash = ${hash}`);
}

/** The access of a valid token; ids are UUIDs. */
export interface Access {
  readonly grant_id: GrantId;
  readonly application_id: ApplicationId;
  readonly account_id: AccountId;
  readonly user_id: UserId;
  readonly scopes: readonly Scope[];
  /** For a public application; empty for a confidential one. */
  readonly redirect_uris: readonly string[];
  /** Its last use was recorded more than a minute ago. */
  readonly is_stale: boolean;
}

/** The valid access token with this hash, or null. While its author is not an owner, it opens nothing. */
export const accessByHash = finderByHash<Access & { readonly hash: Buffer }>((db, hashes) =>
  rows(
    db,
    sql`select t.hash, g.id as grant_id, g.application_id, g.account_id, g.user_id, t.scopes,
               case when p.kind = 'public' then p.redirect_uris else '{}' end as redirect_uris,
               coalesce(g.last_used_at < now() - interval '1 minute', true) as is_stale
        from oauth_tokens t join oauth_grants g on g.id = t.grant_id ${grantJoin}
        where t.hash = any(${hashes}::bytea[]) and t.kind = 'access' and t.expires_at > now() and g.revoked_at is null
          and p.deleted_at is null and u.removed_at is null and u.role = any(${GRANTING})`,
    'oauth_access',
  ),
);

export async function touchGrant(tx: Tx, grant: GrantId): Promise<void> {
  await rows(
    tx,
    sql`update oauth_grants set last_used_at = now()
        where id = ${grant} and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
  );
}

/** Deletes a slice of the tokens that expired a day before `at`. Returns their number. */
export async function deleteExpiredTokens(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from oauth_tokens where hash = any(array(
          select hash from oauth_tokens where expires_at < ${at}::timestamptz - interval '1 day'
          order by expires_at limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** The same for codes. They are valid for a minute, and are kept for a day to detect reuse. */
export async function deleteExpiredCodes(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from oauth_codes where hash = any(array(
          select hash from oauth_codes where expires_at < ${at}::timestamptz - interval '1 day'
          order by expires_at limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/**
 * Deletes a slice of the grants whose code was not exchanged within a day, and of those without tokens that were last
 * used more than a year ago. Returns their number.
 */
export async function deleteUnusedGrants(tx: Tx, at: string): Promise<number> {
  const unused = await rows<{ id: string }>(
    tx,
    sql`select id from oauth_grants
        where (activated_at is null and id < id_floor(${at}::timestamptz - interval '1 day'))
           or (greatest(activated_at, last_used_at, revoked_at) < ${at}::timestamptz - interval '1 year'
               and not exists (select from oauth_tokens t where t.grant_id = oauth_grants.id))
        order by id limit ${SLICE_ROWS}::int for update skip locked`,
  );
  const ids = unused.map(({ id }) => id);
  await rows(tx, sql`delete from oauth_codes where grant_id = any(${ids}::uuid[])`);
  await rows(tx, sql`delete from oauth_grants where id = any(${ids}::uuid[])`);
  return ids.length;
}

/** Caps the expiry of codes and tokens written while the clock ran fast. Returns an upper bound on the number changed. */
export async function repairLifetimes(
  tx: Tx,
  seconds: { readonly code: number; readonly access: number; readonly refresh: number },
): Promise<number> {
  const until = (lifetime: number) => sql`now() + ${lifetime}::int * interval '1 second'`;
  const codes = await rows(
    tx,
    sql`update oauth_codes set expires_at = ${until(seconds.code)}
        where expires_at > ${until(seconds.code)} + ${TOLERANCE} returning 1`,
  );
  const repaired = [codes.length];
  for (const kind of ['access', 'refresh'] as const) {
    const tokens = await rows(
      tx,
      sql`update oauth_tokens set expires_at = ${until(seconds[kind])} where hash = any(array(
            select hash from oauth_tokens
            where kind = ${kind} and expires_at > ${until(seconds[kind])} + ${TOLERANCE}
            limit ${SLICE_ROWS}::int for update skip locked))
          returning 1`,
    );
    repaired.push(tokens.length);
  }
  return Math.max(...repaired);
}
