import { beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES, noContent, readRoute, writeRoute } from '../../src/contract/route.ts';
import { describe as describeRoutes } from '../../src/http/openapi.ts';
import { newSecret } from '../../src/kernel/secrets.ts';
import { codeFor, postForm, register, signedIn } from '../oauth/support.ts';
import { tokenIn } from '../people/support.ts';
import type { Answer, Api } from '../support/api.ts';
import { makeGrant } from '../support/seed.ts';
import { openWire, until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import {
  dump,
  furnish,
  type Ids,
  nobodys,
  numberApart,
  OPERATIONS,
  type Operation,
  pathOf,
  requestOf,
  visible,
} from '../tenants/support.ts';
import {
  bearer,
  type Credentials,
  hashOf,
  type Member,
  memberOf,
  nonsense,
  send,
  signedInAs,
} from './support.ts';

// Who may do what, tested on every operation of the description: a new operation needs no line here.

const ALL = [...ALL_SCOPES].join(' ');
const SCOPED = OPERATIONS.filter(({ access }) => access.scope !== null);
const CLOSED_TO_TOKENS = OPERATIONS.filter(({ access }) => access.scope === null && !access.anyToken);
const WRITES = OPERATIONS.filter(({ method }) => method !== 'GET');
const NEEDED = [...new Set(SCOPED.map(({ access }) => String(access.scope)))];
const RANKS = ['viewer', 'member', 'owner'] as const;
type Role = (typeof RANKS)[number];

const world = useWorld();
let other: Api;
let ours: Ids;
let theirs: Ids;
let users: Record<Role, Member>;
/** Access tokens by their scopes, each with its own grant. */
const tokens = new Map<string, string>();

const without = (scope: string) => [...ALL_SCOPES].filter((each) => each !== scope).join(' ');
const tokenWith = (scopes: string): Credentials => bearer(tokens.get(scopes) ?? '');

beforeAll(async () => {
  await numberApart(world);
  other = await world.otherAccount();
  ours = await furnish(world, world.api, 'ours');
  theirs = await furnish(world, other, 'theirs');
  users = {
    owner: await memberOf(world.api, 'owner'),
    member: await memberOf(world.api, 'member'),
    viewer: await memberOf(world.api, 'viewer'),
  };
  for (const scopes of new Set([ALL, ...NEEDED, ...NEEDED.map(without)])) {
    const granted = await makeGrant(world, world.api, { scopes: [...ALL_SCOPES], scope: scopes });
    tokens.set(scopes, granted.access_token);
  }
});

const closedBy = ({ access }: Operation) => (access.key ? 'full_access_required' : 'person_required');
const ask = (operation: Operation, credentials: Credentials) => send(world, credentials, nonsense(operation));

/** Calls every operation and checks that no row of any account changed, including the audit log. */
async function ofEach(
  operations: readonly Operation[],
  work: (operation: Operation) => Promise<void>,
): Promise<void> {
  expect(operations.length).toBeGreaterThan(5);
  const before = await dump(world);
  for (const operation of operations) await work(operation);
  expect(await dump(world)).toBe(before);
}

function expectAllowed(answer: Answer, operation: Operation): void {
  const possible = operation.method === 'GET' ? [200, 404] : [400, 404];
  expect(possible, `${operation.operationId} ${answer.text}`).toContain(answer.status);
}

function expectForbidden(answer: Answer, operation: Operation, reason: string): void {
  const found = [answer.status, answer.reason, answer.body?.error?.code];
  expect(found, operation.operationId).toEqual([403, reason, 'forbidden']);
}

describe('every operation answers 401, says how to authenticate, and does nothing, for', () => {
  const grant = () => makeGrant(world, world.api);
  const ended = async (how: (session: { id: string; cookie: string }) => Promise<unknown>) => {
    const { id, cookieOnly, cookie, credentials } = await memberOf(world.api, 'owner');
    expect((await send(world, cookieOnly, ['GET', '/v2/account'])).status).toBe(200);
    await how({ id, cookie });
    return credentials;
  };
  const age = (span: string) => (session: { cookie: string }) =>
    world.query(
      `update sessions set last_seen_at = last_seen_at - $2::interval, expires_at = expires_at - $2::interval
       where hash = $1`,
      [hashOf(session.cookie), span],
    );

  const credentials: Readonly<Record<string, () => Promise<Credentials> | Credentials>> = {
    'no credential': () => ({}),
    'a garbled one': () => bearer('nonsense'),
    'an unknown key': () => bearer(newSecret('ph_')),
    'an unknown token': () => bearer(newSecret('pha_')),
    'an unknown session': () => ({ cookie: `payhook_session=${newSecret('phi_')}` }),
    'an empty session': () => ({ cookie: 'payhook_session=' }),
    'a revoked key': async () => {
      const { body } = await world.api.post('/v2/api-keys', { name: 'leaked' });
      expect((await world.api.delete(`/v2/api-keys/${body.id}`)).status).toBe(204);
      return bearer(body.key);
    },
    "a revoked grant's token": async () => {
      const { grant_id, access_token } = await grant();
      expect((await world.api.delete(`/v2/oauth-grants/${grant_id}`)).status).toBe(204);
      return bearer(access_token);
    },
    'a token revoked by its application': async () => {
      const { application_id: client_id, client_secret, access_token: token } = await grant();
      const done = await postForm(world.url, '/oauth/revoke', { client_id, client_secret, token });
      expect(done.status).toBe(200);
      return bearer(token);
    },
    'a token of a deleted application': async () => {
      const { application_id, access_token } = await grant();
      expect((await world.api.delete(`/v2/oauth-applications/${application_id}`)).status).toBe(204);
      return bearer(access_token);
    },
    'a token granted by a removed user': async () => {
      const { user_id, access_token } = await grant();
      expect((await world.api.delete(`/v2/users/${user_id}`)).status).toBe(204);
      return bearer(access_token);
    },
    'a token granted by a former owner': async () => {
      const { user_id, access_token } = await grant();
      expect((await world.api.patch(`/v2/users/${user_id}`, { role: 'member' })).status).toBe(200);
      return bearer(access_token);
    },
    'an expired token': async () => {
      const { access_token } = await grant();
      await world.query('update oauth_tokens set expires_at = now() where hash = $1', [hashOf(access_token)]);
      return bearer(access_token);
    },
    'a refresh token': async () => bearer((await grant()).refresh_token),
    'a client secret': async () => bearer((await grant()).client_secret),
    'an authorization code': async () => {
      const owner = await signedIn(world);
      return bearer(await codeFor(world, owner, await register(world.api)));
    },
    'the secret of an invitation': async () => {
      const invited = { email: 'invited@example.com', name: 'Invited', role: 'owner' };
      return bearer(tokenIn((await world.api.post('/v2/users', invited)).body.invitation_url));
    },
    "a session's secret in place of a key": () => bearer(users.owner.cookie),
    "a session's CSRF token in place of a key": () => bearer(users.owner.csrf),
    "a key in place of a session's secret": () => ({ cookie: `payhook_session=${world.api.key}` }),
    'a garbled one next to the session of an owner': () => ({
      ...users.owner.credentials,
      ...bearer('nonsense'),
    }),
    'an ended session': () =>
      ended(async ({ id }) => {
        const { body } = await world.api.get(`/v2/sessions?user_id=${id}`);
        expect((await world.api.delete(`/v2/sessions/${body.data[0].id}`)).status).toBe(204);
      }),
    'a session unused for a week': () =>
      ended(({ cookie }) =>
        world.query("update sessions set last_seen_at = now() - interval '7 days' where hash = $1", [
          hashOf(cookie),
        ]),
      ),
    'a session that began a month ago': () =>
      ended(async ({ cookie }) => {
        await age('30 days')({ cookie });
        await world.query('update sessions set last_seen_at = now() where hash = $1', [hashOf(cookie)]);
      }),
    'a session of a removed user': () =>
      ended(async ({ id }) => expect((await world.api.delete(`/v2/users/${id}`)).status).toBe(204)),
  };

  test.each(Object.keys(credentials))('%s', async (name) => {
    const shown = await credentials[name]?.();
    await ofEach(OPERATIONS, async (operation) => {
      const answer = await ask(operation, shown ?? {});
      const found = [answer.status, answer.body?.error?.code];
      expect(found, operation.operationId).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer( error="invalid_token")?$/);
    });
  });
});

