import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import {
  type Filter,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../http/lists.ts';
import type { Role } from '../../http/route.ts';
import { normalEmail } from './email.ts';

const record = sql`public_id('usr', u.id) as id, 'user' as object, u.email, u.name, u.role,
  case when u.removed_at is not null then 'removed' when u.password_hash is null then 'invited' else 'active' end
    as status,
  iso(u.removed_at) as removed_at, iso(id_time(u.id)) as created_at,
  iso(greatest(u.updated_at, id_time(u.id))) as updated_at`;

const asJson = (source: Sql) =>
  sql`select row_to_json(r)::text as json from (select ${record} from ${source} u) r`;

const STATUSES: Readonly<Record<string, Sql>> = {
  active: sql`u.removed_at is null and u.password_hash is not null`,
  invited: sql`u.removed_at is null and u.password_hash is null`,
  removed: sql`u.removed_at is not null`,
};

const byEmail: Filter = {
  rule: 'an e-mail address',
  schema: { type: 'string' },
  condition: (value) => {
    const email = normalEmail(value);
    return email === null ? null : sql`u.email = ${email}`;
  },
};

export const userList: ListDefinition = {
  id: 'u.id',
  sort: { id: 'u.id', created_at: 'u.id', name: 'u.name', email: 'u.email' },
  filters: {
    status: oneOf(Object.keys(STATUSES), (status) => STATUSES[status] as Sql),
    role: oneOf(['owner', 'member', 'viewer'], (role) => sql`u.role = ${role}`),
    email: byEmail,
    ...idInstants('created_at', 'u.id'),
  },
};

/** The users of an account; removed ones only when they are asked for. */
export function listUsers(db: Reader, account: string, list: ListQuery): Promise<Page> {
  const where = sql`u.account_id = ${account}`;
  return listPage(db, {
    list,
    name: 'users',
    table: 'users',
    alias: 'u',
    where: list.given.has('status') ? where : sql`${where} and u.removed_at is null`,
    record,
  });
}

/** The record of a user, also of a removed one. */
export async function readUser(db: Reader, account: string, id: string): Promise<string | null> {
  const source = sql`(select * from users where account_id = ${account} and id = ${id})`;
  return (await maybeRow<{ json: string }>(db, asJson(source)))?.json ?? null;
}

export interface UserRow {
  readonly id: string;
  readonly account: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly password_hash: string | null;
}

const userRow = sql`select id, account_id as account, email, name, role, password_hash from users`;

/** The user with an e-mail address in its normal form. */
export function userByEmail(db: Reader, email: string): Promise<UserRow | null> {
  return maybeRow(db, sql`${userRow} where email = ${email} and removed_at is null`, 'user_by_email');
}

/** A user who was not removed. */
export function userById(db: Reader, account: string, id: string): Promise<UserRow | null> {
  return maybeRow(db, sql`${userRow} where account_id = ${account} and id = ${id} and removed_at is null`);
}

/** As `userById`; the row stays locked until the transaction ends. */
export function lockUser(tx: Tx, account: string, id: string): Promise<UserRow | null> {
  return maybeRow(
    tx,
    sql`${userRow} where account_id = ${account} and id = ${id} and removed_at is null for update`,
  );
}

/** Locks the owners of an account until the transaction ends: two of them cannot remove each other at once. */
export function lockOwners(tx: Tx, account: string): Promise<UserRow[]> {
  return rows(
    tx,
    sql`${userRow} where account_id = ${account} and role = 'owner' and removed_at is null order by id for update`,
  );
}

export interface NewUser {
  readonly account: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string | null;
}

export async function insertUser(tx: Tx, user: NewUser): Promise<{ id: string; json: string }> {
  return oneRow(
    tx,
    sql`with u as (
          insert into users (account_id, email, name, role, password_hash)
          values (${user.account}, ${user.email}, ${user.name}, ${user.role}, ${user.passwordHash}) returning *)
        select u.id, (${asJson(sql`u`)}) as json from u`,
  );
}

export async function updateUser(
  tx: Tx,
  account: string,
  id: string,
  assignments: Sql,
): Promise<string | null> {
  const updated = sql`update users set ${assignments}, updated_at = now()
    where account_id = ${account} and id = ${id} and removed_at is null returning *`;
  const row = await maybeRow<{ json: string }>(tx, sql`with changed as (${updated}) ${asJson(sql`changed`)}`);
  return row?.json ?? null;
}

/** Removes a user; the row stays without its password. */
export async function markRemoved(tx: Tx, account: string, id: string): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update users set removed_at = now_ms(), password_hash = null, updated_at = now()
        where account_id = ${account} and id = ${id} and removed_at is null returning 1`,
  );
  return done.length === 1;
}

/** Sets a password in place of the one it is compared with; false when that was changed, or the user removed. */
export async function replacePassword(
  tx: Tx,
  user: { readonly account: string; readonly id: string },
  hash: string,
  before: string | null,
): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update users set password_hash = ${hash}, updated_at = now()
        where account_id = ${user.account} and id = ${user.id} and removed_at is null
          and password_hash is not distinct from ${before} returning 1`,
  );
  return done.length === 1;
}

