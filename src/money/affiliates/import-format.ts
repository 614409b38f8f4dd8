import { quote } from '../../kernel/csv-refusal.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import { CellError, type Cells, type CsvFormat, cell } from '../files/csv-import.ts';
import type { PartReader } from './import-part.ts';
import { LEGAL_TYPES } from './record.ts';

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

/** The columns of `staged` for such a file. */
export const stagedWith = (parts: readonly Pick<PartReader, 'staged'>[]): CsvFormat['staged'] => [
  ...FORMAT.staged,
  ...parts.map(({ staged }) => [staged, 'json'] as const),
];

/** The format of a file whose lines can set the records of these parts too. */
export const affiliatesFormat = (parts: readonly PartReader[]): CsvFormat => ({
  ...FORMAT,
  columns: [...FORMAT.columns, ...parts.flatMap(({ columns }) => columns)],
  staged: stagedWith(parts),
  readers: [...FORMAT.readers, ...parts.map((part) => (cells: Cells) => part.read(cells))],
});
