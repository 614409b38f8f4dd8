import { ResultFileError } from './answers.ts';

/*
 * The records of a NACHA file and its control totals (Nacha operating rules, appendix three, as github.com/moov-io/ach reads them in
 * reader.go, batchControl.go and fileControl.go). Positions are counted from 0.
 */

const WIDTH = 94;

/** An entry with its addenda. */
export interface AchRecord {
  /** The line of the entry in the file, from 1. */
  readonly line: number;
  /** The standard entry class code of its batch, such as PPD. */
  readonly section: string;
  readonly entry: string;
  readonly addenda: readonly string[];
}

/** A NACHA file whose control totals are right. */
export interface AchFile {
  /** YYMMDD, as written. */
  readonly madeOn: string;
  readonly records: readonly AchRecord[];
}

/** The totals of a batch or file. */
interface Totals {
  /** Entries and addenda. */
  records: number;
  /** The sum of the first eight digits of the routing numbers. */
  hash: bigint;
  /** Minor units. */
  debit: bigint;
  credit: bigint;
}

interface Batch {
  readonly header: string;
  readonly totals: Totals;
}

/** Where a control record has its totals. */
const CONTROL = {
  batch: { records: [4, 10], hash: [10, 20], debit: [20, 32], credit: [32, 44] },
  file: { records: [13, 21], hash: [21, 31], debit: [31, 43], credit: [43, 55] },
} as const;

const NAMES = {
  records: 'number of entries and addenda',
  hash: 'entry hash',
  debit: 'total of debits',
  credit: 'total of credits',
} as const;

const none = (): Totals => ({ records: 0, hash: 0n, debit: 0n, credit: 0n });

/** The lines of the file, of 94 characters each. Some banks write no line ends, and some drop the blanks at the end of a line. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  const [first = ''] = lines;
  const whole = lines.filter((line) => line.trim() !== '');
  if (whole.length === 1 && first.length > WIDTH)
    return Array.from({ length: Math.ceil(first.length / WIDTH) }, (_, place) =>
      first.slice(place * WIDTH, (place + 1) * WIDTH).padEnd(WIDTH),
    );
  return lines.map((line) => line.trimEnd().padEnd(WIDTH));
}

/** A number in a record. Throws ResultFileError. */
function numberAt(record: string, [from, to]: readonly [number, number], line: number): bigint {
  const written = record.slice(from, to);
  if (/^\d+$/.test(written)) return BigInt(written);
  throw new ResultFileError(
    `line ${line}: ${JSON.stringify(written)} in columns ${from + 1} to ${to} is not a number`,
  );
}

/** Throws ResultFileError if a control record has other totals than its entries. */
function compare(record: string, kind: keyof typeof CONTROL, totals: Totals, line: number): void {
  for (const name of ['records', 'hash', 'debit', 'credit'] as const) {
    const stated = numberAt(record, CONTROL[kind][name], line);
    const counted = name === 'hash' ? totals.hash % 10n ** 10n : BigInt(totals[name]);
    if (stated !== counted)
      throw new ResultFileError(
        `line ${line}: the ${NAMES[name]} of the ${kind} is ${stated}, but its entries add up to ${counted}: is the file damaged?`,
      );
  }
}

const wrong = (line: number, what: string) => new ResultFileError(`line ${line}: ${what}`);

/** Whether a text begins as a NACHA file does. */
export const isNacha = (text: string): boolean => text.startsWith('101') && text.slice(34, 37) === '094';

/** Reads a NACHA file. Throws ResultFileError for a wrong order of records, and for control totals that are not those of the entries. */
export function readAchFile(text: string): AchFile {
  const records: AchRecord[] = [];
  const file = none();
  let batches = 0;
  let batch: Batch | null = null;
  let addenda: string[] = [];
  let isOver = false;
  const add = (totals: Totals, entry: string, line: number) => {
    // the second digit of a transaction code: 0 to 4 credit, 5 to 9 debit an account
    const direction = Number(entry[2]) < 5 ? 'credit' : 'debit';
    totals.records += 1;
    totals.hash += numberAt(entry, [3, 11], line);
    totals[direction] += numberAt(entry, [29, 39], line);
  };
  for (const [index, record] of linesOf(text).entries()) {
    const line = index + 1;
    if (record.length > WIDTH) throw wrong(line, `it has more than ${WIDTH} characters`);
    if (record.trim() === '' || (isOver && /^9+$/.test(record))) continue;
    if (isOver) throw wrong(line, 'it is after the end of the file');
    const type = record[0];
    if (type === '5' && batch === null) {
      batch = { header: record, totals: none() };
      if (record.slice(50, 53) === 'ADV')
        throw wrong(line, 'the batch is an advice of accounting (ADV), which returns no payment');
    } else if (type === '6' && batch !== null) {
      addenda = [];
      records.push({ line, section: batch.header.slice(50, 53), entry: record, addenda });
      for (const totals of [file, batch.totals]) add(totals, record, line);
    } else if (type === '7' && batch !== null && batch.totals.records > 0) {
      addenda.push(record);
      for (const totals of [file, batch.totals]) totals.records += 1;
    } else if (type === '8' && batch !== null) {
      compare(record, 'batch', batch.totals, line);
      if (record.slice(79) !== batch.header.slice(79))
        throw wrong(line, 'it ends another batch than the one that began');
      batches += 1;
      batch = null;
    } else if (type === '9' && batch === null && line > 1) {
      if (numberAt(record, [1, 7], line) !== BigInt(batches))
        throw wrong(line, `the file has ${batches} batches, but its control record counts others`);
      compare(record, 'file', file, line);
      isOver = true;
    } else if (type !== '1' || line > 1)
      throw wrong(line, `a record that begins with ${JSON.stringify(type)} cannot be here`);
  }
  if (!isOver) throw new ResultFileError('the file ends before its control record: it was truncated');
  return { madeOn: text.slice(23, 29), records };
}
