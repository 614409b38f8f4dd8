import { beforeAll, describe, expect, test } from 'vitest';
import {
  askTokens,
  authorizePath,
  browserOf,
  codeFor,
  exchange,
  type Person,
  pkce,
  type Registered,
  register,
  signedIn,
  tokensFor,
} from '../oauth/support.ts';
import { useWorld } from '../support/world.ts';

const PAGE = 'https://app.example';
const METADATA = '/.well-known/oauth-authorization-server';

const world = useWorld();
let owner: Person;
let app: Registered;
let token: string;
beforeAll(async () => {
  owner = await signedIn(world);
  app = await register(world.api, {
    kind: 'public',
    redirect_uris: [
      `${PAGE}/callback`,
      'http://127.0.0.1/done',
      'http://[::1]:4000/done?x=1',
      'http://localhost:5000/done',
    ],
  });
  await register(world.api, {
    redirect_uris: ['https://server.example/callback', 'http://127.0.0.1:9/server'],
  });
  token = (await tokensFor(world, owner, app, { redirect_uri: `${PAGE}/callback` })).access_token;
});

const ask = (method: string, path: string, headers: Record<string, string>) =>
  fetch(world.url + path, { method, headers });
const preflight = (path: string, origin: string) =>
  ask('OPTIONS', path, {
    origin,
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'authorization',
  });
const allowed = (answer: Response) => answer.headers.get('access-control-allow-origin');

describe('the page of a public application', () => {
  test.each(['/v2/affiliates/payouts', '/v2/nothing', '/oauth/token', '/oauth/revoke'])(
    'may send a preflight before it calls %s',
    async (path) => {
      const answer = await preflight(path, PAGE);
      expect(answer.status).toBe(204);
      expect(allowed(answer)).toBe(PAGE);
      expect(answer.headers.get('access-control-allow-methods')).toMatch(/GET.*POST.*PUT.*PATCH.*DELETE/);
      expect(answer.headers.get('access-control-allow-headers')).toMatch(
        /Authorization.*Idempotency-Key.*If-Match/,
      );
      expect(answer.headers.get('vary')).toMatch(/^Origin\b/);
    },
  );

  test('reads responses and refusals with its token, and the headers a program needs', async () => {
    for (const [path, status] of [
      ['/v2/affiliates/payouts', 200],
      ['/v2/affiliates/payouts/current', 404],
      ['/v2/api-keys', 403],
    ] as const) {
      const answer = await ask('GET', path, { origin: PAGE, authorization: `Bearer ${token}` });
      expect(answer.status).toBe(status);
      expect(allowed(answer)).toBe(PAGE);
      expect(answer.headers.get('access-control-expose-headers')).toMatch(
        /Payhook-Reason.*ETag.*Link.*Payhook-Dropped-Headers.*Payhook-File-Set/,
      );
    }
    const ended = await ask('GET', '/v2/account', { origin: PAGE, authorization: `Bearer ${token}x` });
    expect([ended.status, allowed(ended)]).toEqual([401, PAGE]);
  });

  test('reads the responses of the token endpoint', async () => {
    const answer = await fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      headers: { origin: PAGE },
      body: new URLSearchParams({ client_id: app.id, grant_type: 'refresh_token', refresh_token: 'x' }),
    });
    expect([answer.status, allowed(answer)]).toEqual([400, PAGE]);
  });
});

test('anyone can read the metadata', async () => {
  const answer = await ask('GET', METADATA, { origin: 'https://anybody.example' });
  expect([answer.status, allowed(answer)]).toEqual([200, '*']);
});

describe('a page of another origin', () => {
  const ORIGINS = [
    'https://app.example.evil.example',
    'https://evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://server.example',
    'http://127.0.0.1.evil.example',
    'http://localhost:5001',
    'http://127.0.0.1:99999',
    'null',
    'https://app.example/callback',
    `https://${'a'.repeat(5000)}.example`,
  ];
  test.each(ORIGINS)('is not allowed: %s', async (origin) => {
    expect(allowed(await preflight('/v2/account', origin))).toBeNull();
    expect(allowed(await preflight('/oauth/token', origin))).toBeNull();
    const answer = await ask('GET', '/v2/account', { origin, authorization: `Bearer ${token}` });
    expect([answer.status, allowed(answer)]).toEqual([200, null]);
  });

  test('cannot read pages for people', async () => {
    for (const path of ['/sign-in', '/oauth/authorize', '/account/switch', '/docs']) {
      expect(allowed(await preflight(path, PAGE))).toBeNull();
      expect(allowed(await ask('GET', path, { origin: PAGE }))).toBeNull();
    }
  });
});

