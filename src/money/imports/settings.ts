import type { CsvEncoding, CsvSeparator } from '../../kernel/csv-dialect.ts';
import type { ImportKind } from './fields.ts';
import type { Paid } from './reading.ts';
import type { DateForm, Decimal } from './values.ts';

/** What the caller specifies about a file; undefined is guessed. */
export interface ImportSettings {
  readonly kind: ImportKind;
  /** JSON, or the name of a saved mapping. */
  readonly mapping?: string | undefined;
  /** The name of a sheet, for a workbook. */
  readonly sheet?: string | undefined;
  /** The line that names the columns. */
  readonly header_row?: number | undefined;
  readonly encoding?: CsvEncoding | undefined;
  readonly separator?: CsvSeparator | undefined;
  readonly decimal?: Decimal | undefined;
  readonly dates?: DateForm | undefined;
  readonly paid?: Paid | undefined;
  /** JSON: what the words of the file mean, by field. */
  readonly values?: string | undefined;
  /** That columns of status and readiness are left out is intended. */
  readonly status_columns?: 'ignore' | undefined;
  /** What to do with lines that look like totals. */
  readonly totals?: 'import' | 'skip' | undefined;
}
