import type { Principal, Route } from '../contract/route.ts';
import { fail } from '../kernel/errors.ts';
import { readLongJson } from '../kernel/long-json.ts';
import { readStrictJson, type StrictJson } from '../kernel/strict-json.ts';
import { checkBody } from './check.ts';

/**
 * The maximum number of members and items in a body, unless its operation takes more: checking them takes a few
 * milliseconds.
 */
const MOST_PARTS = 5000;
/** The limits for a portal, whose user is not trusted, on bytes and parts. */
const IN_PORTAL = { bytes: 1 << 16, parts: 1000 };

/** A body up to this size is parsed at once. */
const SHORT = 1 << 17;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON of a UTF-8 body without a byte order mark. Throws as `readStrictJson`. */
async function parseJson(bytes: Buffer, mostParts: number): Promise<StrictJson> {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw fail('invalid_json', 'the body is not UTF-8');
  }
  return text.length > SHORT ? readLongJson(text, mostParts) : readStrictJson(text, mostParts);
}

export const NO_BODY = readStrictJson('{}');

/** The checked JSON body. Zero bytes mean no body, for operations without one, or `{}` if that is allowed. */
export async function readJson(
  route: Route & { kind: 'write' },
  bytes: Buffer,
  { portal }: Principal,
): Promise<StrictJson> {
  if (portal && bytes.length > IN_PORTAL.bytes) {
    throw fail('body_too_large', `the body may have at most ${IN_PORTAL.bytes} bytes in a portal`);
  }
  if (bytes.length === 0 && route.body && !route.bodyOptional) {
    throw fail('invalid_body', 'the body is missing: send a JSON object');
  }
  const json =
    bytes.length === 0 ? NO_BODY : await parseJson(bytes, portal ? IN_PORTAL.parts : partsOf(route));
  if (route.body) await checkBody(route.body, json, route.passesOn);
  else if (!isEmptyObject(json.value)) throw fail('unknown_field', 'this operation takes no body');
  return json;
}

const partsOf = ({ mostParts, passesOn }: Route & { kind: 'write' }): number =>
  mostParts ?? (passesOn === undefined ? MOST_PARTS : Number.POSITIVE_INFINITY);

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
