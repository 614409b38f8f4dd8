import sql, { join, raw, type Sql } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import type { Scope } from '../../contract/scopes.ts';
import { askedTogether } from '../../db/by-hash.ts';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { newIdIn } from '../../db/functions.ts';
import type { AccountId, ApplicationId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type OAuthApplication, record } from './record.ts';
import type { ApplicationKind } from './redirects.ts';

export const applicationList: ListDefinition = {
  id: 'p.id',
  sort: { id: 'p.id', created_at: 'p.id', name: 'p.name' },
  filters: {
    kind: oneOf(['confidential', 'public'], (kind) => sql`p.kind = ${kind}`),
    ...idInstants('created_at', 'p.id'),
  },
};

export function listApplications(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<OAuthApplication>> {
  return listPage(db, {
    list,
    name: 'oauth_applications',
    table: 'oauth_applications',
    alias: 'p',
    where: sql`p.account_id = ${account} and p.deleted_at is null`,
    record,
  });
}

/** The record of a live application (UUID), or null. */
export function readApplication(
  db: Reader,
  account: AccountId,
  id: ApplicationId,
): Promise<Json<OAuthApplication> | null> {
  return maybeRecord(
    db,
    record,
    sql`oauth_applications p where p.account_id = ${account} and p.id = ${id} and p.deleted_at is null`,
  );
}

/** Columns to be written, with values as PostgreSQL takes them. */
export type Columns = Readonly<Record<string, unknown>>;

export function insertApplication(
  tx: Tx,
  account: AccountId,
  columns: Columns,
): Promise<Json<OAuthApplication>> {
  const names = Object.keys(columns).map((name) => raw(name));
  // a client names itself by its id before anything else is known of it
  const made = sql`insert into oauth_applications (id, account_id, ${join(names)})
                   values (${newIdIn(tx.cell)}, ${account}, ${join(Object.values(columns))}) returning *`;
  return oneRecord(tx, record, sql`p`, { ctes: sql`p as (${made})` });
}

/** The kind of a live application, locked until the transaction ends, or null. */
export async function lockApplication(
  tx: Tx,
  account: AccountId,
  id: ApplicationId,
): Promise<ApplicationKind | null> {
  const row = await maybeRow<{ kind: ApplicationKind }>(
    tx,
    sql`select kind from oauth_applications
        where account_id = ${account} and id = ${id} and deleted_at is null for no key update`,
  );
  return row?.kind ?? null;
}

export async function updateApplication(
  tx: Tx,
  account: AccountId,
  id: ApplicationId,
  columns: Columns,
): Promise<void> {
  const assignments = Object.entries(columns).map(([name, value]): Sql => sql`${raw(name)} = ${value}`);
  await rows(
    tx,
    sql`update oauth_applications set ${join([...assignments, sql`updated_at = now()`])}
        where account_id = ${account} and id = ${id}`,
  );
}

/** Deletes a live application; its row stays, because grants refer to it. False when there is none. */
export async function markDeleted(tx: Tx, account: AccountId, id: ApplicationId): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update oauth_applications set deleted_at = now_ms(), updated_at = now()
        where account_id = ${account} and id = ${id} and deleted_at is null returning 1`,
  );
  return done.length === 1;
}

/** What the OAuth endpoints need to know. */
export interface Application {
  /** UUID. */
  readonly id: ApplicationId;
  readonly name: string;
  /** The name of the account that registered it. */
  readonly registered_by: string;
  readonly kind: ApplicationKind;
  readonly redirect_uris: readonly string[];
  readonly scopes: readonly Scope[];
  /** SHA-256; null for public ones. */
  readonly secret_hash: Buffer | null;
}

/** The redirect URIs of public applications, in any account, that begin with this text in lower case. */
export const publicRedirects = askedTogether(async (db, beginnings: readonly string[]) => {
  const found = await rows<{ uri: string }>(
    db,
    sql`select distinct uri
        from oauth_applications p, unnest(p.redirect_uris) uri, unnest(${beginnings}::text[]) beginning
        where p.kind = 'public' and p.deleted_at is null and starts_with(lower(uri), beginning)`,
  );
  const uris = found.map(({ uri }) => uri);
  return beginnings.map((beginning) => uris.filter((uri) => uri.toLowerCase().startsWith(beginning)));
});

/** A live application (UUID) of any account, or null. */
export function findById(db: Reader, id: ApplicationId): Promise<Application | null> {
  return maybeRow(
    db,
    sql`select p.id, p.name, a.name as registered_by, p.kind, p.redirect_uris, p.scopes, p.secret_hash
        from oauth_applications p join accounts a on a.id = p.account_id
        where p.id = ${id} and p.deleted_at is null`,
    'oauth_application',
  );
}
