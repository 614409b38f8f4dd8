import type { TSchema } from 'typebox';
import { ALWAYS, type HeaderName, headersOf } from '../../contract/headers.ts';
import { OF_PROGRAMS } from '../../contract/roles.ts';
import type { FileType, Route } from '../../contract/route.ts';
import { REASONS, type ReasonName } from '../../kernel/errors.ts';
import { isKeyed } from '../../kernel/keyed-methods.ts';

type Json = Record<string, unknown>;

// The reasons that every operation may return.
const COMMON: readonly ReasonName[] = [
  'missing_credentials',
  'invalid_credentials',
  'insufficient_scope',
  'full_access_required',
  'role_too_low',
  'not_in_portal',
  'not_for_consumers',
  'unknown_query_parameter',
  'invalid_query',
  'rate_limited',
  'internal_error',
  'database_unavailable',
  'cell_unavailable',
  'disk_full',
  'took_too_long',
];
const COMMON_WRITE: readonly ReasonName[] = [
  'cross_site_request',
  'invalid_json',
  'duplicate_key',
  'invalid_body',
  'unknown_field',
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
];

/** The reasons that operations may return because of what they are: a read, a write, a write with an Idempotency-Key. */
export const ANY_OPERATION: ReadonlySet<ReasonName> = new Set<ReasonName>([
  ...COMMON,
  ...COMMON_WRITE,
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'resource_missing',
]);

/** Headers of a refusal in addition to the reason. */
const EXTRA_HEADERS: { readonly [Reason in ReasonName]?: readonly HeaderName[] } = {
  missing_credentials: ['WWW-Authenticate'],
  invalid_credentials: ['WWW-Authenticate'],
  insufficient_scope: ['WWW-Authenticate'],
  current_payout_exists: ['Location'],
  recovery_in_progress: ['Location'],
  payout_changed: ['ETag'],
  database_unavailable: ['Retry-After'],
  cell_unavailable: ['Retry-After'],
  disk_full: ['Retry-After'],
  shutting_down: ['Retry-After'],
  too_many_uploads: ['Retry-After'],
  rate_limited: ['Retry-After'],
};

/** The responses of an operation by status, with their headers and the meaning of each reason. */
export function responsesOf(route: Route): Json {
  return { ...Object.fromEntries(successesOf(route)), ...Object.fromEntries(refusalsOf(route)) };
}

function successesOf(route: Route): [string, Json][] {
  const sent = [
    ...ALWAYS,
    ...(route.sends ?? []),
    ...(route.list ? (['Link'] as const) : []),
    ...(isKeyed(route.method) ? (['Idempotent-Replayed'] as const) : []),
  ];
  const isKept = route.kind === 'read' && !route.secret;
  const successes = Object.entries(route.returns).map(([status, schema]): [string, Json] => {
    const more: readonly HeaderName[] =
      typeof schema === 'string' ? ['Content-Disposition'] : isKept ? ['ETag'] : [];
    const place: readonly HeaderName[] = status === '201' && route.creates !== undefined ? ['Location'] : [];
    const names = [...new Set([...sent, ...place, ...more])];
    return [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'Success',
        headers: headersOf(names),
        ...contentOf(schema, route.alsoSends),
      },
    ];
  });
  const isJson = Object.values(route.returns).some((schema) => typeof schema !== 'string' && schema !== null);
  return isKept && isJson ? [...successes, ['304', NOT_MODIFIED]] : successes;
}

const NOT_MODIFIED: Json = {
  description: 'Unchanged: its ETag is in `If-None-Match`',
  headers: headersOf([...ALWAYS, 'ETag', 'Link']),
};

function reasonsOf(route: Route): ReasonName[] {
  const reasons = new Set<ReasonName>([
    ...COMMON,
    ...(route.kind === 'write' ? COMMON_WRITE : []),
    ...(route.errors ?? []),
  ]);
  if (!OF_PROGRAMS.includes(route.needs)) reasons.add('person_required');
  if (route.kind === 'read' && route.records) reasons.add('cross_site_request');
  if (route.kind === 'write' && route.upload) reasons.add('too_many_uploads');
  if (isKeyed(route.method)) reasons.add('invalid_idempotency_key').add('idempotency_key_reused');
  return [...reasons];
}

function toldBy(route: Route, reason: ReasonName): readonly HeaderName[] {
  const isLocated = route.locatesDuplicates && reason.startsWith('duplicate_');
  return isLocated ? ['Location'] : (EXTRA_HEADERS[reason] ?? []);
}

function refusalsOf(route: Route): [string, Json][] {
  const byStatus = new Map<number, ReasonName[]>();
  for (const reason of reasonsOf(route)) {
    const { status } = REASONS[reason];
    byStatus.set(status, [...(byStatus.get(status) ?? []), reason]);
  }
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, reasons]) => [
      String(status),
      {
        description: meaningOf(reasons),
        headers: {
          'Payhook-Reason': {
            schema: { type: 'string', enum: reasons },
          },
          ...headersOf([...new Set([...ALWAYS, ...reasons.flatMap((reason) => toldBy(route, reason))])]),
        },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]);
}

/** The meaning of each reason; of one that any operation may return, only where no special one is possible. */
function meaningOf(reasons: readonly ReasonName[]): string {
  const special = reasons.filter((reason) => !ANY_OPERATION.has(reason));
  const shown = (special.length === 0 ? reasons : special).map(
    (reason) => `\`${reason}\`: ${REASONS[reason].meaning}`,
  );
  const isWhole = shown.length === reasons.length;
  return [...shown, ...(isWhole ? [] : ['Or a reason of any operation.'])].join('\n\n');
}

const DESCRIPTIONS: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 204: 'Done, no content' };

function contentOf(schema: TSchema | FileType | null | undefined, others: readonly string[] = []): Json {
  if (schema === null || schema === undefined) return {};
  if (typeof schema === 'string') {
    const types = [schema, ...others];
    return { content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }])) };
  }
  return { content: { 'application/json': { schema } } };
}
