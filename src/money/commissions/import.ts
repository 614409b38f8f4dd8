import sql, { raw, type Sql } from 'sql-template-tag';
import type { Upload } from '../../contract/uploads.ts';
import { rows, type Tx } from '../../db/connect.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import {
  currencyDigits,
  formatDecimal,
  MAX_AMOUNT,
  normalizeCurrency,
  parseDecimal,
} from '../../kernel/money.ts';
import { formatInstant, parseInstantOrDay } from '../../kernel/time.ts';
import { publish } from '../../outbox/queue.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import {
  BadLines,
  type Cell,
  CellError,
  type Cells,
  type CsvFormat,
  cell,
  type ImportOutcome,
  type ImportRequest,
  refuseBadLines,
  stageCsv,
} from '../files/csv-import.ts';
import { changeCommissions } from '../ledger/balances.ts';
import {
  beginLocked,
  beyondLimitRule,
  isNearLimit,
  linesBeyondLimit,
  lockBalances,
  MOST_UNLOCKED,
} from '../ledger/limit.ts';
import { externalIdRule } from '../ledger/own-ids.ts';
import { AFFILIATE_NAMES, type AffiliateName } from '../ledger/references.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { commissionOf, defaultCurrency, imported } from './service.ts';
import { contradictions, INPUT_COLUMNS, insertCommissions, sumsOf, unknownReferences } from './store.ts';

/** The header has exactly one of these. */
const AFFILIATE_COLUMNS = Object.keys(AFFILIATE_NAMES) as AffiliateName[];

const columns = Object.keys(INPUT_COLUMNS).filter((column) => column !== 'metadata');

/** Extra columns in files of other products: what became of a commission there. */
const HISTORY = ['paid_at', 'payment_reference', 'is_pending'] as const;

function format(fallbackCurrency: string, zone: string): CsvFormat {
  const currencyOf = ({ currency }: Cells) => currencyCell(currency ?? null, fallbackCurrency);
  const money = (name: string, cells: Cells) =>
    cells[name] == null ? null : moneyCell(name, cells[name], currencyOf(cells));
  return {
    columns: [...columns, ...AFFILIATE_COLUMNS],
    required: ['external_id', AFFILIATE_COLUMNS],
    identifying: ['external_id', 'order_id', ...AFFILIATE_COLUMNS],
    fixedWords: ['type', 'currency'],
    staged: [
      ['affiliate', 'text'],
      ...columns.map((column) => [column, INPUT_COLUMNS[column] ?? ''] as const),
    ],
    readers: [
      affiliateCell,
      ({ external_id }) => externalIdCell(external_id),
      ({ program_id }) => cell.id('program_id', program_id),
      ({ type }) => cell.oneOf('type', type, ['sale', 'recurring', 'bonus']) ?? 'sale',
      currencyOf,
      (cells) => amountCell(cells, currencyOf(cells), money),
      (cells) => money('sale_amount', cells),
      ({ rate_bps }) => rateCell(rate_bps),
      ({ order_id }) => cell.identifier('order_id', order_id),
      ({ order_line_id }) => cell.identifier('order_line_id', order_line_id),
      ({ customer_email }) => cell.email('customer_email', customer_email),
      ({ product_id }) => cell.identifier('product_id', product_id),
      ({ product_name }) => cell.text('product_name', product_name, 500),
      ({ description }) => cell.text('description', description, 1000),
      ({ occurred_at, paid_at }) => timeCell('occurred_at', occurred_at ?? paid_at, zone),
    ],
  };
}