/** Whether anybody could ever sign in. */
export async function hasUsers(db: Reader): Promise<boolean> {
  return (await maybeRow(db, sql`select 1 from users where removed_at is null limit 1`)) !== null;
}

/** Whether the account has a user. Its row is locked, so that two first owners cannot be made at once. */
export async function lockAccountAndAsk(tx: Tx, account: string): Promise<boolean> {
  await rows(tx, sql`select 1 from accounts where id = ${account} for no key update`);
  const user = await maybeRow(
    tx,
    sql`select 1 from users where account_id = ${account} and removed_at is null limit 1`,
  );
  return user !== null;
}

export interface NewLink {
  readonly hash: Buffer;
  readonly account: string;
  /** null makes the first owner. */
  readonly user: string | null;
  readonly purpose: LinkPurpose;
  readonly hours: number;
}
export type LinkPurpose = 'setup' | 'invitation' | 'reset';

/** Writes a link; returns when it ends. */
export async function insertLink(tx: Tx, link: NewLink): Promise<string> {
  const { expires_at } = await oneRow<{ expires_at: string }>(
    tx,
    sql`insert into user_links (hash, account_id, user_id, purpose, expires_at)
        values (${link.hash}, ${link.account}, ${link.user}, ${link.purpose},
                now_ms() + make_interval(hours => ${link.hours}::int)) returning expires_at`,
  );
  return expires_at;
}

export interface LinkRow {
  readonly account: string;
  readonly user: string | null;
  readonly purpose: LinkPurpose;
}

const isOpen = sql`used_at is null and expires_at > now()`;
const linkRow = sql`account_id as account, user_id as user, purpose`;

/** The link with this hash that was not used and has not ended. */
export function linkByHash(db: Reader, hash: Buffer): Promise<LinkRow | null> {
  return maybeRow(db, sql`select ${linkRow} from user_links where hash = ${hash} and ${isOpen}`);
}

/** Uses a link up: of two at once, one gets it. */
export function takeLink(tx: Tx, hash: Buffer): Promise<LinkRow | null> {
  return maybeRow(
    tx,
    sql`update user_links set used_at = now_ms() where hash = ${hash} and ${isOpen} returning ${linkRow}`,
  );
}

/** Ends the links of a user that were not used. */
export async function endLinks(tx: Tx, account: string, user: string): Promise<void> {
  await rows(
    tx,
    sql`update user_links set used_at = now_ms()
        where account_id = ${account} and user_id = ${user} and used_at is null`,
  );
}

/** Ends the set-up links of an account that were not used. */
export async function endSetUpLinks(tx: Tx, account: string): Promise<void> {
  await rows(
    tx,
    sql`update user_links set used_at = now_ms()
        where account_id = ${account} and purpose = 'setup' and used_at is null`,
  );
}

const WINDOW = sql`interval '15 minutes'`;

/** Lets attempts about the same subject pass one after the other, until the transaction ends. */
export async function queueUp(tx: Tx, subject: string): Promise<void> {
  await rows(tx, sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`);
}

/** Seconds until a subject with this limit may try again; null when it may now. */
export async function secondsToWait(tx: Tx, subject: string, limit: number): Promise<number | null> {
  const row = await maybeRow<{ seconds: number }>(
    tx,
    sql`select greatest(1, ceil(extract(epoch from failed_at + ${WINDOW} - clock_timestamp())))::int as seconds
        from sign_in_failures where subject = ${subject} and failed_at > clock_timestamp() - ${WINDOW}
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

/** Takes back one attempt, and all of a subject. */
export async function deleteFailures(tx: Tx, id: string, subject: string): Promise<void> {
  await rows(tx, sql`delete from sign_in_failures where id = ${id} or subject = ${subject}`);
}

/** Forgets attempts that no limit looks at, and links that ended a while ago. */
export async function deleteOldTraces(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`delete from sign_in_failures where ctid = any(array(
          select ctid from sign_in_failures where failed_at < now() - interval '1 hour' limit 10000))`,
  );
  await rows(
    tx,
    sql`delete from user_links where ctid = any(array(
          select ctid from user_links where expires_at < now() - interval '30 days' limit 10000))`,
  );
}
