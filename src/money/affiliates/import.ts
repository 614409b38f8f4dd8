import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Static } from 'typebox';
import type { Upload } from '../../contract/route.ts';
import { oneRow, rows, type Tx } from '../../db/connect.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import { publishEach } from '../../outbox/queue.ts';
import { BadLines, CellError, type CsvFormat, cell, refuseBadLines, stageCsv } from '../files/csv-import.ts';
import { lockBooks, reviseFor } from '../ledger/books.ts';
import { type affiliateImport, LEGAL_TYPES, record } from './record.ts';
import { DESTINATION_FIELDS, refuseDuplicates } from './service.ts';

/** The columns of an affiliates file, with the SQL type they are staged in. */
const COLUMNS: Readonly<Record<string, string>> = {
  external_id: 'text',
  email: 'text',
  name_first: 'text',
  name_last: 'text',
  slug: 'text',
  paypal_email: 'text',
  payout_method: 'text',
  is_ready_for_payout: 'boolean',
  status: 'text',
  legal_type: 'text',
  country: 'text',
};

const FORMAT: CsvFormat = {
  columns: Object.keys(COLUMNS),
  required: ['email'],
  fixedWords: ['payout_method', 'is_ready_for_payout', 'status', 'legal_type', 'country'],
  staged: [...Object.entries(COLUMNS), ['problems', 'json']],
  readLine: (cells) => [
    cell.text('external_id', cells.external_id, 255),
    cell.composed('email', cell.required('email', cells.email), 320),
    cell.composed('name_first', cells.name_first, 200),
    cell.composed('name_last', cells.name_last, 200),
    cell.composed('slug', cells.slug, 200),
    cell.composed('paypal_email', cells.paypal_email, 320),
    cell.oneOf('payout_method', cells.payout_method, PAYOUT_METHODS),
    cell.boolean('is_ready_for_payout', cells.is_ready_for_payout) ?? true,
    cell.oneOf('status', cells.status, ['active', 'inactive']) ?? 'active',
    cell.oneOf('legal_type', cells.legal_type, LEGAL_TYPES),
    countryCell(cells.country),
    problemsOf(cells),
  ],
};

function countryCell(value: string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (!/^[A-Za-z]{2}$/.test(value))
    throw new CellError(`country must be two letters such as DE (ISO 3166-1), not ${quote(value)}`);
  return value.toUpperCase();
}

/** JSON of column to message, of cells that are taken only where the affiliate has the same text already. */
function problemsOf(cells: Readonly<Record<string, string | null>>): string | null {
  const readers = { email: cell.email, paypal_email: cell.email, external_id: cell.identifier };
  const problems: Record<string, string> = {};
  for (const [column, read] of Object.entries(readers)) {
    try {
      read(column, cells[column]);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      problems[column] = error.message;
    }
  }
  return Object.keys(problems).length === 0 ? null : JSON.stringify(problems);
}

/**
 * Creates and updates affiliates from a CSV file, set by set, in the request's transaction. Throws `invalid_file`,
 * and `invalid_lines` unless `partial` or `dryRun`, which report the bad lines instead.
 */
export async function importAffiliates(
  tx: Tx,
  account: AccountId,
  upload: Upload,
  { dryRun, partial }: { dryRun: boolean; partial: boolean },
): Promise<Json<Static<typeof affiliateImport>>> {
  const bad = new BadLines();
  const { header, lines } = await stageCsv(tx, upload, FORMAT, bad);
  await lockBooks(tx, account);
  await matchExisting(tx, account);
  await refuseProblems(tx, account, bad);
  await refuseClashes(tx, account, bad);
  if (bad.count > 0 && !partial && !dryRun) refuseBadLines(bad, lines);
  // A dry run writes and takes it back, but for new rows: their ids would be used up.
  if (dryRun) await rows(tx, sql`savepoint before_import`);
  const updated = await updateStaged(tx, account, header);
  const created = dryRun ? await countNew(tx) : await insertStaged(tx, account);
  if (dryRun) await rows(tx, sql`rollback to savepoint before_import`);
  return toJson({
    object: 'affiliate_import',
    dry_run: dryRun,
    lines,
    created,
    updated,
    unchanged: lines - bad.count - created - updated,
    failed: bad.count,
    errors: bad.first(),
  });
}

/** Notes which affiliate each line means: by external_id, else by e-mail where that does not contradict one. */
async function matchExisting(tx: Tx, account: AccountId): Promise<void> {
  await rows(tx, sql`alter table staged add column affiliate_id bigint`);
  await rows(
    tx,
    sql`update staged s set affiliate_id = a.id from affiliates a
        where a.account_id = ${account} and a.external_id = s.external_id`,
  );
  await rows(
    tx,
    sql`update staged s set affiliate_id = a.id from affiliates a
        where s.affiliate_id is null and a.account_id = ${account} and lower(a.email) = lower(s.email)
          and (s.external_id is null or a.external_id is null)`,
  );
}

