import { namesOf } from '../../contract/fields.ts';
import { fail } from '../../kernel/errors.ts';
import { readSigning, schemeOf } from '../signing/schemes.ts';
import type { Columns } from './columns.ts';
import { ENDPOINT_FIELDS } from './fields.ts';
import type { EndpointChange, NewEndpoint } from './record.ts';
import type { EndpointRow } from './store.ts';

/** What an endpoint whose events consumers claim is stored with: no request leaves for it. */
const NOWHERE: Columns = { url: '', local_url: null, local_machine: null, public_only: false };

/** The fields of requests to a URL. */
const OF_REQUESTS = namesOf(ENDPOINT_FIELDS, (field) => 'neededBy' in field || 'acceptedBy' in field);

const isEmpty = (value: unknown) =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** Refuses the fields that a pull endpoint has no use for. Throws `invalid_body`. */
export function refuseRequestFields(input: EndpointChange): void {
  const field = OF_REQUESTS.find((name) => !isEmpty((input as Readonly<Record<string, unknown>>)[name]));
  if (field !== undefined)
    throw fail('invalid_body', `${field} must be left out of a pull endpoint: nothing is sent to it`);
}

/** The columns of where a new endpoint's events go; null = a URL. Throws `invalid_body`. */
export function pullColumns({ delivery = 'push', ...input }: NewEndpoint): Columns | null {
  if (delivery === 'push') {
    if (input.url === undefined) throw fail('invalid_body', 'url is required');
    return null;
  }
  refuseRequestFields(input);
  return NOWHERE;
}

/** Refuses signatures that contain the URL, which a pull endpoint does not have. Throws `invalid_signing`. */
export function checkPullScheme(columns: Columns, before: EndpointRow | null): void {
  const after = { ...before, ...columns } as Pick<EndpointRow, 'signing' | 'previous_signing' | 'pull'>;
  if (!after.pull) return;
  const isSigned = [after.signing, after.previous_signing].some((stored) =>
    schemeOf(readSigning(stored ?? null)).content.includes('{url}'),
  );
  if (isSigned)
    throw fail(
      'invalid_signing',
      'custom_signing.content must not contain {url}: a pull endpoint has no URL',
    );
}
