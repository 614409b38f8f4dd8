import sql, { join, raw, type Sql } from 'sql-template-tag';
import { readNow } from '../../db/clock.ts';
import { rows, type Tx } from '../../db/database.ts';
import { jsonOf } from '../../db/json-columns.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import type { BadLines } from '../files/csv-import.ts';
import { takeOutBad } from '../files/csv-stage.ts';
import type { ImportedFile, ImportPart } from '../files/import-part.ts';
import { FUTURE_RULE, formRule, latestDay } from './check.ts';
import { STAGED_PROFILE, TAX_COLUMNS } from './import-cells.ts';

/** The columns of a row of a profile that an import can set, and those of the tax id among them. */
const COLUMNS = [
  'id',
  'legal_type',
  'legal_name',
  'country',
  'address',
  'siren',
  'electronic_address',
  'form',
  'signed_on',
  'form_document',
  'self_billing',
];
const OF_TAX_ID = ['tax_id_type', 'number', 'number_mark', 'ending'];
const ALL = [...COLUMNS, ...OF_TAX_ID];

const listOf = (alias: string) => raw(ALL.map((column) => `${alias}.${column}`).join(', '));

/**
 * Writes the staged profiles that differ from those there are. A tax id that a line does not have stays, as do the form
 * and the agreement that the file has no column for. A new tax id was sealed for a new row id, which the profile takes.
 */
async function writeStaged(tx: Tx, { account, header, importId }: ImportedFile): Promise<void> {
  await stageProfiles(tx, account, header);
  if (importId !== null) {
    await rows(
      tx,
      sql`insert into import_tax_profiles (account_id, import_id, affiliate_id, before, changed_at)
          select ${account}, ${importId}, n.affiliate_id,
                 case when x.affiliate_id is not null then ${jsonOf('x', ALL)} end, n.changed_at
          from new_tax_profiles n
          left join affiliate_tax_profiles x on x.account_id = ${account} and x.affiliate_id = n.affiliate_id`,
    );
  }
  const columns = raw(ALL.join(', '));
  const assignments = raw(ALL.map((column) => `${column} = excluded.${column}`).join(', '));
  await rows(
    tx,
    sql`insert into affiliate_tax_profiles (account_id, affiliate_id, updated_at, ${columns})
        select ${account}, affiliate_id, changed_at, ${columns} from new_tax_profiles
        on conflict (account_id, affiliate_id) do update set ${assignments}, updated_at = excluded.updated_at`,
  );
  await rows(tx, sql`insert into touched select line, false from new_tax_profiles`);
  await rows(tx, sql`drop table new_tax_profiles`);
}

/**
 * Lines whose form cannot have been signed: on a day in the future, or, in a file without forms, the form that there is, by
 * somebody of that legal type or country. From here on until the end of the transaction nobody else sets these profiles.
 */
async function refuseMisfits(tx: Tx, { account, header }: ImportedFile, bad: BadLines): Promise<void> {
  await lockAffiliates(tx, account, sql`select affiliate_id from staged where tax_profile is not null`);
  const latest = latestDay(await readNow(tx));
  await takeOutBad<{ line: number }>(tx, bad, {
    found: sql`select s.line from staged s where s.tax_profile ->> 'signed_on' > ${latest}`,
    messagesOf: () => [`tax_form_signed_on ${FUTURE_RULE}`],
  });
  if (header.has('tax_form')) return;
  await takeOutBad<{ line: number; legal_type: string; country: string; form: string }>(tx, bad, {
    found: sql`
      select s.line, s.tax_profile ->> 'legal_type' as legal_type, s.tax_profile ->> 'country' as country, x.form
      from staged s join affiliate_tax_profiles x on x.account_id = ${account} and x.affiliate_id = s.affiliate_id
      where (x.form = 'w8ben' and s.tax_profile ->> 'legal_type' <> 'person')
        or (x.form = 'w8bene' and s.tax_profile ->> 'legal_type' <> 'business')
        or (x.form like 'w8%' and s.tax_profile ->> 'country' = 'US' and x.country <> 'US')`,
    messagesOf: (line) => {
      const column = formRule({ ...line, country: '' }) === null ? 'tax_country' : 'legal_type';
      return [`${column} does not go with the form that was signed: ${formRule(line)}`];
    },
  });
}

