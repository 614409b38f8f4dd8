import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Filter, type ListQuery, oneOf } from '../../contract/lists.ts';
import { isCovered } from '../../outbox/subscriptions.ts';
import { taggedEvents } from '../../outbox/tags.ts';
import { subscriptionProblem } from '../types/types.ts';

/** Matches what a subscription may contain: a type, or `payout.*` for all that begin with `payout.`. */
export const byType = (column: string): Filter => ({
  rule: 'an event type such as payout.paid, or a prefix such as payout.*; under our own prefixes it must exist',
  schema: { type: 'string', minLength: 1, maxLength: 100, examples: ['payout.paid', 'payout.*'] },
  condition: (value) => (subscriptionProblem(value) === null ? isCovered(raw(column), [value]) : null),
});

/** Matches the `external_id` under which a platform published. `column` is the id of the event. */
export const byExternalId = (column: string): Filter => ({
  rule: 'an external_id that an event was published under',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  condition: (value, { account }) =>
    value === ''
      ? null
      : sql`${raw(column)} = (select k.event_id from event_keys k
          where k.account_id = ${account} and k.external_id = ${value})`,
});

/** Matches a tag of the event. `column` is the id of the event. */
export const byTag = (column: string): Filter => ({
  rule: 'a tag that an event was published with',
  schema: { type: 'string', minLength: 1, maxLength: 100 },
  condition: (value, { account }) =>
    value === '' ? null : sql`${raw(column)} in ${taggedEvents(account, value)}`,
});

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
const anything = () => sql`true`;

/** Matches the result of the last attempt. These are not separate conditions on rows: see `answeredSo`. */
export const byAnswer: Readonly<Record<string, Filter>> = {
  response_status: {
    rule: 'an HTTP status from 100 to 599: that of the last response',
    schema: { type: 'integer', minimum: 100, maximum: 599 },
    condition: (value) => (/^[1-5][0-9]{2}$/.test(value) ? anything() : null),
  },
  response_class: oneOf(CLASSES, anything),
  error_code: {
    rule: 'why the last attempt failed, as in last_error_code',
    schema: { type: 'string', pattern: '^[a-z_]{1,40}$', examples: ['timeout'] },
    condition: (value) => (/^[a-z_]{1,40}$/.test(value) ? anything() : null),
  },
};

/** The error of deliveries that waited at a deleted endpoint. It is shown before workers write it. */
const ENDED = 'endpoint_deleted';

/** A list's filters on last attempts. */
export interface Answered {
  /** The condition for a row `d` of the log; null = no filter. */
  readonly condition: Sql | null;
  /** Whether it includes rows that wait at deleted endpoints, which also show an error. */
  readonly showsEnded: boolean;
}

/**
 * The condition for the filters by response and error. It contains `last_error_code is not null` wherever implied: rows
 * whose last attempt failed have an index, and are few.
 */
export function answeredSo({ given }: Pick<ListQuery, 'given'>): Answered {
  const [status, kind, code] = ['response_status', 'response_class', 'error_code'].map((name) =>
    given.get(name),
  );
  const conditions = [
    ...(status === undefined ? [] : [sql`d.last_response_status = ${status}::int`]),
    ...(kind === undefined || kind === 'none'
      ? []
      : [sql`d.last_response_status between ${`${kind[0]}00`}::int and ${`${kind[0]}99`}::int`]),
    ...(kind === 'none' ? [sql`d.last_response_status is null and d.attempt_count > 0`] : []),
    ...(code === undefined ? [] : [sql`d.last_error_code = ${code} and not ${isEnded}`]),
  ];
  if (conditions.length === 0) return { condition: null, showsEnded: false };
  const isGood = [status?.[0], kind?.[0]].every((digit) => digit === undefined || digit === '2');
  const isError = code !== undefined || !isGood;
  const condition = join(isError ? [sql`d.last_error_code is not null`, ...conditions] : conditions, ' and ');
  return { condition, showsEnded: code === ENDED };
}

const isEnded = sql`(d.status = 'pending' and exists (
  select from webhook_endpoints e where e.account_id = d.account_id and e.id = d.endpoint_id and e.deleted_at is not null))`;

/** Filters on the content of log rows instead of their time. They are evaluated by scanning rows. */
export const WALKED = ['type', 'event_id', 'external_id', 'tag', ...Object.keys(byAnswer)] as const;
