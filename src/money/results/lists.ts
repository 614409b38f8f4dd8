import { setImmediate } from 'node:timers/promises';
import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import { CSV_SEPARATORS, type CsvEncoding, type CsvSeparator } from '../../kernel/csv-dialect.ts';
import { CsvError, quote } from '../../kernel/csv-refusal.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { readPaymentReference } from '../../kernel/payment-reference.ts';
import {
  Answers,
  type Outcome,
  type ReadResult,
  ResultFileError,
  type ResultKind,
  referenceIn,
} from './answers.ts';

/** What a column of a result file has. */
type Part = 'reference' | 'affiliate' | 'status' | 'amount' | 'currency' | 'bankReference' | 'reason' | 'on';

/**
 * The names of columns, in lower case and without what is not a letter. PayPal's and Wise's downloads name them differently
 * in each place of their sites, so all known names are taken.
 */
const COLUMNS: Readonly<Record<Part, readonly string[]>> = {
  reference: [
    'reference',
    'paymentreference',
    'uniqueid',
    'customerid',
    'customerreferenceid',
    'customnumber',
    'senderitemid',
    'invoicenumber',
  ],
  affiliate: ['affiliateid'],
  status: ['status', 'transactionstatus', 'payoutitemstatus', 'ispaid'],
  amount: ['targetamountafterfees', 'targetamount', 'amount', 'gross', 'paymentamount', 'payoutamount'],
  currency: ['targetcurrency', 'currency', 'currencycode'],
  bankReference: ['transactionid', 'payoutitemid', 'transferid', 'transferwiseid', 'id', 'paymentreference'],
  reason: ['errormessage', 'failurereason', 'reason', 'error', 'errors'],
  on: ['finishedon', 'timeprocessed', 'processedon', 'date', 'createdon', 'paidon'],
};

/** Columns that may have what a file needs under a name that is not known. Left aside, they would turn a "no" into a payment. */
const DOUBTFUL: readonly { readonly part: Part; readonly like: RegExp; readonly name: string }[] = [
  { part: 'status', like: /^(is|was|has)?(been)?(paid|payed|payd)(out)?$|status|outcome/, name: 'is_paid' },
  { part: 'amount', like: /amount|gross|^(net|total|sum|value)$/, name: 'amount' },
  { part: 'currency', like: /currency|^ccy$/, name: 'currency' },
];

const WISE = ['targetcurrency', 'targetamount', 'targetamountafterfees', 'transferwiseid'];
const LIST = ['affiliateid', 'ispaid'];

/** What the statuses of PayPal and Wise mean, in capitals and without what is not a letter. */
const STATUSES: Readonly<Record<string, Outcome>> = {
  SUCCESS: 'paid',
  COMPLETED: 'paid',
  PROCESSED: 'paid',
  PAID: 'paid',
  SENT: 'paid',
  TRUE: 'paid',
  OUTGOINGPAYMENTSENT: 'paid',
  FALSE: 'rejected',
  FAILED: 'rejected',
  DENIED: 'rejected',
  BLOCKED: 'rejected',
  CANCELLED: 'rejected',
  CANCELED: 'rejected',
  RETURNED: 'returned',
  REFUNDED: 'returned',
  REVERSED: 'returned',
  FUNDSREFUNDED: 'returned',
  CHARGEDBACK: 'returned',
};

const folded = (name: string) => name.toLowerCase().replaceAll(/[^a-z]/g, '');

const PIECE = 1 << 16;

/** What stands where in the lines of a file. */
interface Layout {
  readonly kind: ResultKind;
  readonly at: ReadonlyMap<Part, number>;
}

/** The separator that cuts the first line into most cells. */
function separatorOf(line: string): CsvSeparator {
  const names = Object.keys(CSV_SEPARATORS) as CsvSeparator[];
  const cells = (name: CsvSeparator) => line.split(CSV_SEPARATORS[name]).length;
  return names.reduce((best, name) => (cells(name) > cells(best) ? name : best), 'comma' as CsvSeparator);
}

/**
 * Reads a CSV file that says who was paid: PayPal's or Wise's own, or a plain list with the column `reference` or
 * `affiliate_id`. Columns may have any order, and others are left aside, unless they seem to have what is missing. A list
 * without a status says that everybody in it was paid. Null when the header is of no such file. Throws ResultFileError.
 */
export async function readList(
  bytes: Buffer,
  text: string,
  encoding: CsvEncoding,
): Promise<ReadResult | null> {
  const [first = ''] = text.split(/\r\n|\r|\n/, 1);
  const reader = csvReader(null, { encoding, separator: separatorOf(first), isWhole: false });
  const found = new Answers();
  let layout: Layout | null = null;
  const take = (lines: readonly CsvLine[]) => {
    if (layout === null && reader.header.length > 0) {
      layout = layoutOf(reader.header);
      if (layout !== null) refuseDoubtful(reader.header, layout);
    }
    if (layout !== null) for (const line of lines) readLine(line, layout, found);
    return layout;
  };
  try {
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (take(reader.read(bytes.subarray(at, at + PIECE))) === null && reader.header.length > 0) return null;
      await setImmediate(); // other requests go on meanwhile
    }
    const kind = take(reader.end())?.kind;
    return kind === undefined ? null : found.of(kind);
  } catch (error) {
    throw error instanceof CsvError ? new ResultFileError(error.message) : error;
  }
}

