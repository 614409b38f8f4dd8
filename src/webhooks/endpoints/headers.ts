import { fail } from '../../kernel/errors.ts';

const MOST = 20;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/; // a token, RFC 9110 section 5.6.2
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/;
// Headers that the delivery itself sets, or that change how the request is read.
const RESERVED =
  /^(host|content-.*|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|user-agent|accept-encoding|proxy-.*|webhook-.*)$/;

/** The headers of an endpoint by lower-case name. */
export type OwnHeaders = Readonly<Record<string, string>>;

/**
 * The headers after a change: named ones are set, null removes one, the rest stay, because their values
 * cannot be read back and sent again. Throws `invalid_header` naming the header and the rule.
 */
export function changedHeaders(
  before: OwnHeaders,
  change: Readonly<Record<string, string | null>>,
): OwnHeaders {
  const after = new Map(Object.entries(before));
  const named = new Set<string>();
  for (const [given, value] of Object.entries(change)) {
    const name = given.toLowerCase();
    if (named.has(name)) throw refuse(given, 'is given twice; names ignore case');
    named.add(name);
    if (value === null) {
      after.delete(name);
      continue;
    }
    const problem = headerProblem(name);
    if (problem !== null) throw refuse(given, problem);
    if (!VALUE.test(value)) {
      throw refuse(given, 'must have 1 to 4,096 printable ASCII characters, no space at either end');
    }
    after.set(name, value);
  }
  if (after.size > MOST) throw fail('invalid_header', `headers must be at most ${MOST}`);
  return Object.fromEntries(after);
}

/** The rule that the name of a header (in lower case) breaks; null = an endpoint may have it. */
export function headerProblem(name: string): string | null {
  if (!NAME.test(name)) return 'must be a header name of at most 100 characters';
  return RESERVED.test(name) ? 'is set by Payhook itself' : null;
}

function refuse(name: string, rule: string) {
  return fail('invalid_header', `headers.${name.slice(0, 100)} ${rule}`);
}
