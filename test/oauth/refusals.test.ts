import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { useWorld } from '../support/world.ts';
import {
  askTokens,
  authorizePath,
  browserOf,
  CALLBACK,
  codeFor,
  exchange,
  type Person,
  pkce,
  postForm,
  type Registered,
  refresh,
  register,
  signedIn,
  tokensFor,
} from './support.ts';

const world = useWorld();
let owner: Person;
let confidential: Registered;
let mobile: Registered;
let other: Registered;
let idle: Registered;
beforeAll(async () => {
  owner = await signedIn(world);
  confidential = await register(world.api, { scopes: ['affiliates', 'webhooks'] });
  mobile = await register(world.api, { kind: 'public' });
  other = await register(world.api, { name: 'Other' });
  idle = await register(world.api, { name: 'Idle', scopes: ['orders', 'users', 'affiliates'] });
});
// it throws when an error was logged: every refusal here is expected

const { challenge } = pkce();
const S256 = { code_challenge: challenge, code_challenge_method: 'S256' };
const nobody = `app_${'0192f8e5'.repeat(4)}`;

describe('the authorization endpoint shows a page, and redirects nobody,', () => {
  const rows: [string, (path: string) => string][] = [
    ['without a client_id', (path) => path.replace(/&client_id=\w+/, '')],
    ['with an empty client_id', (path) => path.replace(/client_id=\w+/, 'client_id=')],
    ['with a client_id nobody has', (path) => path.replace(/client_id=\w+/, `client_id=${nobody}`)],
    ['with a client_id that is none', (path) => path.replace(/client_id=\w+/, 'client_id=%00%ff')],
    ['with two client_ids', (path) => `${path}&client_id=${nobody}`],
    ['without a redirect_uri', (path) => path.replace(/&redirect_uri=[^&]+/, '')],
    ['with two redirect_uris', (path) => `${path}&redirect_uri=https%3A%2F%2Fevil.example`],
    ['with the same redirect_uri twice', (path) => `${path}&redirect_uri=${encodeURIComponent(CALLBACK)}`],
    ...[
      'https://evil.example/callback',
      `${CALLBACK}/`,
      `${CALLBACK}?x=1`,
      `${CALLBACK}#x`,
      CALLBACK.toUpperCase(),
      'https://app.example:443/callback',
      'https://app.example/./callback',
      'https://app.example@evil.example/callback',
      'javascript:alert(1)',
      '//evil.example',
      ' ' + CALLBACK,
    ].map((uri): [string, (path: string) => string] => [
      `with the redirect_uri ${uri}`,
      (path) => path.replace(/redirect_uri=[^&]+/, `redirect_uri=${encodeURIComponent(uri)}`),
    ]),
  ];
  test.each(rows)('%s', async (_, change) => {
    const path = change(authorizePath(confidential, { state: 'x' }));
    for (const person of [owner, undefined]) {
      const page = await browserOf(world, person).open(path);
      expect([page.status, page.location]).toEqual([400, null]);
      expect(page.headers.get('content-type')).toContain('text/html');
    }
  });

  test('for an application that was deleted', async () => {
    const gone = await register(world.api);
    await world.api.delete(`/v2/oauth-applications/${gone.id}`);
    const page = await browserOf(world, owner).open(authorizePath(gone));
    expect([page.status, page.location]).toEqual([400, null]);
  });
});

