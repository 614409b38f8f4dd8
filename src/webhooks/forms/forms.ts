import type { StoredForm } from '../../outbox/hand-over.ts';

/** The header that states the form of the body, also read from the log. */
const HEADER = 'webhook-payload';
/** The header that states that the body is an array, and its length, also read from the log. */
const SIZE_HEADER = 'webhook-batch-size';

const JSON_TYPE = 'application/json; charset=utf-8';

const CONTENT_TYPES: Readonly<Record<NonNullable<StoredForm>, string>> = {
  thin: JSON_TYPE,
  // CloudEvents 1.0.2, HTTP protocol binding, section 3.2
  cloudevents: 'application/cloudevents+json; charset=utf-8',
};

/** The headers of a request whose body is not the stored payload. */
export const formHeaders = (form: NonNullable<StoredForm>): Readonly<Record<string, string>> => ({
  'content-type': CONTENT_TYPES[form],
  [HEADER]: form,
});

/** The headers of a request whose body is an array of `size` payloads in a form. */
export const batchHeaders = (form: StoredForm, size: number): Readonly<Record<string, string>> => ({
  // CloudEvents 1.0.2, HTTP protocol binding, section 3.3
  'content-type': form === 'cloudevents' ? 'application/cloudevents-batch+json; charset=utf-8' : JSON_TYPE,
  [SIZE_HEADER]: String(size),
  ...(form !== null && { [HEADER]: form }),
});

/** SQL for the batch of an attempt `a`; null = its request carried one event, not in an array. */
export const batchSent = `case when a.request_headers ->> '${SIZE_HEADER}' is not null then json_build_object(
    'id', a.request_headers ->> 'webhook-id', 'event_count', (a.request_headers ->> '${SIZE_HEADER}')::int) end`;

/**
 * SQL for the body of an attempt `a` if it was not the payload of its event, else null. Rendered again, as in the
 * worker's statement.
 */
export const bodySent = `(
  select payload_as(a.request_headers ->> '${HEADER}', v.payload) from events v
  where a.request_headers ->> '${HEADER}' is not null and v.account_id = a.account_id and v.id = a.event_id)`;
