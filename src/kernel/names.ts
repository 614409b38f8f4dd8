import { fail } from './errors.ts';
import { JOINED, UNSEEN } from './visible.ts';

/**
 * The trimmed name of a person, an account or an application. `field` is its name in the message. Throws `invalid_body`
 * when nothing is left or when it has invisible characters: people identify accounts by name, so two names that look
 * the same must be the same.
 */
export function nameFrom(text: string, field = 'name'): string {
  const name = text.trim();
  const problem = nameProblem(name);
  if (problem !== null) throw fail('invalid_body', `${field} ${problem}`);
  return name;
}

/** `nameFrom` in NFC, so that names that look the same are the same. */
export const composedName = (text: string, field?: string): string => nameFrom(text.normalize('NFC'), field);

// A scheme, `www.`, or a host with a path, a port or a query: mail programs make links of these.
const WEB_ADDRESS = /:\/\/|\bwww\.|\.[\p{L}\d-]{2,}[/:?#]/iu;

/**
 * The name of an account or a user, as `nameFrom`. It appears in e-mail to people whom its author chooses, so it must not
 * contain a web address, unless it is the name that is `stored` already. Throws `invalid_body`.
 */
export function nameWithoutAddress(text: string, stored?: string): string {
  const name = nameFrom(text);
  const problem = name === stored ? null : addressProblem(name);
  if (problem !== null) throw fail('invalid_body', `name ${problem}`);
  return name;
}

/** What `nameWithoutAddress` refuses in a name, worded to follow the name of its field; null when it has no web address. */
export function addressProblem(name: string): string | null {
  return WEB_ADDRESS.test(name)
    ? 'must not contain a web address: no https://, no www., no path after a host'
    : null;
}

/** What is wrong with a name, worded to follow the name of its field; null when it is valid. */
export function nameProblem(name: string): string | null {
  if (name.trim() === '') return 'must not be empty';
  const found = UNSEEN.exec(name.replaceAll(JOINED, ''))?.[0];
  if (found === undefined) return null;
  const code = found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return `must not contain invisible characters or characters that change the direction of text (U+${code})`;
}

/** Whether every character of a text is visible; joiners count as invisible. */
export function isSeen(text: string): boolean {
  return !UNSEEN.test(text);
}

/** What `isIdentifier` requires, for messages: follows the name of a field. */
export const IDENTIFIER_RULE =
  'must not begin or end with a blank, nor contain control or invisible characters';

/** Whether a text may be a merchant's own identifier, such as an order id: two that look the same must be the same. */
export function isIdentifier(text: string): boolean {
  return text === text.trim() && nameProblem(text) === null;
}
