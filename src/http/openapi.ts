import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';
import { REASONS, type ReasonName } from '../kernel/errors.ts';
import { SESSION_COOKIE } from './cookies.ts';
import { withExamples } from './examples.ts';
import type { ListDefinition } from './lists.ts';
import { DEFAULT_SORT } from './lists.ts';
import { type Role, type Route, SCOPES } from './route.ts';

type Json = Record<string, unknown>;

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      additionalProperties: false,
      properties: {
        code: {
          enum: ['bad_request', 'unauthorized', 'forbidden', 'not_found', 'conflict', 'internal_error'],
        },
        message: { type: 'string', description: 'human-readable' },
      },
    },
  },
};

// What every operation can answer, whoever asks.
const COMMON: readonly ReasonName[] = [
  'missing_credentials',
  'invalid_credentials',
  'insufficient_scope',
  'full_access_required',
  'unknown_query_parameter',
  'invalid_query',
  'internal_error',
  'database_unavailable',
];
const COMMON_WRITE: readonly ReasonName[] = [
  'role_too_low',
  'cross_site_request',
  'invalid_json',
  'invalid_body',
  'unknown_field',
  'unsupported_media_type',
  'body_too_large',
];

/** The OpenAPI 3.1 description of the routes, from the same schemas that validate. */
export function describe(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    methods[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = methods;
  }
  const description = named({
    openapi: '3.1.0',
    info: {
      title: 'Payhook',
      version: '2.0.0',
      description: 'Affiliate payouts and webhook delivery logs.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'API Key' },
        oauth2: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: '/oauth/authorize',
              tokenUrl: '/oauth/token',
              refreshUrl: '/oauth/token',
              scopes: SCOPES,
            },
          },
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description: 'a signed-in user whose role is the one named or a higher one: viewer, member, owner',
        },
        csrfToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Payhook-CSRF',
          description:
            'the token of the session, which requests that change something carry beside the cookie',
        },
      },
    },
  });
  return withExamples(description);
}

interface Whole extends Json {
  readonly components: Json & { readonly schemas: Json };
}

/** Moves every schema with a title to the components, once, and leaves references where it stood. */
function named(description: Whole): Json {
  const found = new Map<string, unknown>();
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const { title, ...schema } = value as Json;
    const walked = Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, walk(inner)]));
    if (typeof title !== 'string' || schema.type !== 'object')
      return title === undefined ? walked : { title, ...walked };
    const known = found.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, walked))
      throw new Error(`two schemas are called ${title}`);
    found.set(title, walked);
    return { $ref: `#/components/schemas/${title}` };
  };
  const { components, ...rest } = walk(description) as Whole;
  const schemas = {
    ...components.schemas,
    ...Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return { ...rest, components: { ...components, schemas } };
}

function tagOf(route: Route): string {
  const parts = route.path.split('/').slice(2);
  const noun = parts[0] === 'affiliates' && parts[1] && !parts[1].startsWith('{') ? parts[1] : parts[0];
  return noun === 'import' || noun === undefined ? 'affiliates' : noun;
}

function operationOf(route: Route): Json {
  return {
    operationId: route.operation,
    tags: [tagOf(route)],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: securityOf(route),
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: responsesOf(route),
  };
}

/** Who may use an operation: each of these is enough. The roles of a session are the lowest that will do. */
function securityOf(route: Route): Json[] {
  const { access } = route;
  if (access === 'key') return [{ apiKey: [] }];
  const isWrite = route.kind === 'write';
  const isForViewers = (!isWrite || route.harmless) && !route.confidential;
  const role: Role = access === 'full' ? 'owner' : isForViewers ? 'viewer' : 'member';
  return [
    { apiKey: [] },
    ...(access === 'full' ? [] : [{ oauth2: [access] }]),
    { session: [role], ...(isWrite ? { csrfToken: [] } : {}) },
  ];
}

function parametersOf(route: Route): Json[] {
  const path = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const { properties = {}, required = [] } = (route.query ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  const headers: Json[] = [];
  if (route.kind === 'write') {
    if (route.method === 'POST' || route.method === 'PUT')
      headers.push(header('Idempotency-Key', IDEMPOTENCY));
    if (route.ifMatch)
      headers.push(header('If-Match', 'the ETag the caller has seen; another revision is a 409'));
  }
  return [
    ...path,
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      in: 'query',
      ...(required.includes(name) ? { required: true } : {}),
      schema,
    })),
    ...(route.kind === 'read' && route.list ? listParameters(route.list) : []),
    ...headers,
  ];
}

const IDEMPOTENCY = 'up to 255 characters; the same key and request within 24 h gives the stored answer';

function header(name: string, description: string): Json {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function listParameters(list: ListDefinition): Json[] {
  const fields = Object.keys(list.sort);
  return [
    { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1, default: 1 } },
    { name: 'per_page', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } },
    {
      name: 'sort',
      in: 'query',
      description: 'a field; a leading - means descending',
      schema: {
        type: 'string',
        enum: fields.flatMap((field) => [field, `-${field}`]),
        default: list.defaultSort ?? DEFAULT_SORT,
      },
    },
    ...Object.entries(list.filters).map(([name, { rule, schema }]) => ({
      name,
      in: 'query',
      description: rule,
      schema,
    })),
  ];
}

function bodyOf(route: Route): Json {
  if (route.kind !== 'write') return {};
  if (route.upload) {
    return { requestBody: { required: true, content: { [route.upload]: { schema: { type: 'string' } } } } };
  }
  if (!route.body) return {};
  return {
    requestBody: { required: !route.bodyOptional, content: { 'application/json': { schema: route.body } } },
  };
}

function responsesOf(route: Route): Json {
  const responses: Record<string, Json> = {};
  for (const [status, schema] of Object.entries(route.returns)) {
    responses[status] = { description: DESCRIPTIONS[status] ?? 'Success', ...contentOf(schema) };
  }
  const reasons = new Set<ReasonName>([
    ...COMMON,
    ...(route.kind === 'write' ? COMMON_WRITE : []),
    ...(route.errors ?? []),
  ]);
  if (route.confidential) reasons.add('role_too_low');
  if (route.kind === 'write' && (route.method === 'POST' || route.method === 'PUT')) {
    reasons.add('invalid_idempotency_key').add('idempotency_key_reused');
  }
  const byStatus = new Map<number, ReasonName[]>();
  for (const reason of reasons) {
    const { status } = REASONS[reason];
    byStatus.set(status, [...(byStatus.get(status) ?? []), reason]);
  }
  for (const [status, list] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: list.map((reason) => `\`${reason}\`: ${REASONS[reason].meaning}`).join('\n\n'),
      headers: { 'Payhook-Reason': { schema: { type: 'string', enum: list } } },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return responses;
}

const DESCRIPTIONS: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 204: 'Done, no content' };

function contentOf(schema: TSchema | 'text/csv' | null | undefined): Json {
  if (schema === null || schema === undefined) return {};
  if (schema === 'text/csv') return { content: { 'text/csv': { schema: { type: 'string' } } } };
  return { content: { 'application/json': { schema } } };
}
