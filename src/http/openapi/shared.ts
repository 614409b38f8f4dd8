import type { HeaderName } from '../../contract/headers.ts';
import { fail, REASONS, type ReasonName } from '../../kernel/errors.ts';
import { ANY_OPERATION } from './responses.ts';

type Json = Record<string, unknown>;

interface Parameter extends Json {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface Response extends Json {
  readonly headers?: Readonly<Record<string, Json>>;
  readonly content?: Readonly<Record<string, Json>>;
}

interface Operation extends Json {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
}

interface Described extends Json {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json & { readonly headers: Readonly<Record<string, Json>> };
}

/**
 * Moves the parameters, headers and responses that several operations have in common to the components, each once, with
 * the first of its examples, and gives every refusal an example. Throws if two components have the same name.
 */
export function withSharedParts(described: Json): Json {
  const { paths, components, ...rest } = described as Described;
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods).map(withEqualExamples));
  const answers = operations.flatMap(({ responses }) => Object.entries(responses));
  const headers = withHeaderExamples(
    components.headers,
    answers.map(([, response]) => response.headers ?? {}),
  );
  const examples = sharedExamples(operations);
  const complete = (response: Response) =>
    withRefusalExample(withReferences(withBeginnings(examples.placed(response)), headers));
  const parameters = sharing(
    'parameters',
    operations.flatMap((operation) => operation.parameters.map((each) => [nameOfParameter(each), each])),
  );
  const responses = sharing(
    'responses',
    answers.map(([status, response]) => [nameOfResponse(status, response), complete(response)]),
  );
  const shared = (operation: Operation) => ({
    ...operation,
    parameters: operation.parameters.map(parameters.placed),
    responses: mapped(withEqualExamples(operation).responses, (response) =>
      responses.placed(complete(response)),
    ),
  });
  const sections = {
    headers,
    parameters: { ...(components.parameters as Json), ...parameters.components },
    responses: responses.components,
    examples: examples.components,
  };
  return {
    ...rest,
    paths: mapped(paths, (methods) => mapped(methods, shared)),
    components: { ...components, ...sections },
  };
}

const mapped = <From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** What a part says, without its examples. */
const saying = (part: Json): string =>
  JSON.stringify(part, (key, value) => (key === 'example' ? undefined : value));

/**
 * The components of a section: of the parts that have the same name, the one that is used most often, if it is used twice.
 * `placed` is the part itself, or a reference to its component.
 */
function sharing(section: string, uses: readonly (readonly [name: string | null, part: Json])[]) {
  const counts = new Map<string, number>();
  for (const [, part] of uses) counts.set(saying(part), (counts.get(saying(part)) ?? 0) + 1);
  const countOf = (part: Json) => counts.get(saying(part)) ?? 0;
  const components: Record<string, Json> = {};
  for (const [name, part] of uses) {
    if (name === null || countOf(part) < 2) continue;
    const known = components[name];
    const isBetter = known && saying(known) === saying(part) && !('example' in known) && 'example' in part;
    if (known === undefined || countOf(part) > countOf(known) || isBetter) components[name] = part;
  }
  const names = new Map(Object.entries(components).map(([name, part]) => [saying(part), name]));
  const placed = (part: Json): Json => {
    const name = names.get(saying(part));
    return name === undefined ? part : { $ref: `#/components/${section}/${name}` };
  };
  return { components: sorted(components), placed };
}

/** Shorter examples are not worth a component. */
const LONG = 300;

/** The long examples of bodies that several responses have in common, named after the first operation. */
function sharedExamples(operations: readonly Operation[]) {
  const bodies = operations.flatMap(({ operationId, responses }) =>
    Object.values(responses).flatMap(({ content = {} }) =>
      Object.values(content).map(({ example }) => ({ operationId, key: JSON.stringify(example) ?? '' })),
    ),
  );
  const names = new Map<string, string>();
  for (const [index, { operationId, key }] of bodies.entries()) {
    if (key.length < LONG || names.has(key)) continue;
    if (bodies.some((other, at) => at > index && other.key === key)) names.set(key, pascal(operationId));
  }
  const withExample = ({ example, ...media }: Json): Json => {
    const name = names.get(JSON.stringify(example));
    if (name !== undefined)
      return { ...media, examples: { recorded: { $ref: `#/components/examples/${name}` } } };
    return example === undefined ? media : { ...media, example };
  };
  const placed = (response: Response): Response =>
    response.content ? { ...response, content: mapped(response.content, withExample) } : response;
  const components = [...names].map(([key, name]): [string, Json] => [name, { value: JSON.parse(key) }]);
  return { placed, components: sorted(Object.fromEntries(components)) };
}

