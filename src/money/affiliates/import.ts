import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Upload } from '../../contract/uploads.ts';
import { oneRow, rows, type Tx } from '../../db/connect.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import { publishEach } from '../../outbox/queue.ts';
import {
  BadLines,
  CellError,
  type Cells,
  type CsvFormat,
  cell,
  type ImportOutcome,
  type ImportRequest,
  refuseBadLines,
  stageCsv,
} from '../files/csv-import.ts';
import { lockBooks, reviseFor } from '../ledger/books.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import type { ImportPart } from './import-part.ts';
import { LEGAL_TYPES, record } from './record.ts';
import { DESTINATION_FIELDS, refuseDuplicates } from './service.ts';

/** The columns of an affiliates file, with the SQL types they are staged as. */
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

/** The columns that a file can set. */
export const IMPORTED_COLUMNS = Object.keys(COLUMNS);

const FORMAT: CsvFormat = {
  columns: IMPORTED_COLUMNS,
  isPrivate: true,
  required: ['email'],
  identifying: ['email', 'external_id'],
  fixedWords: ['payout_method', 'is_ready_for_payout', 'status', 'legal_type', 'country'],
  staged: [...Object.entries(COLUMNS), ['problems', 'json']],
  readers: [
    ({ external_id }) => cell.text('external_id', external_id, 255),
    ({ email }) => cell.composed('email', cell.required('email', email), 320),
    ({ name_first }) => cell.composed('name_first', name_first, 200),
    ({ name_last }) => cell.composed('name_last', name_last, 200),
    ({ slug }) => cell.composed('slug', slug, 200),
    ({ paypal_email }) => cell.composed('paypal_email', paypal_email, 320),
    ({ payout_method }) => cell.oneOf('payout_method', payout_method, PAYOUT_METHODS),
    ({ is_ready_for_payout }) => cell.boolean('is_ready_for_payout', is_ready_for_payout) ?? true,
    ({ status }) => cell.oneOf('status', status, ['active', 'inactive']) ?? 'active',
    ({ legal_type }) => cell.oneOf('legal_type', legal_type, LEGAL_TYPES),
    ({ country }) => countryCell(country),
    problemsOf,
  ],
};

function countryCell(value: string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  if (!/^[A-Za-z]{2}$/.test(value))
    throw new CellError(`country must be two letters such as DE (ISO 3166-1), not ${quote(value)}`);
  return value.toUpperCase();
}

