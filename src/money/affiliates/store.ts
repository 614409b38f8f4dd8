import sql, { type Sql } from 'sql-template-tag';
import type { Changes } from '../../contract/changes.ts';
import {
  exactly,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRow, type Reader, type Tx } from '../../db/connect.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { searchCondition } from './search.ts';

/** The columns of the affiliate record; the alias is `a`. */
export const record = sql`a.id, 'affiliate' as object, a.external_id, a.email, a.name_first, a.name_last, a.slug,
  a.paypal_email, a.payout_method, a.legal_type, a.country, a.is_ready_for_payout, a.status, a.minimum_payout,
  a.metadata,
  iso(a.created_at) as created_at, iso(a.updated_at) as updated_at`;

const asJson = (source: Sql) =>
  sql`select row_to_json(r)::text as json from (select ${record} from ${source} a) r`;

export const affiliateList: ListDefinition = {
  id: 'a.id',
  sort: { id: 'a.id', created_at: 'a.created_at', email: 'lower(a.email)' },
  filters: {
    status: oneOf(['active', 'inactive'], (status) => sql`a.status = ${status}`),
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
    ...instants('created_at', 'a.created_at'),
  },
};

export function listAffiliates(db: Reader, account: AccountId, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'affiliates',
    table: 'affiliates',
    alias: 'a',
    where: sql`a.account_id = ${account}`,
    record,
  });
}

/** The record with its balance per currency: pending, unpaid, in the unpaid payout, paid net of what came back. */
export async function readAffiliate(db: Reader, account: AccountId, id: number): Promise<string | null> {
  const balance = sql`
    select coalesce(json_agg(b), '[]') from (
      select c.currency,
             coalesce(sum(c.amount) filter (where c.payout_id is null and c.available_at > now()), 0) as pending,
             coalesce(sum(c.amount) filter (where c.payout_id is null and c.available_at <= now()), 0) as unpaid,
             coalesce(sum(c.amount) filter (where p.status = 'unpaid'), 0) as in_payout,
             coalesce(sum(c.amount) filter (where p.status = 'paid'), 0)
               - coalesce(sum(c.amount) filter (where c.returns_payout_id is not null), 0) as paid
      from commissions c left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
      where c.account_id = a.account_id and c.affiliate_id = a.id and c.voided_at is null
      group by c.currency order by c.currency) b`;
  const row = await maybeRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (
          select ${record}, (${balance}) as balance from affiliates a
          where a.account_id = ${account} and a.id = ${id}) r`,
  );
  return row?.json ?? null;
}

/** The record of a new affiliate, or null when another one has its external_id or e-mail address. */
export async function insertAffiliate(tx: Tx, account: AccountId, input: object): Promise<string | null> {
  const row = await maybeRow<{ json: string }>(
    tx,
    sql`with made as (
          insert into affiliates (account_id, external_id, email, name_first, name_last, slug, paypal_email,
            payout_method, legal_type, country, is_ready_for_payout, status, minimum_payout, metadata)
          select ${account}, external_id, email, name_first, name_last, slug, paypal_email, payout_method,
            legal_type, country, coalesce(is_ready_for_payout, true), coalesce(status, 'active'), minimum_payout,
            coalesce(metadata, '{}')
          from json_populate_record(null::affiliates, ${JSON.stringify(input)}) given
          on conflict do nothing returning *)
        ${asJson(sql`made`)}`,
  );
  return row?.json ?? null;
}

/** The affiliate that has the external_id or the e-mail address of an input, and which of them. */
export interface Duplicate {
  readonly id: number;
  readonly field: 'external_id' | 'email';
}

/** Another affiliate than `except` that has what an input names, the external_id first; null when there is none. */
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
  // no external_id has a NUL, and PostgreSQL takes none
  if (externalId.includes('\0')) return null;
  const row = await maybeRow<{ id: bigint }>(
    db,
    sql`select id from affiliates where account_id = ${account} and external_id = ${externalId}`,
  );
  return row && Number(row.id);
}

/** The changed record, or null when there is nothing to change. */
export async function updateAffiliate(
  tx: Tx,
  account: AccountId,
  id: number,
  { assignments, differ }: Changes,
): Promise<string | null> {
  const updated = sql`update affiliates set ${assignments}, updated_at = now()
                      where account_id = ${account} and id = ${id} and (${differ}) returning *`;
  const row = await maybeRow<{ json: string }>(tx, sql`with changed as (${updated}) ${asJson(sql`changed`)}`);
  return row?.json ?? null;
}

/** The record without its balance. */
export async function readAffiliateRow(db: Reader, account: AccountId, id: number): Promise<string | null> {
  const source = sql`(select * from affiliates where account_id = ${account} and id = ${id})`;
  return (await maybeRow<{ json: string }>(db, asJson(source)))?.json ?? null;
}
