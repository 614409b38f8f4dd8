import type { StoredForm } from '../../outbox/hand-over.ts';

/** The header that tells which form a body has. The log knows it from there. */
const HEADER = 'webhook-payload';

const CONTENT_TYPES: Readonly<Record<NonNullable<StoredForm>, string>> = {
  thin: 'application/json; charset=utf-8',
  // CloudEvents 1.0.2, HTTP protocol binding, section 3.2
  cloudevents: 'application/cloudevents+json; charset=utf-8',
};

/** The headers of a request whose body is not the payload as it is stored. */
export const formHeaders = (form: NonNullable<StoredForm>): Readonly<Record<string, string>> => ({
  'content-type': CONTENT_TYPES[form],
  [HEADER]: form,
});

/**
 * SQL: the body of an attempt `a`, where it was not the payload of its event; else null. Rendered anew, as the worker's
 * statement did.
 */
export const bodySent = `(
  select payload_as(a.request_headers ->> '${HEADER}', v.payload) from events v
  where a.request_headers ->> '${HEADER}' is not null and v.account_id = a.account_id and v.id = a.event_id)`;
