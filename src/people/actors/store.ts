import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import { type AccountId, type IdPrefix, uuidOf } from '../../kernel/ids.ts';
import type { Actor } from './record.ts';

/**
 * Who has one of these ids in an account, by id: its users, also removed ones, its keys and portal links, and the
 * applications that it registered or let in.
 */
export function findActors(db: Reader, account: AccountId, ids: readonly string[]): Promise<Actor[]> {
  const among = (prefix: IdPrefix) => sql`any(${ids.flatMap((id) => uuidOf(prefix, id) ?? [])}::uuid[])`;
  return rows(
    db,
    sql`select 'user' as kind, public_id('usr', id) as id, name
        from users where account_id = ${account} and id = ${among('usr')}
        union all
        select 'key', public_id('key', id), name from api_keys where account_id = ${account} and id = ${among('key')}
        union all
        select 'application', public_id('app', o.id), o.name from oauth_applications o
        where o.id = ${among('app')} and (o.account_id = ${account} or exists (
          select from oauth_grants g where g.account_id = ${account} and g.application_id = o.id))
        union all
        select 'portal', public_id('pl', id), owner from portal_links where account_id = ${account} and id = ${among('pl')}
        order by id`,
  );
}