/** JSON of column to message, for cells that are accepted only if the affiliate already has the same value. */
function problemsOf(cells: Cells): string | null {
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

/** The format of a file whose lines can set the records of these parts too. */
const formatWith = (parts: readonly ImportPart[]): CsvFormat => ({
  ...FORMAT,
  columns: [...FORMAT.columns, ...parts.flatMap(({ columns }) => columns)],
  staged: [...FORMAT.staged, ...parts.map(({ staged }) => [staged, 'json'] as const)],
  readers: [...FORMAT.readers, ...parts.map((part) => (cells: Cells) => part.read(cells))],
});

/**
 * Creates and updates affiliates from a CSV file, and records beside them, set-based, in the request's transaction. Throws
 * `invalid_file`, and `invalid_lines` unless `partial` or `dryRun`, which report the bad lines instead.
 */
export async function importAffiliates(
  tx: Tx,
  account: AccountId,
  upload: Upload,
  { dryRun, partial, reading, importId, mostBad, enter }: ImportRequest,
  parts: readonly ImportPart[],
): Promise<ImportOutcome> {
  const bad = new BadLines(mostBad);
  await enter('reading');
  const { header, lines, skipped } = await stageCsv(tx, upload, { format: formatWith(parts), reading }, bad);
  await enter('writing');
  await lockBooks(tx, account);
  await matchExisting(tx, account);
  await refuseProblems(tx, account, bad);
  await refuseClashes(tx, account, bad);
  const file = { account, header, importId };
  const given = parts.filter(({ columns }) => columns.some((column) => header.has(column)));
  for (const part of given) {
    for (const { line, message } of (await part.refuse?.(tx, file)) ?? []) bad.add(line, message);
  }
  if (bad.count > 0 && !partial && !dryRun) refuseBadLines(bad, lines);
  await rows(
    tx,
    sql`create temporary table touched (line int not null, redirects boolean not null) on commit drop`,
  );
  const methodsSet = await setMethods(tx, account, header);
  await updateStaged(tx, account, header, importId);
  // a dry run is rolled back by the caller, but inserting new rows would use up ids
  const created = dryRun ? await countNew(tx) : await insertStaged(tx, account, importId);
  if (given.length > 0 && !dryRun) await findInserted(tx, account);
  for (const part of given) await part.write(tx, file);
  const redirected = sql`select s.affiliate_id from touched t join staged s using (line) where t.redirects`;
  await reviseFor(tx, account, sql`l.affiliate_id in (${redirected})`);
  const updated = await countTouched(tx);
  const unchanged = lines - skipped - bad.count - created - updated;
  return { lines, created, updated, unchanged, skipped, methodsSet, totals: [], bad };
}

/** Finds the affiliate of each line: by external_id, else by e-mail address unless the external_id contradicts it. */
async function matchExisting(tx: Tx, account: AccountId): Promise<void> {
  await rows(
    tx,
    sql`alter table staged add column affiliate_id bigint, add column is_new boolean not null default false`,
  );
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

/** Removes lines with values that are not allowed, unless the affiliate already has them. */
async function refuseProblems(tx: Tx, account: AccountId, bad: BadLines): Promise<void> {
  const found = await rows<{ line: number; message: string }>(
    tx,
    sql`with problems as (
          select s.line, p.value as message, array_position(array['email', 'paypal_email', 'external_id'], p.key) as place
          from staged s cross join json_each_text(s.problems) p
          left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
          where to_json(a) ->> p.key is distinct from to_json(s) ->> p.key),
        gone as (delete from staged where line in (select line from problems))
        select line, message from problems order by line, place`,
  );
  for (const [line, messages] of byLine(found)) bad.add(line, ...messages);
}

function byLine(found: readonly { line: number; message: string }[]): Map<number, string[]> {
  const lines = new Map<number, string[]>();
  for (const { line, message } of found) lines.set(line, [...(lines.get(line) ?? []), message]);
  return lines;
}

/** Removes lines that repeat an earlier one or would take another affiliate's e-mail address. */
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
        select distinct on (line, column_name) line, column_name, value, rule from clashes
        order by line, column_name, rule`,
  );
  const found = clashes.map(({ line, column_name, value, rule }) => ({
    line,
    message: `${column_name} ${quote(value)} ${rule}`,
  }));
  for (const [line, messages] of byLine(found)) bad.add(line, ...messages);
}

/**
 * Lines with a PayPal address and no payout method get `paypal`, unless the file has no column for the method and the
 * affiliate has one. Returns for how many that is new.
 */
async function setMethods(tx: Tx, account: AccountId, header: ReadonlySet<string>): Promise<number> {
  if (!header.has('paypal_email')) return 0;
  const isKept = header.has('payout_method') ? sql`false` : sql`a.payout_method is not null`;
  const { count } = await oneRow<{ count: number }>(
    tx,
    sql`with given as (
          update staged s set payout_method = 'paypal'
          where s.paypal_email is not null and s.payout_method is null
          returning s.affiliate_id)
        select count(*)::int as count
        from given g left join affiliates a on a.account_id = ${account} and a.id = g.affiliate_id
        where a.payout_method is distinct from 'paypal' and not ${isKept}`,
  );
  return count;
}

async function updateStaged(
  tx: Tx,
  account: AccountId,
  header: ReadonlySet<string>,
  importId: ImportId | null,
): Promise<void> {
  // a method that no column gives is for those who have none
  const addsMethod = header.has('paypal_email') && !header.has('payout_method');
  const isSet = (column: string) => header.has(column) || (addsMethod && column === 'payout_method');
  const writtenOf = (column: string) =>
    addsMethod && column === 'payout_method' ? 'coalesce(a.payout_method, s.payout_method)' : `s.${column}`;
  const columns = IMPORTED_COLUMNS.filter(isSet);
  const before = raw(columns.map((column) => `a.${column}`).join(', '));
  const after = raw(columns.map(writtenOf).join(', '));
  const assignments = raw(columns.map((column) => `${column} = ${writtenOf(column)}`).join(', '));
  const destination = DESTINATION_FIELDS.filter(isSet);
  await rows(
    tx,
    sql`create temporary table changed on commit drop as
        select s.line, s.affiliate_id, (${join(
          destination.map((column) => sql`a.${raw(column)} is distinct from ${raw(writtenOf(column))}`),
          ' or ',
        )}) as redirects
        from staged s join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
        where (${before}) is distinct from (${after})`,
  );
  if (importId !== null) {
    await rows(
      tx,
      sql`insert into import_affiliates (account_id, import_id, affiliate_id, before)
          select ${account}, ${importId}, a.id, (select row_to_json(b) from (select ${before}) b)
          from affiliates a join changed on changed.affiliate_id = a.id where a.account_id = ${account}`,
    );
  }
  await rows(
    tx,
    sql`with updated as (
          update affiliates a set ${assignments}, updated_at = now() from staged s join changed using (line)
          where a.account_id = ${account} and a.id = s.affiliate_id returning a.account_id, a.id)
        ${noteAffiliates(sql`select * from updated`)}`,
  );
  await publishEach(tx, {
    account,
    type: 'affiliate.updated',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a join changed on changed.affiliate_id = a.id
      where a.account_id = ${account} order by a.id) r`,
  });
  await rows(tx, sql`insert into touched select line, redirects from changed`);
  await rows(tx, sql`drop table changed`);
}

