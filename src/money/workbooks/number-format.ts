import { type Decimal, plainText, rounded, shifted, withoutEndZeros } from './decimals.ts';

/** How a cell of Excel shows a number: ECMA-376 part 1, 18.8.30 and 18.8.31. */
export type NumberFormat =
  | { readonly kind: 'general' }
  | { readonly kind: 'date'; readonly hasDay: boolean; readonly hasTime: boolean }
  | {
      readonly kind: 'number';
      /** The power of ten that the number is multiplied by: 2 for percent, -3 for thousands. */
      readonly shift: number;
      readonly before: string;
      /** The placeholders of digits before the point, and texts between them. */
      readonly whole: readonly string[];
      readonly leastDecimals: number;
      readonly mostDecimals: number;
      readonly after: string;
    };

const GENERAL: NumberFormat = { kind: 'general' };

/** The formats that a workbook does not spell out. Those that depend on the language are dates or plain numbers. */
const BUILT_IN: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  9: '0%',
  10: '0.00%',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  37: '#,##0',
  38: '#,##0',
  39: '#,##0.00',
  40: '#,##0.00',
  41: '#,##0',
  42: '#,##0',
  43: '#,##0.00',
  44: '#,##0.00',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
};
for (const id of [27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58])
  Object.assign(BUILT_IN, { [id]: 'yyyy-mm-dd' });

/** The format with an id below 164 that the workbook does not define. */
export const builtInFormat = (id: number): NumberFormat => {
  const code = BUILT_IN[id];
  return code === undefined ? GENERAL : formatOf(code);
};

/** One symbol of a format: a text in quotes, an escaped or padding character, brackets, or a character. */
const SYMBOL = /"([^"]*)"?|\\(.)|[_*].|\[([^\]]*)\]?|AM\/PM|A\/P|General|./giu;

interface Draft {
  before: string;
  whole: string[];
  decimals: string;
  after: string;
  percents: number;
  commas: number;
  place: 'before' | 'whole' | 'decimals' | 'after';
}

/**
 * Reads the code of a format, such as `#,##0.00 "€"`. Only the section for positive numbers counts. With conditions, such as
 * `[>999]#,"K";0`, the section depends on the number, which is then shown in full.
 */
