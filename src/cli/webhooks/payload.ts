import { printable } from '../terminal/table.ts';
import { block, cut } from './view.ts';

const PAYLOAD_LINES = 1000;

/** The object in a body, or null; also null if it is nested too deeply to be serialised. */
export function readObject(body: Buffer | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(body?.toString() ?? '');
    JSON.stringify(value, null, 2);
    return typeof value === 'object' ? (value as Readonly<Record<string, unknown>> | null) : null;
  } catch {
    return null;
  }
}

/** An event of a batch on one line. */
function memberOf(event: unknown): string {
  const { type, id, data } = Object(event) as Readonly<Record<string, unknown>>;
  return [type, id, JSON.stringify(data)].filter((part) => typeof part === 'string').join('  ');
}

/** The payload on one line, for a batch one line per event, or as a whole. */
export function content(
  body: Buffer | null,
  payload: object | null,
  { width, whole }: { width: number; whole: boolean },
): string {
  if (body === null || body.length === 0) return '';
  if (whole) return block(payload ? JSON.stringify(payload, null, 2) : body.toString(), PAYLOAD_LINES);
  if (Array.isArray(payload)) {
    const lines = payload.map((event) => `  ${cut(printable(memberOf(event)), Math.max(40, width - 2))}\n`);
    return lines.join('');
  }
  const data = payload && 'data' in payload ? JSON.stringify(payload.data) : body.toString('utf8', 0, 4096);
  return `  ${cut(printable(data), Math.max(40, width - 2))}\n`;
}
