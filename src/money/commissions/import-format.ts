import { quote } from '../../kernel/csv-refusal.ts';
import {
  currencyDigits,
  formatDecimal,
  MAX_AMOUNT,
  normalizeCurrency,
  parseDecimal,
} from '../../kernel/money.ts';
import { formatInstant, parseInstantOrDay } from '../../kernel/time.ts';
import { type Cell, CellError, type Cells, type CsvFormat, cell } from '../files/csv-import.ts';
import type { ReaderSettings } from '../files/csv-stage.ts';
import { externalIdRule } from '../ledger/own-ids.ts';
import { AFFILIATE_NAMES, type AffiliateName } from '../ledger/references.ts';
import { commissionOf } from './service.ts';
import { INPUT_COLUMNS } from './store.ts';

/** The header has exactly one of these. */
export const AFFILIATE_COLUMNS = Object.keys(AFFILIATE_NAMES) as AffiliateName[];

export const columns = Object.keys(INPUT_COLUMNS).filter((column) => column !== 'metadata');

/** Extra columns in files of other products: what happened to a commission there. */
const HISTORY = ['paid_at', 'payment_reference', 'is_pending'] as const;

function plainFormat(fallbackCurrency: string, zone: string): CsvFormat {
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

/** The format of a file of commissions; `hasHistory` adds what files of other products report of their history. */
export const commissionsFormat = ({ currency, zone }: ReaderSettings, hasHistory: boolean): CsvFormat =>
  hasHistory ? formatWithHistory(currency, zone) : plainFormat(currency, zone);

/** The same format, plus columns that say that a line was paid before or awaits approval. */
function formatWithHistory(fallbackCurrency: string, zone: string): CsvFormat {
  const plain = plainFormat(fallbackCurrency, zone);
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
