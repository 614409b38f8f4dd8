import { isUtf8 } from 'node:buffer';
import type { CsvEncoding } from './csv-dialect.ts';
import { CsvError } from './csv-refusal.ts';

/** Signatures (hexadecimal) of files that people upload instead of a CSV file. */
const FOREIGN: readonly (readonly [begin: string, what: string])[] = [
  ['504b0304', 'an Excel workbook or another zip file'],
  ['d0cf11e0', 'an old Excel workbook'],
  ['1f8b', 'packed with gzip: unpack it first'],
  ['89504e47', 'an image (PNG)'],
  ['ffd8ff', 'an image (JPEG)'],
  ['47494638', 'an image (GIF)'],
  ['25504446', 'a PDF'],
];
const SIGNATURES: readonly (readonly [begin: string, what: string])[] = [
  ...FOREIGN,
  ['fffe', 'UTF-16'],
  ['feff', 'UTF-16'],
];
const SIGNATURE_BYTES = 4;
/** Beginnings of texts that people upload instead of a CSV file. Some products name a web page `.xls`. */
const FOREIGN_TEXTS: readonly (readonly [begin: RegExp, what: string])[] = [
  [/^<(!doctype html|html|head|body|table|meta|style)\b/i, 'a web page (HTML)'],
  [/^<[?!a-z]/i, 'XML'],
  [/^[[{]\s*["[{]/, 'JSON'],
];
/** What a decoder substitutes for invalid UTF-8, and the bytes of the character itself. */
const REPLACEMENT = '\uFFFD';
const GENUINE = 'efbfbd';
const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes the chunks of a file into text; a chunk may end within a character. */
type Decode = (piece: Buffer, isLast: boolean) => Decoded;

/** Decoded text, and what is wrong with the bytes right after it. */
interface Decoded {
  readonly text: string;
  readonly wrong: string | null;
}

/**
 * Decodes a UTF-8 file (RFC 3629) in chunks, with or without a byte order mark; a chunk may end within a character.
 * Invalid bytes, NUL and a byte order mark inside the file are errors. Throws CsvError for a file with the signature of
 * another format.
 */
export function utf8Decoder(): Decode {
  let held: Buffer = Buffer.alloc(0);
  let isBegun = false;
  return (piece, isLast) => {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const isFirst = !isBegun && (isLast || bytes.length >= SIGNATURE_BYTES);
    if (!isBegun && !isFirst) {
      held = bytes;
      return { text: '', wrong: null };
    }
    isBegun = true;
    if (isFirst) refuseForeign(bytes);
    const whole = isLast ? bytes.length : wholeCharacters(bytes);
    held = bytes.subarray(whole);
    return decode(bytes.subarray(0, whole), isFirst, isLast);
  };
}

function refuseForeign(bytes: Buffer): void {
  const begin = bytes.toString('hex', 0, SIGNATURE_BYTES);
  const [, known] = SIGNATURES.find(([signature]) => begin.startsWith(signature)) ?? [];
  const what = known ?? (utf16Of(begin) === null ? null : 'UTF-16');
  if (what !== null) throw new CsvError(`the file is ${what}: ${SAVE_AS}`);
}

/** Throws CsvError for a text that begins like a web page, XML or JSON. */
export function refuseForeignText(bytes: Buffer): void {
  const begin = bytes.toString('utf8', 0, 256).replace(BYTE_ORDER_MARK, '').trimStart();
  const [, what] = FOREIGN_TEXTS.find(([pattern]) => pattern.test(begin)) ?? [];
  if (what !== undefined) throw new CsvError(`the file is ${what}: ${SAVE_AS}`);
}

/** Detects UTF-16 without a byte order mark: with ASCII letters every other byte is zero. null when it is not. */
function utf16Of(begin: string): CsvEncoding | null {
  if (/^00[^0]./.test(begin)) return 'utf-16be';
  return /^[^0].00/.test(begin) ? 'utf-16le' : null;
}

/**
 * The encoding according to the first bytes of a file; null when they do not show it. Throws CsvError for binary files.
 */
export function encodingOfStart(
  bytes: Buffer,
): { readonly encoding: CsvEncoding; readonly isCertain: boolean } | null {
  const begin = bytes.toString('hex', 0, SIGNATURE_BYTES);
  const foreign = FOREIGN.find(([signature]) => begin.startsWith(signature));
  if (foreign) throw new CsvError(`the file is ${foreign[1]}: ${SAVE_AS}`);
  const marked = MARKS.find(([mark]) => begin.startsWith(mark));
  if (marked) return { encoding: marked[1], isCertain: true };
  const encoding = utf16Of(begin);
  return encoding && { encoding, isCertain: false };
}

const MARKS: readonly (readonly [mark: string, encoding: CsvEncoding])[] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/** The decoder of an encoding. */
export function decoderOf(encoding: CsvEncoding): Decode {
  if (encoding === 'utf-8') return utf8Decoder();
  return encoding === 'windows-1252' ? windowsDecoder() : utf16Decoder(encoding);
}

/** UTF-16 (RFC 2781), with or without a byte order mark. */
function utf16Decoder(encoding: 'utf-16le' | 'utf-16be'): Decode {
  const decoder = new TextDecoder(encoding, { fatal: true });
  let isBegun = false;
  let bytes = 0;
  return (piece, isLast) => {
    bytes += piece.length;
    if (!isBegun) {
      const foreign = encodingOfStart(piece);
      if (foreign?.isCertain && foreign.encoding !== encoding)
        throw new CsvError(`the file is ${foreign.encoding}`);
      isBegun = true;
    }
    if (isLast && bytes % 2 === 1) {
      throw new CsvError('the file has an odd number of bytes, which UTF-16 never has: is it cut off?');
    }
    let text: string;
    try {
      text = decoder.decode(piece, { stream: !isLast });
    } catch {
      return { text: '', wrong: `what follows is not ${encoding.toUpperCase()}: ${SAVE_AS}` };
    }
    return checked(text);
  };
}

// The characters 80 to 9F (encoding.spec.whatwg.org/index-windows-1252.txt); five of these bytes are unassigned.
const WINDOWS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const UNUSED = /[\u0081\u008d\u008f\u0090\u009d]/;

/** Windows-1252. Written by hand because Node.js 20 decodes it as Latin-1. */
function windowsDecoder(): Decode {
  let isBegun = false;
  return (piece) => {
    if (!isBegun && piece.length > 0) {
      encodingOfStart(piece);
      isBegun = true;
    }
    const text = piece
      .toString('latin1')
      .replaceAll(/[\u0080-\u009f]/g, (control) => WINDOWS.charAt(control.charCodeAt(0) - 0x80));
    const unused = text.search(UNUSED);
    if (unused === -1) return checked(text);
    const byte = text.charCodeAt(unused).toString(16).toUpperCase();
    return { text: text.slice(0, unused), wrong: `the byte ${byte} is not Windows-1252: ${SAVE_AS}` };
  };
}

function checked(text: string): Decoded {
  const forbidden = text.search(FORBIDDEN);
  if (forbidden === -1) return { text, wrong: null };
  return { text: text.slice(0, forbidden), wrong: ruleOf(text.charAt(forbidden)) };
}

function decode(bytes: Buffer, isFirst: boolean, isLast: boolean): Decoded {
  const bad = isUtf8(bytes) ? -1 : firstBadByte(bytes);
  const decoded = bytes.toString('utf8', 0, bad === -1 ? bytes.length : bad);
  const text = isFirst && decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  const found = checked(text);
  if (bad === -1 || found.wrong !== null) return found;
  const isCut = isLast && wholeCharacters(bytes) === bad;
  const byte = bytes.toString('hex', bad, bad + 1).toUpperCase();
  return { text, wrong: isCut ? CUT_CHARACTER : `the byte ${byte} is not UTF-8: ${SAVE_AS}` };
}

const SAVE_AS = 'save the file as "CSV UTF-8 (comma delimited)"';
const CUT_CHARACTER =
  'the file ends in the middle of a UTF-8 character; it may be cut off or in another encoding';
const FORBIDDEN = new RegExp(`[\\0${BYTE_ORDER_MARK}]`);

const ruleOf = (character: string) =>
  character === BYTE_ORDER_MARK
    ? 'a byte order mark (U+FEFF) inside the file; two files may have been joined'
    : 'a NUL character; this may not be a text file';

/** Returns a function that takes the chunks of a file and says whether everything so far is UTF-8. */
export function utf8Check(): (piece: Buffer, isLast: boolean) => boolean {
  let held: Buffer = Buffer.alloc(0);
  let isGood = true;
  return (piece, isLast) => {
    if (!isGood) return false;
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const whole = isLast ? bytes.length : wholeCharacters(bytes);
    held = bytes.subarray(whole);
    isGood = isUtf8(bytes.subarray(0, whole));
    return isGood;
  };
}

/** The number of bytes up to the end of the last complete character, judging by its lead byte. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isLead = byte >= 0xc2 && byte <= 0xf4;
    if (isLead) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
    const isContinuation = byte >= 0x80 && byte < 0xc0;
    if (!isContinuation) return bytes.length;
  }
  return bytes.length;
}

/** The index of the first invalid UTF-8 sequence; there must be one. */
function firstBadByte(bytes: Buffer): number {
  const lossy = bytes.toString('utf8');
  let at = 0;
  let from = 0;
  for (;;) {
    const replaced = lossy.indexOf(REPLACEMENT, from);
    at += Buffer.byteLength(lossy.slice(from, replaced));
    if (bytes.toString('hex', at, at + 3) !== GENUINE) return at;
    at += 3;
    from = replaced + 1;
  }
}
