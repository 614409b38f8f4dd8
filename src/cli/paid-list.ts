import { parse } from 'csv-parse/sync';
import type { PaidEntry } from '../client/types.ts';
import { CommandError, UsageError } from './errors.ts';

const COLUMNS = ['affiliate_id', 'is_paid', 'payment_reference'];
const LONGEST_REFERENCE = 255;

/** One affiliate of the list; `where` names its place for messages: `line 5` of a file, or the option. */
export interface ListedEntry extends PaidEntry {
  readonly where: string;
}

interface Parsed {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

/**
 * Reads who was paid from CSV text with the header `affiliate_id,is_paid[,payment_reference]`. Strict, because each
 * line is money: throws CommandError naming the first bad line and its column.
 */
export function readPaidFile(bytes: Buffer): ListedEntry[] {
  const text = decode(bytes);
  const [head, ...records] = parseLines(text);
  const width = checkHeader(head?.record ?? []);
  // A cut-off id or true/false is no valid cell any more; a cut-off reference is, so there the end must be seen.
  if (width === COLUMNS.length && !text.endsWith('\n')) {
    throw refuse(
      records.at(-1)?.info.lines ?? 1,
      'payment_reference',
      'the file ends without a line end: is it cut off?',
    );
  }
  const firstLines = new Map<number, number>();
  return records.map(({ record, info: { lines: line } }) => {
    const entry = readEntry(record, width, line);
    const first = firstLines.get(entry.affiliate_id);
    if (first !== undefined) {
      throw refuse(line, 'affiliate_id', `affiliate ${entry.affiliate_id} is already in line ${first}`);
    }
    firstLines.set(entry.affiliate_id, line);
    return { ...entry, where: `line ${line}, column affiliate_id` };
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes); // takes a byte order mark away
  } catch {
    throw refuseFile('the file is not UTF-8');
  }
}

function parseLines(text: string): Parsed[] {
  try {
    return parse(text, {
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as Parsed[];
  } catch (error) {
    const { lines, message } = error as Error & { lines?: number };
    throw refuseFile(`line ${lines ?? 1}: ${message.replace(/,? (on|at) line \d+\.?$/, '')}`);
  }
}

function checkHeader(names: readonly string[]): number {
  const given = names.map((name) => name.toLowerCase());
  const isRight = given.length >= 2 && COLUMNS.slice(0, given.length).join() === given.join();
  if (isRight && given.length <= COLUMNS.length) return given.length;
  const wrong = given.findIndex((name, index) => name !== COLUMNS[index]);
  const column = wrong === -1 ? given.length + 1 : wrong + 1;
  throw refuseFile(
    `line 1, column ${column}: the header must be ${COLUMNS.slice(0, 2).join()} or ${COLUMNS.join()}, ` +
      `not ${JSON.stringify(names.join().slice(0, 100))}`,
  );
}

function readEntry(record: readonly string[], width: number, line: number): PaidEntry {
  if (record.length < width) {
    throw refuse(line, COLUMNS[record.length] ?? '', 'is missing: is the line cut off?');
  }
  if (record.length > width) throw refuse(line, String(width + 1), 'there is no such column in the header');
  const [id = '', paid = '', reference = ''] = record;
  if (!/^[1-9]\d{0,14}$/.test(id))
    throw refuse(line, 'affiliate_id', `must be a positive integer, not ${quote(id)}`);
  if (!/^(true|false)$/i.test(paid))
    throw refuse(line, 'is_paid', `must be true or false, not ${quote(paid)}`);
  if (reference.length > LONGEST_REFERENCE) {
    throw refuse(line, 'payment_reference', `has more than ${LONGEST_REFERENCE} characters`);
  }
  return {
    affiliate_id: Number(id),
    is_paid: paid.toLowerCase() === 'true',
    ...(reference === '' ? {} : { payment_reference: reference }),
  };
}

const quote = (text: string) => JSON.stringify(text.slice(0, 60));

const refuse = (line: number, column: string, what: string) =>
  refuseFile(`line ${line}, column ${column}: ${what}`);

const refuseFile = (what: string) =>
  new CommandError(`${what}; nothing was changed`, { code: 'bad_request', reason: 'invalid_file' });

/** The affiliates of `--paid 1,2,3`. Throws UsageError when it is no list of positive integers. */
export function readIdList(option: string, text: string): number[] {
  return text.split(',').map((item) => {
    const id = item.trim();
    if (!/^[1-9]\d{0,14}$/.test(id)) {
      throw new UsageError(`${option} must be affiliate ids such as 1,2,3, not ${JSON.stringify(text)}`);
    }
    return Number(id);
  });
}

/** Throws CommandError unless the list names every affiliate of the payout and no other. */
export function checkComplete(entries: readonly ListedEntry[], affiliates: ReadonlySet<number>): void {
  const stranger = entries.find(({ affiliate_id }) => !affiliates.has(affiliate_id));
  if (stranger) {
    throw new CommandError(
      `${stranger.where}: affiliate ${stranger.affiliate_id} is not in the payout; nothing was changed`,
      { code: 'bad_request', reason: 'affiliate_not_in_payout' },
    );
  }
  const listed = new Set(entries.map(({ affiliate_id }) => affiliate_id));
  const missing = [...affiliates].filter((id) => !listed.has(id));
  if (missing.length === 0) return;
  const rest = missing.length > 20 ? ` and ${missing.length - 20} more` : '';
  throw new CommandError(
    `the list says nothing about affiliates ${missing.slice(0, 20).join(', ')}${rest}; nothing was changed`,
    { code: 'bad_request', reason: 'affiliates_missing' },
  );
}
