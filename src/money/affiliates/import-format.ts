import { writable } from '../../contract/fields.ts';
import type { Cells, CsvFormat } from '../files/csv-import.ts';
import { brokenRules, hasFixedWords, readerOf, stagedType } from '../files/field-cells.ts';
import type { PartReader } from '../files/import-part.ts';
import { AFFILIATE_FIELDS } from './fields.ts';

const IMPORTED = writable(AFFILIATE_FIELDS).filter(([, field]) => field.import !== null);

/** The columns that a file can set. */
export const IMPORTED_COLUMNS = IMPORTED.map(([name]) => name);

const FORMAT: CsvFormat = {
  columns: IMPORTED_COLUMNS,
  isPrivate: true,
  required: ['email'],
  identifying: ['email', 'external_id'],
  fixedWords: IMPORTED.filter(([, field]) => hasFixedWords(field)).map(([name]) => name),
  staged: [...IMPORTED.map(([name, field]) => [name, stagedType(field)] as const), ['problems', 'json']],
  // an affiliate keeps a value that it has, also one that breaks the rule of today: the import decides about `problems`
  readers: [...IMPORTED.map(([name, field]) => readerOf(name, field)), brokenRules(IMPORTED)],
};

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
