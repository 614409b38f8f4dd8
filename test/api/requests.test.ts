import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  EVENTS,
  expectRefusal,
  fill,
  makeAffiliate,
  makeCommission,
  makePayout,
  OPERATIONS,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;
let payout: string;
let endpoint: string;
beforeAll(async () => {
  endpoint = await makeEndpoint(api);
  const affiliate = await makeAffiliate(api);
  await makeCommission(api, affiliate.id);
  payout = (await makePayout(api)).id;
});

/** Sends bytes and returns the response up to the end of the connection. */
function exchange(lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(world.url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('end', () => resolve(text)).on('error', reject);
  });
}

const allowed = (headers: Headers) => headers.get('allow')?.split(', ').toSorted();
const stable = (headers: Headers) =>
  [...headers].filter(
    ([name]) => !/^(date|payhook-request-id|transfer-encoding|connection|keep-alive)$/.test(name),
  );

describe('HEAD is GET without a body', () => {
  const paths = OPERATIONS.filter(({ method }) => method === 'GET').map(({ path, query }) => path + query);

  test.each([...someOf(paths, 10), '/healthz', '/readyz', '/v2/openapi.json', '/docs', '/sign-in'])(
    '%s',
    async (path) => {
      const at = fill(path, { payout_id: payout, id: endpoint });
      const got = await api.get(at);
      const head = await api.request('HEAD', at);
      expect([head.status, head.text]).toEqual([got.status, '']);
      expect(stable(head.headers)).toEqual(stable(got.headers));
    },
  );

  test('an export leaves no connection behind', async () => {
    for (let count = 0; count < 30; count += 1) {
      expect((await api.request('HEAD', `${PAYOUTS}/${payout}/download`)).status).toBe(200);
    }
    expect((await api.get(`${PAYOUTS}/${payout}/download`)).text).toContain('\r\n');
  });
});

describe('Allow names the methods of a path', () => {
  test.each([
    ['/healthz', 'GET HEAD OPTIONS'],
    ['/v2/openapi.json', 'GET HEAD OPTIONS'],
    ['/v2/affiliates', 'GET HEAD OPTIONS POST'],
    ['/v2/affiliates/payouts', 'GET HEAD OPTIONS POST'],
    ['/v2/affiliates/import', 'OPTIONS POST'],
    ['/v2/affiliates/commissions/batch', 'OPTIONS POST'],
    ['/v2/affiliates/payouts/preview', 'OPTIONS POST'],
    ['/v2/affiliates/payouts/po_1', 'DELETE GET HEAD OPTIONS PUT'],
    ['/v2/affiliates/7', 'GET HEAD OPTIONS PATCH'],
    ['/oauth/token', 'OPTIONS POST'],
    ['/docs', 'GET HEAD OPTIONS'],
  ])('%s: %s', async (path, methods) => {
    const expected = methods.split(' ');
    const options = await api.request('OPTIONS', path);
    expect([options.status, allowed(options.headers)]).toEqual([204, expected]);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'MKCOL', 'PURGE']) {
      if (expected.includes(method)) continue;
      const answer = await api.request(method, path);
      expect([method, answer.status, allowed(answer.headers)]).toEqual([method, 405, expected]);
      if (path.startsWith('/v2')) expectRefusal(answer, 405, 'method_not_allowed', method);
    }
  });

  test('is sent to TRACE too, and an unknown HTTP method is refused as such', async () => {
    const host = `Host: ${new URL(world.url).host}`;
    const traced = await exchange(['TRACE /v2/affiliates HTTP/1.1', host, 'Connection: close']);
    expect(traced).toMatch(/^HTTP\/1\.1 405 [\s\S]*allow: GET, HEAD, POST, OPTIONS/);
    const made = await exchange(['FROBNICATE /v2/affiliates HTTP/1.1', host, 'Connection: close']);
    expect(made).toContain('the method is not an HTTP method');
  });

  test('is missing for a path that does not exist', async () => {
    for (const method of ['OPTIONS', 'HEAD', 'PROPFIND']) {
      const answer = await api.request(method, '/v2/nothing');
      expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
    }
  });
});

