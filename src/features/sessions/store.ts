import sql, { empty, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  opaqueIdOrNone,
  type Page,
} from '../../http/lists.ts';
import type { Role } from '../../http/route.ts';

// How long a session lasts unused, and at the longest.
const IDLE = sql`interval '7 days'`;
const LONGEST = sql`interval '30 days'`;

const isLive = sql`s.revoked_at is null and s.expires_at > now() and s.last_seen_at > now() - ${IDLE}`;

export const sessionList: ListDefinition = {
  id: 's.id',
  sort: { id: 's.id', created_at: 's.id', last_seen_at: 's.last_seen_at' },
  filters: { user_id: opaqueIdOrNone('usr', 's.user_id'), ...idInstants('created_at', 's.id') },
};

/** The sessions of an account that have not ended; never what they are found by. */
export function listSessions(db: Reader, account: string, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'sessions',
    table: 'sessions',
    alias: 's',
    where: sql`s.account_id = ${account} and ${isLive}`,
    record: sql`public_id('ses', s.id) as id, 'session' as object, public_id('usr', s.user_id) as user_id,
      s.user_agent, s.address, iso(id_time(s.id)) as created_at, iso(s.last_seen_at) as last_seen_at,
      iso(least(s.expires_at, s.last_seen_at + ${IDLE})) as expires_at`,
  });
}

export interface SessionRow {
  readonly id: string;
  readonly user_agent: string | null;
  readonly address: string | null;
  readonly created_at: string;
  readonly last_seen_at: string;
}

/** The sessions of a user that have not ended, the last seen first. */
export function sessionsOf(db: Reader, account: string, user: string): Promise<SessionRow[]> {
  return rows(
    db,
    sql`select s.id, s.user_agent, s.address, iso(id_time(s.id)) as created_at, iso(s.last_seen_at) as last_seen_at
        from sessions s where s.account_id = ${account} and s.user_id = ${user} and ${isLive}
        order by s.last_seen_at desc, s.id desc limit 100`,
  );
}

export interface FoundSession {
  readonly id: string;
  readonly csrf_token: string;
  readonly account: string;
  readonly user: string;
  readonly role: Role;
  /** It was last noted as seen more than a minute ago. */
  readonly is_stale: boolean;
}

/** The live session with this hash, of a user who was not removed. */
export function sessionByHash(db: Reader, hash: Buffer): Promise<FoundSession | null> {
  return maybeRow(
    db,
    sql`select s.id, s.csrf_token, s.account_id as account, s.user_id as user, u.role,
               s.last_seen_at < now() - interval '1 minute' as is_stale
        from sessions s join users u on u.account_id = s.account_id and u.id = s.user_id and u.removed_at is null
        where s.hash = ${hash} and ${isLive}`,
    'session_by_hash',
  );
}

export async function touchSession(tx: Tx, id: string): Promise<void> {
  await rows(
    tx,
    sql`update sessions set last_seen_at = now_ms()
        where id = ${id} and revoked_at is null and last_seen_at < now() - interval '1 minute'`,
  );
}

export interface NewSession {
  readonly hash: Buffer;
  readonly csrfToken: string;
  readonly account: string;
  readonly user: string;
  /** The hash of the password that opened it. */
  readonly passwordHash: string;
  readonly userAgent: string | null;
  readonly address: string;
}

/**
 * Writes a session while the user still has that password; null when it was changed or the user removed. The lock
 * makes a change of password, which ends sessions, wait for this one or this one for it.
 */
export async function insertSession(tx: Tx, session: NewSession): Promise<string | null> {
  const row = await maybeRow<{ id: string }>(
    tx,
    sql`insert into sessions (hash, csrf_token, account_id, user_id, user_agent, address, last_seen_at, expires_at)
        select ${session.hash}, ${session.csrfToken}, u.account_id, u.id, ${session.userAgent}, ${session.address},
               now_ms(), now_ms() + ${LONGEST}
        from users u
        where u.account_id = ${session.account} and u.id = ${session.user} and u.removed_at is null
          and u.password_hash = ${session.passwordHash}
        for share
        returning id`,
  );
  return row?.id ?? null;
}

/** Ends the sessions of an account that the filter names; how many. */
export async function revokeSessions(
  tx: Tx,
  account: string,
  which: { readonly id?: string; readonly user?: string; readonly except?: string },
): Promise<number> {
  const only = (condition: Sql, value: string | undefined) => (value === undefined ? empty : condition);
  const done = await rows(
    tx,
    sql`update sessions s set revoked_at = now_ms()
        where s.account_id = ${account} and ${isLive} ${only(sql`and s.id = ${which.id}`, which.id)}
          ${only(sql`and s.user_id = ${which.user}`, which.user)}
          ${only(sql`and s.id <> ${which.except}`, which.except)}
        returning 1`,
  );
  return done.length;
}

/** Forgets what ended a while ago. */
export async function deleteOldSessions(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`delete from sessions where ctid = any(array(
          select ctid from sessions
          where expires_at < now() - ${LONGEST} or revoked_at < now() - ${LONGEST} limit 10000))`,
  );
}
