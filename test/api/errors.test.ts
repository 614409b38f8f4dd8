import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { askerOf, type Member, memberOf } from '../access/support.ts';
import { apiOf } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  fill,
  type Json,
  MISSING,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  OPERATIONS,
  type Operation,
  PAYOUTS,
  PROGRAMS,
  sampleBody,
} from './fixtures.ts';

const world = useWorld();
let affiliate: Json;
let paid: Json;
let unpaid: Json;
let member: Member;
beforeAll(async () => {
  const { api } = world;
  affiliate = await makeAffiliate(api, { email: 'ada@example.com' });
  await makeAffiliate(api, { email: 'bob@example.com' });
  await makeCommission(api, affiliate.id, { external_id: 'first' });
  paid = await completePayout(api, await makePayout(api));
  await makeCommission(api, affiliate.id, { external_id: 'second' });
  unpaid = await makePayout(api);
  member = await memberOf(api, 'member');
});

const JSON_TYPE = { 'content-type': 'application/json' };
const raw = (method: string, path: string, body: string | Uint8Array, headers: object = JSON_TYPE) =>
  world.api.request(method, path, { body, headers: { ...headers } });
/** The same as a caller who may use the operation. */
const sendTo = (
  { method, path: pattern, isForPeople }: Operation,
  body: string | Uint8Array,
  headers: object = JSON_TYPE,
) => {
  const ask = askerOf(world.api, member, isForPeople);
  return ask(method, fill(pattern), { body, headers: { ...headers } });
};

const WRITES = OPERATIONS.filter(({ method }) => method !== 'GET');
const WITH_JSON = WRITES.filter(({ requestBody }) => requestBody?.content['application/json']);
// a key has no sessions of its own
const WITHOUT_BODY = WRITES.filter(
  ({ requestBody, path }) => !requestBody && !path.startsWith('/v2/me/sessions'),
);
const UPLOADS = WRITES.filter(({ requestBody }) => requestBody?.content['text/csv']);

describe('the first error decides, in the order credentials, shape, existence, state, content', () => {
  const anyone = () => apiOf(world.url, '');
  const twice = () => ({
    commissions: [
      { affiliate_id: affiliate.id, is_paid: true },
      { affiliate_id: affiliate.id, is_paid: false },
    ],
  });
  const stranger = { commissions: [{ affiliate_id: 999_999, is_paid: true }] };
  const missing = `${PAYOUTS}/${MISSING.payout_id}`;
  const stale = { 'if-match': '"99"' };

  test.each<[string, () => Promise<Json>, number, string]>([
    ['no key and a bad body', () => anyone().post(AFFILIATES, {}), 401, 'missing_credentials'],
    ['no key and an unknown id', () => anyone().get(missing), 401, 'missing_credentials'],
    ['no key and a bad query', () => anyone().get(`${PAYOUTS}?page=0`), 401, 'missing_credentials'],
    ['a bad body and an unknown id', () => world.api.put(missing, {}), 400, 'invalid_body'],
    ['an unknown key and an unknown id', () => world.api.put(missing, { x: 1 }), 400, 'unknown_field'],
    ['a bad query and an unknown id', () => world.api.get(`${missing}?x=1`), 400, 'unknown_query_parameter'],
    [
      'a bad page and an unknown id',
      () => world.api.get(`${missing}/affiliates?page=0`),
      400,
      'invalid_query',
    ],
    [
      'an ill-formed If-Match and an unknown id',
      () => world.api.delete(missing, { 'if-match': '1' }),
      400,
      'invalid_if_match',
    ],
    [
      'a bad currency and an unknown id',
      () => world.api.patch(`${AFFILIATES}/999999`, { minimum_payout: { xxx: 1 } }),
      400,
      'invalid_body',
    ],
    ['an unknown id and an affiliate twice', () => world.api.put(missing, twice()), 404, 'resource_missing'],
    ['an unknown id and a stale If-Match', () => world.api.delete(missing, stale), 404, 'resource_missing'],
    [
      'an unknown id and a used e-mail address',
      () => world.api.patch(`${AFFILIATES}/999999`, { email: 'bob@example.com' }),
      404,
      'resource_missing',
    ],
    [
      'a paid payout and an affiliate twice',
      () => world.api.put(`${PAYOUTS}/${paid.id}`, twice()),
      409,
      'payout_is_paid',
    ],
    [
      'a paid payout and a stranger',
      () => world.api.put(`${PAYOUTS}/${paid.id}`, stranger),
      409,
      'payout_is_paid',
    ],
    [
      'a paid payout and a stale If-Match',
      () => world.api.put(`${PAYOUTS}/${paid.id}`, stranger, stale),
      409,
      'payout_is_paid',
    ],
    [
      'a stale If-Match and an affiliate twice',
      () => world.api.put(`${PAYOUTS}/${unpaid.id}`, twice(), stale),
      409,
      'payout_changed',
    ],
    [
      'a bad filter and a current payout',
      () => world.api.post(PAYOUTS, { filters: { colour: 1 } }),
      400,
      'unknown_filter',
    ],
    [
      'a current payout and an unknown affiliate',
      () => world.api.post(PAYOUTS, { filters: { affiliate_id: 999_999 } }),
      409,
      'current_payout_exists',
    ],
    [
      'another commission of that external_id and an unknown affiliate',
      () => world.api.post(COMMISSIONS, { external_id: 'first', affiliate_id: 999_999, amount: 1 }),
      409,
      'duplicate_external_id',
    ],
    [
      'an affiliate twice, nothing else',
      () => world.api.put(`${PAYOUTS}/${unpaid.id}`, twice()),
      400,
      'duplicate_entry',
    ],
  ])('%s', async (_, ask, status, reason) => {
    await nothingChanges(world, async () => expectRefusal(await ask(), status, reason));
  });
});

