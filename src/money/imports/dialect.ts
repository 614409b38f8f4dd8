import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import { decoderOf, encodingOfStart, refuseForeignText, utf8Check } from '../../kernel/csv-bytes.ts';
import {
  CSV_SEPARATORS,
  type CsvDialect,
  type CsvEncoding,
  type CsvSeparator,
} from '../../kernel/csv-dialect.ts';
import { CsvError } from '../../kernel/csv-refusal.ts';
import { scanRecord } from '../../kernel/csv-scan.ts';
import { piecesOf, type SharedFile } from '../../threads/file-pieces.ts';
import { FIELDS, type ImportKind, plain } from './fields.ts';
import type { ImportSettings } from './settings.ts';

/** The line ends of a file. */
export const LINE_ENDS = ['lf', 'crlf', 'cr', 'mixed'] as const;
type LineEnd = (typeof LINE_ENDS)[number];

/** What the caller specifies about the shape of a file; undefined is guessed. */
type GivenShape = Pick<ImportSettings, 'encoding' | 'separator' | 'header_row'>;

/** What was detected from the bytes of a file. */
export interface FileShape {
  readonly dialect: CsvDialect;
  readonly lineEnd: LineEnd;
  readonly header: readonly string[];
  /** The line of the header. */
  readonly headerLine: number;
  /** The first lines, at most 1,000. */
  readonly sample: readonly CsvLine[];
  /** Whether the sample is the whole file. */
  readonly isAll: boolean;
  /** What was guessed, for people. */
  readonly guessed: readonly string[];
}

const SAMPLE = 1000;
/** The number of lines used to judge the separator, and to find the header. */
const JUDGED = 30;
const HEAD_BYTES = 1 << 16;

/**
 * Detects a file's encoding, separator, header and first lines. `sheetWidth` is the number of columns of a sheet that the file
 * was written from. Throws CsvError when it is not a CSV file.
 */
export function shapeOf(
  file: SharedFile,
  given: GivenShape,
  kind: ImportKind,
  sheetWidth?: number,
): FileShape {
  const { head, tail, isUtf8 } = look(file);
  const { encoding, note } = encodingIn(head, file.bytes, given, isUtf8);
  if (encoding.startsWith('utf-16') && file.bytes % 2 === 1) {
    throw new CsvError('the file has an odd number of bytes, which UTF-16 never has: is it cut off?');
  }
  const { text } = decoderOf(encoding)(head, false);
  const separator = given.separator ?? separatorOf(text, kind);
  const isNamed = given.separator !== undefined || separator === 'comma' || /^\uFEFF?sep=/i.test(text);
  const last = encoding.startsWith('utf-16') ? tail : tail.subarray(-1);
  const isWhole = !/[\r\n]/.test(last.toString('latin1'));
  const records = firstRecords(text, CSV_SEPARATORS[separator]);
  const first = records[0]?.line ?? 1;
  const headerLine = given.header_row ?? headerLineOf(records, kind) ?? first;
  const dialect: CsvDialect = {
    encoding,
    separator,
    isWhole,
    ...(headerLine === first ? {} : { headerLine }),
    ...(sheetWidth === undefined ? {} : { sheetWidth }),
  };
  const sampled = sampleOf(file, dialect);
  return {
    dialect,
    lineEnd: lineEndOf(text),
    headerLine,
    ...sampled,
    guessed: [
      ...(note === null ? [] : [note]),
      ...(isNamed ? [] : [`${separator === 'bar' ? 'bars' : `${separator}s`} stand between the cells`]),
      ...(headerLine > first && given.header_row === undefined
        ? [`line ${headerLine} names the columns, and the lines above it are left out`]
        : []),
      ...(isWhole ? ['the file is whole, although its last line has no line end'] : []),
    ],
  };
}

function look(file: SharedFile): { head: Buffer; tail: Buffer; isUtf8: boolean } {
  const check = utf8Check();
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  for (const piece of piecesOf(file)) {
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, piece]).subarray(0, HEAD_BYTES);
    // the last character, which may have two bytes
    tail = Buffer.concat([tail, piece.subarray(-2)]).subarray(-2);
    check(piece, false);
  }
  return { head, tail, isUtf8: check(Buffer.alloc(0), true) };
}

