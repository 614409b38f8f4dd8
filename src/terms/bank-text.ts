import anyAscii from 'any-ascii';

// As German banks write them (DFÜ agreement, annex 3); other letters lose their marks.
const GERMAN: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };

// The vowel u, which two letters write (ISO 843).
const GREEK_U: Readonly<Record<string, string>> = { ο: 'ou', Ο: 'Ou' };
/** Pictures: they are no part of a name, and would be spelled out. */
const PICTURES = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\u20e3/gu;

/**
 * A text in the characters that every bank takes: `a-z A-Z 0-9 / - ? : ( ) . , ' +` and blank (EPC217-08). Letters of
 * other scripts are written in Latin ones, `&` becomes `+`, pictures are left out, and what is left is a point. It may be
 * longer than before, and is empty when the text has no letter and no digit.
 */
export function bankText(text: string): string {
  const known = text
    .normalize('NFC')
    .replace(PICTURES, '')
    .replace(/[äöüÄÖÜ]/g, (letter) => GERMAN[letter] ?? letter)
    .replace(/ΟΥ|ΟΎ/g, 'OU')
    .replace(/([οΟ])[υύ]/g, (_, letter: string) => GREEK_U[letter] ?? '');
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
