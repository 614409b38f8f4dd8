/** The supported encodings of CSV files. */
export const CSV_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type CsvEncoding = (typeof CSV_ENCODINGS)[number];

/** The supported separators between cells. */
export const CSV_SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', bar: '|' } as const;
export type CsvSeparator = keyof typeof CSV_SEPARATORS;

/** The encoding and separator of a CSV file. */
export interface CsvDialect {
  readonly encoding: CsvEncoding;
  readonly separator: CsvSeparator;
  /** The uploader confirms that the file is complete, although its last line has no line end. */
  readonly isWhole: boolean;
  /** The line of the header; without it the first line that is not empty. Lines above it are skipped. */
  readonly headerLine?: number;
  /** For a sheet of a workbook, the number of its columns: columns beyond the header are named by their position. */
  readonly sheetWidth?: number;
}

/** The dialect of our own files: RFC 4180 in UTF-8. */
export const PLAIN_CSV: CsvDialect = { encoding: 'utf-8', separator: 'comma', isWhole: false };