/** Locks affiliates as setting one tax profile does. In: a query of their ids. */
async function lockAffiliates(tx: Tx, account: AccountId, ids: Sql): Promise<void> {
  await rows(
    tx,
    sql`select from affiliates a where a.account_id = ${account} and a.id in (${ids}) order by a.id for no key update`,
  );
}

/** The profiles of the file as rows that would be written, in `new_tax_profiles`. */
async function stageProfiles(tx: Tx, account: AccountId, header: ReadonlySet<string>): Promise<void> {
  const keepsForm = !header.has('tax_form');
  const keepsAgreement = !header.has('self_billing_agreed_on');
  const kept = (condition: Sql, columns: readonly string[]) =>
    columns.map(
      (column) =>
        sql`case when ${condition} then x.${raw(column)} else r.${raw(column)} end as ${raw(column)}`,
    );
  const sameTaxId = sql`(x.id is not null and (r.number is null
    or (x.tax_id_type, x.number_mark) is not distinct from (r.tax_id_type, r.number_mark)))`;
  const chosen = join([
    sql`r.legal_type, r.legal_name, r.country, r.address`,
    ...kept(sameTaxId, ['id', ...OF_TAX_ID]),
    ...kept(sql`x.id is not null and ${!header.has('siren')}`, ['siren']),
    ...kept(sql`x.id is not null and ${!header.has('electronic_address')}`, ['electronic_address']),
    ...kept(sql`x.id is not null and ${keepsForm}`, ['form', 'signed_on', 'form_document']),
    ...kept(sql`x.id is not null and ${keepsAgreement}`, ['self_billing']),
  ]);
  await rows(
    tx,
    sql`create temporary table new_tax_profiles on commit drop as
        select s.line, s.affiliate_id, now() as changed_at, d.*
        from staged s
        left join affiliate_tax_profiles x on x.account_id = ${account} and x.affiliate_id = s.affiliate_id
        cross join lateral (
          select ${chosen}
          from json_to_record(s.tax_profile) as r (
            id uuid, legal_type text, legal_name text, country text, address jsonb, siren text, electronic_address text, form text, signed_on date,
            form_document text, self_billing jsonb, tax_id_type text, number bytea, number_mark bytea, ending text)) d
        where s.affiliate_id is not null and s.tax_profile is not null
          and (x.id is null or (${listOf('x')}) is distinct from (${listOf('d')}))`,
  );
  await rows(tx, sql`analyze new_tax_profiles`);
}

/** Until the end of the transaction nobody else sets the profiles that an import wrote. */
export async function lockImportedProfiles(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const written = sql`select affiliate_id from import_tax_profiles where account_id = ${account} and import_id = ${id}`;
  await lockAffiliates(tx, account, written);
}

/** Removes the profiles that an import made, and puts those back that it replaced. */
export async function takeBackTaxProfiles(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const ofImport = sql`t.account_id = ${account} and t.import_id = ${id}`;
  await rows(
    tx,
    sql`delete from affiliate_tax_profiles x using import_tax_profiles t
        where ${ofImport} and t.before is null and x.account_id = t.account_id and x.affiliate_id = t.affiliate_id`,
  );
  const assignments = raw(ALL.map((column) => `${column} = b.${column}`).join(', '));
  await rows(
    tx,
    sql`with b as materialized (
          select t.affiliate_id, ${listOf('r')}
          from import_tax_profiles t cross join lateral json_populate_record(null::affiliate_tax_profiles, t.before) r
          where ${ofImport} and t.before is not null)
        update affiliate_tax_profiles x set ${assignments}, updated_at = clock_time() from b
        where x.account_id = ${account} and x.affiliate_id = b.affiliate_id`,
  );
  // nobody asks for them again, and there are tax ids among them
  await rows(tx, sql`delete from import_tax_profiles t where ${ofImport}`);
}

/** The tax profile as a part of an import. A line without one leaves the one there is. */
export const taxProfilePart: ImportPart = {
  columns: TAX_COLUMNS,
  staged: STAGED_PROFILE,
  refuse: refuseMisfits,
  write: writeStaged,
};
