import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES, OPENING_SCOPES, openingOf, type Scope } from '../../src/contract/scopes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { hashSecret } from '../../src/kernel/secrets.ts';
import { apiOf } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  authorizePath,
  browserOf,
  CALLBACK,
  codeFor,
  exchange,
  fetchAt,
  type Person,
  pkce,
  postForm,
  type Registered,
  refresh,
  register,
  signedIn,
  tokensFor,
} from './support.ts';

const PAYOUTS = '/v2/affiliates/payouts';

const later = <Result>(ms: number, work: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve) => setTimeout(resolve, ms)).then(work);

const world = useWorld();
let owner: Person;
let confidential: Registered;
let mobile: Registered;
beforeAll(async () => {
  owner = await signedIn(world);
  confidential = await register(world.api);
  mobile = await register(world.api, { kind: 'public', name: 'Pocket' });
});

/** The response to a token's request for the list of payouts. */
const statusOf = async (token: string, path = PAYOUTS) => (await apiOf(world.url, token).get(path)).status;

const grantsOf = async (filter = '') =>
  (await world.api.get(`/v2/oauth-grants?sort=-created_at${filter}`)).body.data;

/** Configures openid-client from the metadata of the server. */
function configure(of: World, { id, client_secret }: Registered): Promise<openid.Configuration> {
  return openid.discovery(new URL(of.url), id, client_secret ?? undefined, undefined, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

describe('openid-client', () => {
  test.each([
    { kind: 'confidential', rotates: false },
    { kind: 'public', rotates: true },
  ])('a $kind application signs a merchant in, refreshes and revokes', async ({ kind, rotates }) => {
    const config = await configure(world, kind === 'public' ? mobile : confidential);
    const [pkceCodeVerifier, expectedState] = [openid.randomPKCECodeVerifier(), openid.randomState()];
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'affiliates webhooks',
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const browser = browserOf(world, owner);
    const answered = await browser.send(await browser.open(url), {});
    expect(answered.status).toBe(303);
    const callback = answered.location as URL;
    expect(callback.origin + callback.pathname).toBe(CALLBACK);
    const tokens = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'affiliates webhooks' });
    expect(await statusOf(tokens.access_token)).toBe(200);

    const again = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(again.access_token).not.toBe(tokens.access_token);
    expect(again.refresh_token !== tokens.refresh_token).toBe(rotates);
    expect(await statusOf(again.access_token)).toBe(200);

    await openid.tokenRevocation(config, again.refresh_token ?? '');
    expect([await statusOf(again.access_token), await statusOf(tokens.access_token)]).toEqual([401, 401]);
    const refused = openid.refreshTokenGrant(config, again.refresh_token ?? '');
    await expect(refused).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  test('the plain code flow of a confidential application, with its secret in the header', async () => {
    const issuer = new URL(world.url);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    expect(server).toEqual({
      issuer: world.url,
      authorization_endpoint: `${world.url}/oauth/authorize`,
      token_endpoint: `${world.url}/oauth/token`,
      revocation_endpoint: `${world.url}/oauth/revoke`,
      scopes_supported: expect.arrayContaining(['affiliates', 'subscription_metered_billing']),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(server.scopes_supported).toHaveLength(16);

    const client = { client_id: confidential.id };
    const secret = oauth.ClientSecretBasic(confidential.client_secret);
    const browser = browserOf(world, owner);
    const page = await browser.open(authorizePath(confidential, { state: 'a b&c', scope: 'affiliates' }));
    const { location } = await browser.send(page, {});
    const params = oauth.validateAuthResponse(server, client, location as URL, 'a b&c');
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        secret,
        params,
        CALLBACK,
        oauth.nopkce,
        insecure,
      ),
    );
    expect(await statusOf(tokens.access_token)).toBe(200);

    const revoke = (token: string) =>
      oauth.revocationRequest(server, client, secret, token, insecure).then(oauth.processRevocationResponse);
    await revoke(tokens.access_token);
    expect(await statusOf(tokens.access_token)).toBe(401);
    // the access token only: the grant stays
    const again = await refresh(world, confidential, tokens.refresh_token ?? '');
    expect(again.status).toBe(200);
    await revoke(tokens.access_token);
    await revoke('anything at all');
    expect(await statusOf(again.body.access_token)).toBe(200);
  });
});

describe('the merchant', () => {
  test('who is not signed in returns to the same request after signing in', async () => {
    const path = authorizePath(confidential, { state: 'kept', scope: 'affiliates' });
    const { status, location, headers } = await browserOf(world).open(path);
    expect([status, location?.pathname, location?.origin]).toEqual([303, '/sign-in', world.url]);
    expect(location?.searchParams.get('next')).toBe(path);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each(['signed in', 'not signed in'])(
    'sees an error for a request too long to be kept during sign-in: %s',
    async (state) => {
      const person = state === 'signed in' ? owner : undefined;
      const pathOf = (length: number) => authorizePath(confidential, { state: '' }).padEnd(length, 'x');
      const fits = await browserOf(world, person).open(pathOf(8000));
      if (person) expect(fits.status).toBe(200);
      else expect(fits.location?.searchParams.get('next')).toBe(pathOf(8000));
      const page = await browserOf(world, person).open(pathOf(8001));
      expect([page.status, page.location]).toEqual([400, null]);
      expect(page.text).toContain('more than 8000 characters');
    },
  );

  test('whose session ends before the form is sent signs in and decides again', async () => {
    const page = await browserOf(world, owner).open(authorizePath(confidential, { state: 'kept' }));
    const { status, location } = await browserOf(world).send(page, {});
    const next = new URL(location?.searchParams.get('next') ?? '', world.url);
    expect([status, next.pathname, next.searchParams.get('state')]).toEqual([
      303,
      '/oauth/authorize',
      'kept',
    ]);
    expect(next.searchParams.has('csrf')).toBe(false);
  });

  test('sees the application and the requested scopes, on a page that cannot be framed and runs no script', async () => {
    const page = await browserOf(world, owner).open(authorizePath(confidential));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Till &amp; Co');
    expect(page.text).toContain('app.example');
    expect(page.text).not.toContain('<script');
    expect(page.boxes).toEqual(['affiliates', 'webhooks', 'account']);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' https://app.example");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    // an application that opened it in a separate window gets that window back
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['com.example.app:/callback', 'com.example.app:'],
    // the application chooses the text in place of the host, which is no site
    ['com.example.app://payhook.example/callback', 'com.example.app:'],
    ['http://127.0.0.1:8000/callback', '127.0.0.1:8000'],
  ])('sees where %s leads: %s', async (redirect_uri, place) => {
    const mobile = await register(world.api, { kind: 'public', redirect_uris: [redirect_uri] });
    const proof = { code_challenge: pkce().challenge, code_challenge_method: 'S256' };
    const page = await browserOf(world, owner).open(authorizePath(mobile, { redirect_uri, ...proof }));
    expect(page.text).toContain(`You will be sent to <code>${place}</code>`);
  });

  test('reads what the scopes allow, not their names', async () => {
    const { text } = await browserOf(world, owner).open(authorizePath(confidential));
    for (const scope of ['affiliates', 'webhooks', 'account'] as const) {
      expect(text).toContain(`<span>${openingOf(scope)?.may}<span class="hint">`);
    }
    expect(text).toContain('Make and complete payouts');
  });

  test('is not offered scopes that grant nothing, and the application learns which it got', async () => {
    const every = await register(world.api, { scopes: [...ALL_SCOPES] });
    const page = await browserOf(world, owner).open(
      authorizePath(every, { scope: 'orders affiliates users' }),
    );
    expect(page.boxes).toEqual(['affiliates']);
    const { location } = await browserOf(world, owner).send(page, { granted: ['affiliates', 'orders'] });
    const { body } = await exchange(world, every, location?.searchParams.get('code') ?? '');
    expect(body.scope).toBe('affiliates');
    const whole = await browserOf(world, owner).open(authorizePath(every));
    expect([...whole.boxes].sort()).toEqual([...OPENING_SCOPES].sort());
  });

  test('is offered exactly the scopes that open something', () => {
    const used = new Set(ROUTES.map(({ scope }) => scope).filter((scope) => ALL_SCOPES.has(scope as Scope)));
    expect([...OPENING_SCOPES].sort()).toEqual([...used].sort());
  });

  test('sees a stored name unchanged even if it would be refused today', async () => {
    const old = await register(world.api, { name: 'Till' });
    await world.query('update oauth_applications set name = $1 where id = $2', [
      'Till\u202Egnp.lave',
      uuidOf('app', old.id) ?? '',
    ]);
    const { text } = await browserOf(world, owner).open(authorizePath(old));
    expect(text).toContain('Till\uFFFDgnp.lave wants access');
    expect(text).not.toContain('\u202E');
  });

  test('grants some of the scopes; the token can do no more', async () => {
    const browser = browserOf(world, owner);
    const page = await browser.open(authorizePath(confidential, { scope: 'affiliates webhooks' }));
    expect(page.boxes).toEqual(['affiliates', 'webhooks']);
    const { location } = await browser.send(page, { granted: ['webhooks', 'account', 'users'] });
    const { body } = await exchange(world, confidential, location?.searchParams.get('code') ?? '');
    expect(body.scope).toBe('webhooks');
    expect(await statusOf(body.access_token, '/v2/webhook-events/')).toBe(200);
    const refused = await apiOf(world.url, body.access_token).get(PAYOUTS);
    expect([refused.status, refused.reason]).toEqual([403, 'insufficient_scope']);
    expect(refused.body.error.code).toBe('forbidden');
    expect(refused.body.error.message).toContain('affiliates');
    expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope');
  });

  test('grants nothing by a form without a tick, and sees the page again', async () => {
    const browser = browserOf(world, owner);
    const page = await browser.open(authorizePath(confidential));
    const again = await browser.send(page, { granted: [] });
    expect([again.status, again.location]).toEqual([400, null]);
    expect(again.text).toContain('Tick what the application may do');
    expect((await browser.send(again, { granted: ['account'] })).location?.searchParams.get('code')).toMatch(
      /^phc_/,
    );
  });

  test('denies: the application is informed, with state and iss, its own query kept', async () => {
    const redirect_uri = 'https://app.example/back?tenant=7';
    const application = await register(world.api, { redirect_uris: [redirect_uri] });
    const browser = browserOf(world, owner);
    const page = await browser.open(authorizePath(application, { redirect_uri, state: 's&=?' }));
    const { status, location } = await browser.send(page, { decision: 'deny' });
    expect(status).toBe(303);
    expect(location?.href.startsWith(`${redirect_uri}&`)).toBe(true);
    expect(Object.fromEntries(location?.searchParams ?? [])).toMatchObject({
      tenant: '7',
      error: 'access_denied',
      state: 's&=?',
      iss: world.url,
    });
  });

  test.each(['member', 'viewer'] as const)('who is a %s cannot grant, and reads who can', async (role) => {
    const browser = browserOf(world, await signedIn(world, { role }));
    const page = await browser.open(authorizePath(confidential));
    expect([page.status, page.location]).toEqual([403, null]);
    expect(page.text).toContain('owner');
  });

  test.each([
    ['without the token', undefined],
    ['with another token', 'x'.repeat(43)],
  ])('grants nothing by a form %s', async (_, csrf) => {
    const browser = browserOf(world, owner);
    const consent = await browser.open(authorizePath(confidential));
    const fields = consent.hidden.filter(([name]) => name !== 'csrf');
    const page = await browser.post('/oauth/authorize', [
      ...fields,
      ...(csrf ? [['csrf', csrf] as const] : []),
      ['granted', 'account'],
      ['decision', 'allow'],
    ]);
    expect([page.status, page.location]).toEqual([403, null]);
  });

  test('whose owner becomes a member permanently loses their grants, and the error says why', async () => {
    const leaving = await signedIn(world);
    const tokens = await tokensFor(world, leaving, mobile);
    const code = await codeFor(world, leaving, confidential);
    const change = (role: string) => world.api.patch(`/v2/users/${leaving.id}`, { role });
    expect((await change('owner')).status).toBe(200);
    expect(await statusOf(tokens.access_token)).toBe(200);
    expect((await change('member')).status).toBe(200);
    expect(await statusOf(tokens.access_token)).toBe(401);
    const refreshed = await refresh(world, mobile, tokens.refresh_token);
    expect([refreshed.status, refreshed.body.error]).toEqual([400, 'invalid_grant']);
    expect((await exchange(world, confidential, code)).body.error).toBe('invalid_grant');
    const [grant] = await grantsOf('&status=revoked');
    expect(grant).toMatchObject({ user_id: leaving.id, revoked_because: 'user_not_owner' });
    await change('owner');
    expect(await statusOf(tokens.access_token)).toBe(401);
    expect((await refresh(world, mobile, tokens.refresh_token)).status).toBe(400);
    const renewed = await tokensFor(world, leaving, mobile);
    expect(await statusOf(renewed.access_token)).toBe(200);
  });

  test('lists grants and their use, and revokes one: at once on every server', async () => {
    const other = await world.secondServer();
    try {
      const tokens = await tokensFor(world, owner, confidential, { scope: 'account affiliates' });
      const [grant] = await grantsOf();
      expect(grant).toMatchObject({
        object: 'oauth_grant',
        application_id: confidential.id,
        application_name: 'Till & Co',
        user_id: owner.id,
        scopes: ['affiliates', 'account'],
        status: 'active',
      });
      const there = apiOf(other.api.url, tokens.access_token);
      expect((await there.get(PAYOUTS)).status).toBe(200);
      await expect
        .poll(async () => (await world.api.get(`/v2/oauth-grants/${grant.id}`)).body.last_used_at)
        .not.toBeNull();
      expect((await world.api.delete(`/v2/oauth-grants/${grant.id}`)).status).toBe(204);
      expect((await there.get(PAYOUTS)).status).toBe(401);
      expect((await refresh({ url: other.api.url }, confidential, tokens.refresh_token)).status).toBe(400);
      expect((await world.api.delete(`/v2/oauth-grants/${grant.id}`)).status).toBe(404);
      const [revoked] = await grantsOf('&status=revoked');
      expect(revoked).toMatchObject({ id: grant.id, status: 'revoked', revoked_because: 'merchant' });
      expect((await grantsOf('&status=active')).some(({ id }: { id: string }) => id === grant.id)).toBe(
        false,
      );
      const audit = await world.query<{ action: string; actor_kind: string }>(
        'select action, actor_kind from audit_log where target = any($1) order by id',
        [[grant.id]],
      );
      expect(audit).toEqual([
        { action: 'grantOAuthApplication', actor_kind: 'user' },
        { action: 'deleteOAuthGrant', actor_kind: 'key' },
      ]);
    } finally {
      await other.close();
    }
  });

  test('sees no grant whose code was never exchanged', async () => {
    const before = await grantsOf();
    await codeFor(world, owner, confidential);
    expect(await grantsOf()).toEqual(before);
  });

  test('another account grants for itself, and sees only its own', async () => {
    const other = await world.otherAccount();
    const person = await signedIn(world, { api: other });
    const { access_token } = await tokensFor(world, person, confidential);
    const { body } = await other.get('/v2/oauth-grants');
    expect(body.pagination.total).toBe(1);
    expect((await world.api.get(`/v2/oauth-grants/${body.data[0].id}`)).status).toBe(404);
    const { body: account } = await apiOf(world.url, access_token).get('/v2/account');
    expect(account).toEqual((await other.get('/v2/account')).body);
  });
});

describe('a token', () => {
  test('cannot reach anything that could widen it', async () => {
    const { access_token } = await tokensFor(world, owner, confidential);
    const api = apiOf(world.url, access_token);
    const closed = ROUTES.filter(
      ({ scope, needs }) => scope === undefined && needs !== 'approve' && needs !== 'self',
    );
    expect(closed.length).toBeGreaterThan(10);
    for (const { method, path, operation } of closed) {
      const answer = await api.request(method, path.replaceAll(/\{\w+\}/g, 'x'));
      expect([answer.status, answer.reason], operation).toEqual([403, 'full_access_required']);
    }
  });

  test('without affiliates gets nothing about payouts through webhooks', async () => {
    const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', {
      url: 'https://receiver.example/hook',
      status: 'disabled',
    });
    await world.api.post('/v2/affiliates', { email: 'grace@example.com', name_first: 'Grace' });
    const { access_token } = await tokensFor(world, owner, confidential, { scope: 'webhooks' });
    const api = apiOf(world.url, access_token);
    const log = `/v2/webhook-endpoints/${endpoint.id}/events`;
    const { body: list } = await api.get(`${log}?type=affiliate.created`);
    expect(list.data).toHaveLength(1);
    const [event] = list.data;
    expect(JSON.stringify(event)).not.toContain('grace');

    const refused = [
      await api.get(`${log}/${event.id}`),
      await api.post(`${log}/${event.id}/retry`),
      await api.post('/v2/webhook-endpoints', { url: 'https://evil.example/' }),
      await api.patch(`/v2/webhook-endpoints/${endpoint.id}`, { url: 'https://evil.example/' }),
      await api.patch(`/v2/webhook-endpoints/${endpoint.id}`, {
        url: 'https://evil.example/',
        event_types: ['order.*'],
      }),
      await api.get(`/v2/webhook-endpoints/${endpoint.id}/secret`),
      await api.post(`/v2/webhook-endpoints/${endpoint.id}/rotate-secret`),
      await api.post(`/v2/webhook-endpoints/${endpoint.id}/recover`, { since: '2020-01-01' }),
    ];
    const challenge = 'Bearer error="insufficient_scope", scope="affiliates"';
    expect(
      refused.map(({ status, reason, headers }) => [status, reason, headers.get('www-authenticate')]),
    ).toEqual(refused.map(() => [403, 'insufficient_scope', challenge]));
    // narrowed by a privileged caller: waiting deliveries must still not go elsewhere
    await world.api.patch(`/v2/webhook-endpoints/${endpoint.id}`, { event_types: ['order.*'] });
    const moved = await api.patch(`/v2/webhook-endpoints/${endpoint.id}`, { url: 'https://evil.example/' });
    expect([moved.status, moved.reason]).toEqual([403, 'insufficient_scope']);
    expect((await world.api.get(`${log}/${event.id}`)).status).toBe(200);
  });

  test('without affiliates subscribes to no event of ours except those of endpoints', async () => {
    const { access_token } = await tokensFor(world, owner, confidential, { scope: 'webhooks' });
    const api = apiOf(world.url, access_token);
    const { body } = await api.get('/v2/event-types');
    const types: string[] = body.data.map(({ type }: { type: string }) => type);
    const open: string[] = [];
    for (const type of types) {
      const made = await api.post('/v2/webhook-endpoints', { url: CALLBACK, event_types: [type] });
      if (made.status === 201) open.push(type);
      else expect([type, made.status, made.reason]).toEqual([type, 403, 'insufficient_scope']);
    }
    expect(open).toEqual(types.filter((type) => type.startsWith('webhook_endpoint.')));
  });

  test('of a removed user, or of a deleted application, stops at once', async () => {
    const leaving = await signedIn(world);
    const application = await register(world.api);
    const first = await tokensFor(world, leaving, confidential);
    const second = await tokensFor(world, owner, application);
    expect([await statusOf(first.access_token), await statusOf(second.access_token)]).toEqual([200, 200]);
    expect((await world.api.delete(`/v2/users/${leaving.id}`)).status).toBe(204);
    expect((await world.api.delete(`/v2/oauth-applications/${application.id}`)).status).toBe(204);
    expect([await statusOf(first.access_token), await statusOf(second.access_token)]).toEqual([401, 401]);
    expect((await refresh(world, confidential, first.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(world, application, second.refresh_token)).body.error).toBe('invalid_client');
    const ended = (await grantsOf('&status=revoked')).slice(0, 2);
    expect(ended).toMatchObject([{ revoked_because: 'deleted' }, { revoked_because: 'user_removed' }]);
  });

  test('expires', async () => {
    const { access_token, refresh_token } = await tokensFor(world, owner, confidential);
    await world.query(`update oauth_tokens set expires_at = now() where kind = 'access'`);
    const refused = await apiOf(world.url, access_token).get(PAYOUTS);
    expect([refused.status, refused.reason]).toEqual([401, 'invalid_credentials']);
    expect(refused.headers.get('www-authenticate')).toContain('invalid_token');
    const again = await refresh(world, confidential, refresh_token);
    expect(again.headers.get('cache-control')).toBe('no-store');
    expect(await statusOf(again.body.access_token)).toBe(200);
    await world.query(`update oauth_tokens set expires_at = now() where kind = 'refresh'`);
    expect((await refresh(world, confidential, refresh_token)).body.error).toBe('invalid_grant');
  });
});

describe('a refresh', () => {
  test('may narrow the access token, and the refresh token keeps its scope', async () => {
    for (const application of [confidential, mobile]) {
      const { refresh_token } = await tokensFor(world, owner, application);
      const narrow = await refresh(world, application, refresh_token, { scope: 'webhooks' });
      expect([narrow.status, narrow.body.scope]).toEqual([200, 'webhooks']);
      expect(await statusOf(narrow.body.access_token)).toBe(403);
      const whole = await refresh(world, application, narrow.body.refresh_token);
      expect(whole.body.scope).toBe('affiliates webhooks account');
      expect(await statusOf(whole.body.access_token)).toBe(200);
    }
  });

  test('may not widen it; the attempt does not use up the refresh token', async () => {
    const { refresh_token } = await tokensFor(world, owner, mobile, { scope: 'affiliates' });
    for (const scope of ['affiliates webhooks', 'users', 'nonsense', ' ']) {
      const wide = await refresh(world, mobile, refresh_token, { scope });
      expect([wide.status, wide.body.error], scope).toEqual([400, 'invalid_scope']);
    }
    expect((await refresh(world, mobile, refresh_token)).status).toBe(200);
  });

  test('with a rotated token is refused; within ten seconds that is all', async () => {
    const { refresh_token } = await tokensFor(world, owner, mobile);
    const { body } = await refresh(world, mobile, refresh_token);
    const replay = await refresh(world, mobile, refresh_token);
    expect([replay.status, replay.body.error]).toEqual([400, 'invalid_grant']);
    expect(await statusOf(body.access_token)).toBe(200);
    expect((await refresh(world, mobile, body.refresh_token)).status).toBe(200);
  });

  test('with a rotated token after ten seconds ends the whole family', async () => {
    const { refresh_token, access_token } = await tokensFor(world, owner, mobile);
    const { body } = await refresh(world, mobile, refresh_token);
    await world.query(`update oauth_tokens set used_at = used_at - interval '11 seconds'`);
    // another application with a stolen id cannot end these tokens
    const thief = await register(world.api, { kind: 'public' });
    expect((await refresh(world, thief, refresh_token)).status).toBe(400);
    expect(await statusOf(body.access_token)).toBe(200);
    const replay = await refresh(world, mobile, refresh_token);
    expect([replay.status, replay.body.error]).toEqual([400, 'invalid_grant']);
    expect([await statusOf(body.access_token), await statusOf(access_token)]).toEqual([401, 401]);
    expect((await refresh(world, mobile, body.refresh_token)).status).toBe(400);
    expect((await grantsOf('&status=revoked'))[0]).toMatchObject({ revoked_because: 'reuse' });
  });
});

describe('a code', () => {
  test('that is used twice ends its grant', async () => {
    const code = await codeFor(world, owner, confidential);
    const { body } = await exchange(world, confidential, code);
    expect(await statusOf(body.access_token)).toBe(200);
    const replay = await exchange(world, confidential, code);
    expect([replay.status, replay.body.error]).toEqual([400, 'invalid_grant']);
    expect(await statusOf(body.access_token)).toBe(401);
    expect((await refresh(world, confidential, body.refresh_token)).body.error).toBe('invalid_grant');
  });

  const { verifier, challenge } = pkce();
  const request = { code_challenge: challenge, code_challenge_method: 'S256' };
  test.each([
    ['a wrong verifier', request, { code_verifier: pkce().verifier }],
    ['no verifier', request, {}],
    ['a verifier of 42 characters', request, { code_verifier: verifier.slice(1) }],
    ['the challenge as verifier', request, { code_verifier: challenge }],
    ['an unexpected verifier', {}, { code_verifier: verifier }],
    ['another redirect URI', request, { code_verifier: verifier, redirect_uri: `${CALLBACK}/` }],
  ])('is used up by %s', async (_, params, wrong) => {
    const code = await codeFor(world, owner, confidential, params);
    const first = await exchange(world, confidential, code, wrong);
    expect([first.status, first.body.error]).toEqual([400, 'invalid_grant']);
    const right = params === request ? { code_verifier: verifier } : {};
    expect((await exchange(world, confidential, code, right)).body.error).toBe('invalid_grant');
  });

  test('is valid for a minute', async () => {
    const before = Date.now();
    const code = await codeFor(world, owner, confidential);
    const after = Date.now();
    const [row] = await world.query<{ at: number }>(
      `select (extract(epoch from max(expires_at)) * 1000)::float8 as at from oauth_codes`,
    );
    // a second, because the database has its own clock
    expect(row?.at).toBeGreaterThanOrEqual(before + 59_000);
    expect(row?.at).toBeLessThanOrEqual(after + 61_000);
    await world.query(`update oauth_codes set expires_at = now()`);
    expect((await exchange(world, confidential, code)).body.error).toBe('invalid_grant');
  });

  test('and tokens and secrets are nowhere in the database', async () => {
    const tokens = await tokensFor(world, owner, mobile);
    const secrets = [tokens.access_token, tokens.refresh_token, confidential.client_secret];
    for (const table of ['oauth_codes', 'oauth_tokens', 'oauth_grants', 'oauth_applications', 'audit_log']) {
      const stored = JSON.stringify(await world.query(`select to_jsonb(t)::text from ${table} t`));
      for (const secret of secrets) expect(stored).not.toContain(secret.slice(8, 40));
    }
  });
});

test('expired ones are deleted; live ones, and those that prove a reuse, are not', async () => {
  const { refresh_token } = await tokensFor(world, owner, mobile);
  const { body } = await refresh(world, mobile, refresh_token);
  const dead = await tokensFor(world, owner, mobile);
  await world.query(`update oauth_tokens set expires_at = now() - interval '2 days' where hash = any($1)`, [
    [hashSecret(dead.access_token), hashSecret(dead.refresh_token)],
  ]);
  await world.query(
    `with unused as (
       insert into oauth_grants (account_id, id, application_id, user_id, scopes)
       select account_id, id_floor(now() - interval '2 days'), application_id, user_id, scopes
       from oauth_grants limit 1 returning id)
     insert into oauth_codes (hash, grant_id, redirect_uri, expires_at) select 'x', id, 'x', now() from unused`,
  );
  const stored = async () =>
    (
      await world.query<{ n: number }>(
        `select ((select count(*) from oauth_tokens) + (select count(*) from oauth_grants)
                 + (select count(*) from oauth_codes where hash = 'x'))::int as n`,
      )
    )[0]?.n ?? 0;
  const before = await stored();
  await keepHouse(world, 'tokens', 'unused grants');
  expect(await stored()).toBe(before - 4);
  expect(await statusOf(body.access_token)).toBe(200);
  await world.query(`update oauth_tokens set used_at = used_at - interval '11 seconds'`);
  expect((await refresh(world, mobile, refresh_token)).status).toBe(400);
  expect(await statusOf(body.access_token)).toBe(401);
});

test('pages may be on another origin than the API: the issuer is the API', async () => {
  const settings = { BASE_URL: 'https://api.pay.example', AUTHORIZE_URL: 'https://login.pay.example' };
  const apart = await borrowWorld({ settings });
  try {
    const person = await signedIn(apart);
    const application = await register(apart.api);
    const config = await openid.discovery(
      new URL(settings.BASE_URL),
      application.id,
      application.client_secret,
      undefined,
      { algorithm: 'oauth2', [openid.customFetch]: fetchAt(apart) as openid.CustomFetch },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    expect(url.origin).toBe(settings.AUTHORIZE_URL);
    const unknown = await browserOf(apart).open(url);
    expect(unknown.location?.origin).toBe(settings.AUTHORIZE_URL);
    expect(unknown.location?.searchParams.get('next')).toBe(url.pathname + url.search);
    const browser = browserOf(apart, person, '__Host-payhook_session');
    const { location } = await browser.send(await browser.open(url), {});
    expect(location?.searchParams.get('iss')).toBe(settings.BASE_URL);
    const tokens = await openid.authorizationCodeGrant(config, location as URL, { pkceCodeVerifier });
    expect((await apiOf(apart.url, tokens.access_token).get(PAYOUTS)).status).toBe(200);
  } finally {
    await apart.close();
  }
});

describe('concurrently, with 25 ms to the database', () => {
  let slow: World;
  let person: Person;
  let server: Registered;
  let device: Registered;
  beforeAll(async () => {
    slow = await borrowWorld({ databaseLatencyMs: 25 });
    person = await signedIn(slow);
    server = await register(slow.api);
    device = await register(slow.api, { kind: 'public' });
  });
  afterAll(() => slow.close());

  const reaches = async (token: string) => (await apiOf(slow.url, token).get(PAYOUTS)).status === 200;

  test('two exchanges of a code: exactly one gets tokens, and the replay ends them', async () => {
    for (let round = 0; round < rounds(1, 3); round++) {
      const code = await codeFor(slow, person, server);
      const answers = await Promise.all([1, 2].map(() => exchange(slow, server, code)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const winner = answers.find(({ status }) => status === 200);
      expect(await reaches(winner?.body.access_token)).toBe(false);
    }
  });

  test('two refreshes of a public application: exactly one, whose tokens continue', async () => {
    let { refresh_token } = await tokensFor(slow, person, device);
    for (let round = 0; round < rounds(2, 3); round++) {
      const answers = await Promise.all([1, 2].map(() => refresh(slow, device, refresh_token)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      const winner = answers.find(({ status }) => status === 200);
      expect(await reaches(winner?.body.access_token)).toBe(true);
      refresh_token = winner?.body.refresh_token;
    }
  });

  longRun.test('two refreshes of a confidential one: both', async () => {
    const { refresh_token } = await tokensFor(slow, person, server);
    const answers = await Promise.all([1, 2].map(() => refresh(slow, server, refresh_token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of answers) expect(await reaches(body.access_token)).toBe(true);
  });

  test('a refresh, and its owner who becomes a member: nothing works after both', async () => {
    for (const gapMs of someOf([0, 30, 60, 90], 1)) {
      const leaving = await signedIn(slow);
      const tokens = await tokensFor(slow, leaving, device);
      const [refreshed, changed] = await Promise.all([
        refresh(slow, device, tokens.refresh_token),
        later(gapMs, () => slow.api.patch(`/v2/users/${leaving.id}`, { role: 'member' })),
      ]);
      expect(changed.status).toBe(200);
      if (refreshed.status === 200) {
        expect(await reaches(refreshed.body.access_token)).toBe(false);
        const next = await refresh(slow, device, refreshed.body.refresh_token);
        expect([next.status, next.body.error]).toEqual([400, 'invalid_grant']);
      } else expect(refreshed.body.error).toBe('invalid_grant');
      await slow.api.patch(`/v2/users/${leaving.id}`, { role: 'owner' });
      expect(await reaches(tokens.access_token)).toBe(false);
    }
  });

  test.each(['becomes a member', 'is removed'])(
    'a consent, and its owner who %s: no working grant is left',
    async (what) => {
      for (const gapMs of someOf([0, 30, 60, 90, 120], 2)) {
        const leaving = await signedIn(slow);
        const page = await browserOf(slow, leaving).open(authorizePath(server));
        const [answer, changed] = await Promise.all([
          browserOf(slow, leaving).send(page, {}),
          later(gapMs, () =>
            what === 'is removed'
              ? slow.api.delete(`/v2/users/${leaving.id}`)
              : slow.api.patch(`/v2/users/${leaving.id}`, { role: 'member' }),
          ),
        ]);
        expect(changed.status).toBeLessThan(300);
        const live = await slow.query(
          `select 1 from oauth_grants where revoked_at is null and 'usr_' || replace(user_id::text, '-', '') = $1`,
          [leaving.id],
        );
        expect(live).toEqual([]);
        const code = answer.location?.searchParams.get('code');
        if (code) expect((await exchange(slow, server, code)).body.error).toBe('invalid_grant');
      }
    },
  );

  test.each(['the merchant', 'the application'])(
    'a refresh and a revocation by %s: nothing works after both',
    async (who) => {
      for (const gapMs of someOf([0, 30, 60, 90], 1)) {
        const tokens = await tokensFor(slow, person, device);
        const { body } = await slow.api.get('/v2/oauth-grants?status=active&sort=-created_at');
        const revoke = () =>
          who === 'the merchant'
            ? slow.api.delete(`/v2/oauth-grants/${body.data[0].id}`)
            : postForm(slow.url, '/oauth/revoke', { client_id: device.id, token: tokens.refresh_token });
        const [refreshed, revoked] = await Promise.all([
          refresh(slow, device, tokens.refresh_token),
          later(gapMs, revoke),
        ]);
        expect(revoked.status).toBeLessThan(300);
        if (refreshed.status === 200) expect(await reaches(refreshed.body.access_token)).toBe(false);
        expect(await reaches(tokens.access_token)).toBe(false);
      }
    },
  );
});
