import { describe, expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import { CALLBACK, register } from './support.ts';

const APPLICATIONS = '/v2/oauth-applications';

const world = useWorld();

const input = { name: 'Till', kind: 'confidential', redirect_uris: [CALLBACK], scopes: ['affiliates'] };

test('an application is registered, listed, changed and deleted; its secret is shown once', async () => {
  const { status, body } = await world.api.post(APPLICATIONS, input);
  expect(status).toBe(201);
  const { client_secret, ...record } = body;
  expect(client_secret).toMatch(/^phs_/);
  expect(record).toMatchObject({ ...input, object: 'oauth_application' });
  expect(record.client_secret_hint).toBe(`${client_secret.slice(0, 7)}…${client_secret.slice(-4)}`);
  expect((await world.api.get(`${APPLICATIONS}/${record.id}`)).body).toEqual(record);

  const change = {
    name: 'Till 2',
    redirect_uris: [CALLBACK, CALLBACK, 'https://b.example/'],
    scopes: ['users'],
  };
  const changed = await world.api.patch(`${APPLICATIONS}/${record.id}`, change);
  expect(changed.body).toMatchObject({ ...change, redirect_uris: [CALLBACK, 'https://b.example/'] });
  expect((await world.api.patch(`${APPLICATIONS}/${record.id}`, {})).body).toEqual(changed.body);
  const listed = await world.api.get(`${APPLICATIONS}?kind=confidential`);
  expect(listed.body.data).toContainEqual(changed.body);

  expect((await world.api.delete(`${APPLICATIONS}/${record.id}`)).status).toBe(204);
  for (const answer of [
    await world.api.get(`${APPLICATIONS}/${record.id}`),
    await world.api.patch(`${APPLICATIONS}/${record.id}`, change),
    await world.api.delete(`${APPLICATIONS}/${record.id}`),
    await world.api.post(`${APPLICATIONS}/${record.id}/rotate-secret`),
    await world.api.get(`${APPLICATIONS}/nonsense`),
  ]) {
    expect([answer.status, answer.reason]).toEqual([404, 'resource_missing']);
  }
});

test('a public one has no secret, and none can be created', async () => {
  const made = await world.api.post(APPLICATIONS, { ...input, kind: 'public' });
  expect(made.body).toMatchObject({ client_secret: null, client_secret_hint: null });
  const rotated = await world.api.post(`${APPLICATIONS}/${made.body.id}/rotate-secret`);
  expect([rotated.status, rotated.reason]).toEqual([409, 'application_is_public']);
});

test('a repeated request with a key creates one, and its secret is not shown again', async () => {
  const headers = { 'idempotency-key': 'register once' };
  const [first, second] = [
    await world.api.post(APPLICATIONS, input, headers),
    await world.api.post(APPLICATIONS, input, headers),
  ];
  expect(second.body).toEqual({ ...first.body, client_secret: null });
  const rotation = `${APPLICATIONS}/${first.body.id}/rotate-secret`;
  const rotated = await world.api.post(rotation, undefined, { 'idempotency-key': 'rotate once' });
  expect(rotated.body.client_secret).toMatch(/^phs_/);
  const again = await world.api.post(rotation, undefined, { 'idempotency-key': 'rotate once' });
  expect(again.body).toEqual({ ...rotated.body, client_secret: null });
});

describe('a redirect URI', () => {
  test.each([
    ['https://app.example', 'confidential'],
    ['https://app.example:8443/a/b?c=d&e', 'confidential'],
    ['https://xn--bcher-kva.example/', 'confidential'],
    ['http://localhost:3000/cb', 'confidential'],
    ['http://127.0.0.1/cb', 'public'],
    ['http://[::1]:9/cb', 'public'],
    ['com.example.app:/callback', 'public'],
    ['com.example.app://callback', 'public'],
  ])('may be %s of a %s application', async (uri, kind) => {
    const { body } = await world.api.post(APPLICATIONS, { ...input, kind, redirect_uris: [uri] });
    expect(body.redirect_uris).toEqual([uri]);
  });

  test.each([
    ['http://app.example/cb', 'confidential'],
    ['http://localhost.evil.example/cb', 'public'],
    ['http://127.0.0.1.evil.example/cb', 'public'],
    ['https://app.example/cb#x', 'confidential'],
    ['https://app.example/cb#', 'confidential'],
    ['https://user:word@app.example/cb', 'confidential'],
    ['https://app.example@evil.example/cb', 'confidential'],
    ['https:app.example/cb', 'confidential'],
    ['https://app.example\\@evil.example/', 'confidential'],
    ['https://app.example/a b', 'confidential'],
    ['https://app.example/é', 'confidential'],
    ['https://app.example/"><script>', 'confidential'],
    ['https://app.example/\r\nset-cookie:x', 'confidential'],
    ['com.example.app:/callback', 'confidential'],
    ['myapp:/callback', 'public'],
    ['javascript:alert(1)', 'public'],
    ['data:text/html,x', 'public'],
    ['file:///etc/passwd', 'public'],
    ['/callback', 'public'],
    ['callback', 'public'],
    ['https://', 'public'],
  ])('may not be %j of a %s application', async (uri, kind) => {
    const made = await world.api.post(APPLICATIONS, { ...input, kind, redirect_uris: [CALLBACK, uri] });
    expect([made.status, made.reason]).toEqual([400, 'invalid_redirect_uri']);
    expect(made.body.error.message).toMatch(/^redirect_uris\[1\] must /);
    const { id } = await register(world.api, { kind });
    const changed = await world.api.patch(`${APPLICATIONS}/${id}`, { redirect_uris: [uri] });
    expect([changed.status, changed.reason]).toEqual([400, 'invalid_redirect_uri']);
  });
});

test.each([
  ['no name', { name: undefined }, 'invalid_body'],
  ['an empty name', { name: '' }, 'invalid_body'],
  ['no redirect URIs', { redirect_uris: [] }, 'invalid_body'],
  [
    '21 redirect URIs',
    { redirect_uris: Array.from({ length: 21 }, (_, n) => `${CALLBACK}/${n}`) },
    'invalid_body',
  ],
  ['no scopes', { scopes: [] }, 'invalid_body'],
  ['an unknown scope', { scopes: ['nonsense'] }, 'invalid_body'],
  ['another kind', { kind: 'native' }, 'invalid_body'],
  ['an unknown field', { secret: 'mine' }, 'unknown_field'],
])('refuses %s', async (_, change, reason) => {
  const made = await world.api.post(APPLICATIONS, { ...input, ...change });
  expect([made.status, made.reason]).toEqual([400, reason]);
});

test("another account's application cannot be seen or changed", async () => {
  const other = await world.otherAccount();
  const { id } = await register(world.api);
  for (const answer of [
    await other.get(`${APPLICATIONS}/${id}`),
    await other.patch(`${APPLICATIONS}/${id}`, { name: 'mine' }),
    await other.delete(`${APPLICATIONS}/${id}`),
    await other.post(`${APPLICATIONS}/${id}/rotate-secret`),
  ]) {
    expect([answer.status, answer.reason]).toEqual([404, 'resource_missing']);
  }
  expect((await other.get(APPLICATIONS)).body.pagination.total).toBe(0);
});