describe('the authorization endpoint redirects to the application with state and iss:', () => {
  const rows: [string, string, () => string, string?][] = [
    ['no response_type', 'invalid_request', () => authorizePath(confidential, { response_type: undefined })],
    [
      'the implicit flow',
      'unsupported_response_type',
      () => authorizePath(confidential, { response_type: 'token' }),
    ],
    [
      'a hybrid flow',
      'unsupported_response_type',
      () => authorizePath(confidential, { response_type: 'code token' }),
    ],
    [
      'response_mode=fragment',
      'invalid_request',
      () => authorizePath(confidential, { response_mode: 'fragment' }),
    ],
    [
      'response_mode=form_post',
      'invalid_request',
      () => authorizePath(confidential, { response_mode: 'form_post' }),
    ],
    [
      'two scopes',
      'invalid_request',
      () => `${authorizePath(confidential, { scope: 'webhooks' })}&scope=affiliates`,
    ],
    ['an unknown parameter, twice', 'invalid_request', () => `${authorizePath(confidential)}&x=1&x=2`],
    [
      'an unknown scope',
      'invalid_scope',
      () => authorizePath(confidential, { scope: 'affiliates nonsense' }),
    ],
    [
      'a scope named like a method',
      'invalid_scope',
      () => authorizePath(confidential, { scope: 'constructor' }),
    ],
    [
      'scopes with a comma between',
      'invalid_scope',
      () => authorizePath(confidential, { scope: 'affiliates,webhooks' }),
    ],
    ['a scope that is a space', 'invalid_scope', () => authorizePath(confidential, { scope: ' ' })],
    [
      'only scopes it has not registered',
      'invalid_scope',
      () => authorizePath(confidential, { scope: 'users' }),
    ],
    [
      'only scopes that grant nothing here',
      'invalid_scope',
      () => authorizePath(idle, { scope: 'orders users' }),
    ],
    ['no PKCE of a public application', 'invalid_request', () => authorizePath(mobile)],
    [
      'plain PKCE',
      'invalid_request',
      () => authorizePath(mobile, { ...S256, code_challenge_method: 'plain' }),
    ],
    ['PKCE without a method', 'invalid_request', () => authorizePath(mobile, { code_challenge: challenge })],
    [
      'plain PKCE of a confidential one',
      'invalid_request',
      () => authorizePath(confidential, { ...S256, code_challenge_method: 'plain' }),
    ],
    [
      's256 in small letters',
      'invalid_request',
      () => authorizePath(mobile, { ...S256, code_challenge_method: 's256' }),
    ],
    [
      'a method without a challenge',
      'invalid_request',
      () => authorizePath(confidential, { code_challenge_method: 'S256' }),
    ],
    [
      'a challenge of 42 characters',
      'invalid_request',
      () => authorizePath(mobile, { ...S256, code_challenge: challenge.slice(1) }),
    ],
    [
      'a challenge of 44 characters',
      'invalid_request',
      () => authorizePath(mobile, { ...S256, code_challenge: `${challenge}x` }),
    ],
    [
      'a padded challenge',
      'invalid_request',
      () => authorizePath(mobile, { ...S256, code_challenge: `${challenge.slice(1)}=` }),
    ],
  ];
  test.each(rows)('%s: %s', async (_, error, path) => {
    const { status, location } = await browserOf(world, owner).open(`${path()}&state=a%20b`);
    expect(status).toBe(303);
    expect(`${location?.origin}${location?.pathname}`).toBe(CALLBACK);
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'a b',
      iss: world.url,
    });
  });

  test('two states: neither is returned', async () => {
    const path = `${authorizePath(confidential)}&state=a&state=b`;
    const { location } = await browserOf(world, owner).open(path);
    expect(location?.searchParams.get('error')).toBe('invalid_request');
    expect(location?.searchParams.has('state')).toBe(false);
  });

  test('nothing before sign-in (RFC 9700 section 4.11.2)', async () => {
    const { location } = await browserOf(world).open(authorizePath(mobile));
    expect(location?.pathname).toBe('/sign-in');
  });

  test('the form of the consent page is checked like the request', async () => {
    const browser = browserOf(world, owner);
    const page = await browser.open(authorizePath(confidential, { state: 's' }));
    const changed = (name: string, value: string) =>
      browser.post(page.action, [
        ...page.hidden.filter((field) => field[0] !== name),
        [name, value],
        ['granted', 'affiliates'],
        ['decision', 'allow'],
      ]);
    const elsewhere = await changed('redirect_uri', 'https://evil.example/');
    expect([elsewhere.status, elsewhere.location]).toEqual([400, null]);
    expect((await changed('client_id', nobody)).status).toBe(400);
    expect((await changed('scope', 'nonsense')).location?.searchParams.get('error')).toBe('invalid_scope');
    const twice = await browser.post(page.action, [...page.hidden, ...page.hidden]);
    expect([twice.status, twice.location]).toEqual([400, null]);
  });
});

