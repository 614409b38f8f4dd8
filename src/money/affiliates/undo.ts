import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { publishEach } from '../../outbox/queue.ts';
import { reviseFor } from '../ledger/books.ts';
import { formerAddresses } from '../ledger/destination-notices.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { IMPORTED_COLUMNS } from './import-format.ts';
import { record, recordJson } from './record.ts';
import { refuseDuplicates } from './service.ts';
import { lockAffiliates } from './store.ts';

/** An affiliate of an import that cannot be undone, and why. */
export interface AffiliateInUse {
  readonly id: bigint;
  readonly email: string;
  readonly why: 'changed' | 'destination' | 'tax_profile' | 'secret_key' | 'commissions' | 'payout';
  /** Of all affiliates in use. */
  readonly total: bigint;
}

/**
 * The first affiliates of an import that it cannot be taken back from: their record, or their destination or tax profile as
 * the import set it, was changed since; a tax id that would come back is sealed under another key than this one (the start
 * of what is sealed); or the import created them, and they have commissions or payouts.
 */
export function findUsedAffiliates(
  tx: Tx,
  account: AccountId,
  id: ImportId,
  sealed: Buffer,
): Promise<AffiliateInUse[]> {
  const ofAffiliate = (table: string) =>
    sql`from ${raw(table)} x where x.account_id = a.account_id and x.affiliate_id = a.id`;
  const has = (table: string) => sql`exists (select ${ofAffiliate(table)})`;
  const ofImport = (table: string) =>
    sql`select * from ${raw(table)} where account_id = ${account} and import_id = ${id}`;
  return rows(
    tx,
    sql`with i as (${ofImport('import_affiliates')}), d as (${ofImport('import_destinations')}),
             t as (${ofImport('import_tax_profiles')})
        select id, email, why, count(*) over () as total from (
          select a.id, a.email, case
              when a.updated_at is distinct from i.changed_at and i.affiliate_id is not null then 'changed'
              when d.affiliate_id is not null and not exists (
                select ${ofAffiliate('affiliate_destinations')} and x.id = d.destination_id and x.replaced_at is null)
                then 'destination'
              when t.affiliate_id is not null and not exists (
                select ${ofAffiliate('affiliate_tax_profiles')} and x.updated_at = t.changed_at) then 'tax_profile'
              when substring((t.before ->> 'number')::bytea for ${sealed.length}::int) <> ${sealed}::bytea then 'secret_key'
              when i.affiliate_id is null or i.before is not null then null
              when exists (
                select ${ofAffiliate('affiliate_destinations')} and x.id is distinct from d.destination_id)
                then 'destination'
              when t.affiliate_id is null and ${has('affiliate_tax_profiles')} then 'tax_profile'
              when ${has('commissions')} then 'commissions'
              when ${has('payout_lines')} or ${has('payout_exclusions')} then 'payout' end as why
          from (select affiliate_id from i union select affiliate_id from d union select affiliate_id from t) u
          join affiliates a on a.account_id = ${account} and a.id = u.affiliate_id
          left join i on i.affiliate_id = a.id left join d on d.affiliate_id = a.id left join t on t.affiliate_id = a.id) u
        where why is not null order by id limit 20`,
  );
}

/**
 * Restores the affiliates that an import changed and deletes those it created, and raises the revision of the unpaid payout.
 * The caller has locked the books and taken back the destinations.
 */
export async function takeBackAffiliates(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await deleteMade(tx, account, id);
  const restored = (name: string) => `case when b.before ? '${name}' then b.${name} else a.${name} end`;
  const assignments = raw(IMPORTED_COLUMNS.map((name) => `${name} = ${restored(name)}`).join(', '));
  const columns = raw(IMPORTED_COLUMNS.map((name) => `r.${name}`).join(', '));
  const before = sql`b as materialized (
    select i.affiliate_id, i.before::jsonb as before, ${columns}
    from import_affiliates i cross join lateral json_populate_record(null::affiliates, i.before) r
    where i.account_id = ${account} and i.import_id = ${id} and i.before is not null)`;
  const former = formerAddresses('a', restored);
  const changed = sql`select affiliate_id from import_affiliates where account_id = ${account} and import_id = ${id}`;
  await lockAffiliates(tx, account, changed);
  await rows(
    tx,
    sql`create temporary table taken_back on commit drop as
        select a.id, ${recordJson} as before from affiliates a where a.account_id = ${account} and a.id in (${changed})`,
  );
  await rows(
    tx,
    sql`with ${before}
        insert into redirected
        select * from (
          select a.id, ${former} as former from b join affiliates a on a.account_id = ${account} and a.id = b.affiliate_id) c
        where former is not null`,
  );
  await refuseDuplicates(
    rows(
      tx,
      sql`with ${before},
          updated as (
            update affiliates a set ${assignments}, updated_at = now() from b
            where a.account_id = ${account} and a.id = b.affiliate_id returning a.account_id, a.id)
          ${noteAffiliates(sql`select * from updated`)}`,
    ),
  );
  await publishEach(tx, {
    account,
    type: 'affiliate.updated',
    records: sql`select ${recordJson} as data, b.before
      from taken_back b join affiliates a on a.account_id = ${account} and a.id = b.id order by b.id`,
  });
  const redirected = sql`
    select affiliate_id from import_destinations where account_id = ${account} and import_id = ${id}`;
  await reviseFor(tx, account, sql`l.affiliate_id in (${changed} union ${redirected})`);
}

async function deleteMade(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const made = sql`select affiliate_id from import_affiliates
    where account_id = ${account} and import_id = ${id} and before is null`;
  await rows(tx, sql`create temporary table unmade on commit drop as ${made}`);
  await publishEach(tx, {
    account,
    type: 'affiliate.deleted',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a where a.account_id = ${account} and a.id in (select affiliate_id from unmade)
      order by a.id) r`,
  });
  await rows(
    tx,
    sql`delete from import_affiliates where account_id = ${account} and affiliate_id in (select affiliate_id from unmade)`,
  );
  await rows(
    tx,
    sql`delete from affiliates where account_id = ${account} and id in (select affiliate_id from unmade)`,
  );
}
