/** How the bytes of a CSV file become text. */
export const CSV_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type CsvEncoding = (typeof CSV_ENCODINGS)[number];

/** What stands between the cells of a line. */
export const CSV_SEPARATORS = { comma: ',', semicolon: ';', tab: '\t', bar: '|' } as const;
export type CsvSeparator = keyof typeof CSV_SEPARATORS;

/** How a CSV file is written. */
export interface CsvDialect {
  readonly encoding: CsvEncoding;
  readonly separator: CsvSeparator;
  /** Whoever gave the file says that it is whole, although its last line has no line end. */
  readonly isWhole: boolean;
}

/** The dialect of our own files: RFC 4180 in UTF-8. */
export const PLAIN_CSV: CsvDialect = { encoding: 'utf-8', separator: 'comma', isWhole: false };
