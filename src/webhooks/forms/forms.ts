import { CURRENT_VERSION } from '../../db/api-versions.ts';
import type { Leased, StoredForm } from '../../outbox/hand-over.ts';

/** The header that states the form of the body, also read from the log. */
const HEADER = 'webhook-payload';
/** The header that states the version of the body, unless it is current, also read from the log. */
const VERSION_HEADER = 'webhook-api-version';
/** The header that states that the body is an array, and its length, also read from the log. */
const SIZE_HEADER = 'webhook-batch-size';

const JSON_TYPE = 'application/json; charset=utf-8';

const CONTENT_TYPES: Readonly<Record<NonNullable<StoredForm>, string>> = {
  thin: JSON_TYPE,
  // CloudEvents 1.0.2, HTTP protocol binding, section 3.2
  cloudevents: 'application/cloudevents+json; charset=utf-8',
};

type Rendering = Pick<Leased, 'payloadForm' | 'apiVersion'>;

const versionHeader = (version: string): Readonly<Record<string, string>> =>
  version === CURRENT_VERSION ? {} : { [VERSION_HEADER]: version };

/** The headers of a request whose body is not the stored payload; null = it is. */
export const formHeaders = ({
  payloadForm: form,
  apiVersion,
}: Rendering): Readonly<Record<string, string>> | null =>
  form === null && apiVersion === CURRENT_VERSION
    ? null
    : {
        ...(form !== null && { 'content-type': CONTENT_TYPES[form], [HEADER]: form }),
        ...versionHeader(apiVersion),
      };

/** The headers of a request whose body is an array of `size` payloads. */
export const batchHeaders = (
  { payloadForm: form, apiVersion }: Rendering,
  size: number,
): Readonly<Record<string, string>> => ({
  ...versionHeader(apiVersion),
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
  select coalesce(payload_as(a.request_headers ->> '${HEADER}', at.payload), at.payload)
  from events v, coalesce(payload_at(a.request_headers ->> '${VERSION_HEADER}', v.payload), v.payload) as at (payload)
  where coalesce(a.request_headers ->> '${HEADER}', a.request_headers ->> '${VERSION_HEADER}') is not null
    and v.account_id = a.account_id and v.id = a.event_id)`;
