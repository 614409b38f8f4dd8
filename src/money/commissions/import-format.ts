import type { WritableField } from '../../contract/fields.ts';
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
import { readerOf } from '../files/field-cells.ts';
import { AFFILIATE_NAMES, type AffiliateName } from '../ledger/references.ts';
import { commissionOf } from './service.ts';
import { STORED } from './store.ts';

/** The header has exactly one of these. */
export const AFFILIATE_COLUMNS = Object.keys(AFFILIATE_NAMES) as AffiliateName[];

/** The columns that a file can give. */
export const IMPORTED = STORED.filter(([, field]) => field.import !== null);
const COLUMNS = IMPORTED.map(([name]) => name);

/** Extra columns in files of other products: what happened to a commission there. */
const HISTORY = ['paid_at', 'payment_reference', 'is_pending'] as const;

const plainFormat = (settings: ReaderSettings): CsvFormat => ({
  columns: [...COLUMNS, ...AFFILIATE_COLUMNS],
  required: ['external_id', AFFILIATE_COLUMNS],
  identifying: ['external_id', 'order_id', ...AFFILIATE_COLUMNS],
  fixedWords: ['type', 'currency'],
  staged: [['affiliate', 'text'], ...IMPORTED.map(([name, { sql }]) => [name, sql ?? ''] as const)],
  readers: [affiliateCell, ...IMPORTED.map(([name, field]) => commissionReader(name, field, settings))],
});

function commissionReader(
  name: string,
  field: WritableField,
  { currency: fallback, zone }: ReaderSettings,
): (cells: Cells) => Cell {
  const currencyOf = ({ currency }: Cells) => currencyCell(currency ?? null, fallback);
  if (name === 'amount') return (cells) => amountCell(cells, currencyOf(cells));
  if (name === 'occurred_at')
    return ({ occurred_at, paid_at }) => timeCell(name, occurred_at ?? paid_at, zone);
  if (field.type === 'currency') return currencyOf;
  if (field.type === 'money') return (cells) => moneyCell(name, cells[name], currencyOf(cells));
  if (field.type === 'rate') return (cells) => rateCell(name, cells[name]);
  const read = readerOf(name, field);
  return (cells) => {
    const value = read(cells);
    const broken = typeof value === 'string' ? (field.rule?.(value) ?? null) : null;
    if (broken !== null) throw new CellError(`${name} ${broken}: ${quote(String(value))}`);
    return value;
  };
}

/** The format of a file of commissions; `hasHistory` adds what files of other products report of their history. */
export const commissionsFormat = (settings: ReaderSettings, hasHistory: boolean): CsvFormat =>
  hasHistory ? formatWithHistory(settings) : plainFormat(settings);

/** The same format, plus columns that say that a line was paid before or awaits approval. */
function formatWithHistory(settings: ReaderSettings): CsvFormat {
  const plain = plainFormat(settings);
  const readers: readonly ((cells: Cells) => Cell)[] = [
    ({ paid_at }) => timeCell('paid_at', paid_at, settings.zone),
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

/** What to do with a negative amount. */
const NEGATIVE = '. Enter a refund for its order, and anything else as an adjustment of the balance';

function moneyCell(name: string, value: string | null | undefined, currency: string): bigint | null {
  if (value === null || value === undefined) return null;
  const minor = parseDecimal(value, currency);
  if (minor === null) {
    throw new CellError(
      `${name} must be ${decimalRule(currency)}, without thousands separator, sign or exponent, not ${quote(value)}`,
    );
  }
  if (minor < 0n) throw new CellError(`${name} must not be negative: ${quote(value)}${NEGATIVE}`);
  if (minor > MAX_AMOUNT) throw new CellError(`${name} is too large: ${quote(value)}`);
  return minor;
}

function decimalRule(currency: string): string {
  const digits = currencyDigits(currency);
  return digits === 0
    ? `a whole number such as 528 (${currency} has no decimals)`
    : `a number such as ${formatDecimal(3190n, currency)} with a point and at most ${digits} digits after it (${currency})`;
}

function rateCell(name: string, value: string | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  if (!/^\d{1,5}$/.test(value) || Number(value) > 10_000) {
    throw new CellError(
      `${name} must be a whole number of basis points from 0 to 10000 (12.5 % is 1250), not ${quote(value)}`,
    );
  }
  return Number(value);
}

function amountCell({ amount, sale_amount, rate_bps }: Cells, currency: string): bigint {
  const given = moneyCell('amount', amount, currency);
  if (given !== null && given < 1n)
    throw new CellError(`amount must be above zero, not ${quote(amount ?? '')}`);
  if (given !== null) return given;
  const sale = moneyCell('sale_amount', sale_amount, currency);
  const rate = rateCell('rate_bps', rate_bps);
  if (sale === null || rate === null)
    throw new CellError('amount is empty, and there is no sale_amount with a rate_bps');
  return commissionOf(sale, BigInt(rate));
}

/** A month and a number of days that some month has. */
const NEARLY_A_DAY = /^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

function timeCell(name: string, value: string | null | undefined, zone: string): string | null {
  if (value === null || value === undefined) return null;
  const at = parseInstantOrDay(value, zone);
  if (at === null) {
    throw new CellError(
      NEARLY_A_DAY.test(value)
        ? `${name} is not a day of the calendar: ${quote(value)}`
        : `${name} must be a day such as 2026-12-31 or a time such as 2026-12-31T08:30:00Z, from 1970 to 2999, not ${quote(value)}`,
    );
  }
  return formatInstant(at.from);
}
