import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Changes } from '../../contract/changes.ts';
import {
  currency,
  exactly,
  type Filter,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  offsetOf,
  oneOf,
  type Page,
  type PageCut,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, type Reader, type Tx } from '../../db/connect.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import { balanceJoin, earnedIn, fresh } from '../ledger/balances.ts';
import { HAS_DESTINATION, noteAffiliates } from '../ledger/owed.ts';
import {
  type Affiliate,
  type AffiliateChange,
  type AffiliateWithBalance,
  record,
  recordWithBalance,
} from './record.ts';
import { searchCondition } from './search.ts';

const program = numberId((id) => sql`${id}`);
const earnedInProgram: Filter = {
  ...program,
  condition: (value, scope) => program.condition(value, scope) && earnedIn(scope.account, value),
};

/** The currency in which the list is sorted by `unpaid`; not a condition on rows. */
const balanceCurrency: Filter = {
  ...currency(''),
  condition: (value) => (normalizeCurrency(value) === null ? null : sql`true`),
};

export const affiliateList: ListDefinition = {
  id: 'a.id',
  sort: { id: 'a.id', created_at: 'a.created_at', email: 'lower(a.email)', unpaid: 'a.unpaid' },
  filters: {
    status: oneOf(['active', 'inactive'], (status) => sql`a.status = ${status}`),
    payout_method: oneOf([...PAYOUT_METHODS, 'none'], (method) =>
      method === 'none' ? sql`a.payout_method is null` : sql`a.payout_method = ${method}`,
    ),
    is_ready_for_payout: oneOf(['true', 'false'], (is) => sql`a.is_ready_for_payout = ${is}::boolean`),
    has_destination: oneOf(['true', 'false'], (has) => sql`${HAS_DESTINATION} = ${has}::boolean`),
    program_id: earnedInProgram,
    email: {
      rule: 'an e-mail address',
      schema: { type: 'string' },
      condition: (email) =>
        /^[^\s@]+@[^\s@]+$/.test(email) ? sql`lower(a.email) = lower(${email.normalize('NFC')})` : null,
    },
    external_id: exactly('a.external_id'),
    search: {
      rule: 'at most 200 characters',
      schema: { type: 'string', maxLength: 200 },
      condition: (search) =>
        search.trim().length > 200 ? null : (searchCondition(search.trim()) ?? sql`true`),
    },
    balance_currency: balanceCurrency,
    ...instants('created_at', 'a.created_at'),
  },
};

/** A page of affiliates with their balances. */
export function listAffiliates(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<AffiliateWithBalance>> {
  const conditions = join([sql`a.account_id = ${account}`, ...list.conditions], ' and ');
  return listPage(db, {
    list,
    name: 'affiliates',
    table: 'affiliates',
    alias: 'a',
    where: sql`a.account_id = ${account}`,
    record: recordWithBalance,
    ctes: fresh(account),
    join: balanceJoin(account),
    ...(/unpaid$/.test(list.sort) ? { find: (cut) => byUnpaid(account, list, conditions, cut) } : {}),
  });
}

/**
 * A page sorted by the unpaid balance in one currency, of all affiliates that match the conditions. It merges the sums,
 * which an index has in that order, with those that have changed since, and with affiliates without a balance in the
 * currency. The latter count as 0 and are read only when the page gets that far.
 */
function byUnpaid(account: AccountId, list: ListQuery, conditions: Sql, { after, upTo, page }: PageCut): Sql {
  const given = normalizeCurrency(list.given.get('balance_currency') ?? '');
  const code = sql`coalesce(${given}::text, (select default_currency from accounts where id = ${account}))`;
  const ofSums = sql`b.account_id = ${account} and b.currency = ${code}`;
  const changed = sql`select affiliate_id from fresh where currency = ${code}`;
  const end = offsetOf(list) + BigInt(list.perPage) + 1n;
  const sums = sql`select a.id, b.unpaid from affiliate_balances b join affiliates a on a.id = b.affiliate_id
    where ${ofSums} and ${conditions}`;
  return sql`
    select a.*, found.unpaid from (
      select * from (
        (select * from (${sums} and (b.affiliate_id in (${changed})) is not true) a where ${after} ${upTo})
        union all
        select * from (
          select a.id, f.unpaid + coalesce(b.unpaid, 0) as unpaid from fresh f join affiliates a on a.id = f.affiliate_id
          left join affiliate_balances b on ${ofSums} and b.affiliate_id = f.affiliate_id
          where f.currency = ${code} and ${conditions}) a where ${after}
        union all
        (select * from (
           select a.id, 0::numeric as unpaid from affiliates a
           where ${conditions} and (a.id in (${changed})) is not true
             and not exists (select from affiliate_balances b where ${ofSums} and b.affiliate_id = a.id)
             and ${end}::int8 > (
               select count(*) from (
                 select from (${sums} and b.unpaid ${raw(list.sort === 'unpaid' ? '<' : '>')} 0) a where ${after}
                 limit ${end}::int8) b) - (select count(*) from fresh)) a
         where ${after} ${upTo})) a
      ${page}) found
    join affiliates a on a.account_id = ${account} and a.id = found.id`;
}

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

/** The record of a new affiliate, or null when another one already has its external_id or e-mail address. */
export function insertAffiliate(
  tx: Tx,
  account: AccountId,
  input: AffiliateChange,
): Promise<Json<Affiliate> | null> {
  const made = sql`
    insert into affiliates (account_id, external_id, email, name_first, name_last, slug, paypal_email,
      payout_method, legal_type, country, is_ready_for_payout, status, minimum_payout, metadata)
    select ${account}, external_id, email, name_first, name_last, slug, paypal_email, payout_method,
      legal_type, country, coalesce(is_ready_for_payout, true), coalesce(status, 'active'), minimum_payout,
      coalesce(metadata, '{}')
    from json_populate_record(null::affiliates, ${JSON.stringify(input)}) given
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

/** The record without its balance. */
export function readAffiliateRow(
  db: Reader,
  account: AccountId,
  id: number,
): Promise<Json<Affiliate> | null> {
  return maybeRecord(db, record, sql`affiliates a where a.account_id = ${account} and a.id = ${id}`);
}
