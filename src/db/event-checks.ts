/**
 * SQL over `accounts a`: how its events are checked, with a number that rises when one of its event types changes, such as
 * `warn 12`; null = they are not. The lookup of an API key returns it, and `webhooks/types` reads it.
 */
export const EVENT_CHECKS =
  "case when a.event_validation <> 'off' then a.event_validation || ' ' || a.event_types_revision end";
