import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { changesOf } from '../../contract/changes.ts';
import { writable } from '../../contract/fields.ts';
import { columnsOf, oneRecord } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import { ERASED_NAME } from '../../erasure/person.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { deleteNotices } from '../../notices/affiliates.ts';
import { publish } from '../../outbox/queue.ts';
import { lockBooks } from '../ledger/books.ts';
import { AFFILIATE_FIELDS, placeholderOf } from './fields.ts';
import type { Affiliate, AffiliateChange } from './record.ts';
import { missingAffiliate } from './service.ts';
import { lockAffiliateRow, updateAffiliate } from './store.ts';

/** The erasure of the person behind an affiliate. */
export const erasure = strict(
  {
    object: Type.Literal('erasure'),
    affiliate_id: Type.Integer({ minimum: 1 }),
    status: Type.Enum(['in_progress', 'completed'], {
      title: 'ErasureStatus',
      description: 'in_progress: commissions and the webhook log are still looked through',
    }),
    requested_at: timestamp,
    completed_at: nullable(timestamp),
  },
  { title: 'Erasure' },
);
export type Erasure = Static<typeof erasure>;

const record = columnsOf(erasure, {
  object: "'erasure'",
  affiliate_id: 'e.affiliate_id',
  status: "case e.step when 'done' then 'completed' else 'in_progress' end",
  requested_at: 'iso(e.requested_at)',
  completed_at: 'iso(e.completed_at)',
});

/** The values that an erasure sets. */
const erasedFields = (id: number): AffiliateChange =>
  Object.fromEntries(
    writable(AFFILIATE_FIELDS).flatMap(([name, { erasure: rule }]) =>
      rule === 'kept' ? [] : [[name, typeof rule.to === 'function' ? rule.to(id) : rule.to]],
    ),
  );

/**
 * Erases the person behind an affiliate: at once from its record, its payouts and what imports remember, then from
 * everything else (app/erasures.ts). Amounts stay. Repeated, it reports the progress. Throws `resource_missing`,
 * `affiliate_in_payout`.
 */
export async function eraseAffiliate(
  tx: Tx,
  account: AccountId,
  affiliateId: string,
): Promise<Json<Erasure>> {
  const id = numberIdOf(affiliateId);
  if (id === null) throw missingAffiliate();
  await lockBooks(tx, account);
  const before = await lockAffiliateRow(tx, account, id);
  if (before === null) throw missingAffiliate();
  await refuseInPayout(tx, account, id);
  const fields = erasedFields(id);
  const changes = changesOf(fields, Object.keys(fields));
  await noteErasure(tx, account, fromJson(before));
  const json = changes && (await updateAffiliate(tx, account, id, changes));
  if (json !== null) {
    await forget(tx, account, id);
    await publish(tx, { account, type: 'affiliate.updated', data: json, before, isErasure: true });
  }
  return oneRecord(tx, record, sql`erasures e where e.account_id = ${account} and e.affiliate_id = ${id}`);
}

/** Whoever is about to be paid needs a destination. */
async function refuseInPayout(tx: Tx, account: AccountId, id: number): Promise<void> {
  const { waits } = await oneRow<{ waits: boolean }>(
    tx,
    sql`select exists (
          select from payouts p join payout_lines l on l.account_id = p.account_id and l.payout_id = p.id
          where p.account_id = ${account} and p.status = 'unpaid' and l.affiliate_id = ${id}) as waits`,
  );
  if (!waits) return;
  throw fail(
    'affiliate_in_payout',
    'the affiliate is in the unpaid payout: complete or delete it first, then erase the affiliate',
  );
}

/** The values that identify the person: rows of how they are searched for, and a value. */
const identifying = (columnOf: (field: string) => Sql): Sql =>
  join(
    writable(AFFILIATE_FIELDS).flatMap(([name, { erasure: rule }]) =>
      rule !== 'kept' && 'as' in rule ? [sql`(${raw(`'${rule.as}'`)}, ${columnOf(name)})`] : [],
    ),
  );