/** The same format, plus columns that say that a line was paid before or awaits approval. */
function formatWithHistory(fallbackCurrency: string, zone: string): CsvFormat {
  const plain = format(fallbackCurrency, zone);
  const readers: readonly ((cells: Cells) => Cell)[] = [
    ({ paid_at }) => timeCell('paid_at', paid_at, zone),
    ({ payment_reference }) => cell.text('payment_reference', payment_reference, 255),
    ({ is_pending }) => cell.boolean('is_pending', is_pending) ?? false,
  ];
  const types = ['timestamptz(3)', 'text', 'boolean'];
  return {
    ...plain,
    columns: [...plain.columns, ...HISTORY],
    staged: [...plain.staged, ...HISTORY.map((name, index) => [name, types[index] ?? ''] as const)],
    readers: [...plain.readers, ...readers],
  };
}

function externalIdCell(value: string | null | undefined): string | null {
  const externalId = cell.identifier('external_id', cell.required('external_id', value));
  const reserved = externalIdRule(externalId ?? '');
  if (reserved !== null) throw new CellError(reserved);
  return externalId;
}

function affiliateCell(cells: Cells): string {
  for (const column of AFFILIATE_COLUMNS) {
    if (cells[column] === undefined) continue;
    const value = cell.required(column, cells[column]);
    return column === 'affiliate_id' ? (cell.id(column, value) ?? '') : value;
  }
  return '';
}

function currencyCell(value: string | null, fallback: string): string {
  const currency = normalizeCurrency(value ?? fallback);
  if (currency === null)
    throw new CellError(`currency must be an ISO 4217 code such as usd, not ${quote(value ?? '')}`);
  return currency;
}

function moneyCell(name: string, value: string | null | undefined, currency: string): bigint | null {
  if (value === null || value === undefined) return null;
  const minor = parseDecimal(value, currency);
  if (minor === null) {
    throw new CellError(
      `${name} must be ${decimalRule(currency)}, without thousands separator, sign or exponent, not ${quote(value)}`,
    );
  }
  if (minor < 0n) throw new CellError(`${name} must not be negative: ${quote(value)}`);
  if (minor > MAX_AMOUNT) throw new CellError(`${name} is too large: ${quote(value)}`);
  return minor;
}

function decimalRule(currency: string): string {
  const digits = currencyDigits(currency);
  return digits === 0
    ? `a whole number such as 528 (${currency} has no decimals)`
    : `a number such as ${formatDecimal(3190n, currency)} with a point and at most ${digits} digits after it (${currency})`;
}

function rateCell(value: string | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  if (!/^\d{1,5}$/.test(value) || Number(value) > 10_000) {
    throw new CellError(`rate_bps must be a whole number from 0 to 10000, not ${quote(value)}`);
  }
  return Number(value);
}

function amountCell(
  cells: Cells,
  currency: string,
  money: (name: string, cells: Cells) => bigint | null,
): bigint {
  const given = moneyCell('amount', cells.amount, currency);
  if (given !== null && given < 1n)
    throw new CellError(`amount must be above zero, not ${quote(cells.amount ?? '')}`);
  if (given !== null) return given;
  const [saleAmount, rate] = [money('sale_amount', cells), rateCell(cells.rate_bps)];
  if (saleAmount === null || rate === null)
    throw new CellError('amount is empty, and there is no sale_amount with a rate_bps');
  return commissionOf(saleAmount, BigInt(rate));
}

function timeCell(name: string, value: string | null | undefined, zone: string): string | null {
  if (value === null || value === undefined) return null;
  const at = parseInstantOrDay(value, zone);
  if (at === null)
    throw new CellError(
      `${name} must be a day such as 2026-12-31 or a time such as 2026-12-31T08:30:00Z (RFC 3339), from 1970 to 2999, not ${quote(value)}`,
    );
  return formatInstant(at.from);
}

/**
 * Creates commissions from a CSV file of any size in the request's transaction. Lines that are already stored with the
 * same content count as unchanged. The caller rolls back a dry run. Throws `invalid_file`, and `invalid_lines` unless
 * `partial` or `dryRun`, which report the bad lines instead.
 */