/** Finds the affiliates of the lines that were not there before. */
async function findInserted(tx: Tx, account: AccountId): Promise<void> {
  await rows(
    tx,
    sql`update staged s set affiliate_id = a.id, is_new = true from affiliates a
        where s.affiliate_id is null and a.account_id = ${account} and lower(a.email) = lower(s.email)`,
  );
}

async function countTouched(tx: Tx): Promise<number> {
  const counted = await oneRow<{ count: number }>(
    tx,
    sql`select count(distinct line)::int as count from touched join staged using (line) where not is_new`,
  );
  return counted.count;
}

async function countNew(tx: Tx): Promise<number> {
  const counted = await oneRow<{ count: number }>(
    tx,
    sql`select count(*)::int as count from staged where affiliate_id is null`,
  );
  return counted.count;
}

async function insertStaged(tx: Tx, account: AccountId, importId: ImportId | null): Promise<number> {
  const columns = raw(IMPORTED_COLUMNS.join(', '));
  const made = await refuseDuplicates(
    rows<{ id: bigint }>(
      tx,
      sql`insert into affiliates (account_id, ${columns})
          select ${account}, ${columns} from staged where affiliate_id is null order by line returning id`,
    ),
  );
  const ids = made.map((row) => row.id);
  if (importId !== null) {
    await rows(
      tx,
      sql`insert into import_affiliates (account_id, import_id, affiliate_id)
          select ${account}, ${importId}, unnest(${ids}::int8[])`,
    );
  }
  await publishEach(tx, {
    account,
    type: 'affiliate.created',
    records: sql`select row_to_json(r)::text as data from (
      select ${record} from affiliates a
      where a.account_id = ${account} and a.id = any(${ids}::int8[]) order by a.id) r`,
  });
  return made.length;
}