const sorted = (components: Record<string, Json>) =>
  Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));

/** `created_at[gte]` -> `CreatedAtGte`. */
const pascal = (name: string) =>
  name.replaceAll(/(?:^|[^a-z]+)([a-z]?)/gi, (_, letter: string) => letter.toUpperCase());

const PLACES = { path: 'InPath', query: 'InQuery', header: '' };

const nameOfParameter = (parameter: Parameter) => pascal(parameter.name) + PLACES[parameter.in];

const reasonsOf = ({ headers = {} }: Response) =>
  (headers['Payhook-Reason']?.schema as { enum: readonly ReasonName[] } | undefined)?.enum;

const STATUSES: Readonly<Record<string, string>> = {
  200: 'Done',
  204: 'NoContent',
  304: 'NotModified',
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/** The name of a response: its first two special reasons, else its status; null if it has a body of its own. */
function nameOfResponse(status: string, response: Response): string | null {
  const reasons = reasonsOf(response);
  if (reasons === undefined) return response.content === undefined ? (STATUSES[status] ?? null) : null;
  const special = reasons.filter((reason) => !ANY_OPERATION.has(reason)).map(pascal);
  if (special.length > 0) return special.slice(0, 2).join('Or');
  if (reasons.includes('invalid_idempotency_key')) return `${STATUSES[status]}OfKeyedWrite`;
  const isOfWrite = reasons.includes('invalid_body') || reasons.includes('cross_site_request');
  return `${STATUSES[status]}${isOfWrite ? 'OfWrite' : ''}`;
}

/** The operation with its recorded body for every success of the same schema, such as 200 for a repeated 201. */
function withEqualExamples(operation: Operation): Operation {
  const { responses } = operation;
  const recorded = Object.values(responses)
    .filter((response) => reasonsOf(response) === undefined)
    .map(({ content }) => content?.['application/json'])
    .find((media) => media && 'example' in media);
  const completed = (response: Response): Response => {
    const media = response.content?.['application/json'];
    const isEqual =
      media &&
      recorded &&
      reasonsOf(response) === undefined &&
      JSON.stringify(media.schema) === JSON.stringify(recorded.schema);
    return isEqual ? { ...response, content: { 'application/json': recorded } } : response;
  };
  return { ...operation, responses: mapped(responses, completed) };
}

/** The beginnings of files that are not recorded as examples, because they have several types. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  'application/pdf': '%PDF-1.7',
  'application/zip': 'PK',
  'application/xml': '<?xml version="1.0" encoding="UTF-8"?>',
  'text/html': '<!doctype html>',
};

/** A response whose files have an example. */
function withBeginnings(response: Response): Response {
  if (!response.content) return response;
  const content = Object.entries(response.content).map(([type, media]) => {
    const hasExample = 'example' in media || 'examples' in media || !(type in BEGINNINGS);
    return [type, hasExample ? media : { ...media, example: BEGINNINGS[type] }];
  });
  return { ...response, content: Object.fromEntries(content) };
}

/** A refusal with the recorded example, or one of its last reason, which is the most special. */
function withRefusalExample(response: Response): Response {
  const reason = reasonsOf(response)?.at(-1);
  const media = response.content?.['application/json'];
  if (reason === undefined || !media || 'example' in media) return response;
  const { code, message } = fail(reason, REASONS[reason].meaning);
  const example = { error: { code, message } };
  return { ...response, content: { 'application/json': { ...media, example } } };
}

/** The header components, each with the first example that a response has of it. */
function withHeaderExamples(
  headers: Described['components']['headers'],
  used: readonly Readonly<Record<string, Json>>[],
) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => {
      const example = used.map((each) => each[name]?.example).find((each) => each !== undefined);
      return [name, example === undefined ? header : { ...header, example }];
    }),
  );
}

/** Headers of every response that `info.description` explains once. */
const UNDERSTOOD: ReadonlySet<string> = new Set<HeaderName>([
  'Payhook-Request-Id',
  'X-Request-Id',
  'Cache-Control',
]);
const LIMITS: ReadonlySet<string> = new Set<HeaderName>(['RateLimit', 'RateLimit-Policy']);

function withReferences(response: Response, components: Json): Response {
  const isOfLimits = reasonsOf(response)?.includes('rate_limited');
  const headers = Object.entries(response.headers ?? {}).flatMap(([name, header]) => {
    if (UNDERSTOOD.has(name) || (LIMITS.has(name) && !isOfLimits)) return [];
    return [[name, name in components ? { $ref: `#/components/headers/${name}` } : header]];
  });
  const { headers: _, ...others } = response;
  return headers.length === 0 ? others : { ...others, headers: Object.fromEntries(headers) };
}
