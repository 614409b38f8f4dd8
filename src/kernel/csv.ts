import { decoderOf } from './csv-bytes.ts';
import { CSV_SEPARATORS, type CsvDialect, PLAIN_CSV } from './csv-dialect.ts';
import { type CsvColumns, type CsvHeader, readAnyHeader, readHeader } from './csv-header.ts';
import { CsvError } from './csv-refusal.ts';
import { type Scanned, scanRecord } from './csv-scan.ts';

const LONGEST = 1 << 20;

/** A data line of a CSV file. */
export interface CsvLine {
  /** The line number in the file where it begins, from 1; line ends inside quotes count. */
  readonly line: number;
  /** A cell for each column of the header. Unquoted cells are trimmed. */
  readonly cells: readonly string[];
}

export interface CsvReader {
  /** The columns of the file, in order; empty until the header has been read. */
  readonly header: readonly string[];
  /** The lines completed by this chunk. Throws CsvError. */
  read(piece: Buffer): CsvLine[];
  /** The last line, when it has no line end. Throws CsvError when it may be truncated, and for an empty file. */
  end(): CsvLine[];
}

/** The position of a reader in its file. */
interface ReaderState {
  readonly format: CsvColumns | null;
  readonly dialect: CsvDialect;
  header: CsvHeader;
  /** The line number at which `rest` begins. */
  line: number;
  /** Text that has arrived and is not parsed yet. */
  rest: string;
}

/**
 * Reads a CSV file (RFC 4180; lines ended by LF, CRLF or CR) in chunks, in memory for one chunk and one line. Lines
 * without content are skipped. Without a `format` the header may be any, and a first line `sep=;`, which gives Excel
 * the separator, is skipped too.
 */
export function csvReader(format: CsvColumns | null, dialect: CsvDialect = PLAIN_CSV): CsvReader {
  const decode = decoderOf(dialect.encoding);
  const separator = CSV_SEPARATORS[dialect.separator].charCodeAt(0);
  const state: ReaderState = { format, dialect, header: { names: [], width: 0 }, line: 1, rest: '' };
  let dueLength = 0; // an unfinished line is rescanned only at double its length, for linear cost

  function take(piece: Buffer, isLast: boolean): CsvLine[] {
    const { text, wrong } = decode(piece, isLast);
    const found: CsvLine[] = [];
    const isEnd = isLast || wrong !== null;
    state.rest += text;
    const { rest } = state;
    if (!isEnd && rest.length < dueLength) return found;
    let start = 0;
    let scanned: Scanned | null = null;
    while (start < rest.length) {
      scanned = scanRecord(rest, start, isEnd, separator);
      checkLength(state, scanned, start);
      if (scanned.kind === 'wrong')
        throw refuseAt(state, scanned.rule, start, scanned.at, scanned.cells.length);
      if (scanned.kind === 'unfinished' || !scanned.hasEnd) break;
      readRecord(state, scanned.cells, found);
      state.line += scanned.lineEnds;
      start = scanned.next;
      scanned = null;
    }
    const cell = scanned === null ? 0 : scanned.cells.length - (scanned.kind === 'record' ? 1 : 0);
    if (wrong !== null) throw refuseAt(state, wrong, start, rest.length, cell);
    if (isLast && scanned !== null) readLast(state, scanned, start, found);
    state.rest = rest.slice(start);
    dueLength = 2 * state.rest.length;
    return found;
  }

  return {
    get header() {
      return state.header.names;
    },
    read: (piece) => take(piece, false),
    end() {
      const found = take(Buffer.alloc(0), true);
      if (state.header.width === 0) {
        const { headerLine = 1 } = dialect;
        throw new CsvError(
          headerLine === 1
            ? 'the file is empty: its first line must name the columns'
            : `the file ends before line ${headerLine}, which must name the columns`,
        );
      }
      return found;
    },
  };
}

function readRecord(state: ReaderState, cells: string[], found: CsvLine[]): void {
  if (cells.every((cell) => cell === '')) return;
  if (state.header.width > 0) found.push({ line: state.line, cells: underHeader(state, cells) });
  else if (isBelow(state) && (state.format !== null || !isSeparatorLine(cells)))
    state.header = headerOf(state, cells);
}

/** Whether the lines above the header are read. */
const isBelow = ({ line, dialect: { headerLine = 1 } }: ReaderState) => line >= headerLine;