/** Notes the names and addresses to search for until the erasure is completed. An erased affiliate has none. */
async function noteErasure(tx: Tx, account: AccountId, { id, email }: Affiliate): Promise<void> {
  const isAgain = email === placeholderOf(id);
  const ofAffiliate = sql`account_id = ${account} and affiliate_id = ${id}`;
  const restart = sql`do update
    set addresses = e.addresses || excluded.addresses, names = e.names || excluded.names,
        external_ids = e.external_ids || excluded.external_ids, step = 'commissions', cursor = default,
        requested_at = excluded.requested_at, completed_at = null`;
  await rows(
    tx,
    sql`with known as (
          select part.* from affiliates a
            cross join lateral (values ${identifying((name) => raw(`a.${name}`))}) part (kind, word)
          where a.account_id = ${account} and a.id = ${id}
          union all
          select part.* from import_affiliates
            cross join lateral (values ${identifying((name) => raw(`before ->> '${name}'`))}) part (kind, word)
          where ${ofAffiliate}
          union all
          select part.* from payout_lines
            cross join lateral (values ('address', email), ('address', paypal_email), ('name', name_first),
              ('name', name_last)) part (kind, word)
          where ${ofAffiliate}
          union all
          select 'name', account_holder from affiliate_destinations where ${ofAffiliate}
          union all
          select 'name', bank_name from payee_verifications where ${ofAffiliate}
          union all
          select 'name', account_holder from destination_corrections where ${ofAffiliate}
          union all
          select 'name', legal_name from affiliate_tax_profiles where ${ofAffiliate}
          union all
          select 'name', before ->> 'legal_name' from import_tax_profiles where ${ofAffiliate}),
        words as (
          select coalesce(array_agg(distinct word) filter (where kind = 'address'), '{}') as addresses,
                 coalesce(array_agg(distinct word) filter (where kind = 'name'), '{}') as names,
                 coalesce(array_agg(distinct word) filter (where kind = 'id'), '{}') as external_ids
          from known where word <> '' and word <> ${placeholderOf(id)})
        insert into erasures as e (account_id, affiliate_id, addresses, names, external_ids)
        select ${account}::uuid, ${id}::int8, addresses, names, external_ids from words
        on conflict (account_id, affiliate_id) ${isAgain ? sql`do nothing` : restart}`,
  );
}

/**
 * Takes the person out of what was copied from the affiliate. Files of payouts keep their rows, so a line keeps a
 * destination if it had one. An import that changed the affiliate can no longer be undone.
 */
async function forget(tx: Tx, account: AccountId, id: number): Promise<void> {
  const placeholder = placeholderOf(id);
  await rows(
    tx,
    sql`update payout_lines
        set email = case when email is not null then ${placeholder} end,
            paypal_email = case when paypal_email is not null then ${placeholder} end,
            name_first = null, name_last = case when coalesce(name_first, name_last) is not null then ${ERASED_NAME} end
        where account_id = ${account} and affiliate_id = ${id}`,
  );
  // a bank account is nobody's any more; its type stays, because lines were paid by it
  await rows(
    tx,
    sql`update affiliate_destinations
        set account_holder = case when account_holder is not null then ${ERASED_NAME} end,
            holder_in_files = case when holder_in_files is not null then ${ERASED_NAME} end,
            number = null, number_mark = null, bic = null,
            last_four = case when last_four is not null then '0000' end,
            routing_number = case when routing_number is not null then '000000000' end,
            replaced_at = coalesce(replaced_at, at.now)
        from (select now() as now) at
        where account_id = ${account} and affiliate_id = ${id}`,
  );
  await rows(
    tx,
    sql`update payout_signals s
        set details = s.details || (
          select coalesce(jsonb_object_agg(place, s.details -> place || '{"last_four": "0000"}'), '{}')
          from unnest(array['destination', 'previous_destination']) place where s.details -> place ->> 'last_four' is not null)
        where s.account_id = ${account} and s.affiliate_id = ${id}`,
  );
  await deleteNotices(tx, account, id);
  await rows(tx, sql`delete from payee_verifications where account_id = ${account} and affiliate_id = ${id}`);
  await rows(
    tx,
    sql`delete from destination_corrections where account_id = ${account} and affiliate_id = ${id}`,
  );
  await rows(
    tx,
    sql`delete from affiliate_tax_profiles where account_id = ${account} and affiliate_id = ${id}`,
  );
  await rows(
    tx,
    sql`update import_affiliates set before = '{}'
        where account_id = ${account} and affiliate_id = ${id} and before is not null`,
  );
  // its profile is gone, which an undo refuses
  await rows(
    tx,
    sql`update import_tax_profiles set before = '{}'
        where account_id = ${account} and affiliate_id = ${id} and before is not null`,
  );
}
