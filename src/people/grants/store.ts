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
import { maybeRecord } from '../../contract/records.ts';
import { type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, ApplicationId, GrantId, UserId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type Grant, type GrantEnd, names, record } from './record.ts';

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

export function listGrants(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Grant>> {
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
export function readGrant(db: Reader, account: AccountId, id: GrantId): Promise<Json<Grant> | null> {
  return maybeRecord(
    db,
    record,
    sql`oauth_grants g ${names}
        where g.account_id = ${account} and g.id = ${id} and g.activated_at is not null`,
  );
}

/** Ends the live grant of an account; false when there is none, or it was ended before. */
export async function markRevoked(
  tx: Tx,
  account: AccountId,
  id: GrantId,
  because: GrantEnd,
): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update oauth_grants set revoked_at = now_ms(), revoked_because = ${because}
        where account_id = ${account} and id = ${id} and activated_at is not null and revoked_at is null returning 1`,
  );
  return done.length === 1;
}

/** Ends all grants to an application, of any account. */
export function markRevokedByApplication(tx: Tx, application: ApplicationId): Promise<void> {
  return markAllRevoked(tx, sql`application_id = ${application}`, 'deleted');
}

/** Ends all grants of a user. */
export function markRevokedByUser(
  tx: Tx,
  account: AccountId,
  user: UserId,
  because: 'user_removed' | 'user_not_owner',
): Promise<void> {
  return markAllRevoked(tx, sql`account_id = ${account} and user_id = ${user}`, because);
}

async function markAllRevoked(tx: Tx, which: Sql, because: GrantEnd): Promise<void> {
  // locked by id, so that two of these statements cannot deadlock
  await rows(
    tx,
    sql`with live as (
          select id from oauth_grants where ${which} and revoked_at is null order by id for no key update)
        update oauth_grants g set revoked_at = now_ms(), revoked_because = ${because} from live where g.id = live.id`,
  );
}
