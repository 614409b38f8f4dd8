import sql, { raw } from 'sql-template-tag';
import type { Filter } from '../../contract/lists.ts';
import { isCovered } from '../../outbox/subscriptions.ts';
import { subscriptionProblem } from '../types/types.ts';

/** By what subscriptions may name: a type, or `payout.*` for all that begin so. */
export const byType = (column: string): Filter => ({
  rule: 'an event type such as payout.paid, or a prefix such as payout.*; under our own prefixes it must exist',
  schema: { type: 'string', minLength: 1, maxLength: 100, examples: ['payout.paid', 'payout.*'] },
  condition: (value) => (subscriptionProblem(value) === null ? isCovered(raw(column), [value]) : null),
});

/** By the `external_id` that a platform published under; `column` is the id of the event. */
export const byExternalId = (column: string): Filter => ({
  rule: 'an external_id that an event was published under',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  condition: (value, { account }) =>
    value === ''
      ? null
      : sql`${raw(column)} = (select k.event_id from event_keys k
          where k.account_id = ${account} and k.external_id = ${value})`,
});