describe('a token', () => {
  test('with every scope but the required one is refused, and the response names the missing scope', () =>
    ofEach(SCOPED, async (operation) => {
      const scope = String(operation.access.scope);
      const answer = await ask(operation, tokenWith(without(scope)));
      expectForbidden(answer, operation, 'insufficient_scope');
      expect(answer.body.error.message).toContain(scope);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="${scope}"`,
      );
    }));

  test('with only the required scope is accepted', () =>
    ofEach(SCOPED, async (operation) =>
      expectAllowed(await ask(operation, tokenWith(String(operation.access.scope))), operation),
    ));

  test('with all scopes cannot do what is reserved for keys, owners or people', () =>
    ofEach(CLOSED_TO_TOKENS, async (operation) =>
      expectForbidden(await ask(operation, tokenWith(ALL)), operation, closedBy(operation)),
    ));

  test('needs exactly the scopes that the interface names for its operations', () => {
    expect(NEEDED.toSorted()).toEqual(['account', 'affiliates', 'analytics', 'webhooks']);
    for (const { path, operationId, access } of OPERATIONS) {
      if (/^\/v2\/affiliates\/payouts(\/|$)/.test(path) && access.key)
        expect(access.scope, operationId).toBe('affiliates');
      // a token may not create anything that outlives it
      if (/^\/v2\/webhook-/.test(path) && operationId !== 'createPortalLink')
        expect(access.scope, operationId).toBe('webhooks');
    }
  });

  test('with any scope may read its own identity, and nothing else without a scope', () => {
    const open = OPERATIONS.filter(({ access }) => access.anyToken);
    expect(open.map(({ operationId }) => operationId)).toEqual(['getMe']);
  });

  test('cannot create anything that outlives it: keys, users, applications, grants and sessions are closed to it', () => {
    const closed =
      /^\/v2\/(portal-links|alert-channels|api-keys|users|oauth-applications|oauth-grants|sessions|audit-log)(\/|$)/;
    for (const { path, operationId, access } of OPERATIONS.filter((each) => closed.test(each.path)))
      expect([path, access.scope], operationId).toEqual([path, null]);
  });
});

describe('an API key', () => {
  test('may call every operation except those where a person must decide', () =>
    ofEach(OPERATIONS, async (operation) => {
      const answer = await ask(operation, bearer(world.api.key));
      if (operation.access.key) expectAllowed(answer, operation);
      else expectForbidden(answer, operation, 'person_required');
    }));
});

describe('a signed-in user', () => {
  test.each(RANKS)('as %s may do what the description gives that role, and nothing else', (role) =>
    ofEach(OPERATIONS, async (operation) => {
      const needed = operation.access.role;
      const answer = await ask(operation, users[role].credentials);
      if (needed !== null && RANKS.indexOf(role) >= RANKS.indexOf(needed)) expectAllowed(answer, operation);
      else
        expectForbidden(
          answer,
          operation,
          operation.access.scope === null && operation.access.key ? 'full_access_required' : 'role_too_low',
        );
    }),
  );

  test('viewers change only their own notification settings and see no secret; previews and trials change nothing', () => {
    const namesOf = (operations: readonly Operation[]) => operations.map(({ operationId }) => operationId);
    expect(namesOf(WRITES.filter(({ access }) => access.role === 'viewer'))).toEqual([
      'previewPayout',
      'previewPayoutAffiliates',
      'previewPayoutExclusions',
      'previewImport',
      'downloadBadLines',
      'testWebhookEndpointFilter',
      'setAlertSettings',
      'testAlertSettings',
    ]);
    const reads = SCOPED.filter(({ method, access }) => method === 'GET' && access.role !== 'viewer');
    expect(namesOf(reads)).toEqual(['downloadInvoice', 'downloadPaymentFile', 'getWebhookEndpointSecret']);
  });

  test('members cannot use keys, users, sessions, applications, grants or the audit log', () => {
    for (const { operationId, access } of CLOSED_TO_TOKENS.filter((each) => each.access.key))
      expect([null, 'owner'], operationId).toContain(access.role);
    for (const { operationId, access } of SCOPED) expect(access.role, operationId).not.toBe('owner');
  });

  test('needs the CSRF token of the session for every write, and for no read', async () => {
    const again = await signedInAs(world.url, users.owner.id, users.owner.cookie);
    expect(again.csrf).toBe(users.owner.csrf);
    const wrong: Record<string, Credentials> = {
      none: {},
      empty: { 'payhook-csrf': '' },
      garbled: { 'payhook-csrf': 'nonsense' },
      "another user's": { 'payhook-csrf': users.member.csrf },
      'the cookie itself': { 'payhook-csrf': users.owner.cookie },
    };
    await ofEach(OPERATIONS, async (operation) => {
      const isWrite = operation.method !== 'GET';
      if (operation.access.role !== null) expect(operation.access.csrf, operation.operationId).toBe(isWrite);
      for (const [name, csrf] of Object.entries(wrong)) {
        const answer = await ask(operation, { ...users.owner.cookieOnly, ...csrf });
        if (isWrite) expectForbidden(answer, operation, 'cross_site_request');
        else if (operation.access.role !== null) expectAllowed(answer, operation);
        // this operation returns the token; other sites cannot read its response
        if (operation.operationId !== 'getMe') expect(answer.text, name).not.toContain(users.owner.csrf);
      }
    });
  });
});

describe('credentials are checked before anything else', () => {
  const first: Readonly<Record<string, [Operation[], () => Credentials, number]>> = {
    'without a credential': [WRITES, () => ({}), 401],
    'with an ended session': [WRITES, () => ({ cookie: `payhook_session=${newSecret('phi_')}` }), 401],
    'with a session and no CSRF token': [WRITES, () => users.owner.cookieOnly, 403],
    'as a viewer': [
      WRITES.filter(({ access }) => access.role !== 'viewer'),
      () => users.viewer.credentials,
      403,
    ],
    'with a token where none is accepted': [
      WRITES.filter(({ access }) => access.scope === null && !access.anyToken),
      () => tokenWith(ALL),
      403,
    ],
  };

  test.each(Object.keys(first))('%s the response comes before any of the body was sent', async (name) => {
    const [operations, credentials, status] = first[name]!;
    await ofEach(operations, async (operation) => {
      const wire = await openWire(world.url, operation.method, `${pathOf(operation, nobodys)}?nonsense=1`, {
        'content-type': operation.mediaType ?? 'application/json',
        'content-length': '1000000',
        ...credentials(),
      });
      const head = await until(`an answer of ${operation.operationId}`, () =>
        wire.received().includes('\r\n\r\n') ? wire.received() : null,
      );
      expect(head, operation.operationId).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      wire.vanish();
    });
  });

  test('a query, body, type and id that are all wrong make no difference', () =>
    ofEach(WRITES, async (operation) => {
      for (const [credentials, status] of [
        [{}, 401],
        [users.owner.cookieOnly, 403],
      ] as const) {
        const answer = await send(world, credentials, [
          operation.method,
          `${pathOf(operation, nobodys)}?nonsense=1&nonsense=2`,
          {
            body: '{not json',
            headers: { 'content-type': 'application/xml', 'idempotency-key': '', 'if-match': '7' },
          },
        ]);
        expect(answer.status, operation.operationId).toBe(status);
      }
    }));
});

describe("another account's", () => {
  const about = (operations: readonly Operation[]) =>
    operations.filter(({ pathParameters }) => pathParameters.length > 0);

  /** Requests a record of the first account and a record nobody has: the caller cannot distinguish them. */
  const same = async (operation: Operation, credentials: Credentials) => {
    const at = (ids: Ids) => {
      const { headers = {}, ...request } = requestOf(operation, theirs);
      return send(world, credentials, [operation.method, pathOf(operation, ids), { ...request, headers }]);
    };
    const [foreign, missing] = [await at(ours), await at(nobodys)];
    expect(foreign.status, `${operation.operationId} ${foreign.text}`).toBe(404);
    expect(visible(foreign, ours), operation.operationId).toEqual(visible(missing, nobodys));
  };

  test('token gets the same answer for our records as for records nobody has', async () => {
    const { access_token } = await makeGrant(world, other, { scopes: [...ALL_SCOPES] });
    await ofEach(about(SCOPED), (operation) => same(operation, bearer(access_token)));
  });

  test('owner gets the same answer for our records as for records nobody has', async () => {
    const { credentials } = await memberOf(other, 'owner');
    const open = about(OPERATIONS).filter(({ access }) => access.role !== null);
    await ofEach(open, (operation) => same(operation, credentials));
  });

  test('application, once we grant it access, acts in our account and not in its own', async () => {
    // registered there, granted here
    const application = await register(other, { scopes: [...ALL_SCOPES] });
    const person = await signedIn(world);
    const code = await codeFor(world, person, application);
    const form = { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/callback' };
    const { id: client_id, client_secret } = application;
    const { body } = await postForm(world.url, '/oauth/token', { ...form, client_id, client_secret });
    const account = (await send(world, bearer(body.access_token), ['GET', '/v2/account'])).body;
    expect(account).toEqual((await world.api.get('/v2/account')).body);
    const get = (ids: Ids) =>
      send(world, bearer(body.access_token), ['GET', `/v2/affiliates/payouts/${ids.payout_id}`]);
    expect([(await get(ours)).status, (await get(theirs)).status]).toEqual([200, 404]);
    // the account that registered it cannot see or end our grant, and we cannot see or change the application
    const [grant] = (await world.api.get(`/v2/oauth-grants?application_id=${application.id}`)).body.data;
    expect((await other.delete(`/v2/oauth-grants/${grant.id}`)).status).toBe(404);
    expect((await other.get(`/v2/oauth-grants?application_id=${application.id}`)).body.data).toEqual([]);
    expect((await world.api.get(`/v2/oauth-applications/${application.id}`)).status).toBe(404);
    expect((await world.api.delete(`/v2/oauth-applications/${application.id}`)).status).toBe(404);
  });
});

describe('the description says who may use an operation', () => {
  const common = { path: '/v2/x', summary: 'x', returns: { 204: null }, handle: async () => noContent() };
  interface Described {
    readonly security: unknown;
    readonly 'x-lowest-role'?: string;
  }
  const securityOf = (...[route]: Parameters<typeof describeRoutes>[0]) => {
    const { paths } = describeRoutes(route ? [route] : []) as { paths: Record<string, object> };
    const operation = Object.values(paths['/v2/x'] ?? {})[0] as Described;
    return [operation.security, operation['x-lowest-role'] ?? null];
  };
  const write = { ...common, operation: 'x', method: 'POST' } as const;

  test.each([
    ['a key only', writeRoute({ ...write, access: 'key' }), [{ apiKey: [] }], null],
    [
      'keys and owners',
      writeRoute({ ...write, access: 'full' }),
      [{ apiKey: [] }, { session: [], csrfToken: [] }],
      'owner',
    ],
    [
      'keys and owners, to read',
      readRoute({ ...common, operation: 'x', access: 'full' }),
      [{ apiKey: [] }, { session: [] }],
      'owner',
    ],
    [
      'any authenticated caller',
      readRoute({ ...common, operation: 'x', access: 'any' }),
      [{ apiKey: [] }, { oauth2: [] }, { session: [] }],
      'viewer',
    ],
    [
      'a scope',
      writeRoute({ ...write, access: 'promos' }),
      [{ apiKey: [] }, { oauth2: ['promos'] }, { session: [], csrfToken: [] }],
      'member',
    ],
    [
      'a scope, read-only',
      writeRoute({ ...write, access: 'promos', readOnly: true }),
      [{ apiKey: [] }, { oauth2: ['promos'] }, { session: [], csrfToken: [] }],
      'viewer',
    ],
    [
      'a scope, to read a secret',
      readRoute({ ...common, operation: 'x', access: 'promos', confidential: true }),
      [{ apiKey: [] }, { oauth2: ['promos'] }, { session: [] }],
      'member',
    ],
    [
      'a scope, to read',
      readRoute({ ...common, operation: 'x', access: 'promos' }),
      [{ apiKey: [] }, { oauth2: ['promos'] }, { session: [] }],
      'viewer',
    ],
  ])('%s', (_, route, security, role) => {
    expect(securityOf(route)).toEqual([security, role]);
  });

  test('defines every scheme it names, with the 16 scopes of the interface', async () => {
    const { body } = await world.api.get('/v2/openapi.json');
    const schemes = body.components.securitySchemes;
    expect(schemes.apiKey).toEqual({ type: 'http', scheme: 'bearer', bearerFormat: 'API Key' });
    const { scopes, ...addresses } = schemes.oauth2.flows.authorizationCode;
    expect(Object.keys(scopes)).toHaveLength(16);
    expect(addresses).toEqual({
      authorizationUrl: `${world.url}/oauth/authorize`,
      tokenUrl: `${world.url}/oauth/token`,
      refreshUrl: `${world.url}/oauth/token`,
    });
    for (const methods of Object.values<Record<string, { security: object[] }>>(body.paths)) {
      for (const { security } of Object.values(methods)) {
        expect([{ apiKey: [] }, { session: [], csrfToken: [] }]).toContainEqual(security[0]);
        for (const way of security)
          for (const [name, values] of Object.entries(way)) {
            expect(Object.keys(schemes)).toContain(name);
            if (name === 'oauth2') for (const scope of values) expect(Object.keys(scopes)).toContain(scope);
          }
      }
    }
  });
});
