import { utf8Decoder } from './csv-bytes.ts';
import { type CsvColumns, type CsvHeader, readHeader } from './csv-header.ts';
import { CsvError } from './csv-refusal.ts';
import { type Scanned, scanRecord } from './csv-scan.ts';

const LONGEST = 1 << 20;

/** A line of a CSV file under its header. */
export interface CsvLine {
  /** The line of the file it begins in, from 1; line ends inside quotes count. */
  readonly line: number;
  /** A cell for each column of the header, as it is inside its quotes, else without the spaces around it. */
  readonly cells: readonly string[];
}

export interface CsvReader {
  /** The columns of the file in its order; none before the header was read. */
  readonly header: readonly string[];
  /** The lines that end in this piece of the file. Throws CsvError. */
  read(piece: Buffer): CsvLine[];
  /** The last line, when it has no line end. Throws CsvError when it may be cut off, and for an empty file. */
  end(): CsvLine[];
}

/**
 * Reads a CSV file (RFC 4180; UTF-8 with or without a byte order mark; lines ended by LF, CRLF or CR) piece by piece,
 * in the memory of a piece and a line. Lines without any content are left out.
 */
export function csvReader(format: CsvColumns): CsvReader {
  const decode = utf8Decoder();
  let header: CsvHeader = { names: [], width: 0 };
  let line = 1;
  let rest = ''; // begins with that line
  let dueLength = 0; // an unfinished line is scanned again when it has doubled, so that all its pieces cost one scan

  function take(piece: Buffer, isLast: boolean): CsvLine[] {
    const { text, wrong } = decode(piece, isLast);
    const found: CsvLine[] = [];
    const isEnd = isLast || wrong !== null;
    rest += text;
    if (!isEnd && rest.length < dueLength) return found;
    let start = 0;
    let scanned: Scanned | null = null;
    while (start < rest.length) {
      scanned = scanRecord(rest, start, isEnd);
      checkLength(scanned, start);
      if (scanned.kind === 'wrong') throw refuseAt(scanned.rule, start, scanned.at, scanned.cells.length);
      if (scanned.kind === 'unfinished' || !scanned.hasEnd) break;
      readRecord(scanned.cells, found);
      line += scanned.lineEnds;
      start = scanned.next;
      scanned = null;
    }
    const cell = scanned === null ? 0 : scanned.cells.length - (scanned.kind === 'record' ? 1 : 0);
    if (wrong !== null) throw refuseAt(wrong, start, rest.length, cell);
    if (isLast && scanned !== null) readLast(scanned, start, found);
    rest = rest.slice(start);
    dueLength = 2 * rest.length;
    return found;
  }

  function readRecord(cells: string[], found: CsvLine[]): void {
    if (cells.every((cell) => cell === '')) return;
    if (header.width === 0) header = readHeader(cells, line, format);
    else found.push({ line, cells: underHeader(cells) });
  }

  /** The cells under the names; what is beyond them must be empty, as spreadsheets leave it. */
  function underHeader(cells: string[]): string[] {
    const { names, width } = header;
    if (cells.length < names.length) throw refuse(cells.length, 'is missing: the line ends before it');
    if (cells.length > names.length) {
      const beyond = cells.findIndex(
        (cell, index) => index >= names.length && (cell !== '' || index >= width),
      );
      if (beyond !== -1) throw refuse(beyond, BEYOND);
      cells.length = names.length;
    }
    return cells;
  }

  /** The record that the end of the file closes: only one that cannot have been longer is read. */
  function readLast(scanned: Exclude<Scanned, { kind: 'wrong' }>, start: number, found: CsvLine[]): void {
    const { cells } = scanned;
    if (scanned.kind === 'unfinished') {
      throw refuseAt(
        `the quote that opens here is never closed: ${CUT_OFF}`,
        start,
        scanned.quote,
        cells.length,
      );
    }
    if (cells.length === 1 && rest.slice(start).trim() === '') return;
    const isHeader = header.width === 0;
    if (isHeader) header = readHeader(cells, line, format);
    const last = header.names.length - 1;
    if (cells.length <= last) throw refuse(cells.length, `the file ends before it: ${CUT_OFF}`);
    const isWhole =
      cells.length > header.names.length ||
      (cells[last] !== '' && format.fixedWords.includes(header.names[last] ?? ''));
    if (isHeader || !isWhole) throw refuse(last, NO_LINE_END);
    readRecord(cells, found);
  }

  function checkLength(scanned: Scanned, start: number): void {
    const { kind, cells } = scanned;
    const end = kind === 'record' ? scanned.next : kind === 'wrong' ? scanned.at : rest.length;
    if (end - start <= LONGEST) return;
    const cell = kind === 'record' ? cells.indexOf(longest(cells)) : cells.length;
    if (kind !== 'unfinished' || scanned.quote === -1) throw refuse(cell, `${TOO_LONG} in one line`);
    throw refuseAt(
      `the quote that opens here is not closed: ${TOO_LONG}`,
      start,
      scanned.quote,
      cells.length,
    );
  }

  const nameOf = (column: number) => header.names[column] ?? String(column + 1);

  /** The error of a column in the record that begins in this line. */
  const refuse = (column: number, what: string) =>
    new CsvError(`line ${line}, column ${nameOf(column)}: ${what}`);

  /** The error of the character at `at`, in the record that begins at `start`. */
  function refuseAt(what: string, start: number, at: number, column: number): CsvError {
    const lines = rest.slice(start, at).split(/\r\n|\n|\r/);
    const character = [...(lines.at(-1) ?? '')].length + 1;
    return new CsvError(
      `line ${line + lines.length - 1}, column ${nameOf(column)}, character ${character}: ${what}`,
    );
  }

  return {
    get header() {
      return header.names;
    },
    read: (piece) => take(piece, false),
    end() {
      const found = take(Buffer.alloc(0), true);
      if (header.width === 0) throw new CsvError('the file is empty: its first line must name the columns');
      return found;
    },
  };
}

const longest = (cells: readonly string[]) => cells.reduce((a, b) => (b.length > a.length ? b : a));

const TOO_LONG = `more than ${LONGEST} characters`;
const CUT_OFF = 'is the file cut off?';
const NO_LINE_END =
  'the file ends here without a line end: is it cut off? If it is whole, add a line end after its last line';
const BEYOND =
  'the header has no such column: does a text with a comma lack its quotes, or a number have a decimal comma?';