export function formatOf(code: string): NumberFormat {
  if (/\[[<=>]/.test(code)) return GENERAL;
  const draft: Draft = {
    before: '',
    whole: [],
    decimals: '',
    after: '',
    percents: 0,
    commas: 0,
    place: 'before',
  };
  let letters = '';
  for (const [symbol, quoted, escaped, bracket] of code.slice(0, 255).matchAll(SYMBOL)) {
    if (symbol === ';') break;
    if (quoted !== undefined) addText(draft, quoted);
    else if (escaped !== undefined) addText(draft, escaped);
    else if (bracket !== undefined) {
      if (/^[hms]+$/i.test(bracket)) letters += bracket;
      else addText(draft, /^\$([^-]*)/.exec(bracket)?.[1] ?? '');
    } else if (/^[_*]./u.test(symbol)) continue;
    else if (/^general$/i.test(symbol)) return GENERAL;
    else if (/^(am\/pm|a\/p)$/i.test(symbol)) letters += 'h';
    else if (/^[ymdhs]$/i.test(symbol)) letters += symbol.toLowerCase();
    // fractions and exponents hide digits; a text format shows the number as it is
    else if (/^[/Ee@]$/.test(symbol) && letters === '') return GENERAL;
    else addSymbol(draft, symbol);
  }
  if (letters !== '') return dateFormat(letters.toLowerCase());
  if (draft.place === 'before') return GENERAL;
  return {
    kind: 'number',
    shift: 2 * draft.percents - 3 * draft.commas,
    before: draft.before.trimStart(),
    whole: draft.whole,
    leastDecimals: draft.decimals.lastIndexOf('0') + 1,
    mostDecimals: draft.decimals.length,
    after: draft.after.trimEnd(),
  };
}

function addText(draft: Draft, text: string): void {
  if (draft.place === 'before') draft.before += text;
  else {
    if (draft.place === 'decimals') draft.place = 'after';
    draft.after += text;
  }
}

function addSymbol(draft: Draft, symbol: string): void {
  if (/^[0#?]$/.test(symbol)) {
    if (draft.place === 'decimals') {
      draft.decimals += symbol;
      return;
    }
    // a text between digits, as in 000-00-0000
    if (draft.after !== '') draft.whole.push(draft.after);
    draft.whole.push(symbol);
    draft.after = '';
    draft.commas = 0;
    draft.place = 'whole';
  } else if (symbol === '.' && draft.place !== 'decimals' && draft.place !== 'after')
    draft.place = 'decimals';
  else if (symbol === ',' && draft.place !== 'before') draft.commas += 1;
  else if (symbol === '%') {
    draft.percents += 1;
    addText(draft, symbol);
  } else if (!/^[()]$/.test(symbol)) addText(draft, symbol);
}

function dateFormat(letters: string): NumberFormat {
  const hasTime = /[hs]/.test(letters);
  const hasDay = /[yd]/.test(letters) || !hasTime;
  return { kind: 'date', hasDay, hasTime };
}

/** A number as its cell shows it, without thousands separators, and with a minus sign if it is negative. */
export function shownNumber(number: Decimal, format: NumberFormat): string {
  if (format.kind !== 'number') return plainText(number);
  const { whole, fraction } = rounded(shifted(number, format.shift), format.mostDecimals);
  const decimals =
    fraction.slice(0, format.leastDecimals) + withoutEndZeros(fraction.slice(format.leastDecimals));
  const isZero = /^0*$/.test(whole + fraction);
  const sign = number.isNegative && !isZero ? '-' : '';
  const digits = (wholeText(whole, format.whole) || '0') + (decimals === '' ? '' : `.${decimals}`);
  return `${sign}${format.before}${digits}${format.after}`;
}

/** The digits before the point in their placeholders, from the last to the first, which takes all that are left. */
function wholeText(digits: string, pattern: readonly string[]): string {
  let rest = digits;
  let text = '';
  const first = pattern.findIndex((symbol) => /^[0#?]$/.test(symbol));
  for (let index = pattern.length - 1; index >= 0; index -= 1) {
    const symbol = pattern[index] ?? '';
    if (!/^[0#?]$/.test(symbol)) {
      if (rest !== '' || pattern.slice(0, index).includes('0')) text = symbol + text;
      continue;
    }
    const digit = index === first ? rest : rest.slice(-1);
    rest = index === first ? '' : rest.slice(0, -1);
    text = (digit || (symbol === '0' ? '0' : '')) + text;
  }
  return text;
}

const DAY_MS = 86_400_000;

/**
 * A date of Excel (days since 1900, or since 1904) as `2026-09-01`, `2026-09-01 08:30:00` or `08:30:00`, as far as its format
 * shows it; null when it is not a date. Days 0 and 60 of 1900 are days that never were: ECMA-376 part 1, 18.17.4.1.
 */
export function shownDate(
  serial: number,
  { hasDay, hasTime }: { readonly hasDay: boolean; readonly hasTime: boolean },
  is1904: boolean,
): string | null {
  if (serial < 0 || serial >= 2_958_466) return null;
  const seconds = Math.round(serial * 86_400);
  const pad = (value: number) => String(value).padStart(2, '0');
  const clock = (all: number) =>
    `${pad(Math.floor(all / 3600))}:${pad(Math.floor(all / 60) % 60)}:${pad(all % 60)}`;
  if (!hasDay) return clock(seconds);
  const day = Math.floor(seconds / 86_400);
  if (!is1904 && (day === 0 || day === 60)) return null;
  const start = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, day < 60 ? 31 : 30);
  const text = new Date(start + day * DAY_MS).toISOString().slice(0, 10);
  return hasTime ? `${text} ${clock(seconds % 86_400)}` : text;
}