export async function importCommissions(
  tx: Tx,
  account: AccountId,
  upload: Upload,
  { dryRun, partial, reading, importId, mostBad, enter }: ImportRequest,
): Promise<ImportOutcome> {
  const bad = new BadLines(mostBad);
  const [currency, zone] = [await defaultCurrency(tx, account), await zoneOf(tx, account)];
  const shape = reading === null ? format(currency, zone) : formatWithHistory(currency, zone);
  await enter('reading');
  const { header, lines, skipped } = await stageCsv(tx, upload, { format: shape, reading }, bad);
  await enter('writing');
  const source = sourceOf(account, header);
  const stop = () => bad.count > 0 && !partial && !dryRun && refuseBadLines(bad, lines);
  await dropUnknown(tx, account, source, header, bad);
  if (header.has('paid_at')) await dropImpossible(tx, bad);
  await dropBeyond(tx, account, source, bad);
  stop();
  const orders = header.has('order_id') ? 'many' : 'none';
  const created = await insertCommissions(tx, account, source, { orders, importId });
  if (created > 0) await beginLockedIfNear(tx, account);
  if (created < lines - skipped - bad.count) await dropContradictions(tx, account, source, bad);
  if (header.has('paid_at') && importId !== null) await dropUnpaid(tx, account, importId, bad);
  stop();
  const { json: totals, largest } = await sumsOf(tx, source);
  refuseInexact(largest);
  if (header.has('is_pending') && importId !== null) await holdPending(tx, account, importId);
  const unchanged = lines - skipped - bad.count - created;
  if (created > 0 && !dryRun) {
    const data = imported({ source: 'file', created, unchanged, failed: bad.count }, totals);
    await publish(tx, { account, type: 'commissions.imported', data });
  }
  return { lines, created, updated: 0, unchanged, skipped, totals: fromJson(totals), bad };
}

/** Removes lines that would bring the balance of an affiliate over the limit. */
async function dropBeyond(tx: Tx, account: AccountId, source: Sql, bad: BadLines): Promise<void> {
  await rows(
    tx,
    sql`create temporary table staged_sums on commit drop as
        select affiliate_id, currency, sum(amount) as amount from ${source} group by affiliate_id, currency`,
  );
  const much = await rows<{ affiliate_id: bigint }>(
    tx,
    sql`select distinct affiliate_id from staged_sums where amount > ${MOST_UNLOCKED}::int8`,
  );
  await lockBalances(
    tx,
    account,
    much.map(({ affiliate_id: id }) => id),
  );
  const beyond = await linesBeyondLimit(tx, account, source);
  if (beyond.length === 0) return;
  await removeStaged(
    tx,
    beyond.map(({ line }) => line),
  );
  for (const found of beyond) bad.add(found.line, `amount: ${beyondLimitRule(found)}`);
}

/** Begins again with locks if the balance of an affiliate is near the limit now. */
async function beginLockedIfNear(tx: Tx, account: AccountId): Promise<void> {
  const near = await rows<{ affiliate_id: bigint }>(
    tx,
    sql`select distinct affiliate_id from staged_sums s
        where ${isNearLimit(account, sql`s.affiliate_id`, sql`s.currency`)}`,
  );
  beginLocked(
    tx,
    account,
    near.map(({ affiliate_id: id }) => id),
  );
}

/** Removes lines that were paid in the future, or contradict an earlier line for the same commission. */
async function dropImpossible(tx: Tx, bad: BadLines): Promise<void> {
  const found = await rows<{ line: number; message: string }>(
    tx,
    sql`with told as (
          select line, external_id, paid_at, first_value(line) over same as first,
                 (paid_at, payment_reference, is_pending) is distinct from first_value((paid_at, payment_reference, is_pending)) over same
                   as is_other
          from staged window same as (partition by external_id order by line)),
        found as (
          select line, case when paid_at > now() then 'paid_at must not be in the future'
            else concat('external_id ', to_json(external_id), ' is also in line ', first, ', paid at another time or not') end
            as message
          from told where paid_at > now() or is_other),
        gone as (delete from staged where line in (select line from found))
        select line, message from found order by line`,
  );
  for (const { line, message } of found) bad.add(line, message);
}