const invalid = (error: string, status = 400) => ({ status, error });

describe('the token endpoint refuses', () => {
  const refusalOf = async (
    answer: Promise<{ status: number; body: { error: string }; headers: Headers }>,
  ) => {
    const { status, body, headers } = await answer;
    expect(Object.keys(body).sort()).toEqual(['error', 'error_description']);
    expect(headers.get('content-type')).toContain('application/json');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('www-authenticate')).toBe(status === 401);
    return { status, error: body.error };
  };

  test.each([
    ['no grant_type', {}, invalid('invalid_request')],
    ['an empty grant_type', { grant_type: '' }, invalid('invalid_request')],
    ['an unknown grant_type', { grant_type: 'password' }, invalid('unsupported_grant_type')],
    ['client_credentials', { grant_type: 'client_credentials' }, invalid('unsupported_grant_type')],
    ['a grant_type every object has', { grant_type: 'constructor' }, invalid('unsupported_grant_type')],
    ['__proto__', { grant_type: '__proto__' }, invalid('unsupported_grant_type')],
    ['no code', { grant_type: 'authorization_code', redirect_uri: CALLBACK }, invalid('invalid_request')],
    [
      'no redirect_uri',
      { grant_type: 'authorization_code', code: newSecret('phc_', 0) },
      invalid('invalid_request'),
    ],
    [
      'an unknown code',
      { grant_type: 'authorization_code', code: newSecret('phc_', 0), redirect_uri: CALLBACK },
      invalid('invalid_grant'),
    ],
    [
      'a malformed code',
      { grant_type: 'authorization_code', code: '\0\u{fffd}', redirect_uri: CALLBACK },
      invalid('invalid_grant'),
    ],
    [
      'a code of 15 kB',
      { grant_type: 'authorization_code', code: 'x'.repeat(15_000), redirect_uri: CALLBACK },
      invalid('invalid_grant'),
    ],
    [
      'a form of 17 kB',
      { grant_type: 'authorization_code', code: 'x'.repeat(17_000), redirect_uri: CALLBACK },
      invalid('invalid_request'),
    ],
    ['no refresh_token', { grant_type: 'refresh_token' }, invalid('invalid_request')],
    [
      'a refresh_token nobody made',
      { grant_type: 'refresh_token', refresh_token: newSecret('phr_', 0) },
      invalid('invalid_grant'),
    ],
    [
      'a refresh_token that is none',
      { grant_type: 'refresh_token', refresh_token: '%00' },
      invalid('invalid_grant'),
    ],
  ] as const)('%s', async (_, params, expected) => {
    expect(await refusalOf(askTokens(world, confidential, params))).toEqual(expected);
  });

  test('tokens of the wrong kind', async () => {
    const tokens = await tokensFor(world, owner, confidential);
    expect(await refusalOf(refresh(world, confidential, tokens.access_token))).toEqual(
      invalid('invalid_grant'),
    );
    expect(await refusalOf(exchange(world, confidential, tokens.refresh_token))).toEqual(
      invalid('invalid_grant'),
    );
    const api = await fetch(`${world.url}/v2/account`, {
      headers: { authorization: `Bearer ${tokens.refresh_token}` },
    });
    expect(api.status).toBe(401);
  });

  test('a repeated parameter', async () => {
    for (const [name, value] of [
      ['grant_type', 'refresh_token'],
      ['client_id', confidential.id],
      ['client_secret', confidential.client_secret],
      ['code', 'x'],
      ['granted', 'x'],
      ['x', 'y'],
    ] as const) {
      const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: newSecret('phr_', 0) });
      form.set('client_id', confidential.id);
      form.set('client_secret', confidential.client_secret);
      form.delete(name);
      form.append(name, value);
      form.append(name, value);
      const answer = refusalOf(postForm(world.url, '/oauth/token', form));
      if (name !== 'granted') expect(await answer, name).toEqual(invalid('invalid_request'));
      else expect(await answer, name).toEqual(invalid('invalid_grant'));
    }
  });

  const post = (body: string | Uint8Array<ArrayBuffer> | undefined, type?: string, path = '/oauth/token') =>
    fetch(world.url + path, {
      method: 'POST',
      ...(body === undefined ? {} : { body }),
      headers: type === undefined ? {} : { 'content-type': type },
    }).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as { error: string },
    }));

  test.each(['/oauth/token', '/oauth/revoke'])('a body that is no form, at %s', async (path) => {
    const params = {
      grant_type: 'refresh_token',
      client_id: confidential.id,
      client_secret: confidential.client_secret,
      refresh_token: newSecret('phr_', 0),
      token: newSecret('phr_', 0),
    };
    const form = String(new URLSearchParams(params));
    const noise = Uint8Array.from({ length: 3000 }, (_, index) => (index * 7919) % 256);
    for (const [body, type] of [
      [JSON.stringify(params), 'application/json'],
      [form, 'application/json'],
      [form, 'text/plain'],
      [form, 'text/csv'],
      [form, 'application/x-www-form-urlencodedx'],
      [form, 'nonsense'],
      ['--x--', 'multipart/form-data; boundary=x'],
      [noise, 'application/octet-stream'],
      [noise, 'application/json'],
      [undefined, undefined],
      ['', 'application/x-www-form-urlencoded'],
    ] as const) {
      const { status, error } = await refusalOf(post(body, type, path));
      const isEmptyForm = body === '';
      expect([status, error], `${type}`).toEqual(
        isEmptyForm ? [401, 'invalid_client'] : [400, 'invalid_request'],
      );
    }
    const binary = await refusalOf(post(noise, 'application/x-www-form-urlencoded', path));
    expect(binary.status).toBeLessThan(500);
    const broken = 'client_id=%&client_secret=%zz&grant_type=%ff%fe&token=%00';
    expect(await refusalOf(post(broken, 'application/x-www-form-urlencoded', path))).toEqual(
      invalid('invalid_client', 401),
    );
    const large = `${form}&x=${'x'.repeat(1 << 16)}`;
    expect(await refusalOf(post(large, 'application/x-www-form-urlencoded', path))).toEqual(
      invalid('invalid_request'),
    );
  });

  const basic = (id: string, secret: string) =>
    `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
  const attempt = (params: Record<string, string>, authorization?: string) =>
    refusalOf(
      postForm(
        world.url,
        '/oauth/token',
        { grant_type: 'refresh_token', refresh_token: newSecret('phr_', 0), ...params },
        authorization === undefined ? {} : { authorization },
      ),
    );

  test('an application that does not authenticate gets 401 with a challenge', async () => {
    const { id, client_secret } = confidential;
    const unauthorized = invalid('invalid_client', 401);
    for (const answer of [
      attempt({}),
      attempt({ client_id: id }),
      attempt({ client_id: id, client_secret: '' }),
      attempt({ client_id: id, client_secret: newSecret('phs_', 0) }),
      attempt({ client_id: id, client_secret: other.client_secret }),
      attempt({ client_id: nobody, client_secret }),
      attempt({ client_id: nobody }),
      attempt({ client_id: id.toUpperCase(), client_secret }),
      attempt({ client_secret }),
      attempt({ client_id: mobile.id, client_secret }),
      attempt({}, basic(id, newSecret('phs_', 0))),
      attempt({}, basic(id, '')),
      attempt({}, basic(mobile.id, client_secret)),
      attempt({}, 'Basic'),
      attempt({}, 'Basic %%%'),
      attempt({}, `Basic ${Buffer.from('no colon').toString('base64')}`),
      attempt({}, `Basic ${Buffer.from('%zz:%').toString('base64')}`),
      attempt({}, `Basic ${Buffer.from([0xff, 0x3a, 0xfe]).toString('base64')}`),
      attempt({ client_id: mobile.id }, `Bearer ${newSecret('pha_', 0)}`),
      attempt({ client_id: id }, 'Digest x'),
    ]) {
      expect(await answer).toEqual(unauthorized);
    }
  });

  test('two methods of authentication at once', async () => {
    const { id, client_secret } = confidential;
    const header = basic(id, client_secret);
    expect(await attempt({ client_id: id, client_secret }, header)).toEqual(invalid('invalid_request'));
    expect(await attempt({ client_secret }, header)).toEqual(invalid('invalid_request'));
    expect(await attempt({ client_id: mobile.id }, header)).toEqual(invalid('invalid_request'));
    // the id alone next to the header is no second method
    expect(await attempt({ client_id: id }, header)).toEqual(invalid('invalid_grant'));
  });

  test("another application's code, refresh token and revocation", async () => {
    const code = await codeFor(world, owner, confidential);
    expect(await refusalOf(exchange(world, other, code))).toEqual(invalid('invalid_grant'));
    // another application has it: it is used up
    expect(await refusalOf(exchange(world, confidential, code))).toEqual(invalid('invalid_grant'));

    const tokens = await tokensFor(world, owner, confidential);
    expect(await refusalOf(refresh(world, other, tokens.refresh_token))).toEqual(invalid('invalid_grant'));
    for (const token of [tokens.refresh_token, tokens.access_token]) {
      const revoked = postForm(world.url, '/oauth/revoke', { client_id: mobile.id, token });
      expect(await refusalOf(revoked)).toEqual(invalid('invalid_grant'));
    }
    expect((await refresh(world, confidential, tokens.refresh_token)).status).toBe(200);
  });

  test('a used code of another application, without ending its grant', async () => {
    const code = await codeFor(world, owner, confidential);
    const { body } = await exchange(world, confidential, code);
    expect(await refusalOf(exchange(world, other, code))).toEqual(invalid('invalid_grant'));
    expect((await refresh(world, confidential, body.refresh_token)).status).toBe(200);
  });

  test('an old secret, as soon as there is a new one', async () => {
    const application = await register(world.api);
    const { refresh_token } = await tokensFor(world, owner, application);
    const rotated = await world.api.post(`/v2/oauth-applications/${application.id}/rotate-secret`);
    expect(await refusalOf(refresh(world, application, refresh_token))).toEqual(
      invalid('invalid_client', 401),
    );
    expect((await refresh(world, rotated.body, refresh_token)).status).toBe(200);
  });

  test('a revocation without a token; an unknown one counts as revoked', async () => {
    const revoke = (params: Record<string, string>) =>
      postForm(world.url, '/oauth/revoke', { client_id: mobile.id, ...params });
    expect(await refusalOf(revoke({}))).toEqual(invalid('invalid_request'));
    for (const token of ['x', newSecret('pha_', 0), newSecret('phr_', 0), newSecret('phc_', 0), '\0']) {
      const answer = await revoke({ token, token_type_hint: 'nonsense' });
      expect([answer.status, answer.text]).toEqual([200, '']);
    }
  });
});

test.each([
  ['GET', '/oauth/token'],
  ['PUT', '/oauth/token'],
  ['DELETE', '/oauth/revoke'],
  ['GET', '/oauth/revoke'],
  ['PUT', '/oauth/authorize'],
  ['POST', '/.well-known/oauth-authorization-server'],
])('%s %s does nothing', async (method, path) => {
  const response = await fetch(world.url + path, { method });
  expect([404, 405]).toContain(response.status);
});

test('a form of the authorization endpoint that is too large, or none, gets a page', async () => {
  for (const [body, type] of [
    [`client_id=${'x'.repeat(1 << 16)}`, 'application/x-www-form-urlencoded'],
    ['{}', 'application/json'],
    ['x', 'image/png'],
  ] as const) {
    const response = await fetch(`${world.url}/oauth/authorize`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, cookie: `payhook_session=${owner.cookie}` },
    });
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toContain('text/html');
  }
});