describe('each mistake has its own reason:', () => {
  const json = { 'content-type': 'application/json' };

  test('zero bytes are no body, whatever their type', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await api.request('POST', `${PAYOUTS}/preview`, { body: '', headers: form });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('affiliate_payout')]);
    const some = await api.request('POST', `${PAYOUTS}/preview`, { body: 'a=1', headers: form });
    expectRefusal(some, 400, 'unsupported_media_type', 'not application/x-www-form-urlencoded');
  });

  test.each([
    [{ 'content-type': 'application/json; charset=utf-16' }, 'charset=utf-16'],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'Content-Encoding: gzip'],
    [{ 'content-type': 'text/plain' }, 'not text/plain'],
  ])('%j', async (headers, part) => {
    const answer = await api.request('POST', `${PAYOUTS}/preview`, { body: '{}', headers });
    expectRefusal(answer, 400, 'unsupported_media_type', part);
  });

  test('a charset of UTF-8 is accepted', async () => {
    const headers = { 'content-type': 'application/json; charset="UTF-8"' };
    expect((await api.request('POST', `${PAYOUTS}/preview`, { body: '{}', headers })).status).toBe(200);
  });

  test('two Host headers', async () => {
    const text = await exchange(['GET /healthz HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close']);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('two Host headers');
  });

  test('a long key is clipped', async () => {
    const key = 'k'.repeat(5000);
    for (const answer of [
      await api.request('POST', AFFILIATES, { body: `{"${key}":1}`, headers: json }),
      await api.get(`${AFFILIATES}?${key}=1`),
    ]) {
      expectRefusal(answer, 400, undefined, `${'k'.repeat(100)}…`);
      expect(answer.text.length).toBeLessThan(600);
    }
  });

  test('instants outside the supported years', async () => {
    const { id } = await makeAffiliate(api);
    const send = (occurred_at: string) =>
      api.post(COMMISSIONS, { external_id: `at ${occurred_at}`, affiliate_id: id, amount: 1, occurred_at });
    for (const at of ['1969-12-31T23:59:59Z', '3000-01-01T00:00:00Z'])
      expectRefusal(await send(at), 400, 'invalid_body', 'from 1970 to 2999');
    const fine = await send('2026-09-01T10:00:00.1234567890Z');
    expect([fine.status, fine.body.occurred_at]).toEqual([201, '2026-09-01T10:00:00.123Z']);
    expectRefusal(
      await api.get(`${COMMISSIONS}?created_at[gte]=3000-01-01`),
      400,
      'invalid_query',
      '1970 to 2999',
    );
  });

  test('ids and page numbers up to 2^53 - 1 are valid', async () => {
    const at = (id: string) => api.get(`${COMMISSIONS}?affiliate_id=${id}`);
    expect((await at('9007199254740991')).body.data).toEqual([]);
    expectRefusal(await at('9007199254740992'), 400, 'invalid_query', 'from 1 to 9007199254740991');
    const pageAt = (page: string) => api.get(`${COMMISSIONS}?page=${page}`);
    expect((await pageAt('9007199254740991')).body.data).toEqual([]);
    for (const page of ['9007199254740992', '9'.repeat(20), '9'.repeat(308)]) {
      expectRefusal(
        await pageAt(page),
        400,
        'invalid_query',
        'page must be an integer from 1 to 9007199254740991',
      );
    }
  });
});

test('Link has the public address, whatever host the request names', async () => {
  const key = `Authorization: Bearer ${api.key}`;
  for (const [line, host] of [
    ['GET /v2/affiliates?per_page=1 HTTP/1.1', 'evil.example'],
    ['GET http://evil.example/v2/affiliates?per_page=1 HTTP/1.1', 'evil.example'],
  ] as const) {
    const text = await exchange([line, `Host: ${host}`, key, 'Connection: close']);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain(`link: <${world.url}/v2/affiliates?per_page=1&page=1>; rel="first"`);
    expect(text).not.toContain('evil.example');
  }
});

describe('a filter of a list', () => {
  test('by type accepts the patterns of subscriptions', async () => {
    for (const type of ['shop.order.created', 'shop.order.paid', 'shop_order.x'])
      await api.post(EVENTS, { type, data: {} });
    const typesOf = async (type: string, status = '') =>
      (await api.get(`/v2/webhook-events/?type=${type}${status}`)).body.data.map(
        (row: { type: string }) => row.type,
      );
    expect(await typesOf('shop.order.*')).toEqual(['shop.order.paid', 'shop.order.created']);
    expect(await typesOf('shop.*', '&status=pending')).toEqual(['shop.order.paid', 'shop.order.created']);
    expect(await typesOf('shop.order.paid')).toEqual(['shop.order.paid']);
    expect(await typesOf('payout.*')).toEqual(['payout.created']);
  });

  test.each([
    '/v2/webhook-events/?type=',
    '/v2/webhook-events/?type=PAYOUT.PAID',
    '/v2/webhook-events/?type=payout.nothing',
    '/v2/webhook-events/?type=*',
    '/v2/webhook-events/?type=order',
    '/v2/webhook-events/?type=order.*.x',
    '/v2/webhook-events/?type=a%00.b',
    '/v2/affiliates?external_id=',
    '/v2/affiliates/commissions?order_id=',
    '/v2/affiliates/commissions?external_id=',
    '/v2/audit-log?action=',
    '/v2/sessions?user_id=none',
    '/v2/oauth-grants?application_id=none',
  ])('%s is refused by its name', async (path) => {
    expectRefusal(await api.get(path), 400, 'invalid_query', /[?](\w+)=/.exec(path)?.[1] ?? '');
  });
});

describe('the description of a server', () => {
  test('has its own addresses', async () => {
    const { body } = await api.get('/v2/openapi.json');
    expect(body.servers).toEqual([{ url: world.url }]);
    const { authorizationUrl, tokenUrl } = body.components.securitySchemes.oauth2.flows.authorizationCode;
    expect([authorizationUrl, tokenUrl]).toEqual([
      `${world.url}/oauth/authorize`,
      `${world.url}/oauth/token`,
    ]);
  });

  test('is sent once to a client that caches it', async () => {
    const first = await api.get('/v2/openapi.json');
    const etag = first.headers.get('etag') ?? '';
    const again = await api.get('/v2/openapi.json', { headers: { 'if-none-match': `W/${etag}, "x"` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
  });
});
