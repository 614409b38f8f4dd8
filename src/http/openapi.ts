import { SESSION_COOKIE } from '../contract/cookies.ts';
import { HEADER_COMPONENTS } from '../contract/headers.ts';
import { ALL_CAPABILITIES, OF_PROGRAMS, rolesWith } from '../contract/roles.ts';
import type { Route } from '../contract/route.ts';
import { SCOPES } from '../contract/scopes.ts';
import { withExamples } from './examples.ts';
import { withAlternatives } from './openapi/alternatives.ts';
import { withComponents, withUsedHeaders } from './openapi/components.ts';
import { WEBHOOK_HEADERS, WEBHOOKS, webhooksOf, withEvents } from './openapi/events.ts';
import { withPlainForms } from './openapi/forms.ts';
import { withOpenResponses } from './openapi/open.ts';
import { parametersOf } from './openapi/parameters.ts';
import { responsesOf } from './openapi/responses.ts';
import { withSharedParts } from './openapi/shared.ts';

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

/** What everybody must know. */
const ABOUT = `Affiliate payouts and webhook delivery logs.

- Authenticate with \`Authorization: Bearer\` and an API key, or with the access token of an application. The key decides the account.
- Money is an integer of minor units (\`5000\` is 50.00 USD) next to its currency. Numbers of money are never fractions.
- Times are RFC 3339 in UTC with milliseconds. A day such as \`2026-09-15\` is a day in the time zone of the account.
- Ids are opaque texts with a prefix (\`po_…\`); only affiliates and programs have numbers.
- An error has a status, the body \`{"error": {"code", "message"}}\` and the header \`Payhook-Reason\`, a stable word to branch on. A refused request has changed nothing.
- Send an \`Idempotency-Key\` with every POST, PUT and PATCH. After a timeout or a response without \`Payhook-Reason\` the result is unknown: repeat the request with the same key, and it happens once.
- Lists have \`data\` and \`pagination\`. Follow \`pagination.next\` with \`after\` to read all rows while others are added.
- A request with an unknown field or parameter is refused. A response may get new fields: ignore those you do not know.
- Every response has \`Payhook-Request-Id\`, which finds it in the log of the server, and \`X-Request-Id\` if the request had one. With limits it has \`RateLimit\` and \`RateLimit-Policy\`; after a 429 wait for \`Retry-After\` seconds.
- Reads have an \`ETag\`, and \`Cache-Control: private, no-cache\`. They are compressed with brotli or gzip for clients that accept it (\`Accept-Encoding\`). Responses with a secret are neither cached nor compressed.`;

/** Public addresses without a trailing slash. Without them the description refers to where it was read. */
const NO_ADDRESSES = { baseUrl: '', authorizeUrl: '' };

/** The OpenAPI 3.1 description of the routes, built from the schemas that validate requests. */
export const describe = (routes: readonly Route[], addresses = NO_ADDRESSES): Json =>
  withUsedHeaders(
    withSharedParts(
      withRolesOnce(
        withOpenResponses(
          withAlternatives(withEvents(withPlainForms(describeInline(routes, addresses)) as Json)),
        ),
      ),
    ),
  );

/** The description with the roles of each capability instead of those of each operation. */
function withRolesOnce(description: Json): Json {
  const operations = Object.entries(description.paths as Record<string, Record<string, Json>>);
  const paths = operations.map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, { 'x-roles': _, ...operation }]) => [method, operation]),
    ),
  ]);
  const roles = Object.fromEntries(ALL_CAPABILITIES.map((capability) => [capability, rolesWith(capability)]));
  return { ...description, 'x-roles': roles, paths: Object.fromEntries(paths) };
}