function layoutOf(header: readonly string[]): Layout | null {
  const names = header.map(folded);
  const at = new Map<Part, number>();
  for (const part of Object.keys(COLUMNS) as Part[]) {
    const name = COLUMNS[part].find((known) => names.includes(known) && !taken(at, names.indexOf(known)));
    if (name !== undefined) at.set(part, names.indexOf(name));
  }
  const has = (known: readonly string[]) => known.some((name) => names.includes(name));
  if (at.has('affiliate') || has(LIST)) return { kind: 'paid_list', at };
  if (!at.has('reference')) return null;
  if (!at.has('status')) return { kind: 'paid_list', at };
  return { kind: has(WISE) ? 'wise' : 'paypal', at };
}

function refuseDoubtful(header: readonly string[], { at }: Layout): void {
  for (const { part, like, name } of DOUBTFUL) {
    if (at.has(part)) continue;
    const index = header.findIndex((column, place) => like.test(folded(column)) && !taken(at, place));
    if (index >= 0)
      throw new ResultFileError(
        `line 1, column ${index + 1}: there is no column ${quote(header[index] ?? '')}: is it ${name}? Name it so, or leave it out`,
      );
  }
}

const taken = (at: ReadonlyMap<Part, number>, index: number) => [...at.values()].includes(index);

function readLine({ line, cells }: CsvLine, { kind, at }: Layout, found: Answers): void {
  const cell = (part: Part) => cells[at.get(part) ?? -1]?.trim() ?? '';
  const reference = referenceIn(cell('reference'));
  const affiliate = affiliateOf(cell('affiliate'), line);
  const affiliateId = reference === null ? affiliate : null;
  if (reference === null && affiliateId === null) {
    found.others += 1;
    return;
  }
  if (reference !== null && affiliate !== null && readPaymentReference(reference)?.affiliate !== affiliate)
    throw new ResultFileError(
      `line ${line}: the reference ${reference} and affiliate_id ${affiliate} name two affiliates`,
    );
  const status = cell('status');
  const outcome = at.has('status') ? STATUSES[folded(status).toUpperCase()] : 'paid';
  if (kind === 'paid_list' && outcome === undefined)
    throw new ResultFileError(`line ${line}: is_paid must be true or false, not ${quote(status)}`);
  const currency = cell('currency') === '' ? null : normalizeCurrency(cell('currency'));
  if (cell('currency') !== '' && currency === null)
    throw new ResultFileError(
      `line ${line}: ${quote(cell('currency'))} is not a currency code such as EUR, of ISO 4217`,
    );
  const amount = cell('amount');
  if (kind === 'paid_list' && amount.startsWith('-'))
    throw new ResultFileError(`line ${line}: amount must not be negative, not ${quote(amount)}`);
  const isPlain = outcome === 'paid' || kind === 'paid_list';
  found.add({
    reference: reference ?? '',
    affiliateId,
    outcome: outcome ?? 'pending',
    amount: amount === '' ? null : decimalOf(amount, line),
    currency,
    code: isPlain ? null : status.toUpperCase().replaceAll(/[^A-Z]+/g, '_') || null,
    words: cell('reason') || null,
    on: /^\d{4}-\d\d-\d\d/.exec(cell('on'))?.[0] ?? null,
    bankReference: cell('bankReference').slice(0, 255) || null,
    place: `line ${line}`,
  });
}

function affiliateOf(text: string, line: number): number | null {
  if (text === '') return null;
  const id = numberIdOf(text);
  if (id === null)
    throw new ResultFileError(
      `line ${line}: affiliate_id must be a positive integer such as 17, not ${quote(text)}`,
    );
  return id;
}

/**
 * An amount as digits with a point: `1,234.56`, `1.234,56` and `-10,5` are read by their last sign. PayPal writes what went
 * out with a minus, so the sign says nothing. Throws ResultFileError.
 */
function decimalOf(written: string, line: number): string {
  const digits = written.replaceAll(/[\s\u00a0'’]/g, '').replace(/^[-+]/, '');
  const [, whole = '', sign = '', fraction] = /^(\d[\d.,]*?)(?:([.,])(\d{1,4}))?$/.exec(digits) ?? [];
  // a sign that stands twice divides thousands, and so does the only one before three digits: 1,234
  const isThousands = fraction?.length === 3 && (whole.includes(sign) || !/[.,]/.test(whole));
  const plain = isThousands ? `${whole}${fraction}` : whole.replaceAll(/[.,]/g, '');
  if (plain === '') throw new ResultFileError(`line ${line}: ${quote(written)} is not an amount`);
  return isThousands || fraction === undefined ? plain : `${plain}.${fraction}`;
}