/** Takes lines out whose texts would be refused, and are not those the affiliate has. */
async function refuseProblems(tx: Tx, account: AccountId, bad: BadLines): Promise<void> {
  const found = await rows<{ line: number; message: string }>(
    tx,
    sql`with problems as (
          select s.line, p.value as message, array_position(array['email', 'paypal_email', 'external_id'], p.key) as place
          from staged s cross join json_each_text(s.problems) p
          left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
          where to_json(a) ->> p.key is distinct from to_json(s) ->> p.key),
        gone as (delete from staged where line in (select line from problems))
        select distinct on (line) line, message from problems order by line, place`,
  );
  for (const { line, message } of found) bad.add(line, message);
}

/** Takes lines out that repeat an earlier one or would take another affiliate's e-mail address. */
async function refuseClashes(tx: Tx, account: AccountId, bad: BadLines): Promise<void> {
  const repeated = (by: Sql, column: Sql, what: string) => sql`
    select line, column_name, value, ${`${what} line `}::text || first as rule
    from (select line, ${column}, first_value(line) over (partition by ${by} order by line) as first from staged
          where ${by} is not null) s
    where line > first`;
  const column = (name: string) => sql`${name}::text as column_name, ${raw(name)} as value`;
  const either = sql`case when external_id is null then 'email' else 'external_id' end as column_name,
    coalesce(external_id, email) as value`;
  const taken = sql`
    select s.line, 'email' as column_name, s.email as value, 'belongs to affiliate ' || a.id as rule
    from staged s join affiliates a on a.account_id = ${account} and lower(a.email) = lower(s.email)
    where a.id is distinct from s.affiliate_id`;
  const clashes = await rows<{ line: number; column_name: string; value: string; rule: string }>(
    tx,
    sql`with clashes as (
          ${repeated(sql`external_id`, column('external_id'), 'is also in')} union all
          ${repeated(sql`lower(email)`, column('email'), 'is also in')} union all
          ${repeated(sql`affiliate_id`, either, 'means the same affiliate as')} union all ${taken}),
        gone as (delete from staged where line in (select line from clashes))
        select distinct on (line) line, column_name, value, rule from clashes order by line, column_name, rule`,
  );
  for (const { line, column_name, value, rule } of clashes)
    bad.add(line, `${column_name} ${quote(value)} ${rule}`);
}

async function updateStaged(tx: Tx, account: AccountId, header: ReadonlySet<string>): Promise<number> {
  const columns = Object.keys(COLUMNS).filter((column) => header.has(column));
  const list = (alias: string) => raw(columns.map((column) => `${alias}.${column}`).join(', '));
  const assignments = raw(columns.map((column) => `${column} = s.${column}`).join(', '));
  const destination = DESTINATION_FIELDS.filter((column) => header.has(column));
  await rows(
    tx,
    sql`create temporary table changed on commit drop as
        select s.line, s.affiliate_id, (${join(
          destination.map((column) => sql`a.${raw(column)} is distinct from s.${raw(column)}`),
          ' or ',
        )}) as redirects
        from staged s join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
        where (${list('a')}) is distinct from (${list('s')})`,
  );
  await rows(
    tx,
    sql`update affiliates a set ${assignments}, updated_at = now() from staged s join changed using (line)
        where a.account_id = ${account} and a.id = s.affiliate_id`,
  );
  await publishEach(tx, {
    account,
    type: 'affiliate.updated',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a join changed on changed.affiliate_id = a.id
      where a.account_id = ${account} order by a.id) r`,
  });
  await reviseFor(tx, account, sql`l.affiliate_id in (select affiliate_id from changed where redirects)`);
  const { count } = await oneRow<{ count: number }>(tx, sql`select count(*)::int as count from changed`);
  await rows(tx, sql`drop table changed`);
  return count;
}

async function countNew(tx: Tx): Promise<number> {
  const counted = await oneRow<{ count: number }>(
    tx,
    sql`select count(*)::int as count from staged where affiliate_id is null`,
  );
  return counted.count;
}

async function insertStaged(tx: Tx, account: AccountId): Promise<number> {
  const columns = raw(Object.keys(COLUMNS).join(', '));
  const made = await refuseDuplicates(
    rows<{ id: bigint }>(
      tx,
      sql`insert into affiliates (account_id, ${columns})
          select ${account}, ${columns} from staged where affiliate_id is null order by line returning id`,
    ),
  );
  await publishEach(tx, {
    account,
    type: 'affiliate.created',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a
      where a.account_id = ${account} and a.id = any(${made.map((row) => row.id)}::int8[]) order by a.id) r`,
  });
  return made.length;
}
