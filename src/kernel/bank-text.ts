import anyAscii from 'any-ascii';

// As German banks write them (DFÜ agreement, annex 3); other letters lose their marks.
const GERMAN: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', Ä: 'Ae', Ö: 'Oe', Ü: 'Ue' };

/**
 * A text in the characters that every bank takes: `a-z A-Z 0-9 / - ? : ( ) . , ' +` and blank (EPC217-08). Letters of
 * other scripts are written in Latin ones, `&` becomes `+`, and what is left a point. It may be longer than before, and
 * is empty when the text has no letter and no digit.
 */
export function bankText(text: string): string {
  const latin = anyAscii(text.normalize('NFC').replace(/[äöüÄÖÜ]/g, (letter) => GERMAN[letter] ?? letter));
  const written = latin
    .replaceAll('&', '+')
    .replaceAll('_', '-')
    .replace(/["`]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/[^a-zA-Z0-9/\-?:().,'+ ]/g, '.')
    .trim();
  return /[a-zA-Z0-9]/.test(written) ? written : '';
}
