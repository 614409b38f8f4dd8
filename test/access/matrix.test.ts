import { beforeAll, describe, expect, test } from 'vitest';
import { ROLE_NAMES, type Role } from '../../src/contract/roles.ts';
import { ALL_SCOPES } from '../../src/contract/scopes.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { newSecret } from '../../src/kernel/secrets.ts';
import { codeFor, postForm, register, signedIn } from '../oauth/support.ts';
import { tokenIn } from '../people/support.ts';
import type { Answer, Api } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
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
/** One operation for each kind of access, for credentials that are all refused in one place. */
const OF_EACH_KIND = [
  ...new Map(
    OPERATIONS.map((each) => [JSON.stringify([each.method, { ...each.access, capability: null }]), each]),
  ).values(),
];
/** One operation for each method and capability. */
const OF_EACH_CAPABILITY = [
  ...new Map(OPERATIONS.map((each) => [JSON.stringify([each.method, each.access]), each])).values(),
];
/** The operations of a list that a short run tries where another test tries all of them in another way: one of each kind. */
const someKinds = (operations: readonly Operation[]): readonly Operation[] =>
  isLong ? operations : operations.filter((each) => OF_EACH_KIND.includes(each));
const NEEDED = [...new Set(SCOPED.map(({ access }) => String(access.scope)))];

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
  const members = ROLE_NAMES.map(async (role) => [role, await memberOf(world.api, role)] as const);
  users = Object.fromEntries(await Promise.all(members)) as Record<Role, Member>;
  for (const scopes of new Set([ALL, ...NEEDED, ...NEEDED.map(without)])) {
    const granted = await makeGrant(world, world.api, { scopes: [...ALL_SCOPES], scope: scopes });
    tokens.set(scopes, granted.access_token);
  }
});

const closedBy = ({ access }: Operation) => (access.key ? 'full_access_required' : 'person_required');
const ask = (operation: Operation, credentials: Credentials) => send(world, credentials, nonsense(operation));

