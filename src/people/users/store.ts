import sql, { type Sql } from 'sql-template-tag';
import {
  type Filter,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { ROLE_NAMES, type Role } from '../../contract/roles.ts';
import { SLICE_ROWS } from '../../db/chores.ts';
import { TOLERANCE } from '../../db/clock.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { normalEmail } from '../../kernel/email.ts';
import type { AccountId, UserId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { record, type User, withPerson } from './record.ts';

const STATUSES: Readonly<Record<string, Sql>> = {
  active: sql`u.removed_at is null and u.joined_at is not null`,
  invited: sql`u.removed_at is null and u.joined_at is null`,
  removed: sql`u.removed_at is not null`,
};

const byEmail: Filter = {
  rule: 'an e-mail address',
  schema: { type: 'string' },
  condition: (value) => {
    const email = normalEmail(value);
    return email === null ? null : sql`u.person_id = (select id from people where email = ${email})`;
  },
};

export const userList: ListDefinition = {
  id: 'u.id',
  sort: {
    id: 'u.id',
    created_at: 'u.id',
    name: 'u.name',
    email: '(select email from people where id = u.person_id)',
  },
  filters: {
    status: oneOf(Object.keys(STATUSES), (status) => STATUSES[status] as Sql),
    role: oneOf(ROLE_NAMES, (role) => sql`u.role = ${role}`),
    email: byEmail,
    ...idInstants('created_at', 'u.id'),
  },
};

/** The users of an account; removed ones only when asked for. */
export function listUsers(db: Reader, account: AccountId, list: ListQuery): Promise<Page<User>> {
  const where = sql`u.account_id = ${account}`;
  return listPage(db, {
    list,
    name: 'users',
    table: 'users',
    alias: 'u',
    where: list.given.has('status') ? where : sql`${where} and u.removed_at is null`,
    record,
    join: withPerson,
  });
}

/** The record of a user, also of a removed one. */
export function readUser(db: Reader, account: AccountId, id: UserId): Promise<Json<User> | null> {
  return maybeRecord(db, record, sql`users u ${withPerson} where u.account_id = ${account} and u.id = ${id}`);
}

export interface UserRow {
  readonly id: UserId;
  readonly account: AccountId;
  /** UUID. */
  readonly person: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** The invitation was accepted. */
  readonly joined: boolean;
}

const userRow = sql`select u.id, u.account_id as account, u.person_id as person, p.email, u.name, u.role,
  u.joined_at is not null as joined from users u ${withPerson}`;

/** A user who was not removed. */
export function userById(db: Reader, account: AccountId, id: UserId): Promise<UserRow | null> {
  return maybeRow(
    db,
    sql`${userRow} where u.account_id = ${account} and u.id = ${id} and u.removed_at is null`,
  );
}

/** As `userById`; the row stays locked until the transaction ends. The person is locked before. */
export function lockUser(tx: Tx, account: AccountId, id: UserId): Promise<UserRow | null> {
  return maybeRow(
    tx,
    sql`${userRow} where u.account_id = ${account} and u.id = ${id} and u.removed_at is null for update of u`,
  );
}

/** Locks the owners of an account until the transaction ends, so that two of them cannot remove each other at once. */
export function lockOwners(tx: Tx, account: AccountId): Promise<UserRow[]> {
  return rows(
    tx,
    sql`${userRow} where u.account_id = ${account} and u.role = 'owner' and u.removed_at is null
        order by u.id for update of u`,
  );
}

export interface NewUser {
  readonly account: AccountId;
  /** UUID. */
  readonly person: string;
  readonly name: string;
  readonly role: Role;
  /** Without an invitation. */
  readonly joined: boolean;
}

export async function insertUser(tx: Tx, user: NewUser): Promise<{ id: UserId; json: Json<User> }> {
  return oneRow(
    tx,
    sql`with u as (
          insert into users (account_id, person_id, name, role, joined_at)
          values (${user.account}, ${user.person}, ${user.name}, ${user.role},
                  case when ${user.joined} then now_ms() end) returning *)
        select u.id, (select row_to_json(r)::text from (select ${record}) r) as json from u ${withPerson}`,
  );
}

export function updateUser(
  tx: Tx,
  account: AccountId,
  id: UserId,
  assignments: Sql,
): Promise<Json<User> | null> {
  const changed = sql`update users set ${assignments}, updated_at = now()
    where account_id = ${account} and id = ${id} and removed_at is null returning *`;
  return maybeRecord(tx, record, sql`changed u ${withPerson}`, { ctes: sql`changed as (${changed})` });
}

/** Notes that an invitation was accepted. The user's row is locked already. */
export async function markJoined(tx: Tx, account: AccountId, id: UserId): Promise<void> {
  await rows(
    tx,
    sql`update users set joined_at = now_ms(), updated_at = now() where account_id = ${account} and id = ${id}`,
  );
}

/** Removes a user; the row stays. */
export async function markRemoved(tx: Tx, account: AccountId, id: UserId): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update users set removed_at = now_ms(), updated_at = now()
        where account_id = ${account} and id = ${id} and removed_at is null returning 1`,
  );
  return done.length === 1;
}

/** Whether anybody could sign in. */
export async function hasUsers(db: Reader): Promise<boolean> {
  return (await maybeRow(db, sql`select 1 from users where removed_at is null limit 1`)) !== null;
}

/** Whether the account has a user. Its row is locked, so that two first owners cannot be made at once. */
export async function lockAccountAndAsk(tx: Tx, account: AccountId): Promise<boolean> {
  await rows(tx, sql`select 1 from accounts where id = ${account} for no key update`);
  const user = await maybeRow(
    tx,
    sql`select 1 from users where account_id = ${account} and removed_at is null limit 1`,
  );
  return user !== null;
}

export interface NewLink {
  readonly hash: Buffer;
  readonly account: AccountId;
  /** null makes the first owner. */
  readonly user: UserId | null;
  readonly purpose: LinkPurpose;
  readonly hours: number;
  readonly byOperator: boolean;
}
export type LinkPurpose = 'setup' | 'invitation' | 'reset';

/** Writes a link; returns when it expires. */
export async function insertLink(tx: Tx, link: NewLink): Promise<string> {
  const { expires_at } = await oneRow<{ expires_at: string }>(
    tx,
    sql`insert into user_links (hash, account_id, user_id, purpose, by_operator, expires_at)
        values (${link.hash}, ${link.account}, ${link.user}, ${link.purpose}, ${link.byOperator},
                now_ms() + make_interval(hours => ${link.hours}::int)) returning expires_at`,
  );
  return expires_at;
}

export interface LinkRow {
  readonly account: AccountId;
  readonly user: UserId | null;
  readonly purpose: LinkPurpose;
  readonly by_operator: boolean;
}

const isOpen = sql`used_at is null and expires_at > now()`;
const linkRow = sql`account_id as account, user_id as user, purpose, by_operator`;

/** The link with this hash that was not used and has not expired. */
export function linkByHash(db: Reader, hash: Buffer): Promise<LinkRow | null> {
  return maybeRow(db, sql`select ${linkRow} from user_links where hash = ${hash} and ${isOpen}`);
}

/** Uses a link up; of two attempts at once, one succeeds. */
export function takeLink(tx: Tx, hash: Buffer): Promise<LinkRow | null> {
  return maybeRow(
    tx,
    sql`update user_links set used_at = now_ms() where hash = ${hash} and ${isOpen} returning ${linkRow}`,
  );
}

/** Ends the links of a user that were not used. */
export async function endLinks(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  await rows(
    tx,
    sql`update user_links set used_at = now_ms()
        where account_id = ${account} and user_id = ${user} and used_at is null`,
  );
}

/** Ends the set-up links of an account that were not used. */
export async function endSetUpLinks(tx: Tx, account: AccountId): Promise<void> {
  await rows(
    tx,
    sql`update user_links set used_at = now_ms()
        where account_id = ${account} and purpose = 'setup' and used_at is null`,
  );
}

const WINDOW = sql`interval '15 minutes'`;
const LONGEST_LINK = sql`interval '7 days'`;

/** Seconds until a subject with this limit may try again; null when it may now. */
export async function secondsToWait(db: Reader, subject: string, limit: number): Promise<number | null> {
  const row = await maybeRow<{ seconds: number }>(
    db,
    sql`select greatest(1, ceil(extract(epoch from failed_at + ${WINDOW} - clock_timestamp())))::int as seconds
        from sign_in_failures where subject = ${subject} and failed_at > clock_timestamp() - ${WINDOW}
          and failed_at < clock_timestamp() + ${TOLERANCE}
        order by failed_at desc limit 1 offset ${limit - 1}`,
  );
  return row?.seconds ?? null;
}

export async function insertFailure(tx: Tx, subject: string): Promise<string> {
  return (
    await oneRow<{ id: string }>(
      tx,
      sql`insert into sign_in_failures (subject) values (${subject}) returning id`,
    )
  ).id;
}

/** Deletes an attempt that is at most ten minutes old; false = it is older, or was deleted before. */
export async function takeFailure(tx: Tx, id: string): Promise<boolean> {
  const taken = await rows(
    tx,
    sql`delete from sign_in_failures where id = ${id} and failed_at > clock_timestamp() - interval '10 minutes' returning 1`,
  );
  return taken.length === 1;
}

/** Deletes one attempt, and all failures of a subject. */
export async function deleteFailures(tx: Tx, id: string, subject: string): Promise<void> {
  await rows(tx, sql`delete from sign_in_failures where id = ${id} or subject = ${subject}`);
}

/** Deletes attempts that no longer count, and those dated in the future: a slice; returns how many. */
export async function deleteOldFailures(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from sign_in_failures where ctid = any(array(
          select ctid from sign_in_failures
          where failed_at < ${at}::timestamptz - interval '1 hour' or failed_at > now() + ${TOLERANCE}
          limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** Deletes links that ended a while before `at`, a slice of them; returns how many. */
export async function deleteOldLinks(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from user_links where ctid = any(array(
          select ctid from user_links where expires_at < ${at}::timestamptz - interval '30 days'
          limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** Shortens links that a clock ahead of its time let live longer than allowed; returns how many. */
export async function repairLinkTimes(tx: Tx): Promise<number> {
  const corrected = await rows(
    tx,
    sql`update user_links set expires_at = now() + ${LONGEST_LINK}
        where used_at is null and expires_at > now() + ${LONGEST_LINK} + ${TOLERANCE} returning 1`,
  );
  return corrected.length;
}
