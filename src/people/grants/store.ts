import sql, { type Sql } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { maybeRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import type { AccountId, ApplicationId, GrantId, UserId } from '../../kernel/ids.ts';

const record = sql`public_id('grant', g.id) as id, 'oauth_grant' as object,
  public_id('app', g.application_id) as application_id, p.name as application_name,
  public_id('usr', g.user_id) as user_id, u.name as user_name, g.scopes,
  case when g.revoked_at is null then 'active' else 'revoked' end as status, iso(g.last_used_at) as last_used_at,
  iso(g.revoked_at) as revoked_at, g.revoked_because, iso(id_time(g.id)) as created_at`;
const names = sql`join oauth_applications p on p.id = g.application_id
  join users u on u.account_id = g.account_id and u.id = g.user_id`;

export const grantList: ListDefinition = {
  id: 'g.id',
  sort: { id: 'g.id', created_at: 'g.id', last_used_at: 'g.last_used_at' },
  nullable: ['last_used_at'],
  filters: {
    status: oneOf(['active', 'revoked'], (status) =>
      status === 'active' ? sql`g.revoked_at is null` : sql`g.revoked_at is not null`,
    ),
    application_id: opaqueId('app', 'g.application_id'),
    ...idInstants('created_at', 'g.id'),
  },
};

export function listGrants(db: Reader, account: AccountId, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'oauth_grants',
    table: 'oauth_grants',
    alias: 'g',
    where: sql`g.account_id = ${account} and g.activated_at is not null`,
    record,
    join: names,
  });
}

/** The record of a grant (UUID) that was used at least once, or null. */
export async function readGrant(db: Reader, account: AccountId, id: GrantId): Promise<string | null> {
  const row = await maybeRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (
          select ${record} from oauth_grants g ${names}
          where g.account_id = ${account} and g.id = ${id} and g.activated_at is not null) r`,
  );
  return row?.json ?? null;
}

type Because = 'merchant' | 'application' | 'reuse' | 'deleted' | 'user_removed' | 'user_not_owner';

/** Ends the live grant of an account; false when there is none, or it was ended before. */
export async function markRevoked(
  tx: Tx,
  account: AccountId,
  id: GrantId,
  because: Because,
): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update oauth_grants set revoked_at = now_ms(), revoked_because = ${because}
        where account_id = ${account} and id = ${id} and activated_at is not null and revoked_at is null returning 1`,
  );
  return done.length === 1;
}

/** Ends all that was granted to an application, by whatever account. */
export function markRevokedByApplication(tx: Tx, application: ApplicationId): Promise<void> {
  return markAllRevoked(tx, sql`application_id = ${application}`, 'deleted');
}

/** Ends all that a user granted. */
export function markRevokedByUser(
  tx: Tx,
  account: AccountId,
  user: UserId,
  because: 'user_removed' | 'user_not_owner',
): Promise<void> {
  return markAllRevoked(tx, sql`account_id = ${account} and user_id = ${user}`, because);
}

async function markAllRevoked(tx: Tx, which: Sql, because: Because): Promise<void> {
  // locked by id, so that two of these cannot wait for each other
  await rows(
    tx,
    sql`with live as (
          select id from oauth_grants where ${which} and revoked_at is null order by id for no key update)
        update oauth_grants g set revoked_at = now_ms(), revoked_because = ${because} from live where g.id = live.id`,
  );
}
