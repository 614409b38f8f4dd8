import { type Choice, PROVIDER_FILES, type ProviderFormat } from '../../kernel/payments.ts';
import type { Column } from '../files/csv-export.ts';

/** A format of payment files. Its expressions are SQL over a row `r` of `paymentRows`. */
export interface PaymentFormat {
  /** The name in the path and in the file's name. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly hasHeader: boolean;
  readonly columns: readonly Column[];
  /** What may be chosen; a file without the choice `currency` has all of them. */
  readonly choices: readonly Choice[];
  /** How many rows one file may have; null = any number. */
  readonly maxRows: number | null;
  /** Why a row cannot be in the file, as text; null where it can. */
  readonly refusal: string;
  /**
   * Whether the provider may refuse a row because of its amount, as a condition. Such rows are written and
   * reported.
   */
  readonly aboveLimit: string;
  /** Currencies of which the provider accepts no fractions. */
  readonly wholeCurrencies: readonly string[];
  /** An empty file is refused, because the provider does not accept one. */
  readonly needsRows: boolean;
}

type ColumnOf<Format extends ProviderFormat> = (typeof PROVIDER_FILES)[Format]['columns'][number];

/** A provider's file as the table of formats describes it; `cells` has the SQL of each column. */
export function layoutOf<Format extends ProviderFormat>(
  name: Format,
  cells: Readonly<Record<ColumnOf<Format>, string>>,
): Pick<PaymentFormat, 'name' | 'hasHeader' | 'columns' | 'choices'> {
  const { columns, choices, mark } = PROVIDER_FILES[name];
  return {
    name,
    hasHeader: mark === null,
    columns: columns.map((column: ColumnOf<Format>): Column => [column, cells[column]]),
    choices,
  };
}

/** Why files that move money leave out affiliates who must not be paid now. */
export const SWITCHED_OFF = `when r.is_switched_off then 'is_ready_for_payout is false'`;

/** Whether the currency of a row is one of these. */
export const among = (currencies: readonly string[]): string =>
  `r.currency in (${currencies.map((code) => `'${code}'`)})`;

/** The amount with the digits of its currency. */
export const DECIMAL = 'decimal_text(r.amount, r.currency)';

/**
 * Whether a spreadsheet would run the cell as a formula. A cell that says who gets the money is never quoted, as
 * `csv_text` does elsewhere: an address with an apostrophe in front is another address.
 */
export const isFormula = (cell: string): string => `csv_text(${cell}) <> ${cell}`;

/** Why a cell that a spreadsheet would run is refused. */
export const formulaRefusal = (field: string): string =>
  `'${field} begins like a formula, which a spreadsheet would run'`;
