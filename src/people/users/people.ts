import sql, { empty } from 'sql-template-tag';
import type { Role } from '../../contract/roles.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { type AccountId, nil, type UserId } from '../../kernel/ids.ts';

/** The owner of an e-mail address and a password, in any number of accounts. */
export interface Person {
  /** UUID. */
  readonly id: string;
  readonly email: string;
  /** null while the person is a member of no account. */
  readonly password_hash: string | null;
}

const person = sql`select id, email, password_hash from people`;

/** The person with an e-mail address in its normal form. */
export function personByEmail(db: Reader, email: string): Promise<Person | null> {
  return maybeRow(db, sql`${person} where email = ${email}`, 'person_by_email');
}

/** What identifies somebody. */
interface Identity {
  /** UUID. */
  readonly id: string;
  readonly email: string;
}

/** The people who were created within the last ten minutes: longer than a transaction lasts that creates one. */
export function newPeople(db: Reader): Promise<Identity[]> {
  return rows(db, sql`select id, email from people where id >= id_floor(now() - interval '10 minutes')`);
}

/** The next people in the order of their ids, after one of them (UUID). */
export function peopleAfter(db: Reader, after: string | null, limit: number): Promise<Identity[]> {
  return rows(db, sql`select id, email from people where id > ${after ?? nil()} order by id limit ${limit}`);
}

/** The person (UUID). */
export function personById(db: Reader, id: string): Promise<Person> {
  return oneRow(db, sql`${person} where id = ${id}`);
}

/** As `personById`; the row stays locked until the transaction ends. It is locked before users, links and sessions. */
export function lockPerson(tx: Tx, id: string): Promise<Person> {
  return oneRow(tx, sql`${person} where id = ${id} for update`);
}

/** The id (UUID) of the person with an e-mail address in its normal form, created if there is none. */
export async function findOrMakePerson(tx: Tx, email: string): Promise<string> {
  await rows(tx, sql`insert into people (email) values (${email}) on conflict (email) do nothing`);
  return (await oneRow<{ id: string }>(tx, sql`select id from people where email = ${email}`)).id;
}

const isMember = sql`u.joined_at is not null and u.removed_at is null`;

/** Whether the person is a member of any account, or of one other than `but`. */
export async function isMemberSomewhere(db: Reader, id: string, but?: string): Promise<boolean> {
  const elsewhere = but === undefined ? empty : sql`and u.account_id <> ${but}`;
  const found = await maybeRow(
    db,
    sql`select 1 from users u where u.person_id = ${id} and ${isMember} ${elsewhere} limit 1`,
  );
  return found !== null;
}

/** A person's user in an account; ids are UUIDs. */
export interface Membership {
  readonly account: AccountId;
  readonly account_name: string;
  /** `payhook demo` or a button of the dashboard filled it. */
  readonly is_demo: boolean;
  readonly user: UserId;
  readonly user_name: string;
  readonly role: Role;
}

/** The accounts a person is a member of, the last used first, then the one that was joined first. */
export function membershipsOf(db: Reader, id: string): Promise<Membership[]> {
  return rows(
    db,
    sql`select u.account_id as account, a.name as account_name, a.is_demo, u.id as user, u.name as user_name, u.role
        from users u join accounts a on a.id = u.account_id
        where u.person_id = ${id} and ${isMember}
        order by (select max(s.last_seen_at) from sessions s
                  where s.account_id = u.account_id and s.user_id = u.id) desc nulls last, u.id`,
  );
}

/** Replaces the password with this hash; false when it was changed meanwhile. */
export async function replacePassword(
  tx: Tx,
  id: string,
  hash: string,
  before: string | null,
): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update people set password_hash = ${hash}, updated_at = now()
        where id = ${id} and password_hash is not distinct from ${before} returning 1`,
  );
  return done.length === 1;
}

/** Removes the password of a person who is no longer a member of any account. The person's row is locked already. */
export async function dropUnusedPassword(tx: Tx, id: string): Promise<void> {
  await rows(
    tx,
    sql`update people set password_hash = null, updated_at = now()
        where id = ${id} and not exists (select 1 from users u where u.person_id = ${id} and ${isMember})`,
  );
}

/** Ends a person's links to choose a new password, in all accounts. */
export async function endResetLinks(tx: Tx, id: string): Promise<void> {
  await rows(
    tx,
    sql`update user_links l set used_at = now_ms()
        from users u
        where u.account_id = l.account_id and u.id = l.user_id and u.person_id = ${id}
          and l.purpose = 'reset' and l.used_at is null`,
  );
}
