import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ROUTES } from '../../src/http/routes.ts';
import { OAUTH_ROUTES } from '../../src/oauth/routes.ts';
import { PAGE_ROUTES } from '../../src/screens/routes.ts';
import { register, signedIn } from '../oauth/support.ts';
import { someOf } from '../support/depth.ts';
import { makeAffiliates, salesFor, takeIn } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const NOBODYS = '0'.repeat(32);

/** Sends a request and expects `nosniff`: no browser may treat the response as another type. */
async function expectNosniff(path: string, { method = 'GET', ...init }: RequestInit = {}): Promise<Response> {
  const answer = await fetch(world.url + path, { method, redirect: 'manual', ...init });
  await answer.arrayBuffer();
  expect([method, path, answer.headers.get('x-content-type-options')]).toEqual([method, path, 'nosniff']);
  return answer;
}

test('every address forbids type sniffing, for every caller', async () => {
  const { cookie } = await signedIn(world);
  const routes = [...ROUTES, ...OAUTH_ROUTES, ...PAGE_ROUTES];
  // one function sends the head of every response: with credentials a short run tries some
  const signedInAt = new Set<unknown>(someOf<unknown>(routes, 20));
  for (const route of routes) {
    const { method, path } = route;
    const at = path.replaceAll(/\{\w+\}/g, NOBODYS);
    for (const headers of [
      {},
      ...(signedInAt.has(route)
        ? [{ authorization: `Bearer ${world.api.key}`, cookie: `payhook_session=${cookie}` }]
        : []),
    ]) {
      // writes without a usable body
      const isRead = method === 'GET';
      await expectNosniff(at, { method, headers, ...(isRead ? {} : { body: '[' }) });
    }
  }
});

test('responses of every type forbid it too', async () => {
  const headers = { authorization: `Bearer ${world.api.key}` };
  await takeIn(world.api, salesFor(await makeAffiliates(world.api, 1), 3));
  const payout = await world.api.post('/v2/affiliates/payouts');
  await register(world.api, { kind: 'public', redirect_uris: ['https://app.example/callback'] });
  const asking = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
  const rows: [string, RequestInit, number, RegExp | null][] = [
    ['/v2/account', { headers }, 200, /^application\/json/],
    [`/v2/affiliates/payouts/${payout.body.id}/download`, { headers }, 200, /^text\/csv/],
    ['/docs', {}, 200, /^text\/html/],
    ['/sign-in', {}, 200, /^text\/html/],
    ['/account', {}, 303, null],
    ['/v2/openapi.json', {}, 200, /^application\/json/],
    ['/.well-known/oauth-authorization-server', {}, 200, /^application\/json/],
    ['/healthz', {}, 200, /^application\/json/],
    ['/readyz', {}, 200, /^application\/json/],
    ['/v2/account', {}, 401, /^application\/json/],
    ['/nothing', {}, 404, /^application\/json/],
    ['/v2/nothing', { method: 'POST', body: 'x' }, 404, /^application\/json/],
    ['/v2/account', { method: 'DELETE' }, 405, /^application\/json/],
    ['/oauth/token', { method: 'PUT' }, 405, /^application\/json/],
    ['/oauth/authorize', {}, 400, /^text\/html/],
    ['/v2/account', { method: 'OPTIONS', headers: asking }, 204, null],
  ];
  for (const [path, init, status, type] of rows) {
    const answer = await expectNosniff(path, init);
    expect([path, answer.status]).toEqual([path, status]);
    if (type) expect(answer.headers.get('content-type')).toMatch(type);
  }
});

test('and so does a response to a request that is not HTTP', async () => {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes;
  });
  socket.write('no request\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(received).toMatch(/^HTTP\/1\.1 400 /);
  expect(received).toMatch(/\r\nx-content-type-options: nosniff\r\n/);
});
