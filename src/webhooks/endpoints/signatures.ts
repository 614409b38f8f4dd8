import { fail } from '../../kernel/errors.ts';
import { formatInstant, parseInstant } from '../../kernel/time.ts';
import type { Egress } from '../egress/record.ts';
import { KNOWN_SCHEME_NAMES } from '../signing/known-schemes.ts';
import type { Signing } from '../signing/record.ts';
import { type EndingSignature, type OpenSignature, secondOf, signatureOf } from '../signing/rules.ts';
import { headersOf, readSigning, schemeOf, shownSecret, storedSigning } from '../signing/schemes.ts';
import type { Columns } from './columns.ts';
import { headerProblem } from './headers.ts';
import type { EndpointChange, NewEndpoint } from './record.ts';
import type { EndpointRow } from './store.ts';

const DAY_MS = 86_400_000;
const OF_TOKEN = 'authorization';

type Seal = (secret: string) => Buffer;
const msOf = (instant: string) => parseInstant(instant) ?? 0;

/** The columns of a new endpoint's signatures, and what its receiver verifies with. Throws `invalid_signing`, `invalid_secret`, `invalid_body`. */
export function newSignatures(
  input: NewEndpoint,
  { seal, now }: { seal: Seal; now: string },
): { secret: string; columns: Columns } {
  const first = signatureOf(input, null, headerProblem);
  const { second_signature: named = null } = input;
  const second = named && secondOf(named, null, headerProblem, msOf(now));
  return {
    secret: shownSecret(first.signing, first.secret),
    columns: { ...firstColumns(first, seal), ...(second && secondColumns(second, seal)) },
  };
}

/** What a change does to the signatures of an endpoint. */
interface SignatureChange {
  readonly columns: Columns;
  /** What the receiver verifies with, if a secret was made because the scheme cannot use the one before; null = none was. */
  readonly newSecret: string | null;
}

/**
 * What a change does to the signatures. With another scheme or secret the signature before is sent too, for a day unless the
 * change says otherwise. Throws as `newSignatures`.
 */
export function signatureChange(
  input: EndpointChange,
  row: EndpointRow,
  { open, seal }: { open(sealed: Buffer): string; seal: Seal },
): SignatureChange {
  const { signing, custom_signing: custom, secret, second_signature: named } = input;
  if ([signing, custom, secret, named].every((field) => field === undefined)) {
    return { columns: {}, newSecret: null };
  }
  const before: OpenSignature = { signing: readSigning(row.signing), secret: open(row.secret) };
  const first = signatureOf(input, before, headerProblem);
  const isChanged =
    storedSigning(first.signing) !== storedSigning(before.signing) || first.secret !== before.secret;
  const now = msOf(row.now);
  const secondChange = (): Columns => {
    if (named === undefined) {
      return isChanged ? secondColumns({ ...before, until: now + DAY_MS }, seal) : {};
    }
    if (named === null) return NO_SECOND;
    const base = isChanged ? before : secondBefore(row, open);
    return secondColumns(secondOf(named, base, headerProblem, now), seal);
  };
  return {
    columns: { ...(isChanged ? firstColumns(first, seal) : {}), ...secondChange() },
    newSecret: first.isSecretNew ? shownSecret(first.signing, first.secret) : null,
  };
}

function secondBefore(row: EndpointRow, open: (sealed: Buffer) => string): OpenSignature | null {
  if (row.previous_secret === null || row.previous_secret_until === null) return null;
  return { signing: readSigning(row.previous_signing), secret: open(row.previous_secret) };
}

const firstColumns = ({ signing, secret }: OpenSignature, seal: Seal): Columns => ({
  signing: storedSigning(signing),
  secret: seal(secret),
});
const secondColumns = ({ signing, secret, until }: EndingSignature, seal: Seal): Columns => ({
  previous_signing: storedSigning(signing),
  previous_secret: seal(secret),
  previous_secret_until: formatInstant(until),
});
const NO_SECOND: Columns = { previous_signing: null, previous_secret: null, previous_secret_until: null };

/**
 * Refuses a header of the endpoint's own that its signature or access token is in, and a signature where the token is.
 * Throws `invalid_header`, `invalid_signing`.
 */
export function checkHeaderNames(
  columns: Columns,
  before: EndpointRow | null,
  { credentials }: Pick<Egress, 'credentials'>,
): void {
  const after = { ...before, ...columns } as Pick<
    EndpointRow,
    'header_names' | 'signing' | 'previous_signing'
  >;
  const schemes: Signing[] = [after.signing, after.previous_signing].map((stored) =>
    readSigning(stored ?? null),
  );
  const signed = schemes.flatMap(headersOf);
  if (credentials && after.header_names?.includes(OF_TOKEN))
    throw fail(
      'invalid_header',
      `headers.${OF_TOKEN} is the header of the access token of client_credentials`,
    );
  if (credentials && signed.includes(OF_TOKEN)) {
    throw fail(
      'invalid_signing',
      `custom_signing must not sign in ${OF_TOKEN}, the header of the access token of client_credentials`,
    );
  }
  const taken = signed.find((header) => after.header_names?.includes(header));
  if (taken !== undefined) throw fail('invalid_header', `headers.${taken} is the header of the signature`);
}

/**
 * Refuses batches with a scheme whose receivers read one event from a request: they would find none in an array. A second
 * signature may have such a scheme. Throws `invalid_signing`.
 */
export function checkBatchScheme(columns: Columns, before: EndpointRow | null): void {
  const { signing, batch_events: events } = { ...before, ...columns } as Pick<
    EndpointRow,
    'signing' | 'batch_events'
  >;
  const scheme = readSigning(signing ?? null);
  if ((events ?? null) === null || schemeOf(scheme).takesBatches) return;
  const names = KNOWN_SCHEME_NAMES.filter((name) => schemeOf(name).takesBatches).join(', ');
  throw fail(
    'invalid_signing',
    `signing must be ${names} or custom with batch: a receiver for ${scheme} reads one event from a request; batch: null sends one`,
  );
}