test('cannot use a cookie or an API key', async () => {
  for (const headers of [
    { cookie: `payhook_session=${owner.cookie}` },
    { authorization: `Bearer ${world.api.key}` },
  ]) {
    const answer = await ask('GET', '/v2/account', { origin: PAGE, ...headers });
    expect([answer.status, allowed(answer)]).toEqual([200, null]);
  }
  const both = await ask('GET', '/v2/account', {
    origin: PAGE,
    cookie: `payhook_session=${owner.cookie}`,
    authorization: `Bearer ${token}`,
  });
  for (const answer of [both, await preflight('/v2/account', PAGE), await preflight('/oauth/token', PAGE)]) {
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  }
});

test('cannot use a token of another application, nor a token of a confidential one', async () => {
  const [other, confidential] = await Promise.all([
    register(world.api, { kind: 'public', redirect_uris: ['https://other.example/'] }),
    register(world.api, { redirect_uris: [`${PAGE}/callback`] }),
  ]);
  const others = await tokensFor(world, owner, other, { redirect_uri: 'https://other.example/' });
  const servers = await tokensFor(world, owner, confidential, { redirect_uri: `${PAGE}/callback` });
  const ask401 = { origin: PAGE, authorization: `Bearer ${others.access_token}x` };
  for (const [bearer, origin, may] of [
    [token, PAGE, true],
    [token, 'http://127.0.0.1:51234', true],
    [token, 'https://other.example', false],
    [others.access_token, 'https://other.example', true],
    [others.access_token, PAGE, false],
    [servers.access_token, PAGE, false],
  ] as const) {
    // successes and refusals
    for (const path of ['/v2/account', '/v2/api-keys', '/v2/affiliates/payouts/current']) {
      const answer = await ask('GET', path, { origin, authorization: `Bearer ${bearer}` });
      expect(answer.status).toBeLessThan(500);
      expect([path, origin, allowed(answer)]).toEqual([path, origin, may ? origin : null]);
      expect(answer.headers.has('access-control-expose-headers')).toBe(may);
      expect(answer.headers.get('vary')).toMatch(/^Origin\b/);
    }
  }
  const ended = await ask('GET', '/v2/account', ask401);
  expect([ended.status, allowed(ended)]).toEqual([401, PAGE]);
});

test('loses access when its application is deleted', async () => {
  const short = await register(world.api, { kind: 'public', redirect_uris: ['https://short.example/'] });
  expect(allowed(await preflight('/v2/account', 'https://short.example'))).toBe('https://short.example');
  await world.api.delete(`/v2/oauth-applications/${short.id}`);
  expect(allowed(await preflight('/v2/account', 'https://short.example'))).toBeNull();
});

describe('a redirect URI on a loopback address takes any port (RFC 8252 section 7.3)', () => {
  const { verifier, challenge } = pkce();
  const params = { code_challenge: challenge, code_challenge_method: 'S256' };

  test.each(['http://127.0.0.1:51234/done', 'http://127.0.0.1/done', 'http://[::1]:1/done?x=1'])(
    'the code is exchanged with the same one: %s',
    async (uri) => {
      const code = await codeFor(world, owner, app, { ...params, redirect_uri: uri });
      const answer = await exchange(world, app, code, { redirect_uri: uri, code_verifier: verifier });
      expect(answer.status).toBe(200);
      expect(allowed(await preflight('/v2/account', new URL(uri).origin))).toBe(new URL(uri).origin);
    },
  );

  test('another port at the exchange is refused', async () => {
    const uri = 'http://127.0.0.1:51234/done';
    const code = await codeFor(world, owner, app, { ...params, redirect_uri: uri });
    const answer = await askTokens(world, app, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: 'http://127.0.0.1:51235/done',
      code_verifier: verifier,
    });
    expect(answer.body.error).toBe('invalid_grant');
  });

  test.each([
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:51234/done?x=1',
    'https://127.0.0.1:51234/done',
    'http://127.0.0.2:51234/done',
    'http://127.0.0.1:0/done',
    'http://127.0.0.1:65536/done',
    'http://127.0.0.1:51234@evil.example/done',
    'http://127.0.0.1.evil.example/done',
    'http://127.0.0.1:5123x/done',
    'http://localhost:5001/done',
    'http://[::1]:4001/done',
    'http://[::2]:4000/done?x=1',
  ])('nothing else of it may differ: %s', async (uri) => {
    const page = await browserOf(world, owner).open(authorizePath(app, { ...params, redirect_uri: uri }));
    expect([page.status, page.location]).toEqual([400, null]);
  });

  test('a confidential application has no such freedom', async () => {
    const server = await register(world.api, { redirect_uris: ['http://127.0.0.1:9/server'] });
    const uri = 'http://127.0.0.1:10/server';
    const page = await browserOf(world, owner).open(authorizePath(server, { redirect_uri: uri }));
    expect([page.status, page.location]).toEqual([400, null]);
  });
});
