import sql, { empty, type Sql } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import type { Role } from '../../contract/roles.ts';
import { finderByHash } from '../../db/by-hash.ts';
import { SLICE_ROWS } from '../../db/chores.ts';
import { TOLERANCE } from '../../db/clock.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, SessionId, UserId } from '../../kernel/ids.ts';
import { IDLE, type OwnSession, ownRecord, record, type Session } from './record.ts';

// The longest a session can last.
const LONGEST = sql`interval '30 days'`;

const isLive = sql`s.revoked_at is null and s.expires_at > now() and s.last_seen_at > now() - ${IDLE}`;

export const sessionList: ListDefinition = {
  id: 's.id',
  sort: { id: 's.id', created_at: 's.id', last_seen_at: 's.last_seen_at' },
  filters: { user_id: opaqueId('usr', 's.user_id'), ...idInstants('created_at', 's.id') },
};

/** The live sessions of an account, without their hashes. */
export function listSessions(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Session>> {
  return listPage(db, {
    list,
    name: 'sessions',
    table: 'sessions',
    alias: 's',
    where: sql`s.account_id = ${account} and ${isLive}`,
    record,
  });
}

export const ownSessionList: ListDefinition = { ...sessionList, filters: {}, defaultSort: '-last_seen_at' };

/** The live sessions of a person (UUID) in all accounts. `session` (UUID) is the one of the caller. */
export function listOwnSessions(
  db: Reader,
  { person, session }: { readonly person: string; readonly session: SessionId },
  list: ListQuery,
): Promise<Page<OwnSession>> {
  return listPage(db, {
    list,
    name: 'own_sessions',
    table: 'sessions',
    alias: 's',
    where: sql`${isLive} and (s.account_id, s.user_id) in (
                 select u.account_id, u.id from users u where u.person_id = ${person})`,
    record: ownRecord(session),
  });
}

/** The person (UUID) who is a user (UUID) of an account. */
export async function personOfUser(db: Reader, account: AccountId, user: UserId): Promise<string> {
  const { person } = await oneRow<{ person: string }>(
    db,
    sql`select u.person_id as person from users u where u.account_id = ${account} and u.id = ${user}`,
  );
  return person;
}

const withUser = sql`join users u on u.account_id = s.account_id and u.id = s.user_id`;

export interface FoundSession {
  readonly id: SessionId;
  readonly csrf_token: string;
  readonly account: AccountId;
  readonly user: UserId;
  readonly person: string;
  readonly role: Role;
  /** It was last noted as seen more than a minute ago. */
  readonly is_stale: boolean;
}

/** The live session with this hash, of a user who was not removed, or null. */
export const sessionByHash = finderByHash<FoundSession & { readonly hash: Buffer }>((db, hashes) =>
  rows(
    db,
    sql`select s.hash, s.id, s.csrf_token, s.account_id as account, s.user_id as user, u.person_id as person,
               u.role, s.last_seen_at < now() - interval '1 minute' as is_stale
        from sessions s ${withUser} and u.removed_at is null
        where s.hash = any(${hashes}::bytea[]) and ${isLive}`,
    'sessions_by_hash',
  ),
);

export async function touchSession(tx: Tx, id: SessionId): Promise<void> {
  await rows(
    tx,
    sql`update sessions set last_seen_at = now_ms()
        where id = ${id} and revoked_at is null and last_seen_at < now() - interval '1 minute'`,
  );
}

export interface NewSession {
  readonly hash: Buffer;
  readonly csrfToken: string;
  readonly account: AccountId;
  readonly user: UserId;
  readonly person: string;
  readonly userAgent: string | null;
  readonly address: string;
  /** The new session ends when this one (UUID) would have; null = a full lifetime. */
  readonly after: string | null;
}

/**
 * Whether the person still has the password with this hash. That stays so until the transaction ends: a change of
 * password, which ends sessions, waits for this one, or this one waits for the change.
 */
export async function keepsPassword(tx: Tx, person: string, hash: string): Promise<boolean> {
  const kept = await maybeRow(
    tx,
    sql`select 1 from people where id = ${person} and password_hash = ${hash} for share`,
  );
  return kept !== null;
}

/** Serialises changes to the sessions and the password of a person until the transaction ends. */
export async function queueUpFor(tx: Tx, person: string): Promise<void> {
  await rows(tx, sql`select 1 from people where id = ${person} for no key update`);
}

/** Writes a session of a person in an account; null when they are not a member of it. */
export async function insertSession(tx: Tx, session: NewSession): Promise<SessionId | null> {
  const { after } = session;
  const ends =
    after === null
      ? sql`now_ms() + ${LONGEST}`
      : sql`(select s.expires_at from sessions s where s.id = ${after})`;
  const row = await maybeRow<{ id: SessionId }>(
    tx,
    sql`insert into sessions (hash, csrf_token, account_id, user_id, user_agent, address, last_seen_at, expires_at)
        select ${session.hash}, ${session.csrfToken}, u.account_id, u.id, ${session.userAgent}, ${session.address},
               now_ms(), ${ends}
        from users u
        where u.account_id = ${session.account} and u.id = ${session.user} and u.person_id = ${session.person}
          and u.removed_at is null and u.joined_at is not null
        for share of u
        returning id`,
  );
  return row?.id ?? null;
}

/** Ends the sessions of an account that the filter names; returns how many. */
export async function revokeSessions(
  tx: Tx,
  account: AccountId,
  which: { readonly id?: string; readonly user?: UserId },
): Promise<number> {
  const only = (condition: Sql, value: string | undefined) => (value === undefined ? empty : condition);
  const done = await rows(
    tx,
    sql`update sessions s set revoked_at = now_ms()
        where s.account_id = ${account} and ${isLive} ${only(sql`and s.id = ${which.id}`, which.id)}
          ${only(sql`and s.user_id = ${which.user}`, which.user)}
        returning 1`,
  );
  return done.length;
}

/** A session that was ended, and in which account. */
export interface EndedSession {
  readonly id: SessionId;
  readonly account: AccountId;
  readonly user: UserId;
  readonly role: Role;
}

/** Ends sessions of a person in all accounts: one, or all but `except`. */
export function revokeOwnSessions(
  tx: Tx,
  person: string,
  { id, except }: { readonly id?: string; readonly except?: string },
): Promise<EndedSession[]> {
  return rows(
    tx,
    sql`update sessions s set revoked_at = now_ms()
        from users u
        where u.account_id = s.account_id and u.id = s.user_id and u.person_id = ${person} and ${isLive}
          ${id === undefined ? empty : sql`and s.id = ${id}`}
          ${except === undefined ? empty : sql`and s.id <> ${except}`}
        returning s.id, s.account_id as account, s.user_id as user, u.role`,
  );
}

/** Deletes what ended a month before `at`, a slice of it; returns how many. */
export async function deleteOldSessions(tx: Tx, at: string): Promise<number> {
  const month = sql`${at}::timestamptz - ${LONGEST}`;
  const gone = await rows(
    tx,
    sql`delete from sessions where ctid = any(array(
          select ctid from sessions where expires_at < ${month} or revoked_at < ${month} limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** Shortens sessions that a clock ahead of its time opened or marked as seen, a slice of them; returns how many. */
export async function repairSessionTimes(tx: Tx): Promise<number> {
  const corrected = await rows(
    tx,
    sql`update sessions set expires_at = least(expires_at, now() + ${LONGEST}), last_seen_at = least(last_seen_at, now_ms())
        where ctid = any(array(
          select ctid from sessions
          where expires_at > now() + ${LONGEST} + ${TOLERANCE} or last_seen_at > now() + ${TOLERANCE}
          limit ${SLICE_ROWS}::int for update skip locked))
        returning 1`,
  );
  return corrected.length;
}

export async function forgetPlaces(tx: Tx, account: AccountId, users: readonly UserId[]): Promise<void> {
  await rows(
    tx,
    sql`update sessions set user_agent = null, address = null
        where account_id = ${account} and user_id = any(${users}::uuid[])`,
  );
}