/** Removes lines marked as paid whose commissions exist here and are not paid. */
async function dropUnpaid(tx: Tx, account: AccountId, importId: ImportId, bad: BadLines): Promise<void> {
  const found = await rows<{ line: number; external_id: string }>(
    tx,
    sql`select s.line, s.external_id from staged s
        join commissions c on c.account_id = ${account} and c.external_id = s.external_id
        left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
        where s.paid_at is not null and c.import_id is distinct from ${importId}::uuid
          and p.status is distinct from 'paid' order by s.line`,
  );
  await removeStaged(
    tx,
    found.map(({ line }) => line),
  );
  for (const { line, external_id } of found) {
    const what = `commission ${quote(external_id)} is here already and not paid: complete its payout`;
    bad.add(line, `paid_at: ${what}`);
  }
}

/** Holds lines that await approval, as `hold` does. */
async function holdPending(tx: Tx, account: AccountId, importId: ImportId): Promise<void> {
  await changeCommissions(tx, account, {
    which: sql`import_id = ${importId} and external_id in (
      select external_id from staged where is_pending and paid_at is null)`,
    set: sql`held_available_at = available_at, available_at = 'infinity'`,
  });
}

const affiliateColumn = (header: ReadonlySet<string>): AffiliateName =>
  AFFILIATE_COLUMNS.find((name) => header.has(name)) ?? 'affiliate_id';

/** The staged lines with their affiliates. */
function sourceOf(account: AccountId, header: ReadonlySet<string>): Sql {
  const list = raw(columns.map((name) => `f.${name}`).join(', '));
  return sql`(select f.line, f.affiliate, a.id as affiliate_id, ${list}, null::jsonb as metadata from staged f
    left join affiliates a on a.account_id = ${account} and ${AFFILIATE_NAMES[affiliateColumn(header)](sql`f.affiliate`)}) s`;
}

async function dropUnknown(
  tx: Tx,
  account: AccountId,
  source: Sql,
  header: ReadonlySet<string>,
  bad: BadLines,
) {
  const unknown = await unknownReferences(tx, account, source);
  if (unknown.length === 0) return;
  const column = affiliateColumn(header);
  const cells = await removeStaged(
    tx,
    unknown.map(({ line }) => line),
  );
  for (const { line, what } of unknown) {
    const value = what === 'affiliate' ? cells.get(line)?.affiliate : cells.get(line)?.program_id;
    const name = what === 'affiliate' ? column : 'program_id';
    bad.add(line, `${name} ${quote(String(value))} does not exist`);
  }
}

async function dropContradictions(tx: Tx, account: AccountId, source: Sql, bad: BadLines) {
  const other = await contradictions(tx, account, source);
  if (other.length === 0) return;
  const cells = await removeStaged(tx, other);
  const ids = [...cells.values()].map(({ external_id }) => external_id);
  const good = await rows<{ external_id: string; line: number }>(
    tx,
    sql`select external_id, min(line) as line from staged where external_id = any(${ids}::text[]) group by external_id`,
  );
  const lineOf = new Map(good.map(({ external_id, line }) => [external_id, line]));
  for (const line of other) {
    const id = cells.get(line)?.external_id ?? '';
    const where = lineOf.has(id) ? `is also in line ${lineOf.get(id)}` : 'exists';
    bad.add(line, `external_id ${quote(id)} ${where} with other content`);
  }
}

async function removeStaged(tx: Tx, lines: readonly number[]) {
  const gone = await rows<{
    line: number;
    external_id: string;
    affiliate: string;
    program_id: bigint | null;
  }>(
    tx,
    sql`delete from staged where line = any(${lines}::int[]) returning line, external_id, affiliate, program_id`,
  );
  return new Map(gone.map((row) => [row.line, row]));
}
