import sql from 'sql-template-tag';
import type { Principal } from '../../contract/route.ts';
import { maybeRow, oneRow, type Reader } from '../../db/database.ts';
import { uuidOf } from '../../kernel/ids.ts';

/** The name and kind of a caller. */
interface Called {
  readonly name: string | null;
  readonly email: string | null;
}

/** A signed-in user. */
interface CalledUser extends Called {
  /** UUID of the person, across all accounts. */
  readonly person: string;
  /** The token that writes with this session need. */
  readonly csrf_token: string | null;
}

/** What is known of the user of a principal, and of their session. */
export function userCalled(db: Reader, { account, user, session }: Principal): Promise<CalledUser> {
  return oneRow(
    db,
    sql`select u.name, p.email, u.person_id as person,
               (select s.csrf_token from sessions s where s.account_id = u.account_id and s.id = ${session ?? null}) as csrf_token
        from users u join people p on p.id = u.person_id
        where u.account_id = ${account} and u.id = ${user ?? null}`,
  );
}

/** The name of an API key or an application; an application may belong to another account. */
export async function programCalled(db: Reader, { kind, id }: Principal): Promise<Called> {
  const found = await maybeRow<{ name: string }>(
    db,
    kind === 'key'
      ? sql`select name from api_keys where id = ${uuidOf('key', id)}`
      : sql`select name from oauth_applications where id = ${uuidOf('app', id)}`,
  );
  return { name: found?.name ?? null, email: null };
}

/** What a caller needs to know of the account (UUID) to show amounts and days. */
export function accountCalled(
  db: Reader,
  account: string,
): Promise<{
  readonly id: string;
  readonly name: string;
  is_demo: boolean;
  default_currency: string;
  time_zone: string;
}> {
  return oneRow(
    db,
    sql`select public_id('acc', a.id) as id, a.name, a.is_demo, a.default_currency, a.time_zone from accounts a
        where a.id = ${account}`,
  );
}