/** The same description with the parameters, responses and examples of each operation in place. */
export function describeInline(routes: readonly Route[], { baseUrl, authorizeUrl } = NO_ADDRESSES): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const methods = paths[route.path] ?? {};
    methods[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = methods;
  }
  const description = withComponents({
    openapi: '3.1.0',
    info: {
      title: 'Payhook',
      version: '2.0.0',
      description: ABOUT,
      contact: { name: 'the operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl || '/' }],
    tags: [...new Set([...routes.map(tagOf), WEBHOOKS])].map((name) => ({
      name,
      description: TAGS[name] ?? name,
    })),
    paths,
    webhooks: webhooksOf(),
    components: {
      schemas: { Error: ERROR_SCHEMA },
      headers: HEADER_COMPONENTS,
      parameters: WEBHOOK_HEADERS,
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'API Key' },
        oauth2: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: `${authorizeUrl}/oauth/authorize`,
              tokenUrl: `${baseUrl}/oauth/token`,
              refreshUrl: `${baseUrl}/oauth/token`,
              scopes: SCOPES,
            },
          },
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: SESSION_COOKIE,
          description:
            'a signed-in user, whose role is one of the `x-roles` for the `x-capability` of the operation; with https the ' +
            'name begins with __Host-',
        },
        portal: {
          type: 'http',
          scheme: 'bearer',
          description:
            'the token of a portal, for its endpoints; a read-only portal may do what the role viewer may',
        },
        csrfToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Payhook-CSRF',
          description: 'the token of the session, sent with the cookie by requests that change something',
        },
      },
    },
  });
  return withExamples(description);
}

/** The subject of each tag's operations. */
const TAGS: Readonly<Record<string, string>> = {
  payouts: 'The amounts owed at one moment, paid and marked as paid.',
  'payout-schedules': 'Schedules that prepare payouts on certain days.',
  reports: 'Payments for bookkeeping.',
  invoices: 'Self-billing invoices in the name of affiliates, and credit notes.',
  analytics: 'Sums over time.',
  affiliates: 'The people who earn commissions, and their payout destinations.',
  programs: 'Groups of commissions with their own hold.',
  commissions: 'The earnings of affiliates.',
  imports: 'Files of any layout, and their results.',
  refunds: 'Sales that were refunded.',
  'webhook-endpoints': 'The destinations of events.',
  'portal-links': 'Links that open a portal for the receivers of your endpoints.',
  'webhook-events': 'The log of sent events, by endpoint and result.',
  events: "Events: Payhook's own, and a platform's.",
  'event-types': 'The catalogue of event types.',
  [WEBHOOKS]: 'The requests that your endpoints get.',
  account: 'The settings of the account.',
  me: 'The caller.',
  actors: 'The names of users, keys and applications.',
  system: 'The state of the installation.',
  'api-keys': 'Credentials of programs.',
  alerts: 'Alerts by e-mail.',
  'alert-channels': 'Webhooks and Slack channels that receive alerts.',
  users: 'People who sign in.',
  sessions: 'The browsers in which people are signed in.',
  'audit-log': 'Who changed what.',
  'oauth-applications': 'Programs of other developers.',
  'oauth-grants': 'The access of applications.',
};

/** Paths under `/v2/affiliates` that concern affiliates themselves. */
const OF_AFFILIATES = new Set([
  'import',
  'by-external-id',
  'balances',
  'tax-profiles',
  'destination-corrections',
  'notices',
]);

function tagOf(route: Route): string {
  const parts = route.path.split('/').slice(2);
  const noun = parts[0] === 'affiliates' && parts[1] && !parts[1].startsWith('{') ? parts[1] : parts[0];
  return noun === undefined || OF_AFFILIATES.has(noun) ? 'affiliates' : noun;
}

function operationOf(route: Route): Json {
  return {
    operationId: route.operation,
    tags: [tagOf(route)],
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    security: securityOf(route),
    'x-capability': route.needs,
    'x-roles': rolesWith(route.needs),
    ...(route.secret === undefined ? {} : { 'x-secret': true }),
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: responsesOf(route),
  };
}

/** Who may use an operation: any one of these suffices. */
function securityOf({ scope, needs, kind, portal }: Route): Json[] {
  const session = { session: [], ...(kind === 'write' ? { csrfToken: [] } : {}) };
  return [
    ...(OF_PROGRAMS.includes(needs) ? [{ apiKey: [] }] : []),
    ...(scope === undefined ? [] : [{ oauth2: scope === 'any' ? [] : [scope] }]),
    session,
    ...(portal ? [{ portal: [] }] : []),
  ];
}

function bodyOf(route: Route): Json {
  if (route.kind !== 'write') return {};
  if (route.upload) {
    return { requestBody: { required: true, content: { [route.upload]: { schema: { type: 'string' } } } } };
  }
  if (!route.body) return {};
  const schema = { title: `${capital(route.operation)}Body`, ...route.body };
  return { requestBody: { required: !route.bodyOptional, content: { 'application/json': { schema } } } };
}

const capital = (name: string) => name[0]?.toUpperCase() + name.slice(1);
