import sql, { raw, type Sql } from 'sql-template-tag';
import type { Changes } from '../../contract/changes.ts';
import { defaults, namesOf } from '../../contract/fields.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { balanceJoin, fresh } from '../ledger/balances.ts';
import { formerAddresses, notifyOfDestinations } from '../ledger/destination-notices.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { AFFILIATE_FIELDS } from './fields.ts';
import {
  type Affiliate,
  type AffiliateChange,
  type AffiliateWithBalance,
  record,
  recordWithBalance,
} from './record.ts';

/** The record with its balance per currency, or null. */
export function readAffiliate(
  db: Reader,
  account: AccountId,
  id: number,
): Promise<Json<AffiliateWithBalance> | null> {
  return maybeRecord(
    db,
    recordWithBalance,
    sql`affiliates a ${balanceJoin(account)} where a.account_id = ${account} and a.id = ${id}`,
    { ctes: fresh(account, id) },
  );
}

const DEFAULTS = defaults(AFFILIATE_FIELDS);
const WRITABLE = raw(namesOf(AFFILIATE_FIELDS).join(', '));

/** The record of a new affiliate, or null when another one already has its external_id or e-mail address. */
export function insertAffiliate(
  tx: Tx,
  account: AccountId,
  input: AffiliateChange,
): Promise<Json<Affiliate> | null> {
  const given = JSON.stringify({ ...DEFAULTS, ...input });
  const made = sql`
    insert into affiliates (account_id, ${WRITABLE})
    select ${account}, ${WRITABLE} from json_populate_record(null::affiliates, ${given}) given
    on conflict do nothing returning *`;
  return maybeRecord(tx, record, sql`made a`, { ctes: sql`made as (${made})` });
}

/** The affiliate that already has the external_id or e-mail address of an input, and which of the two. */
export interface Duplicate {
  readonly id: number;
  readonly field: 'external_id' | 'email';
}

/** An affiliate other than `except` with the external_id or e-mail address of an input, external_id first; or null. */
export async function findDuplicate(
  tx: Tx,
  account: AccountId,
  { external_id = null, email = null }: { external_id?: string | null; email?: string | null },
  except: number | null = null,
): Promise<Duplicate | null> {
  const row = await maybeRow<{ id: bigint; same_id: boolean }>(
    tx,
    sql`select id, external_id is not distinct from ${external_id} and external_id is not null as same_id
        from affiliates
        where account_id = ${account} and (external_id = ${external_id} or lower(email) = lower(${email}))
          and id is distinct from ${except}::int8
        order by same_id desc limit 1`,
  );
  return row && { id: Number(row.id), field: row.same_id ? 'external_id' : 'email' };
}

/** The id of the affiliate with this external_id, or null. */
export async function idByExternalId(
  db: Reader,
  account: AccountId,
  externalId: string,
): Promise<number | null> {
  // no external_id contains NUL, and PostgreSQL does not accept it
  if (externalId.includes('\0')) return null;
  const row = await maybeRow<{ id: bigint }>(
    db,
    sql`select id from affiliates where account_id = ${account} and external_id = ${externalId}`,
  );
  return row && Number(row.id);
}

/** The updated record, or null when there is nothing to update. */
export function updateAffiliate(
  tx: Tx,
  account: AccountId,
  id: number,
  { assignments, differ }: Changes,
): Promise<Json<Affiliate> | null> {
  const changed = sql`update affiliates set ${assignments}, updated_at = now()
                      where account_id = ${account} and id = ${id} and (${differ}) returning *`;
  return maybeRecord(tx, record, sql`changed a`, {
    ctes: sql`changed as (${changed}), noted as (${noteAffiliates(sql`select account_id, id from changed`)})`,
  });
}

/** Notifies the affiliate if the change was one of the address, or of how they are paid. `before` is the record until then. */
export async function notifyOfRedirect(
  tx: Tx,
  account: AccountId,
  id: number,
  before: Json<Affiliate>,
): Promise<void> {
  const former = formerAddresses('b', (column) => `a.${column}`);
  await notifyOfDestinations(
    tx,
    account,
    sql`select * from (
          select a.id as affiliate_id, null::text as currency, ${former} as former
          from affiliates a cross join json_populate_record(null::affiliates, ${before}::json) b
          where a.account_id = ${account} and a.id = ${id}) c
        where former is not null`,
  );
}

/** Locks affiliates, whose ids a query has, until the transaction ends. The caller has locked the books. */
export async function lockAffiliates(tx: Tx, account: AccountId, ids: Sql): Promise<void> {
  await rows(
    tx,
    sql`with wanted as materialized (${ids}),
        locked as materialized (
          select * from (
            select id from affiliates where account_id = ${account} and id in (select * from wanted)
            order by id for no key update) l)
        select count(*) from locked`,
  );
}

/** The record without its balance, locked until the transaction ends, or null. */
export function lockAffiliateRow(tx: Tx, account: AccountId, id: number): Promise<Json<Affiliate> | null> {
  return maybeRecord(
    tx,
    record,
    sql`affiliates a where a.account_id = ${account} and a.id = ${id} for no key update`,
  );
}

/** The record without its balance. */
export function readAffiliateRow(
  db: Reader,
  account: AccountId,
  id: number,
): Promise<Json<Affiliate> | null> {
  return maybeRecord(db, record, sql`affiliates a where a.account_id = ${account} and a.id = ${id}`);
}
