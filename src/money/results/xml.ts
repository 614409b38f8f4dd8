import sax from 'sax';
import { ResultFileError } from './answers.ts';

/** An element that is read as a unit: its content by path, and the enclosing frame. */
export interface Frame {
  readonly name: string;
  readonly around: Frame | null;
  /**
   * Texts by path below the frame, such as `Refs/EndToEndId`, and attributes such as `Amt@Ccy`: the first of each. A path
   * inside a nested frame belongs to that frame.
   */
  readonly values: Map<string, string>;
  /** Further texts of a path that has several. */
  readonly more: Map<string, string[]>;
}

/** All texts of a path, in order. */
export const allOf = ({ values, more }: Frame, path: string): readonly string[] => {
  const first = values.get(path);
  return first === undefined ? [] : [first, ...(more.get(path) ?? [])];
};

const DEEPEST = 40;
const MOST_VALUES = 400;
/** Per path: banks split a remittance text into a few lines. */
const MOST_REPEATS = 50;
const LONGEST_TEXT = 2000;
const PIECE = 1 << 16;
/** Only the five entities of XML, none of HTML. */
const OPTIONS: sax.SAXOptions & { strictEntities: true } = { position: true, strictEntities: true };

/**
 * Reads XML (1.0) element by element, keeping one frame in memory. `frames` names the elements that are read as a unit,
 * and `close` gets each at its end. Takes text without a byte order mark. Namespace prefixes are ignored. Document types
 * are refused, and so custom entities are too. Throws ResultFileError for anything not well-formed, such as a truncated
 * file.
 */
export function readXml(text: string, frames: ReadonlySet<string>, close: (frame: Frame) => void): void {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text))
    throw new ResultFileError('the XML has a document type (DOCTYPE), which is never read');
  const parser = sax.parser(true, OPTIONS);
  const path: { name: string; frame: Frame | null; text: string }[] = [];
  const within = (from: Frame) => {
    const begin = path.findIndex(({ frame }) => frame === from);
    return path
      .slice(begin + 1)
      .map(({ name }) => name)
      .join('/');
  };
  const note = (frame: Frame, key: string, value: string) => {
    if (value.length > LONGEST_TEXT) throw refuseSize(parser);
    if (frame.values.has(key)) {
      const more = frame.more.get(key) ?? [];
      if (more.length < MOST_REPEATS) more.push(value);
      frame.more.set(key, more);
      return;
    }
    if (frame.values.size >= MOST_VALUES) throw refuseSize(parser);
    frame.values.set(key, value);
  };
  parser.onerror = (error) => {
    throw new ResultFileError(faultOf(error.message, parser));
  };
  parser.onopentag = ({ name: written, attributes }) => {
    const name = local(written);
    if (path.length >= DEEPEST) throw refuseSize(parser);
    const around = path.at(-1)?.frame ?? null;
    const frame = frames.has(name) ? { name, around, values: new Map(), more: new Map() } : around;
    path.push({ name, frame, text: '' });
    const currency = attributes.Ccy;
    if (frame !== null && typeof currency === 'string') note(frame, `${within(frame)}@Ccy`, currency);
  };
  const addText = (piece: string) => {
    const open = path.at(-1);
    if (open === undefined || open.frame === null) return;
    if (open.text.length + piece.length > LONGEST_TEXT) throw refuseSize(parser);
    open.text += piece;
  };
  parser.ontext = addText;
  parser.oncdata = addText;
  parser.onclosetag = () => {
    const { name, frame, text: value } = path.at(-1) ?? { name: '', frame: null, text: '' };
    const isFrame = frame !== null && frame.name === name && frames.has(name);
    if (frame !== null && !isFrame && value.trim() !== '') note(frame, within(frame), value.trim());
    path.pop();
    if (isFrame) close(frame);
  };
  for (let at = 0; at < text.length; at += PIECE) {
    parser.write(text.slice(at, at + PIECE));
  }
  parser.close();
}

const local = (name: string) => name.slice(name.indexOf(':') + 1);

const lineOf = ({ line }: { line: number }) => `line ${line + 1}`;

const refuseSize = (parser: { line: number }) =>
  new ResultFileError(
    `${lineOf(parser)}: the XML is nested deeper, or has longer texts, than any message of a bank`,
  );

function faultOf(message: string, parser: { line: number }): string {
  const [what = ''] = message.split('\n');
  return /unclosed|unexpected end/i.test(what)
    ? `the XML ends in ${lineOf(parser)} within an element: is the file cut off?`
    : `${lineOf(parser)}: not well-formed XML: ${what}`;
}
