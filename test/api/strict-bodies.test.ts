import { beforeAll, describe, expect, test } from 'vitest';
import { askerOf, type Member, memberOf } from '../access/support.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  EVENTS,
  expectRefusal,
  fill,
  type Json,
  makeAffiliate,
  makeCommission,
  nothingChanges,
  OPERATIONS,
  PAYOUTS,
  PROGRAMS,
  sampleBody,
  unique,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;
let affiliate: Json;
let member: Member;
beforeAll(async () => {
  affiliate = await makeAffiliate(api);
  await makeCommission(api, affiliate.id);
  member = await memberOf(api, 'member');
});

const raw = (method: string, path: string, body: string, headers: Record<string, string> = {}) =>
  api.request(method, path, { body, headers: { 'content-type': 'application/json', ...headers } });

const WITH_JSON = OPERATIONS.filter(({ requestBody }) => requestBody?.content['application/json']);

describe('a repeated key of an object', () => {
  test.each(WITH_JSON)('is refused by its name: $method $path', async (operation) => {
    const good = JSON.stringify(sampleBody(operation));
    const twice = good === '{}' ? '{"a":1,"a":1}' : good.replace(/^\{("[^"]+"):/, '{$1:null,$1:');
    const [, name = ''] = /^\{"([^"]+)"/.exec(twice) ?? [];
    await nothingChanges(world, async () =>
      expectRefusal(
        await askerOf(api, member, operation.isForPeople)(operation.method, fill(operation.path), {
          body: twice,
          headers: { 'content-type': 'application/json' },
        }),
        400,
        'duplicate_key',
        `${name}:`,
      ),
    );
  });

  test('never makes a payout of everyone', async () => {
    await nothingChanges(world, async () => {
      const filters = `"filters":{"affiliate_id":${affiliate.id + 1}}`;
      for (const body of [`{${filters},"filters":null}`, `{"filters":null,${filters}}`])
        expectRefusal(await raw('POST', PAYOUTS, body), 400, 'duplicate_key', 'filters:');
      const deep = '{"filters":{"currency":{"eq":"usd","\\u0065q":"eur"}}}';
      expectRefusal(await raw('POST', PAYOUTS, deep), 400, 'duplicate_key', 'filters.currency.eq:');
    });
  });

  test('is refused in the data of an event and in an item of a batch, at its place', async () => {
    await nothingChanges(world, async () => {
      const event = '{"type":"order.created","data":{"lines":[{"n":1},{"n":1,"n":2}]}}';
      expectRefusal(await raw('POST', EVENTS, event), 400, 'duplicate_key', 'data.lines[1].n:');
      const item = `{"external_id":"a","affiliate_id":${affiliate.id},"amount":1,"amount":5}`;
      const batch = `{"commissions":[{"external_id":"b","affiliate_id":${affiliate.id},"amount":1},${item}]}`;
      const answer = await raw('POST', `${COMMISSIONS}/batch`, batch);
      expectRefusal(answer, 400, 'duplicate_key', 'commissions[1].amount:');
    });
  });
});

describe('a number is read exactly as written:', () => {
  const commission = (amount: string) =>
    `{"external_id":"${unique('n')}","affiliate_id":${affiliate.id},"currency":"usd","amount":${amount}}`;

  test.each([
    '0.99999999999999999999',
    '1.0000000000000000001',
    '5.00000000000000000000000001',
    '1e400',
    '-1e400',
    '1e-400',
    '-0',
    '12345678901234567890',
    '1.5',
  ])('an amount of %s is refused, alone and in a batch', async (amount) => {
    await nothingChanges(world, async () => {
      expectRefusal(await raw('POST', COMMISSIONS, commission(amount)), 400, 'invalid_body', 'amount must');
      const batch = `{"commissions":[${commission('1')},${commission(amount)}],"partial":true}`;
      const answer = await raw('POST', `${COMMISSIONS}/batch`, batch);
      expectRefusal(answer, 400, 'invalid_body', 'commissions[1].amount must');
    });
  });

  test.each([
    ['7.0', 7],
    ['1e2', 100],
    ['70e-1', 7],
    ['25.000000000000000000000', 25],
  ])('an amount of %s is %s', async (amount, taken) => {
    const made = await raw('POST', COMMISSIONS, commission(amount));
    expect([made.status, made.body.amount]).toEqual([201, taken]);
  });

  test('ids, rates and filters too', async () => {
    await nothingChanges(world, async () => {
      const id = `${affiliate.id}.00000000000000000001`;
      for (const [method, path, body, name] of [
        ['POST', COMMISSIONS, `{"external_id":"x","affiliate_id":${id},"amount":5}`, 'affiliate_id'],
        [
          'POST',
          COMMISSIONS,
          `{"external_id":"x","affiliate_id":1,"sale_amount":-0,"rate_bps":1}`,
          'sale_amount',
        ],
        ['POST', PAYOUTS, `{"filters":{"affiliate_id":[${id}]}}`, 'filters.affiliate_id[0]'],
        ['POST', PAYOUTS, `{"filters":{"currency":"usd","total":{"gt":1e-400}}}`, 'filters.total.gt'],
        ['PATCH', '/v2/account', `{"hold_days":-0}`, 'hold_days'],
        ['POST', PROGRAMS, `{"name":"P","hold_days":0.99999999999999999999}`, 'hold_days'],
      ] as const)
        expectRefusal(await raw(method, path, body), 400, 'invalid_body', `${name} must`);
    });
  });

  test('the numbers of an event are forwarded unchanged, and distinguish its content', async () => {
    const publish = (n: string, id = 'digits') =>
      raw('POST', EVENTS, `{"type":"order.created","data":{"n":${n}},"external_id":"${id}"}`);
    const first = await publish('1.00000000000000000001');
    expect([first.status, first.text.endsWith('"data":{"n":1.00000000000000000001}}')]).toEqual([201, true]);
    expect((await publish('1.00000000000000000001')).text).toBe(first.text);
    expectRefusal(await publish('1.00000000000000000002'), 409, 'duplicate_external_id');
    expectRefusal(await publish('1'), 409, 'duplicate_external_id');
    expect((await publish('1e400', 'huge')).status).toBe(201);
    expectRefusal(await publish('null', 'huge'), 409, 'duplicate_external_id');
  });
});

describe('an Idempotency-Key belongs to the content of a body, not to its bytes:', () => {
  test('order, whitespace, escapes and the spelling of numbers make no difference', async () => {
    const key = { 'idempotency-key': unique('said') };
    const id = affiliate.id;
    const first = await raw(
      'POST',
      COMMISSIONS,
      `{"external_id":"said-é","affiliate_id":${id},"amount":100}`,
      key,
    );
    expect(first.status).toBe(201);
    const turned = ` {"amount": 1e2, "affiliate_id": ${id}.0, "external_id": "said-\\u00e9"}\n`;
    const again = await raw('POST', COMMISSIONS, turned, key);
    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
  });

  test('no body and {} are the same', async () => {
    const key = { 'idempotency-key': unique('empty') };
    const first = await api.post(`${PAYOUTS}/preview`, undefined, key);
    const again = await raw('POST', `${PAYOUTS}/preview`, '{}', key);
    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
  });

  test('a digit that JavaScript cannot hold does make one', async () => {
    const key = { 'idempotency-key': unique('digit') };
    const publish = (n: string) => raw('POST', EVENTS, `{"type":"order.created","data":{"n":${n}}}`, key);
    expect((await publish('12345678901234567890')).status).toBe(201);
    expectRefusal(await publish('12345678901234567891'), 409, 'idempotency_key_reused');
  });

  test('a PATCH with a key happens once', async () => {
    const key = { 'idempotency-key': unique('patch') };
    const one = `${AFFILIATES}/${affiliate.id}`;
    const first = await api.patch(one, { name_first: 'One' }, key);
    await api.patch(one, { name_first: 'Two' });
    const again = await api.patch(one, { name_first: 'One' }, key);
    expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
    expect((await api.get(one)).body.name_first).toBe('Two');
    expectRefusal(await api.patch(one, { name_first: 'Three' }, key), 409, 'idempotency_key_reused');
    expectRefusal(await api.patch(one, {}, { 'idempotency-key': '' }), 400, 'invalid_idempotency_key');
  });
});
