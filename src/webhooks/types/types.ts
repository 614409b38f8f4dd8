import { type Failure, fail } from '../../kernel/errors.ts';
import { EVENT_TYPES } from '../../outbox/event-types.ts';
import { covers } from '../../outbox/subscriptions.ts';

const OWN_TYPES = Object.keys(EVENT_TYPES);

/** The prefixes of our own event types. Nobody else may publish under them. */
export const OWN_PREFIXES: readonly string[] = [
  ...new Set(OWN_TYPES.map((type) => type.slice(0, type.indexOf('.') + 1))),
];

// Reading the data of these types requires the scope `affiliates`: all except those about endpoints.
const AFFILIATE_PREFIXES = OWN_PREFIXES.filter((prefix) => prefix !== 'webhook_endpoint.');

const MAX_LENGTH = 100;
const NAME = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$/;
const WILDCARD = /^([A-Za-z0-9_-]+\.)+\*$/;

/** Whether it is a well-formed event type, ours or a platform's: `order.created`. */
export function isEventType(text: string): boolean {
  return text.length <= MAX_LENGTH && NAME.test(text);
}

/** Our prefix of a name, ignoring case, because a receiver may ignore it. */
export function ownPrefixOf(text: string): string | undefined {
  return OWN_PREFIXES.find((own) => text.toLowerCase().startsWith(own));
}

/** The rule that an entry of an endpoint's `event_types` breaks, or null. */
export function subscriptionProblem(text: string): string | null {
  if (text === '*') return 'omit event_types (null) for all; * is allowed only after a prefix, as in order.*';
  const wellFormed = isEventType(text) || (text.length <= MAX_LENGTH && WILDCARD.test(text));
  if (!wellFormed) {
    return (
      'an event type must be a dotted name such as order.created, or order.* for all that begin with order.: at ' +
      `least two segments of letters, digits, _ and -, at most ${MAX_LENGTH} characters, * only as the last segment`
    );
  }
  const prefix = ownPrefixOf(text);
  if (prefix === undefined || OWN_TYPES.some((type) => covers(text, type))) return null;
  const known = OWN_TYPES.filter((type) => type.startsWith(prefix));
  return `there is no event type ${text}; the types under ${prefix} are ${known.join(', ')}, and ${prefix}* for all of them`;
}

/**
 * The entries of a `field` of event types, without duplicates. Throws `invalid_event_type` naming the entry
 * and the rule.
 */
export function knownTypes(entries: readonly string[], field: string): string[] {
  for (const [index, entry] of entries.entries()) {
    const problem = subscriptionProblem(entry);
    if (problem !== null) throw fail('invalid_event_type', `${field}[${index}]: ${problem}`);
  }
  return [...new Set(entries)];
}

/** Whether an endpoint with these `event_types` can get records that require the scope `affiliates`. */
export function needsAffiliates(eventTypes: readonly string[] | null): boolean {
  if (eventTypes === null) return true;
  return eventTypes.some((entry) =>
    AFFILIATE_PREFIXES.some((prefix) => entry.startsWith(prefix) || covers(entry, prefix)),
  );
}

/** The refusal of a credential without that scope, if `what` needs it: `payout.paid needs` (RFC 6750 section 3.1). */
export const lacksAffiliates = (what: string): Failure =>
  fail('insufficient_scope', `the credential does not hold the scope affiliates, which ${what}`, {
    'www-authenticate': 'Bearer error="insufficient_scope", scope="affiliates"',
  });
