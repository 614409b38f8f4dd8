import * as vat from 'jsvat';
import type { Checked } from './bank-accounts.ts';
import type { TaxIdType } from './taxes.ts';

/** Reads a tax id as a person writes it, with blanks, hyphens and dots: without them and in upper case. */
export function readTaxId(type: TaxIdType, text: string): Checked<string> {
  if (type === 'other') return readOther(text);
  const id = text.replace(/[\s.-]+/g, '').toUpperCase();
  return type === 'vat' ? readVatId(id) : readUsId(type, id);
}

const US_RULES = {
  // SSA: area 000, 666 and 9xx, group 00 and serial 0000 are never given
  us_ssn: {
    pattern: /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/,
    rule: 'must be a social security number: nine digits, of which no group is all zeros, not beginning with 666 or 9',
  },
  // IRS publication 4757: 9xx, and the fourth and fifth digits are 50 to 65, 70 to 88, 90 to 92 or 94 to 99
  us_itin: {
    pattern: /^9\d{2}(5\d|6[0-5]|7\d|8[0-8]|9[0-2]|9[4-9])\d{4}$/,
    rule: 'must be an ITIN: nine digits beginning with 9, the fourth and fifth 50 to 65, 70 to 88, 90 to 92 or 94 to 99',
  },
  us_ein: {
    pattern: /^(?!00)\d{9}$/,
    rule: 'must be an employer identification number: nine digits, not beginning with 00',
  },
} as const;

function readUsId(type: keyof typeof US_RULES, id: string): Checked<string> {
  const { pattern, rule } = US_RULES[type];
  return pattern.test(id) ? { value: id } : { rule };
}

/** Reads a VAT id of the EU, Northern Ireland, Great Britain, Norway or Switzerland: its form and check digits. */
export function readVatId(text: string): Checked<string> {
  const id = text.replace(/[\s.-]+/g, '').toUpperCase();
  // Northern Ireland has the numbers of Great Britain
  const judged = id.startsWith('XI') ? `GB${id.slice(2)}` : id;
  const { isValid, isValidFormat } = vat.checkVAT(judged, COUNTRIES);
  if (isValid && /^[A-Z]{2}/.test(judged)) return { value: id };
  if (isValidFormat) return { rule: 'has a wrong check digit: a digit or letter is mistyped' };
  return {
    rule:
      'must be a VAT id of a country in the EU, XI, GB, CH or NO, with these letters in front, such as DE136695976; for ' +
      'other countries the type is other',
  };
}

const COUNTRIES = [
  ...[vat.austria, vat.belgium, vat.bulgaria, vat.croatia, vat.cyprus, vat.czechRepublic, vat.denmark],
  ...[vat.estonia, vat.europe, vat.finland, vat.france, vat.germany, vat.greece, vat.hungary, vat.ireland],
  ...[vat.italy, vat.latvia, vat.lithuania, vat.luxembourg, vat.malta, vat.netherlands, vat.norway],
  ...[vat.poland, vat.portugal, vat.romania, vat.slovakiaRepublic, vat.slovenia, vat.spain, vat.sweden],
  ...[vat.switzerland, vat.unitedKingdom],
];

function readOther(text: string): Checked<string> {
  const id = text.trim().replace(/\s+/g, ' ').toUpperCase();
  return /^[A-Z0-9][A-Z0-9 ./-]{2,39}$/.test(id)
    ? { value: id }
    : { rule: 'must have 3 to 40 letters A to Z, digits, blanks, dots, slashes and hyphens' };
}

/**
 * Reads the number of a French business: a SIREN (9 digits) or a SIRET (14), with or without spaces. Both have a check digit
 * after Luhn; but of the establishments of La Poste the digits add up to a multiple of five (insee.fr; python-stdnum).
 */
export function readSiren(text: string): Checked<string> {
  const id = text.replace(/\s+/g, '');
  if (!/^(\d{9}|\d{14})$/.test(id)) return { rule: 'must be a SIREN of 9 digits or a SIRET of 14 digits' };
  const digits = [...id].map(Number);
  const isOfLaPoste = id.length === 14 && id.startsWith(LA_POSTE) && sumOf(digits) % 5 === 0;
  const hasCheckDigit = hasLuhnDigit(digits) && hasLuhnDigit(digits.slice(0, 9));
  return hasCheckDigit || isOfLaPoste
    ? { value: id }
    : { rule: 'has a wrong check digit: a digit is mistyped' };
}

const LA_POSTE = '356000000';
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0);
const hasLuhnDigit = (digits: readonly number[]) =>
  sumOf(digits.map((digit, index) => ((digits.length - index) % 2 === 0 ? luhnDouble(digit) : digit))) %
    10 ===
  0;
const luhnDouble = (digit: number) => (digit > 4 ? 2 * digit - 9 : 2 * digit);

/** What may be shown of a tax id or account number: its last four characters, of a short one fewer. */
export const endingOf = (id: string): string => id.slice(-Math.min(4, Math.floor(id.length / 2)));

/** A number of which only the end is shown, such as …2051. */
export const masked = (number: string): string => `…${endingOf(number)}`;