function headerOf({ format, line, dialect }: ReaderState, cells: string[]): CsvHeader {
  const { headerLine = line, sheetWidth } = dialect;
  if (headerLine > 1 && line !== headerLine)
    throw new CsvError(`line ${headerLine} is empty: the header must be a line that names the columns`);
  return format === null ? readAnyHeader(cells, line, sheetWidth) : readHeader(cells, line, format);
}

/** The cells of the named columns; any cells beyond them must be empty, as spreadsheets leave them. */
function underHeader(state: ReaderState, cells: string[]): string[] {
  const { names, width } = state.header;
  if (state.dialect.sheetWidth !== undefined) while (cells.length < names.length) cells.push('');
  if (cells.length < names.length) throw refuse(state, cells.length, 'is missing: the line ends before it');
  if (cells.length > names.length) {
    const beyond = cells.findIndex((cell, index) => index >= names.length && (cell !== '' || index >= width));
    if (beyond !== -1) throw refuse(state, beyond, BEYOND);
    cells.length = names.length;
  }
  return cells;
}

/** Reads a record that ends with the file, if it cannot have been truncated. */
function readLast(
  state: ReaderState,
  scanned: Exclude<Scanned, { kind: 'wrong' }>,
  start: number,
  found: CsvLine[],
): void {
  const { cells } = scanned;
  if (scanned.kind === 'unfinished') {
    const what = `the quote that opens here is never closed: ${CUT_OFF}`;
    throw refuseAt(state, what, start, scanned.quote, cells.length);
  }
  if (cells.length === 1 && state.rest.slice(start).trim() === '') return;
  const isHeader = state.header.width === 0;
  if (isHeader) state.header = headerOf(state, cells);
  const { names } = state.header;
  const last = names.length - 1;
  if (cells.length <= last) throw refuse(state, cells.length, `the file ends before it: ${CUT_OFF}`);
  const isWhole =
    state.dialect.isWhole ||
    cells.length > names.length ||
    (cells[last] !== '' && state.format?.fixedWords.includes(names[last] ?? '') === true);
  if (isHeader || !isWhole) throw refuse(state, last, NO_LINE_END);
  readRecord(state, cells, found);
}

function checkLength(state: ReaderState, scanned: Scanned, start: number): void {
  const { kind, cells } = scanned;
  const end = kind === 'record' ? scanned.next : kind === 'wrong' ? scanned.at : state.rest.length;
  if (end - start <= LONGEST) return;
  const cell = kind === 'record' ? cells.indexOf(longest(cells)) : cells.length;
  if (kind !== 'unfinished' || scanned.quote === -1) throw refuse(state, cell, `${TOO_LONG} in one line`);
  const what = `the quote that opens here is not closed: ${TOO_LONG}`;
  throw refuseAt(state, what, start, scanned.quote, cells.length);
}

const nameOf = ({ header }: ReaderState, column: number) => header.names[column] ?? String(column + 1);

/** An error at a column of the record that begins in this line. */
const refuse = (state: ReaderState, column: number, what: string) =>
  new CsvError(`line ${state.line}, column ${nameOf(state, column)}: ${what}`);

/** An error at the character `at`, in the record that begins at `start`. */
function refuseAt(state: ReaderState, what: string, start: number, at: number, column: number): CsvError {
  const lines = state.rest.slice(start, at).split(/\r\n|\n|\r/);
  const line = state.line + lines.length - 1;
  const character = [...(lines.at(-1) ?? '')].length + 1;
  return new CsvError(`line ${line}, column ${nameOf(state, column)}, character ${character}: ${what}`);
}

/** Whether a line is the one that gives Excel the separator. */
const isSeparatorLine = (cells: readonly string[]) =>
  /^sep=[,;|]?$/i.test(cells[0] ?? '') && cells.slice(1).every((cell) => cell === '');

const longest = (cells: readonly string[]) => cells.reduce((a, b) => (b.length > a.length ? b : a));

const TOO_LONG = `more than ${LONGEST} characters`;
const CUT_OFF = 'the file may be cut off';
const NO_LINE_END =
  'the file ends here without a line end, so it may be cut off. If it is complete, add a line end after its last line';
const BEYOND =
  'the header has no such column. Check for a text with a comma and no quotes, or a number with a decimal comma';
