import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from '../../db/connect.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { publishEach } from '../../outbox/queue.ts';
import { reviseFor } from '../ledger/books.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { IMPORTED_COLUMNS } from './import.ts';
import { record } from './record.ts';
import { refuseDuplicates } from './service.ts';

/** An affiliate of an import that cannot be undone, and why. */
export interface AffiliateInUse {
  readonly id: bigint;
  readonly email: string;
  readonly why: 'changed' | 'commissions' | 'payout';
  /** Of all affiliates in use. */
  readonly total: bigint;
}

/**
 * The first affiliates of an import that have changed since, or that it created and that have commissions or payouts.
 */
export function findUsedAffiliates(tx: Tx, account: AccountId, id: ImportId): Promise<AffiliateInUse[]> {
  const has = (table: string) =>
    sql`exists (select from ${raw(table)} x where x.account_id = a.account_id and x.affiliate_id = a.id)`;
  return rows(
    tx,
    sql`select id, email, why, count(*) over () as total from (
          select a.id, a.email, case
              when a.updated_at is distinct from i.changed_at then 'changed'
              when i.before is not null then null
              when ${has('affiliate_destinations')} then 'changed'
              when ${has('commissions')} then 'commissions'
              when ${has('payout_lines')} or ${has('payout_exclusions')} then 'payout' end as why
          from import_affiliates i join affiliates a on a.account_id = i.account_id and a.id = i.affiliate_id
          where i.account_id = ${account} and i.import_id = ${id}) u
        where why is not null order by id limit 20`,
  );
}

/** Restores the affiliates that an import changed and deletes those it created. The caller has locked the books. */
export async function takeBackAffiliates(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await deleteMade(tx, account, id);
  const assignments = raw(
    IMPORTED_COLUMNS.map(
      (name) => `${name} = case when b.keys ? '${name}' then (b.r).${name} else a.${name} end`,
    ).join(', '),
  );
  await refuseDuplicates(
    rows(
      tx,
      sql`with updated as (
            update affiliates a set ${assignments}, updated_at = now()
            from (select affiliate_id, before::jsonb as keys, json_populate_record(null::affiliates, before) as r
                  from import_affiliates where account_id = ${account} and import_id = ${id} and before is not null) b
            where a.account_id = ${account} and a.id = b.affiliate_id returning a.account_id, a.id)
          ${noteAffiliates(sql`select * from updated`)}`,
    ),
  );
  const changed = sql`select affiliate_id from import_affiliates where account_id = ${account} and import_id = ${id}`;
  await publishEach(tx, {
    account,
    type: 'affiliate.updated',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a where a.account_id = ${account} and a.id in (${changed}) order by a.id) r`,
  });
  await reviseFor(tx, account, sql`l.affiliate_id in (${changed})`);
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
