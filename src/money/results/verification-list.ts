import { readStrictJson } from '../../kernel/strict-json.ts';
import { readIban } from '../../terms/bank-accounts.ts';
import { bankText } from '../../terms/bank-text.ts';
import { VERIFICATIONS, type Verification } from '../ledger/verifications.ts';
import { Answers, type ReadResult, ResultFileError, readReference, type Verified } from './answers.ts';

/*
 * Verifications of payees that a bank or provider answered through an interface of its own, as JSON. Such a list names no payment file,
 * so each item repeats the name and the IBAN that were checked.
 */

const NEEDED = ['reference', 'result', 'account_holder', 'iban'] as const;
const OPTIONAL = ['bank_name', 'reason', 'reason_code'] as const;
const FIELDS: ReadonlySet<string> = new Set([...NEEDED, ...OPTIONAL]);

type Item = Partial<Record<(typeof NEEDED)[number] | (typeof OPTIONAL)[number], string | null>>;

/** Reads a list of verifications: `{"verifications": […]}`. Throws ResultFileError, naming the item and the field. */
export function readVerificationList(text: string): ReadResult {
  const found = new Answers();
  for (const [index, item] of itemsOf(text).entries()) {
    const place = `verifications[${index}]`;
    found.verify(verifiedBy(checked(item, place), place));
  }
  return found.of('verification');
}

function itemsOf(text: string): readonly unknown[] {
  let value: unknown;
  try {
    ({ value } = readStrictJson(text));
  } catch (error) {
    throw new ResultFileError(`the JSON cannot be read: ${(error as Error).message}`);
  }
  const names = isObject(value) ? Object.keys(value) : [];
  const list = isObject(value) ? value.verifications : undefined;
  if (names.length !== 1 || !Array.isArray(list) || list.length === 0)
    throw new ResultFileError(
      'the JSON must be an object whose only field, verifications, lists at least one payee',
    );
  return list;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function checked(item: unknown, place: string): Item {
  if (!isObject(item)) throw new ResultFileError(`${place} must be an object`);
  for (const [name, value] of Object.entries(item)) {
    if (!FIELDS.has(name)) throw new ResultFileError(`${place}.${name}: there is no such field`);
    if (value === null && (OPTIONAL as readonly string[]).includes(name)) continue;
    if (typeof value !== 'string' || value.trim() === '' || value.length > MOST_CHARACTERS)
      throw new ResultFileError(`${place}.${name} must be a text of 1 to ${MOST_CHARACTERS} characters`);
  }
  for (const name of NEEDED)
    if (item[name] === undefined) throw new ResultFileError(`${place}.${name} is required`);
  return item as Item;
}

/** A name of ISO 20022 has at most 140 characters; a reason may be a sentence. */
const MOST_CHARACTERS = 500;

function verifiedBy(item: Item, place: string): Verified {
  const {
    reference = '',
    result,
    account_holder,
    bank_name = null,
    reason = null,
    reason_code = null,
  } = item;
  const of = readReference(reference ?? '');
  if (of === null) throw new ResultFileError(`${place}.reference must be that of a payment, such as P1-A12`);
  if (!VERIFICATIONS.includes(result as Verification))
    throw new ResultFileError(`${place}.result must be one of ${VERIFICATIONS.join(', ')}`);
  if (bank_name !== null && result !== 'close_match')
    throw new ResultFileError(`${place}.bank_name is only for a close_match: banks give no other name`);
  const read = readIban(item.iban ?? '');
  if ('rule' in read) throw new ResultFileError(`${place}.iban ${read.rule}`);
  const { number, country } = read.value;
  return {
    of,
    result: result as Verification,
    bankName: bank_name?.trim() ?? null,
    code: reason_code,
    words: reason,
    // as payment files spell it
    name: bankText((account_holder ?? '').normalize('NFC').trim(), country),
    iban: number,
    file: null,
    place,
  };
}