/** One body read whole and one read item by item: these get every wrong body, the others a few. */
const READ_ALIKE = WITH_JSON.filter(({ method, path }) =>
  [`POST ${AFFILIATES}`, `POST ${COMMISSIONS}/batch`].includes(`${method} ${path}`),
);

describe('a body', () => {
  test('is read in two ways, both tested here', () => {
    expect(READ_ALIKE).toHaveLength(2);
  });

  test.each(WITH_JSON.filter((each) => READ_ALIKE.includes(each) || someOf(WITH_JSON, 10).includes(each)))(
    'of $method $path must be JSON of the right type, or nothing changes',
    async (operation) => {
      const good = JSON.stringify(sampleBody(operation));
      await nothingChanges(world, async () => {
        const bad = [
          ['{', 'invalid_json'],
          ['[]', 'invalid_body'],
          ['{"a":1,"a":1}', 'duplicate_key'],
          ['{"colour":"red"}', 'unknown_field'],
          ['{}{}', 'invalid_json'],
          ["{'a':1}", 'invalid_json'],
          ['{"a":1,}', 'invalid_json'],
          [`${good} x`, 'invalid_json'],
          [' ', 'invalid_json'],
          [Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_json'],
          [Buffer.from(`{"email":"\xe9"}`, 'latin1'), 'invalid_json'],
          ['{"__proto__":{"admin":true}}', 'invalid_body'],
          ['{"constructor":{"prototype":{"admin":true}}}', 'unknown_field'],
          ['null', 'invalid_body'],
          ['7', 'invalid_body'],
          ['"text"', 'invalid_body'],
          ['true', 'invalid_body'],
          ['{"\\u0000":1}', 'invalid_body'],
          ['[[[[', 'invalid_json'],
          ['['.repeat(4_000), 'invalid_json'],
          // where few members are allowed, this limit is checked first
          ['['.repeat(200_000), expect.stringMatching(/^invalid_(json|body)$/)],
          ['['.repeat(200_000) + ']'.repeat(200_000), 'invalid_body'],
        ] as const;
        const types = [
          'text/plain',
          'application/xml',
          'text/csv',
          'application/x-www-form-urlencoded',
          'nonsense',
        ];
        const isOfAll = READ_ALIKE.includes(operation);
        for (const [body, reason] of isOfAll ? bad : bad.slice(0, 4)) {
          const answer = await sendTo(operation, body);
          expectRefusal(answer, 400);
          expect([body.slice(0, 40), answer.reason]).toEqual([body.slice(0, 40), reason]);
        }
        for (const type of isOfAll ? types : types.slice(0, 1))
          expectRefusal(
            await sendTo(operation, good, { 'content-type': type }),
            400,
            'unsupported_media_type',
          );
      });
    },
  );

  test.each(READ_ALIKE)('of $method $path may be no larger than the limit', async (operation) => {
    const answer = await sendTo(operation, Buffer.alloc((16 << 20) + 1, 0x20)).catch((error: Error) => error);
    // the server may close the connection during the upload of the body
    if (!(answer instanceof Error)) expectRefusal(answer, 400, 'body_too_large');
  });

  test.each(UPLOADS)('of $method $path must be a CSV file by its type', async ({ method, path: bare }) => {
    const path = bare.startsWith('/v2/imports') ? `${bare}?kind=affiliates` : bare; // the required query
    await nothingChanges(world, async () => {
      for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x'])
        expectRefusal(
          await raw(method, path, 'a,b', { 'content-type': type }),
          400,
          'unsupported_media_type',
        );
      expectRefusal(await world.api.request(method, path), 400);
    });
  });

  test.each(someOf(WITHOUT_BODY, 5))(
    'is refused where $method $path takes none; zero bytes and {} count as none',
    async (operation) => {
      const { method } = operation;
      const path = fill(operation.path);
      for (const nothing of ['', ' {} ']) {
        // with no error but the id, or but a key where a person is required, the request gets that far
        const answer = await raw(method, path, nothing);
        if (path.endsWith('/us-tax/export')) expect(answer.status, answer.text).toBe(200);
        else expectRefusal(answer, 404);
      }
      for (const something of ['{"a":1}', 'null']) expectRefusal(await raw(method, path, something), 400);
      expectRefusal(await raw(method, path, '{'), 400, 'invalid_json');
    },
  );

  test('of zero bytes with a JSON type is no body: payout create accepts it, others name the missing field', async () => {
    expectRefusal(await raw('POST', PAYOUTS, ''), 409, 'current_payout_exists');
    expect((await raw('POST', `${PAYOUTS}/preview`, '')).status).toBe(200);
    expect((await world.api.post(`${PAYOUTS}/preview`)).status).toBe(200);
    expectRefusal(await raw('POST', AFFILIATES, ''), 400, 'invalid_body', 'body');
    expectRefusal(await world.api.post(AFFILIATES), 400, 'invalid_body', 'body');
  });

  test('may name its charset and be in any case of its type', async () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/json;charset="UTF-8"',
    ])
      expect((await raw('POST', `${PAYOUTS}/preview`, '{}', { 'content-type': type })).status).toBe(200);
  });

  test.each([
    ['a NUL character', '"a\\u0000b"'],
    ['a lone surrogate', '"a\\ud800b"'],
    ['a lone low surrogate', '"\\udc00"'],
  ])('with %s in a text is refused by the name of the field', async (_, text) => {
    await nothingChanges(world, async () => {
      const affiliateWith = (field: string) => `{"email":"x@example.com","${field}":${text}}`;
      for (const field of ['name_first', 'name_last', 'slug', 'external_id'])
        expectRefusal(await raw('POST', AFFILIATES, affiliateWith(field)), 400, 'invalid_body', field);
      const commission = `{"external_id":"x","affiliate_id":${affiliate.id},"amount":1`;
      expectRefusal(
        await raw('POST', COMMISSIONS, `${commission},"description":${text}}`),
        400,
        'invalid_body',
        'description',
      );
      expectRefusal(
        await raw('POST', COMMISSIONS, `${commission},"metadata":{"k":${text}}}`),
        400,
        'invalid_body',
        'metadata',
      );
      expectRefusal(
        await raw('POST', COMMISSIONS, `${commission},"metadata":{${text}:"v"}}`),
        400,
        'invalid_body',
        'metadata',
      );
      expectRefusal(
        await raw('POST', `${PAYOUTS}/preview`, `{"search":${text}}`),
        400,
        'invalid_body',
        'search',
      );
      expectRefusal(
        await raw('POST', `${PAYOUTS}/preview`, `{"filters":{"order_id":${text}}}`),
        400,
        'invalid_body',
        'order_id',
      );
      expectRefusal(await raw('POST', '/v2/api-keys', `{"name":${text}}`), 400, 'invalid_body', 'name');
      expectRefusal(await raw('POST', PROGRAMS, `{"name":${text}}`), 400, 'invalid_body', 'name');
      expectRefusal(await raw('PATCH', '/v2/account', `{"name":${text}}`), 400, 'invalid_body', 'name');
    });
  });

  test('nested a hundred thousand deep where any value is allowed is refused, not a crash', async () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    for (const body of [
      `{"filters":${deep}}`,
      `{"filters":{"order_id":${deep}}}`,
      `{"filters":{"order_id":[${deep}]}}`,
    ])
      expectRefusal(await raw('POST', `${PAYOUTS}/preview`, body), 400);
    const objects = '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000);
    expectRefusal(await raw('POST', `${PAYOUTS}/preview`, `{"filters":${objects}}`), 400);
  });

  test('with numbers out of every range is refused', async () => {
    await nothingChanges(world, async () => {
      for (const number of [
        '1e999',
        '-1e999',
        '1e400',
        '9007199254740993',
        '1e-400',
        '0',
        '-1',
        '1.0000000001',
      ]) {
        const body = `{"external_id":"x","affiliate_id":${number},"amount":1}`;
        expectRefusal(await raw('POST', COMMISSIONS, body), 400, 'invalid_body', 'affiliate_id');
      }
    });
  });
});

