import anyAscii from 'any-ascii';
import { BANK_LETTERS } from './bank-letters.ts';

/** How German banks also take these letters, and people there write them (DFÜ agreement, annex 3). */
const GERMAN: Readonly<Record<string, string>> = {
  ...{ ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue', ß: 'ss' },
};
/** The countries of IBANs whose holders write their names so. */
const GERMAN_IN = ['DE', 'AT', 'CH', 'LI'];

const LETTERS = new Map(
  Object.entries(BANK_LETTERS).flatMap(([to, from]) => [...from].map((each) => [each, to])),
);

// The vowel u, which two letters write (ISO 843).
const GREEK_U: Readonly<Record<string, string>> = { ο: 'ou', Ο: 'Ou' };
/** Pictures: they are no part of a name, and would be spelled out. */
const PICTURES = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\u20e3/gu;

/**
 * A text in the characters that every bank takes: `a-z A-Z 0-9 / - ? : ( ) . , ' +` and blank, as the table of EPC217-08 writes
 * them. `country` is that of the IBAN: in German-speaking countries ä is ae, elsewhere a (docs/decisions/0114). Letters for which the
 * table has none are transliterated, `&` becomes `+`, pictures are left out, and what is left is a point. It may be longer than before,
 * and is empty when the text has no letter and no digit.
 */
export function bankText(text: string, country: string | null = null): string {
  const german = country !== null && GERMAN_IN.includes(country) ? GERMAN : {};
  const known = text
    .normalize('NFC')
    .replace(PICTURES, '')
    .replace(/ΟΥ|ΟΎ/g, 'OU')
    .replace(/([οΟ])[υύ]/g, (_, letter: string) => GREEK_U[letter] ?? '')
    .replace(/[^ -~]|[;[\\\]{|}~]/gu, (letter) => german[letter] ?? LETTERS.get(letter) ?? letter);
  const latin = anyAscii(known);
  const written = latin
    .replaceAll('&', '+')
    .replaceAll('_', '-')
    .replace(/["`]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/[^a-zA-Z0-9/\-?:().,'+ ]/g, '.')
    .trim();
  return /[a-zA-Z0-9]/.test(written) ? written : '';
}

/**
 * Why a name cannot be written for banks without asking, or null. Banks compare names, so none is guessed: Chinese characters
 * are read in one way in China and in several in Japan, and a name without a letter is a mistake as often as a name.
 */
export function whyNoBankName(name: string): string | null {
  const asBank = 'write it in Latin letters, as the bank of the account has it';
  const [characters] = /\p{Script=Han}+/u.exec(name) ?? [];
  if (characters !== undefined)
    return `has characters that are read in several ways (${characters}): ${asBank}`;
  return /[a-zA-Z]/.test(bankText(name)) ? null : `has no letter that banks take: ${asBank}`;
}
