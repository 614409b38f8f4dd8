import sql, { raw, type Sql } from 'sql-template-tag';
import type { Upload } from '../../contract/route.ts';
import { rows, type Tx } from '../../db/connect.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
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
import { BadLines, CellError, type CsvFormat, cell, refuseBadLines, stageCsv } from '../files/csv-import.ts';
import { externalIdRule } from '../ledger/own-ids.ts';
import { AFFILIATE_NAMES, type AffiliateName } from '../ledger/references.ts';
import { refuseInexact } from '../ledger/totals.ts';
import type { CommissionImport } from './record.ts';
import { commissionOf, defaultCurrency, imported } from './service.ts';
import { contradictions, INPUT_COLUMNS, insertCommissions, sumsOf, unknownReferences } from './store.ts';

/** The header has exactly one of these. */
const AFFILIATE_COLUMNS = Object.keys(AFFILIATE_NAMES) as AffiliateName[];

const columns = Object.keys(INPUT_COLUMNS).filter((column) => column !== 'metadata');

function format(fallbackCurrency: string, zone: string): CsvFormat {
  return {
    columns: [...columns, ...AFFILIATE_COLUMNS],
    required: ['external_id', AFFILIATE_COLUMNS],
    fixedWords: ['type', 'currency'],
    staged: [
      ['affiliate', 'text'],
      ...columns.map((column) => [column, INPUT_COLUMNS[column] ?? ''] as const),
    ],
    readLine(cells) {
      const externalId = externalIdCell(cells.external_id);
      const currency = currencyCell(cells.currency ?? null, fallbackCurrency);
      const saleAmount = moneyCell('sale_amount', cells.sale_amount, currency);
      const rate = rateCell(cells.rate_bps);
      return [
        affiliateCell(cells),
        externalId,
        cell.id('program_id', cells.program_id),
        cell.oneOf('type', cells.type, ['sale', 'recurring', 'bonus']) ?? 'sale',
        currency,
        amountCell(cells.amount, currency, saleAmount, rate),
        saleAmount,
        rate,
        cell.identifier('order_id', cells.order_id),
        cell.identifier('order_line_id', cells.order_line_id),
        cell.email('customer_email', cells.customer_email),
        cell.identifier('product_id', cells.product_id),
        cell.text('product_name', cells.product_name, 500),
        cell.text('description', cells.description, 1000),
        timeCell(cells.occurred_at, zone),
      ];
    },
  };
}

function externalIdCell(value: string | null | undefined): string | null {
  const externalId = cell.identifier('external_id', cell.required('external_id', value));
  const reserved = externalIdRule(externalId ?? '');
  if (reserved !== null) throw new CellError(reserved);
  return externalId;
}

function affiliateCell(cells: Readonly<Record<string, string | null>>): string {
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
  value: string | null | undefined,
  currency: string,
  saleAmount: bigint | null,
  rate: number | null,
): bigint {
  const given = moneyCell('amount', value, currency);
  if (given !== null && given < 1n)
    throw new CellError(`amount must be above zero, not ${quote(value ?? '')}`);
  const computed = saleAmount !== null && rate !== null ? commissionOf(saleAmount, BigInt(rate)) : null;
  const amount = given ?? computed;
  if (amount === null) throw new CellError('amount is empty, and there is no sale_amount with a rate_bps');
  return amount;
}

function timeCell(value: string | null | undefined, zone: string): string | null {
  if (value === null || value === undefined) return null;
  const at = parseInstantOrDay(value, zone);
  if (at === null)
    throw new CellError(
      `occurred_at must be a day such as 2026-12-31 or a time such as 2026-12-31T08:30:00Z (RFC 3339), from 1970 to 2999, not ${quote(value)}`,
    );
  return formatInstant(at.from);
}

/**
 * Takes commissions in from a CSV file of any size in the request's transaction. Lines that are stored already with
 * the same content count as unchanged. Throws `invalid_file`, and `invalid_lines` unless `partial` or `dryRun`,
 * which report the bad lines instead.
 */
export async function importCommissions(
  tx: Tx,
  account: AccountId,
  upload: Upload,
  { dryRun, partial }: { dryRun: boolean; partial: boolean },
): Promise<Json<CommissionImport>> {
  const bad = new BadLines();
  const shape = format(await defaultCurrency(tx, account), await zoneOf(tx, account));
  const { header, lines } = await stageCsv(tx, upload, shape, bad);
  const source = sourceOf(account, header);
  const stop = () => bad.count > 0 && !partial && !dryRun && refuseBadLines(bad, lines);
  await dropUnknown(tx, account, source, header, bad);
  stop();
  await rows(tx, sql`savepoint before_import`);
  const created = await insertCommissions(tx, account, source, header.has('order_id') ? 'many' : 'none');
  if (created < lines - bad.count) await dropContradictions(tx, account, source, bad);
  stop();
  const { json: totals, largest } = await sumsOf(tx, source);
  refuseInexact(largest);
  const counts = { created, unchanged: lines - bad.count - created, failed: bad.count };
  if (dryRun) await rows(tx, sql`rollback to savepoint before_import`);
  else if (created > 0) {
    const data = imported({ source: 'file', ...counts }, totals);
    await publish(tx, { account, type: 'commissions.imported', data });
  }
  const head: Json<Omit<CommissionImport, 'totals' | 'errors'>> = toJson({
    object: 'commission_import',
    dry_run: dryRun,
    lines,
    ...counts,
  });
  return extended(head, { totals, errors: toJson(bad.first()) });
}

const affiliateColumn = (header: ReadonlySet<string>): AffiliateName =>
  AFFILIATE_COLUMNS.find((name) => header.has(name)) ?? 'affiliate_id';

/** The staged lines with the affiliate each one means. */
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
