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
/** The columns beside them that cannot say that somebody was not paid. */
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
/** Names of columns that say what became of a payment. */
const OUTCOME = /paid|payed|payd|status|state|outcome|result|success|fail|reject|return/;

/** Whether a header is that of your own list. */
export const isOwnList = (header: Header): boolean => has(header, ['affiliateid', 'ispaid', 'reference']);
/** Whether it is one whatever else is in it. */
export const isSurelyOwnList = (header: Header): boolean => has(header, ['affiliateid', 'ispaid']);

/** A name as `ignore_columns` compares it: of two columns whose names differ in anything but case, one alone is meant. */
const exactly = (name: string): string => name.trim().toLowerCase();

/**
 * Throws ResultFileError for columns that could say that somebody was not paid, unless the caller said to leave them aside.
 * Without `is_paid` those are all that are not known; with it, those that name an outcome too.
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
    ? `beside is_paid ${isOne ? 'it' : 'they'} could say something else`
    : 'without is_paid everybody in a list was paid, so it must have nothing that could say otherwise';
  const next = isOne
    ? 'Remove it from the file, or name it in ignore_columns if it says nothing about payments'
    : 'Remove them from the file, or name those in ignore_columns that say nothing about payments';
  throw new ResultFileError(`${where}: ${why}. ${next}`);
}

/** The columns that are left aside. Throws ResultFileError for one that is read, or that the file does not have. */
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
 * Reads your own list: payments by `reference` or `affiliate_id`, if wanted with `is_paid`, `currency` and `amount`.
 * Without `is_paid` everybody in it was paid. `ignored` names columns that the caller says to leave aside. Strict, because each
 * line is somebody's word: throws ResultFileError.
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
          `${place}: ${quote(cellOf(line, at.currency))} is not a currency code such as EUR, of ISO 4217`,
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

/** Whom a line is about; null for a line that names nobody, such as one of totals. Throws ResultFileError. */
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
      `${place}: the reference ${written} and affiliate_id ${affiliate} name two affiliates`,
    );
  if (reference !== null) return reference;
  return affiliate === null ? null : { payout: null, affiliate };
}