function encodingIn(
  head: Buffer,
  bytes: number,
  given: GivenShape,
  isUtf8: boolean,
): { encoding: CsvEncoding; note: string | null } {
  if (bytes === 0) throw new CsvError('the file is empty: its first line must name the columns');
  const start = encodingOfStart(head);
  refuseForeignText(head);
  if (given.encoding !== undefined) return { encoding: given.encoding, note: null };
  if (start !== null) {
    return {
      encoding: start.encoding,
      note: start.isCertain ? null : `the encoding is ${start.encoding.toUpperCase()}`,
    };
  }
  if (isUtf8) return { encoding: 'utf-8', note: null };
  if (head.includes(0)) throw new CsvError('the file holds NUL characters: is it a text file?');
  return { encoding: 'windows-1252', note: 'the encoding is Windows-1252' };
}

function separatorOf(text: string, kind: ImportKind): CsvSeparator {
  const [, named] = /^\uFEFF?sep=([,;|\t])/i.exec(text) ?? [];
  const names = Object.keys(CSV_SEPARATORS) as CsvSeparator[];
  const byName = names.find((name) => CSV_SEPARATORS[name] === named);
  if (byName !== undefined) return byName;
  const [best] = names
    .map((name) => ({ name, ...judge(text, CSV_SEPARATORS[name], kind) }))
    .sort((a, b) => b.known - a.known || Number(b.isEven) - Number(a.isEven) || b.cells - a.cells);
  return best !== undefined && best.cells > 1 ? best.name : 'comma';
}

interface FirstRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The first lines of a file that have content, at most 30. */
function firstRecords(text: string, separator: string): FirstRecord[] {
  const records: FirstRecord[] = [];
  let line = 1;
  for (let at = 0; records.length < JUDGED && at < text.length; ) {
    const scanned = scanRecord(text, at, false, separator.charCodeAt(0));
    if (scanned.kind !== 'record') break;
    const { cells } = scanned;
    const isContent = cells.some((cell) => cell !== '') && !/^\uFEFF?sep=/i.test(cells[0] ?? '');
    if (isContent) records.push({ line, cells });
    line += scanned.lineEnds;
    at = scanned.next;
  }
  return records;
}

/** Scores a separator: the number of cells, how many of a line have known names, and whether lines have as many cells. */
function judge(text: string, separator: string, kind: ImportKind) {
  const records = firstRecords(text, separator);
  const countKnown = knownNames(kind);
  const width = records[0]?.cells.length ?? 0;
  return {
    cells: records.reduce((most, { cells }) => Math.max(most, cells.length), 0),
    known: records.reduce((most, { cells }) => Math.max(most, countKnown(cells)), 0),
    isEven: records.every(({ cells }) => cells.length === width),
  };
}

/** Counts the cells that are a name of a field. */
function knownNames(kind: ImportKind): (cells: readonly string[]) => number {
  const known = new Set(Object.values(FIELDS[kind]).flatMap(({ synonyms }) => synonyms));
  return (cells) => cells.filter((name) => known.has(plain(name))).length;
}

/**
 * The line that names the columns: the one with the most names of fields, if it has at least two. Without such a line, and
 * under a title in a cell of its own, the first line with the most cells. null = the first line.
 */
function headerLineOf(records: readonly FirstRecord[], kind: ImportKind): number | null {
  const countKnown = knownNames(kind);
  const scored = records.map(({ line, cells }) => ({
    line,
    known: countKnown(cells),
    filled: cells.filter((cell) => cell !== '').length,
  }));
  const [first] = scored;
  if (first === undefined) return null;
  const [best = first] = scored.toSorted((a, b) => b.known - a.known);
  if (best.known >= 2 && best.known > first.known) return best.line;
  if (first.filled > 1 || first.known > 0) return null;
  const [widest = first] = scored.toSorted((a, b) => b.filled - a.filled);
  return widest.line;
}

function lineEndOf(text: string): LineEnd {
  const found = new Set(text.match(/\r\n|\n|\r(?!$)/g));
  if (found.size > 1) return 'mixed';
  const [end] = found;
  return end === '\r\n' ? 'crlf' : end === '\r' ? 'cr' : 'lf';
}

function sampleOf(file: SharedFile, dialect: CsvDialect) {
  const sample: CsvLine[] = [];
  let header: readonly string[] = [];
  for (const { names, lines } of linesOf(file, dialect)) {
    header = names;
    sample.push(...lines.slice(0, SAMPLE - sample.length));
    if (sample.length === SAMPLE) return { header, sample, isAll: false };
  }
  return { header, sample, isAll: true };
}

/** The lines of a file after its header, in chunks. Throws CsvError. */
export function* linesOf(file: SharedFile, dialect: CsvDialect) {
  const reader = csvReader(null, dialect);
  for (const piece of piecesOf(file)) {
    yield { lines: reader.read(piece), names: reader.header };
  }
  yield { lines: reader.end(), names: reader.header };
}
