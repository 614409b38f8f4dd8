import type { CsvLine } from '../../kernel/csv.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { nameSome } from '../../kernel/errors.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { readAmount } from './amounts.ts';
import { type Answer, type Answers, dayIn, type Outcome, ResultFileError, readReference } from './answers.ts';
import {
  cellOf,
  currencyIn,
  folded,
  type Header,
  has,
  type LineReader,
  placeOf,
  refuseLikely,
} from './table.ts';

const REFERENCE = ['reference'];
const AFFILIATE = ['affiliateid'];
const IS_PAID = ['ispaid'];
/** The columns that are read, by folded name. */
const READ = [
  'reference',
  'paymentreference',
  'affiliateid',
  'ispaid',
  'amount',
  'currency',
  'date',
  'paidon',
  'paidat',
];
/** Other allowed columns, which cannot say that a payment failed. */
const HARMLESS = [
  'email',
  'mail',
  'name',
  'namefirst',
  'namelast',
  'firstname',
  'lastname',
  'affiliate',
  'affiliatename',
  'accountholder',
];
const ALLOWED = new Set([...READ, ...HARMLESS]);
/** Names of columns that may contain the result of a payment. */
const OUTCOME = /paid|payed|payd|status|state|outcome|result|success|fail|reject|return/;

/** Whether a header is that of your own list. */
export const isOwnList = (header: Header): boolean => has(header, ['affiliateid', 'ispaid', 'reference']);
/** Whether it is one, whatever other columns it has. */
export const isSurelyOwnList = (header: Header): boolean => has(header, ['affiliateid', 'ispaid']);

/** A name as `ignore_columns` compares it. Unlike `folded`, it distinguishes names that differ in more than case. */
const exactly = (name: string): string => name.trim().toLowerCase();

/**
 * Throws ResultFileError for columns that could say that a payment failed, unless the caller ignores them. Without
 * `is_paid`, any unknown column could; with it, only those that name an outcome.
 */
function refuseUnknown(header: Header, ignored: ReadonlySet<string>): void {
  const isSaid = has(header, IS_PAID);
  const unknown = header.names.flatMap((name, index) => {
    const key = folded(name);
    if (ignored.has(exactly(name)) || ALLOWED.has(key)) return [];
    const isOutcome = OUTCOME.test(key);
    if (isSaid && !isOutcome) return [];
    if (isOutcome && !isSaid && /paid|payed|payd|status/.test(key))
      throw new ResultFileError(
        `line 1, column ${index + 1}: there is no column ${quote(name)}: is it is_paid? Name it so, or leave it out`,
      );
    return [{ place: index + 1, name: quote(name) }];
  });
  if (unknown.length === 0) return;
  const isOne = unknown.length === 1;
  const [places, names] = [
    nameSome(unknown.map(({ place }) => place)),
    nameSome(unknown.map(({ name }) => name)),
  ];
  const where = isOne
    ? `line 1, column ${places}: there is no column ${names}`
    : `line 1, columns ${places}: there are no columns ${names}`;
  const why = isSaid
    ? `${isOne ? 'it' : 'they'} could contradict is_paid`
    : 'without is_paid everybody in a list was paid, so no column may say otherwise';
  const next = isOne
    ? 'Remove it from the file, or name it in ignore_columns if it says nothing about payments'
    : 'Remove them from the file, or name those in ignore_columns that say nothing about payments';
  throw new ResultFileError(`${where}: ${why}. ${next}`);
}

/** The ignored columns. Throws ResultFileError for one that is read, or that the file does not have. */
function ignoredIn(header: Header, names: readonly string[]): ReadonlySet<string> {
  const known = new Set(header.names.map(exactly));
  for (const name of names) {
    if (READ.includes(folded(name)))
      throw new ResultFileError(
        `ignore_columns: ${quote(name)} is a column that is read: remove it from the file`,
      );
    if (!known.has(exactly(name)))
      throw new ResultFileError(`ignore_columns: the file has no column ${quote(name)}`);
  }
  return new Set(names.map(exactly));
}

/**
 * Reads your own list: payments by `reference` or `affiliate_id`, optionally with `is_paid`, `currency` and `amount`.
 * Without `is_paid`, everybody in it was paid. `ignored` names columns to ignore. Strict, because each line is a person's
 * statement: throws ResultFileError.
 */
export function ownListReader(header: Header, found: Answers, ignored: readonly string[]): LineReader {
  const aside = ignoredIn(header, ignored);
  const missing = (['amount', 'currency'] as const).filter((name) => !header.at.has(name));
  const known = { ...header, names: header.names.map((name) => (aside.has(exactly(name)) ? '' : name)) };
  refuseLikely(known, missing);
  refuseUnknown(header, aside);
  const at = {
    reference: placeOf(header, has(header, REFERENCE) ? REFERENCE : ['paymentreference']),
    bankReference: has(header, REFERENCE) ? placeOf(header, ['paymentreference']) : undefined,
    affiliate: placeOf(header, AFFILIATE),
    isPaid: placeOf(header, IS_PAID),
    amount: placeOf(header, ['amount']),
    currency: placeOf(header, ['currency']),
    on: placeOf(header, ['paidon', 'paidat', 'date']),
  };
  return {
    line(line) {
      const of = paidBy(line, at);
      if (of === null) {
        found.others += 1;
        return;
      }
      const place = `line ${line.line}`;
      const amount = cellOf(line, at.amount);
      const read = amount === '' ? null : readAmount(amount);
      if (amount.startsWith('-'))
        throw new ResultFileError(`${place}: amount must not be negative, not ${quote(amount)}`);
      if (amount !== '' && read === null)
        throw new ResultFileError(`${place}: ${quote(amount)} is not an amount`);
      const currency = currencyIn(cellOf(line, at.currency));
      if (currency === undefined)
        throw new ResultFileError(
          `${place}: ${quote(cellOf(line, at.currency))} is not an ISO 4217 currency code such as EUR`,
        );
      found.state({
        of,
        outcome: outcomeOf(line, at.isPaid),
        amount: read?.readings ?? null,
        currency,
        code: null,
        words: null,
        on: dayIn(cellOf(line, at.on)),
        bankReference: cellOf(line, at.bankReference).slice(0, 255) || null,
        file: null,
        place,
      });
    },
    end() {},
  };
}

function outcomeOf(line: CsvLine, isPaid: number | undefined): Outcome {
  if (isPaid === undefined) return 'paid';
  const text = cellOf(line, isPaid);
  if (text.toLowerCase() === 'true') return 'paid';
  if (text.toLowerCase() === 'false') return 'rejected';
  throw new ResultFileError(`line ${line.line}: is_paid must be true or false, not ${quote(text)}`);
}

/** The payee of a line, or null if it names nobody, such as a line of totals. Throws ResultFileError. */
function paidBy(
  line: CsvLine,
  at: { readonly reference: number | undefined; readonly affiliate: number | undefined },
): Answer['of'] | null {
  const place = `line ${line.line}`;
  const [written, id] = [cellOf(line, at.reference), cellOf(line, at.affiliate)];
  const reference = readReference(written);
  const affiliate = id === '' ? null : numberIdOf(id);
  if (id !== '' && affiliate === null)
    throw new ResultFileError(
      `${place}: affiliate_id must be a positive integer such as 17, not ${quote(id)}`,
    );
  if (reference !== null && affiliate !== null && reference.affiliate !== affiliate)
    throw new ResultFileError(
      `${place}: the reference ${written} and affiliate_id ${affiliate} name different affiliates`,
    );
  if (reference !== null) return reference;
  return affiliate === null ? null : { payout: null, affiliate };
}