describe('a request that is not HTTP gets the error body too', () => {
  const talk = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.once('close', () => resolve(answer));
      socket.once('error', reject);
      socket.write(text);
    });

  test.each([
    ['garbage', 'this is no HTTP\r\n\r\n'],
    ['binary', '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n'],
    ['an unknown method', 'BREW /v2/affiliates HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a space in the path', 'GET /v2/a b HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no Host', 'GET /v2/affiliates HTTP/1.1\r\nconnection: close\r\n\r\n'],
    [
      'two lengths',
      'POST /v2/affiliates HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx',
    ],
    ['an invalid length', 'POST /v2/affiliates HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n'],
    [
      'a length and chunks',
      'POST /v2/affiliates HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'an unknown expectation',
      'GET /v2/affiliates HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n',
    ],
    ['headers of 100 kB', `GET /v2/affiliates HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
  ])('%s', async (_, text) => {
    const answer = await talk(text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    expect([400, 401, 404], answer).toContain(status);
    expect(head.toLowerCase()).toContain('content-type: application/json');
    expect(head).toMatch(/^payhook-reason: [a-z_]+$/im);
    expect(head).toMatch(/^payhook-request-id: req_[0-9a-f]{24}$/im);
    const parsed = JSON.parse(body);
    expect(Object.keys(parsed)).toEqual(['error']);
    expect(Object.keys(parsed.error)).toEqual(['code', 'message']);
    expect(['bad_request', 'unauthorized', 'not_found']).toContain(parsed.error.code);
  });

  test('a client that disconnects in the middle of a body does no harm', async () => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    const head = `POST ${AFFILIATES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.api.key}\r\n`;
    await new Promise<void>((resolve) =>
      socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"ema`, () =>
        resolve(),
      ),
    );
    socket.destroy();
    expect((await world.api.get(AFFILIATES)).status).toBe(200);
  });
});
