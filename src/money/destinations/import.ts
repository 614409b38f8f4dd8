import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import type { ImportedFile, ImportPart } from '../files/import-part.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { DESTINATION_COLUMNS, STAGED_DESTINATION } from './import-cells.ts';
import { COMPARED, STORED } from './store.ts';

/** Puts the staged destinations in force that differ from those there are. */
async function writeStaged(tx: Tx, { account, header, importId }: ImportedFile): Promise<void> {
  const columns = Object.keys(STORED);
  const typed = Object.entries(STORED).map((column) => column.join(' '));
  const compared = (alias: string) => raw(COMPARED.map((name) => `${alias}.${name}`).join(', '));
  // a file without the column keeps the BIC of an account
  const keepsBic = !header.has('bic');
  await rows(
    tx,
    sql`create temporary table new_destinations on commit drop as
        select s.line, s.affiliate_id, s.is_new, x.id as replaced_id, d.*
        from staged s
        left join affiliate_destinations x on x.account_id = ${account} and x.affiliate_id = s.affiliate_id
          and x.currency is null and x.replaced_at is null
        cross join lateral (
          select id, ${raw(columns.filter((name) => name !== 'bic').join(', '))},
                 case when ${keepsBic} and x.number_mark = r.number_mark then x.bic else r.bic end as bic
          from json_to_record(s.destination) as r (id uuid, ${raw(typed.join(', '))})) d
        where s.affiliate_id is not null and s.destination is not null and (x.id is null
          or (${compared('x')}) is distinct from (${compared('d')}))`,
  );
  await rows(tx, sql`analyze new_destinations`);
  if (importId !== null) {
    await rows(
      tx,
      sql`insert into import_destinations (account_id, import_id, affiliate_id, destination_id, replaced_id)
          select ${account}, ${importId}, affiliate_id, id, replaced_id from new_destinations`,
    );
  }
  await rows(
    tx,
    sql`update affiliate_destinations x set replaced_at = clock_time() from new_destinations n
        where x.account_id = ${account} and x.id = n.replaced_id`,
  );
  await rows(
    tx,
    sql`with made as (
          insert into affiliate_destinations (account_id, created_at, id, affiliate_id, ${raw(columns.join(', '))})
          select ${account}, clock_time(), id, affiliate_id, ${raw(columns.join(', '))} from new_destinations
          returning account_id, affiliate_id as id)
        ${noteAffiliates(sql`select * from made`)}`,
  );
  await rows(tx, sql`insert into touched select line, true from new_destinations`);
  await rows(
    tx,
    sql`insert into redirected
        select a.id, array_remove(array[a.paypal_email], null)
        from new_destinations n join affiliates a on a.account_id = ${account} and a.id = n.affiliate_id
        where n.replaced_id is not null or not n.is_new and coalesce(a.payout_method, a.paypal_email) is not null`,
  );
  await rows(tx, sql`drop table new_destinations`);
}

/** Ends the destinations that an import set, and puts those in force again that it replaced. */
export async function takeBackDestinations(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const set = sql`import_destinations d`;
  const ofImport = sql`d.account_id = ${account} and d.import_id = ${id}`;
  await rows(
    tx,
    sql`update affiliate_destinations x set replaced_at = clock_time() from ${set}
        where ${ofImport} and x.account_id = d.account_id and x.id = d.destination_id`,
  );
  await rows(
    tx,
    sql`update affiliate_destinations x set replaced_at = null, restored_at = clock_time() from ${set}
        where ${ofImport} and x.account_id = d.account_id and x.id = d.replaced_id`,
  );
  await rows(
    tx,
    sql`insert into redirected
        select a.id, array_remove(array[a.paypal_email], null)
        from ${set} join affiliates a on a.account_id = d.account_id and a.id = d.affiliate_id where ${ofImport}`,
  );
  await rows(
    tx,
    noteAffiliates(sql`select d.account_id, d.affiliate_id as id from ${set} where ${ofImport}`),
  );
}

/** The destination for all currencies as a part of an import. A line without one leaves the one there is. */
export const destinationPart: ImportPart = {
  columns: DESTINATION_COLUMNS,
  staged: STAGED_DESTINATION,
  write: writeStaged,
};
