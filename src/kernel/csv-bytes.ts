import { isUtf8 } from 'node:buffer';
import { CsvError } from './csv-refusal.ts';

/** What the files begin with (hexadecimal) that people give instead of a CSV file. */
const SIGNATURES: readonly (readonly [begin: string, what: string])[] = [
  ['504b0304', 'an Excel workbook or another zip file'],
  ['d0cf11e0', 'an old Excel workbook'],
  ['1f8b', 'packed with gzip: unpack it first'],
  ['fffe', 'UTF-16'],
  ['feff', 'UTF-16'],
];
const SIGNATURE_BYTES = 4;
/** What a decoder puts for bytes that are no UTF-8, and the bytes of the character itself. */
const REPLACEMENT = '\uFFFD';
const GENUINE = 'efbfbd';
const BYTE_ORDER_MARK = '\uFEFF';

/** Text that was read, and what is wrong with what stands right behind it. */
interface Decoded {
  readonly text: string;
  readonly wrong: string | null;
}

/**
 * Decodes the pieces of a UTF-8 file (RFC 3629), with or without a byte order mark, whatever characters the pieces
 * are cut in. Other bytes, NUL and a byte order mark inside the file are wrong. Throws CsvError for a file that begins
 * as no CSV file does.
 */
export function utf8Decoder(): (piece: Buffer, isLast: boolean) => Decoded {
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
  // without a mark UTF-16 shows by every other byte of English letters
  const what = known ?? (/^(00[^0].|[^0].00)/.test(begin) ? 'UTF-16' : null);
  if (what !== null) throw new CsvError(`the file is ${what}: ${SAVE_AS}`);
}

function decode(bytes: Buffer, isFirst: boolean, isLast: boolean): Decoded {
  const bad = isUtf8(bytes) ? -1 : firstBadByte(bytes);
  const decoded = bytes.toString('utf8', 0, bad === -1 ? bytes.length : bad);
  const text = isFirst && decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  const forbidden = text.search(FORBIDDEN);
  if (forbidden !== -1) return { text: text.slice(0, forbidden), wrong: ruleOf(text.charAt(forbidden)) };
  if (bad === -1) return { text, wrong: null };
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

/** How many bytes end with a whole character, as far as the lead byte of the last one tells. */
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

/** Where the first byte sequence stands that is no UTF-8; there is one. */
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