/** Calls every operation and checks that no row of any account changed, including the audit log, unless another test checks it. */
async function ofEach(
  operations: readonly Operation[],
  work: (operation: Operation) => Promise<void>,
  isChecked = true,
): Promise<void> {
  expect(operations.length).toBeGreaterThan(5);
  const before = isChecked ? await dump(world) : '';
  for (const operation of operations) await work(operation);
  if (isChecked) expect(await dump(world)).toBe(before);
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
  // in two statements: a node of Citus refuses an UPDATE that computes with columns of times
  const age = (span: string) => async (session: { cookie: string }) => {
    const hash = hashOf(session.cookie);
    const [aged] = await world.query<{ seen: string; expires: string }>(
      `select last_seen_at - $2::interval as seen, expires_at - $2::interval as expires from sessions where hash = $1`,
      [hash, span],
    );
    await world.query('update sessions set last_seen_at = $2, expires_at = $3 where hash = $1', [
      hash,
      aged?.seen,
      aged?.expires,
    ]);
  };

  const credentials: Readonly<Record<string, () => Promise<Credentials> | Credentials>> = {
    'no credential': () => ({}),
    'a garbled one': () => bearer('nonsense'),
    'an empty one': () => bearer(''),
    'another scheme': () => ({ authorization: `Basic ${Buffer.from('user:password').toString('base64')}` }),
    'an unknown key': () => bearer(newSecret('ph_', world.db.cell)),
    'an unknown token': () => bearer(newSecret('pha_', world.db.cell)),
    'an unknown session': () => ({ cookie: `payhook_session=${newSecret('phi_', world.db.cell)}` }),
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

  /** These are shown to every operation, the others to one operation of each kind. */
  const shownToAll = [
    'no credential',
    ...(isLong ? ['a revoked key', "a revoked grant's token", 'an ended session'] : []),
  ];

  test.each(Object.keys(credentials))('%s', async (name) => {
    const shown = await credentials[name]?.();
    const isForAll = shownToAll.includes(name);
    const refuse = async (operation: Operation) => {
      const answer = await ask(operation, shown ?? {});
      const found = [answer.status, answer.body?.error?.code];
      expect(found, operation.operationId).toEqual([401, 'unauthorized']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer( error="invalid_token")?$/);
    };
    await ofEach(
      isForAll ? OPERATIONS : OF_EACH_KIND,
      refuse,
      isLong || isForAll || name === 'an ended session',
    );
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

  test.each(NEEDED)(
    'with the scope %s alone is accepted where the description names it, and nowhere else',
    (scope) => {
      const isAccepted = ({ access }: Operation) => access.scope === scope || access.anyToken;
      // every operation has refused a token without its scope
      const refusing = someKinds(OPERATIONS.filter((each) => !isAccepted(each)));
      return ofEach([...someKinds(OPERATIONS.filter(isAccepted)), ...refusing], async (operation) => {
        const { access } = operation;
        const answer = await ask(operation, tokenWith(scope));
        if (isAccepted(operation)) expectAllowed(answer, operation);
        else
          expectForbidden(
            answer,
            operation,
            access.scope === null ? closedBy(operation) : 'insufficient_scope',
          );
      });
    },
  );

  test('with all scopes is refused where no scope helps', () =>
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

/** A role of a later version, or of a row that somebody edited by hand. */
const UNKNOWN = 'superuser';

describe('a signed-in user', () => {
  // a viewer calls every operation; for the other roles a short run calls one of each method and capability
  test.each([...ROLE_NAMES].reverse())(
    'as %s may do what the description gives that role, and nothing else',
    (role) =>
      ofEach(isLong || role === 'viewer' ? OPERATIONS : OF_EACH_CAPABILITY, async (operation) => {
        const answer = await ask(operation, users[role].credentials);
        if (operation.access.roles.includes(role)) expectAllowed(answer, operation);
        else {
          expectForbidden(answer, operation, 'role_too_low');
          for (const other of operation.access.roles) expect(answer.body.error.message).toContain(other);
        }
      }),
  );

  test('with a role that this version does not know may use nothing, not even a read', async () => {
    const user = await memberOf(world.api, 'owner');
    const allow = async (extra: string) => {
      await world.query('alter table users drop constraint users_role_check');
      await world.query(
        `alter table users add constraint users_role_check
         check (role in ('owner', 'member', 'finance', 'approver', 'viewer'${extra}))`,
      );
    };
    await allow(`, '${UNKNOWN}'`);
    const give = (role: string) =>
      world.query('update users set role = $2 where id = $1', [uuidOf('usr', user.id), role]);
    await give(UNKNOWN);
    await ofEach(someKinds(OPERATIONS), async (operation) =>
      expectForbidden(await ask(operation, user.credentials), operation, 'role_too_low'),
    );
    await give('viewer');
    await allow('');
    expect((await send(world, user.credentials, ['GET', '/v2/me'])).status).toBe(200);
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
      expect(operation.access.csrf, operation.operationId).toBe(isWrite);
      for (const [name, csrf] of Object.entries(wrong)) {
        if (!OF_EACH_KIND.includes(operation) && (name !== "another user's" || !isWrite)) continue;
        const answer = await ask(operation, { ...users.owner.cookieOnly, ...csrf });
        if (isWrite) expectForbidden(answer, operation, 'cross_site_request');
        else expectAllowed(answer, operation);
        // who asks reads the token there; what keeps other sites out is that they cannot read answers
        if (operation.operationId !== 'getMe') expect(answer.text, name).not.toContain(users.owner.csrf);
      }
    });
  });
});

describe('credentials are checked before anything else', () => {
  const first: Readonly<Record<string, [readonly Operation[], () => Credentials, number]>> = {
    'without a credential': [WRITES, () => ({}), 401],
    'with an ended session': [
      WRITES,
      () => ({ cookie: `payhook_session=${newSecret('phi_', world.db.cell)}` }),
      401,
    ],
    'with a session and no CSRF token': [WRITES, () => users.owner.cookieOnly, 403],
    'as a viewer': [
      WRITES.filter(({ access }) => !access.roles.includes('viewer')),
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
    const [all, credentials, status] = first[name]!;
    await ofEach(someKinds(all), async (operation) => {
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
    ofEach(someKinds(WRITES), async (operation) => {
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
    await ofEach(someKinds(about(SCOPED)), (operation) => same(operation, bearer(access_token)));
  });

  test('owner gets the same answer for our records as for records nobody has', async () => {
    const { credentials } = await memberOf(other, 'owner');
    await ofEach(someKinds(about(OPERATIONS).filter((each) => !SCOPED.includes(each))), (operation) =>
      same(operation, credentials),
    );
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

/**
 * Who may use an operation, written down by hand: the first row whose pattern matches "METHOD /path" applies. The rows do not
 * come from the table of the program, so that a mistake there fails here.
 */
const EVERYBODY = ['owner', 'member', 'finance', 'approver', 'viewer'];
const EXPECTED: readonly (readonly [pattern: RegExp, roles: readonly string[]])[] = [
  [/ \/v2\/me\/sessions(\/|$)/, EVERYBODY],
  [/ \/v2\/(users|sessions|api-keys|oauth-applications|oauth-grants)(\/|$)/, ['owner']],
  [/ \/v2\/(portal-links|alert-channels|audit-log|system)(\/|$)/, ['owner']],
  [/^POST \/v2\/(events(\/batch)?|webhook-endpoints\/\{id\}\/portal-link)$/, ['owner']],
  [/^POST \/v2\/affiliates\/\{affiliate_id\}\/erase$/, ['owner']],
  [/ \/v2\/affiliates\/reports\/us-tax\/export$/, ['owner', 'finance']],
  [
    /^GET .*\/(payment-files\/\{format\}|invoices\/(\{invoice_id\}\/)?download)$/,
    ['owner', 'member', 'finance', 'approver'],
  ],
  [/^POST .*\/(approve|reject|signals\/review)$/, ['owner', 'member', 'finance', 'approver']],
  [/^POST .*\/(preview(\/\w+)?|bad-lines|test-filter)$/, EVERYBODY],
  [/^(PUT \/v2\/alerts|POST \/v2\/alerts\/test)$/, EVERYBODY],
  [/^GET .*\/secret$/, ['owner', 'member']],
  [/^GET /, EVERYBODY],
  [/ \/v2\/(webhook-endpoints|event-types)(\/|$)/, ['owner', 'member']],
  [/ \/v2\/(affiliates|imports|account)(\/|$)/, ['owner', 'member', 'finance']],
];

describe('the description says who may use an operation', () => {
  test('as decided for each role', () => {
    for (const { method, path, operationId, access } of OPERATIONS) {
      const roles = EXPECTED.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
      expect(access.roles, operationId).toEqual(roles);
    }
  });

  test('and only decisions about payouts and one’s own sessions take a person: a key may do everything else', () => {
    const forPeople = OPERATIONS.filter(({ access }) => !access.key).map(({ operationId }) => operationId);
    expect(forPeople.toSorted()).toEqual([
      'approvePayout',
      'deleteOtherSessions',
      'deleteOwnSession',
      'listOwnSessions',
      'rejectPayout',
      'reviewPayoutSignals',
    ]);
  });

  test('and names every role and every capability that an operation needs', async () => {
    const { schemas } = (await world.api.get('/v2/openapi.json')).body.components;
    expect(schemas.Role.enum).toEqual(EVERYBODY);
    const needed = new Set(OPERATIONS.map(({ access }) => access.capability));
    expect([...needed].toSorted()).toEqual(schemas.Capability.enum.toSorted());
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
        expect([{ apiKey: [] }, { session: [] }, { session: [], csrfToken: [] }]).toContainEqual(security[0]);
        for (const way of security)
          for (const [name, values] of Object.entries(way)) {
            expect(Object.keys(schemes)).toContain(name);
            if (name === 'oauth2') for (const scope of values) expect(Object.keys(scopes)).toContain(scope);
          }
      }
    }
  });
});
