import { descriptionForPersons } from '../../people/accounts/originator.ts';
import type { Payer } from '../../people/accounts/record.ts';
import type { BankPayment } from './bank-rows.ts';
import { MODIFIERS } from './file-sets.ts';
import type { MadeFile } from './format.ts';

/** The parts of a file around its payments. */
export interface NachaFrame {
  readonly originator: NonNullable<Payer['originator']>;
  readonly made: MadeFile;
}

/** A batch has one type of receiver: persons (PPD) or businesses (CCD). */
const sectionOf = ({ legal_type }: BankPayment) => (legal_type === 'business' ? 'CCD' : 'PPD');

/** Credits only. */
const SERVICE_CLASS = '220';
const CREDIT_TO: Readonly<Record<string, string>> = { checking: '22', savings: '32' };
const LINES_IN_BLOCK = 10;

/** A text padded with blanks. Throws if it does not fit: nothing is truncated. */
function text(value: string, width: number): string {
  if (value.length > width)
    throw new Error(`a NACHA field of ${width} characters cannot hold ${value.length}`);
  return value.padEnd(width);
}

/** A number padded with leading zeros. Throws if it does not fit. */
function digits(value: bigint | number | string, width: number): string {
  const written = String(value).padStart(width, '0');
  if (written.length > width)
    throw new Error(`a NACHA field of ${width} digits cannot hold ${written.length}`);
  return written;
}

/** The control totals of a batch or file. */
interface Totals {
  entries: number;
  /** The sum of the first eight digits of the routing numbers. */
  hash: bigint;
  /** Minor units. */
  credit: bigint;
}
interface Batch {
  readonly section: string;
  readonly totals: Totals;
}
const none = (): Totals => ({ entries: 0, hash: 0n, credit: 0n });
const hashOf = ({ hash }: Totals) => digits(hash % 10n ** 10n, 10);

/**
 * The lines of a NACHA file (Nacha operating rules, appendix three), as text in pieces: a batch for persons, then one for
 * businesses, which is the order of the payments. Lines have 94 characters and end with CR LF. Blocks have ten lines.
 */
export async function* nachaFile(
  frame: NachaFrame,
  payments: AsyncIterable<BankPayment>,
): AsyncIterable<string> {
  const file = none();
  let lines = 0;
  let batches = 0;
  let batch = null as Batch | null;
  const line = (content: string) => {
    lines += 1;
    return `${content}\r\n`;
  };
  yield line(fileHeader(frame));
  for await (const payment of payments) {
    const section = sectionOf(payment);
    if (batch?.section !== section) {
      if (batch) yield line(batchControl(frame, batches, batch.totals));
      batches += 1;
      batch = { section, totals: none() };
      yield line(batchHeader(frame, batches, section));
    }
    for (const totals of [file, batch.totals]) {
      totals.entries += 1;
      totals.hash += BigInt((payment.routing_number ?? '').slice(0, 8));
      totals.credit += BigInt(payment.amount);
    }
    yield line(entry(frame, (frame.made.firstTrace ?? 1) + file.entries - 1, payment));
  }
  if (batch) yield line(batchControl(frame, batches, batch.totals));
  const blocks = Math.ceil((lines + 1) / LINES_IN_BLOCK);
  yield line(fileControl(batches, blocks, file));
  for (const filled = blocks * LINES_IN_BLOCK; lines < filled; ) yield line('9'.repeat(94));
}

function fileHeader({ originator, made }: NachaFrame): string {
  return [
    '101',
    ` ${originator.immediate_destination}`,
    originator.immediate_origin.padStart(10),
    made.localTime,
    MODIFIERS[(made.modifier ?? 1) - 1],
    '094101',
    text(originator.immediate_destination_name, 23),
    text(originator.immediate_origin_name, 23),
    ' '.repeat(8),
  ].join('');
}

function batchHeader({ originator, made }: NachaFrame, batch: number, section: string): string {
  return [
    '5',
    SERVICE_CLASS,
    text(originator.company_name, 16),
    text(originator.discretionary_data ?? '', 20),
    originator.company_id,
    section,
    text(section === 'PPD' ? descriptionForPersons(originator) : originator.entry_description, 10),
    ' '.repeat(6),
    (made.executionDate ?? '').slice(2).replaceAll('-', ''),
    ' '.repeat(3), // the ACH operator fills in the settlement date
    '1',
    originator.originating_dfi,
    digits(batch, 7),
  ].join('');
}

function entry({ originator }: NachaFrame, place: number, payment: BankPayment): string {
  return [
    '6',
    CREDIT_TO[payment.account_type ?? 'checking'],
    payment.routing_number,
    text(payment.number, 17),
    digits(payment.amount, 10),
    text(payment.reference, 15),
    text(payment.holder, 22),
    '  0',
    originator.originating_dfi,
    digits(place, 7),
  ].join('');
}

function batchControl({ originator }: NachaFrame, batch: number, totals: Totals): string {
  return [
    '8',
    SERVICE_CLASS,
    digits(totals.entries, 6),
    hashOf(totals),
    digits(0, 12),
    digits(totals.credit, 12),
    originator.company_id,
    ' '.repeat(19 + 6),
    originator.originating_dfi,
    digits(batch, 7),
  ].join('');
}

function fileControl(batches: number, blocks: number, totals: Totals): string {
  return [
    '9',
    digits(batches, 6),
    digits(blocks, 6),
    digits(totals.entries, 8),
    hashOf(totals),
    digits(0, 12),
    digits(totals.credit, 12),
    ' '.repeat(39),
  ].join('');
}
