import sql, { join, raw, type Sql } from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import { jsonOf } from '../../db/json-columns.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { publishEach } from '../../outbox/queue.ts';
import type { BadLines } from '../files/csv-import.ts';
import {
  type ImportOutcome,
  type ImportRequest,
  type ReaderSettings,
  refuseBadLines,
  stageCsv,
  takeOutBad,
} from '../files/csv-stage.ts';
import type { ImportPart } from '../files/import-part.ts';
import { lockBooks, reviseFor } from '../ledger/books.ts';
import { collectRedirected, formerAddresses, notifyOfCollected } from '../ledger/destination-notices.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { IMPORTED_COLUMNS, stagedWith } from './import-format.ts';
import { record, recordJson } from './record.ts';
import { PAYOUT_FIELDS, refuseDuplicates } from './service.ts';
import { lockAffiliates } from './store.ts';

/**
 * Creates and updates affiliates from a CSV file, and their destinations and tax profiles, set-based, in the request's transaction. Throws
 * `invalid_file`, and `invalid_lines` unless `partial` or `dryRun`, which report the bad lines instead.
 */
export async function importAffiliates(
  tx: Tx,
  account: AccountId,
  request: ImportRequest,
  settings: ReaderSettings,
  parts: readonly ImportPart[],
): Promise<ImportOutcome> {
  const { dryRun, partial, importId, enter } = request;
  await enter('reading');
  const { header, lines, skipped, bad } = await stageCsv(tx, request, stagedWith(parts), settings);
  await enter('writing');
  await lockBooks(tx, account);
  await matchExisting(tx, account);
  await refuseProblems(tx, account, bad);
  await refuseClashes(tx, account, bad);
  const file = { account, header, importId };
  const given = parts.filter(({ columns }) => columns.some((column) => header.has(column)));
  for (const part of given) await part.refuse?.(tx, file, bad);
  if (bad.count > 0 && !partial && !dryRun) refuseBadLines(bad, lines);
  await rows(
    tx,
    sql`create temporary table touched (line int not null, redirects boolean not null) on commit drop`,
  );
  await collectRedirected(tx);
  const methodsSet = await setMethods(tx, account, header);
  await updateStaged(tx, account, header, importId);
  // a dry run is rolled back by the caller, but inserting new rows would use up ids
  const created = dryRun ? await countNew(tx) : await insertStaged(tx, account, importId);
  if (given.length > 0 && !dryRun) await findInserted(tx, account);
  for (const part of given) await part.write(tx, file);
  const redirected = sql`select s.affiliate_id from touched t join staged s using (line) where t.redirects`;
  await reviseFor(tx, account, sql`l.affiliate_id in (${redirected})`);
  await notifyOfCollected(tx, account);
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
const refuseProblems = (tx: Tx, account: AccountId, bad: BadLines): Promise<void> =>
  takeOutBad<{ line: number; messages: string[] }>(tx, bad, {
    found: sql`
      select s.line, array_agg(p.value order by p.place) as messages
      from staged s cross join json_each_text(s.problems) with ordinality p (key, value, place)
      left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
      where ${jsonOf('a', IMPORTED_COLUMNS)} ->> p.key is distinct from ${jsonOf('s', IMPORTED_COLUMNS)} ->> p.key
      group by s.line`,
    messagesOf: ({ messages }) => messages,
  });

/** Removes lines that repeat an earlier one or would take another affiliate's e-mail address. */
function refuseClashes(tx: Tx, account: AccountId, bad: BadLines): Promise<void> {
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
  return takeOutBad<{ line: number; names: string[]; texts: string[]; rules: string[] }>(tx, bad, {
    found: sql`
      select line, array_agg(column_name order by column_name) as names, array_agg(value order by column_name) as texts,
             array_agg(rule order by column_name) as rules
      from (
        select distinct on (line, column_name) line, column_name, value, rule from (
          ${repeated(sql`external_id`, column('external_id'), 'is also in')} union all
          ${repeated(sql`lower(email)`, column('email'), 'is also in')} union all
          ${repeated(sql`affiliate_id`, either, 'means the same affiliate as')} union all ${taken}) clashes
        order by line, column_name, rule) first_of_each
      group by line`,
    messagesOf: ({ names, texts, rules }) =>
      names.map((name, index) => `${name} ${quote(texts[index] ?? '')} ${rules[index]}`),
  });
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
  const destination = PAYOUT_FIELDS.filter(isSet);
  const afterwards = (column: string) => (isSet(column) ? writtenOf(column) : `a.${column}`);
  const former = formerAddresses('a', afterwards);
  await lockAffiliates(tx, account, sql`select affiliate_id from staged`);
  await rows(
    tx,
    sql`create temporary table changed on commit drop as
        select s.line, s.affiliate_id, now() as changed_at, ${recordJson} as before, (${join(
          destination.map((column) => sql`a.${raw(column)} is distinct from ${raw(writtenOf(column))}`),
          ' or ',
        )}) as redirects, ${former} as former
        from staged s join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
        where (${before}) is distinct from (${after})`,
  );
  if (importId !== null) {
    await rows(
      tx,
      sql`insert into import_affiliates (account_id, import_id, affiliate_id, before, changed_at)
          select ${account}, ${importId}, a.id, ${jsonOf('a', columns)}, changed_at
          from affiliates a join changed on changed.affiliate_id = a.id where a.account_id = ${account}`,
    );
  }
  await rows(
    tx,
    sql`with updated as (
          update affiliates a set ${assignments}, updated_at = changed_at from staged s join changed using (line)
          where a.account_id = ${account} and a.id = s.affiliate_id returning a.account_id, a.id)
        ${noteAffiliates(sql`select * from updated`)}`,
  );
  await publishEach(tx, {
    account,
    type: 'affiliate.updated',
    records: sql`select ${recordJson} as data, changed.before
      from affiliates a join changed on changed.affiliate_id = a.id where a.account_id = ${account} order by a.id`,
  });
  await rows(tx, sql`insert into touched select line, redirects from changed`);
  await rows(
    tx,
    sql`insert into redirected select affiliate_id, former from changed where former is not null`,
  );
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
      sql`insert into import_affiliates (account_id, import_id, affiliate_id, changed_at)
          select a.account_id, ${importId}::uuid, a.id, a.updated_at from affiliates a
          where a.account_id = ${account} and a.id = any(${ids}::int8[])`,
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
