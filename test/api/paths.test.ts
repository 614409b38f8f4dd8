import { beforeAll, describe, expect, test } from 'vitest';
import { askerOf, type Member, memberOf } from '../access/support.ts';
import type { Api, RequestOptions } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { makeEndpoint, makeGrant } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  dump,
  ENDPOINTS,
  expectRefusal,
  fill,
  type Json,
  MISSING,
  makeAffiliate,
  makeCommission,
  makePayout,
  OPERATIONS,
  type Operation,
  PAYOUTS,
  PROGRAMS,
  sampleBody,
} from './fixtures.ts';

const world = useWorld({ cell: 0 });
let other: Api;
let ids: Record<string, string | number>;
/** A paid payout with an invoice; `payout_id` of `ids` is unpaid. */
let paidId: string;
const members = new Map<Api, Member>();
beforeAll(async () => {
  const { api } = world;
  other = await world.otherAccount();
  for (const each of [api, other]) members.set(each, await memberOf(each, 'owner'));
  const affiliate = await makeAffiliate(api, { external_id: `crm_${'0a1b2c3d'.repeat(4)}` });
  const address = { line1: '1 Main St', city: 'Boston' };
  const signed = { legal_type: 'person', legal_name: 'Ada', country: 'US', address };
  expect((await api.put(`${AFFILIATES}/${affiliate.id}/tax-profile`, signed)).status).toBe(200);
  const invoiced = await makeAffiliate(api);
  await letInvoice(api);
  await agree(api, invoiced.id);
  await makeCommission(api, invoiced.id, { currency: 'eur' });
  const paid = await completePayout(api, await makePayout(api));
  expect((await api.post(`${PAYOUTS}/${paid.id}/invoices`)).body.issued).toBe(1);
  paidId = paid.id;
  const { body: invoices } = await api.get('/v2/affiliates/invoices');
  const commission = await makeCommission(api, affiliate.id);
  const payout = await makePayout(api);
  const program = await api.post(PROGRAMS, { name: 'Partners' });
  const rhythm = { name: 'monthly', every: 'month', day: 1 };
  const schedule = await api.post('/v2/affiliates/payout-schedules', rhythm);
  const key = await api.post('/v2/api-keys', { name: 'paths' });
  const endpoint = await makeEndpoint(api, { external_id: affiliate.external_id });
  const { application_id, grant_id, user_id } = await makeGrant(world, api);
  const { body: sessions } = await api.get(`/v2/sessions?user_id=${user_id}`);
  const tested = await api.post(`${ENDPOINTS}/${endpoint}/test`);
  const recovery = await api.post(`${ENDPOINTS}/${endpoint}/recover`, { since: '2020-01-01' });
  const imported = await api.upload('/v2/imports?kind=affiliates', 'email\nfile@example.com\n');
  const fields = { name: 'ops', format: 'slack', url: 'http://127.0.0.1:9/alerts', kinds: [] };
  const channel = await api.post('/v2/alert-channels', fields);
  const refund = await api.post('/v2/affiliates/refunds', { external_id: 'late', order_id: 'late' });
  const described = await api.put('/v2/event-types/order.known', { description: 'an order' });
  ids = {
    type: described.body.type,
    affiliate_id: affiliate.id,
    external_id: affiliate.external_id,
    commission_id: commission.id,
    payout_id: payout.id,
    program_id: program.body.id,
    schedule_id: schedule.body.id,
    invoice_id: invoices.data[0].id,
    key_id: key.body.id,
    user_id,
    session_id: sessions.data[0].id,
    application_id,
    grant_id,
    id: endpoint,
    event_id: tested.body.id,
    recovery_id: recovery.body.id,
    import_id: imported.body.import_id,
    refund_id: refund.body.id,
    return_id: `ret_${payout.id.slice(3)}`,
    channel_id: channel.body.id,
  };
});

/** Sends with the account's key, or as a signed-in user, where a key cannot act. */
function callerOf(api: Api, { isForPeople, path }: Operation): Api['request'] {
  const member = members.get(api);
  return member ? askerOf(api, member, isForPeople || path.startsWith('/v2/alerts')) : api.request;
}

/** Bodies that would change something, where the smallest one would not. */
const BODIES: Readonly<Record<string, object>> = {
  'PATCH /v2/affiliates/{affiliate_id}': { name_first: 'Mallory' },
  'PATCH /v2/affiliates/programs/{program_id}': { name: 'Mallory' },
  'PATCH /v2/users/{user_id}': { name: 'Mallory', role: 'viewer' },
  'PATCH /v2/oauth-applications/{application_id}': { name: 'Mallory' },
  'PATCH /v2/webhook-endpoints/{id}': { description: 'Mallory', status: 'disabled' },
};
const FILE = 'application/octet-stream';
const requestOf = (operation: Operation): RequestOptions =>
  operation.requestBody?.content[FILE]
    ? { body: 'reference\nP1-A1\n', headers: { 'content-type': FILE } }
    : { body: BODIES[`${operation.method} ${operation.path}`] ?? sampleBody(operation) };

// a PUT by a name of the merchant creates what it does not find
const WITH_ID = OPERATIONS.filter(
  ({ path, method }) => path.includes('{') && !(method === 'PUT' && /\{(external_id|type)\}$/.test(path)),
);
/** Its parameters that name a record. */
const paramsOf = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1])).filter((name) => name in MISSING);

function ask(api: Api, operation: Operation, at: string) {
  return callerOf(api, operation)(operation.method, at, requestOf(operation));
}

/** Ids are parsed by their kind: the first operation with a kind gets every ill-formed id, the others a few. */
const FIRST_WITH = new Map(
  WITH_ID.toReversed().flatMap((each) => paramsOf(each.path).map((name) => [name, each])),
);

let before: string[];
beforeAll(async () => {
  before = await dump(world);
});

describe.each(WITH_ID)('$method $path', (operation) => {
  const opaque = (name: string) => !/^(affiliate|program)_id$/.test(name);

  test('answers 404 to an ill-formed id, with exactly the bytes of a missing one', async () => {
    for (const name of paramsOf(operation.path)) {
      const missing = await ask(
        world.api,
        operation,
        fill(operation.path, { ...ids, [name]: MISSING[name]! }),
      );
      expectRefusal(missing, 404, 'resource_missing');
      const good = String(ids[name]);
      const bad = [
        '%00',
        '%zz',
        '%ff',
        '%',
        '%2F',
        '-1',
        '0',
        '1.5',
        '1e3',
        'null',
        'undefined',
        '9'.repeat(400),
        'x'.repeat(10_000),
        `${good}%00`,
        `${good}%20`,
        `%20${good}`,
        encodeURIComponent('١'),
        encodeURIComponent('💥'),
        "'%20or%201=1--",
        ...(opaque(name)
          ? [
              '1',
              good.replace(/^[a-z]+_/, ''),
              good.replace(/^[a-z]+_/, 'com_x'),
              good.replace(/^[a-z]+_/, (prefix) => (prefix === 'com_' ? 'po_' : 'com_')),
              good.toUpperCase(),
              good.replace(/[0-9a-f]+$/, (hex) => hex.toUpperCase()),
              `${good}0`,
              good.slice(0, -1),
              good.replace(/(.{12})(.{4})(.{4})/, '$1-$2-$3-'),
            ]
          : [`0${good}`, `${good}.0`, `+${good}`, '9007199254740993', '99999999999999999999']),
      ].filter((id) => id !== good);
      const few = bad.slice(-1);
      for (const id of FIRST_WITH.get(name) === operation ? bad : few) {
        const answer = await ask(world.api, operation, fill(operation.path, { ...ids, [name]: id }));
        expect([id.slice(0, 40), answer.status, answer.text]).toEqual([id.slice(0, 40), 404, missing.text]);
        expectRefusal(answer, 404, 'resource_missing');
      }
    }
  });

  // test/tenants/matrix.test.ts compares the texts of all operations, this one the headers too
  if (!someOf(WITH_ID, 12).includes(operation)) return;
  test("answers another account's id like a missing one, byte for byte", async () => {
    const foreign = await ask(other, operation, fill(operation.path, ids));
    const missing = await ask(other, operation, fill(operation.path));
    expectRefusal(foreign, 404, 'resource_missing');
    expect(foreign.text).toBe(missing.text);
    const headers = (answer: Json) =>
      [...answer.headers].filter(([name]) => !['date', 'payhook-request-id'].includes(name));
    expect(headers(foreign)).toEqual(headers(missing));
  });
});

test('none of these ids changed anything', async () => {
  expect(await dump(world)).toEqual(before);
});

describe('a method that a path does not have', () => {
  const paths = [...new Set(OPERATIONS.map(({ path }) => path))];
  /** Of the matching paths, the one with a literal where the others have a parameter. */
  const methodsOf = (at: string) => {
    const fitting = paths.filter((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(at));
    const path = fitting.find((each) => each === at) ?? fitting[0];
    const methods = OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method);
    return [...methods, 'OPTIONS', ...(methods.includes('GET') ? ['HEAD'] : [])];
  };
  // named like a payout, `current` is refused by the operations that take an id
  const ALIAS = /\/payouts\/current$/;

  // one handler answers them all, from the table of operations
  test.each(someOf(paths, 15))('%s answers 405 with Allow', async (path) => {
    const at = fill(path, ids);
    const possible = methodsOf(at);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (possible.includes(method) || (ALIAS.test(path) && /PUT|DELETE/.test(method))) continue;
      const answer = await world.api.request(method, at);
      expectRefusal(answer, 405, 'method_not_allowed', method);
      const allowed = answer.headers.get('allow')?.split(', ') ?? [];
      expect(allowed.toSorted()).toEqual(possible.toSorted());
    }
    if (!possible.includes('GET')) expect((await world.api.request('HEAD', at)).status).toBe(405);
  });
});

describe('a path that does not exist', () => {
  test.each([
    '/',
    '/v2',
    '/v1/affiliates/payouts',
    '/v2/affiliate',
    '/v2/affiliates/payouts/current/nothing',
    '/v2/affiliates/commissions/x/y/z',
    '/V2/affiliates',
    '/%zz',
    '/%00',
    '/v2/affiliates%2Fpayouts',
    `/${'long'.repeat(30)}`,
  ])('%s answers 404', async (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) expectRefusal(await world.api.request(method, path), 404);
  });

  test.each(['/v2/%', '/v2/%zz', '/v2/affiliates/%/%'])(
    '%s is refused in a few words, however long',
    async (path) => {
      for (const tail of ['', 'x'.repeat(15_000)]) {
        const answer = await world.api.get(path + tail);
        expectRefusal(answer, 404);
        expect(answer.text.length).toBeLessThan(250);
      }
    },
  );
});

describe('a trailing slash', () => {
  // an unknown id is refused after everything else, so both ways must give the same result
  test.each(someOf(OPERATIONS, 15))('$method $path answers the same with it', async (operation) => {
    const { method, path } = operation;
    // the interface gives one path with a slash: both work there too
    const known = path.includes('/invoices/download') ? { ...ids, payout_id: paidId } : ids;
    const at = fill(path, method === 'GET' ? known : {}).replace(/\/$/, '');
    const options = { body: method === 'GET' ? undefined : { nonsense: true } };
    const request = callerOf(world.api, operation);
    const plain = await request(method, at + operation.query, options);
    const slashed = await request(method, `${at}/?${operation.query.slice(1)}`, options);
    // its file may be JSON, so the payout is looked up
    const refused = path.endsWith('/results') ? 404 : 400;
    expect(plain.status).toBe(method === 'GET' ? 200 : refused);
    expect([slashed.status, slashed.reason, slashed.text]).toEqual([plain.status, plain.reason, plain.text]);
    expect(slashed.headers.get('location')).toBeNull();
  });

  test('keeps the list a list: /payouts/ is not a payout without an id', async () => {
    const answer = await world.api.get(`${PAYOUTS}/?per_page=1`);
    expect(answer.body.pagination).toMatchObject({ page: 1, limit: 1, total: 2, pages: 2 });
  });
});

describe('a query parameter', () => {
  let before: string[];
  beforeAll(async () => {
    before = await dump(world);
  });

  // one parser reads the queries of all operations from their descriptions
  test.each(someOf(OPERATIONS, 30))(
    '$method $path refuses an unknown one and a repeated one by name',
    async (operation) => {
      const at = fill(operation.path, ids);
      const options = requestOf(operation);
      const request = callerOf(world.api, operation);
      const unknown = ['__proto__=1', 'colour', 'constructor=1', 'Page=1', 'status%5B%5D=paid'];
      for (const query of operation === OPERATIONS[0] ? unknown : unknown.slice(0, 1)) {
        const answer = await request(operation.method, `${at}?${query}`, options);
        const name = decodeURIComponent(query.split('=', 1)[0] ?? '');
        expectRefusal(answer, 400, 'unknown_query_parameter', name);
      }
      const known = operation.parameters.find((parameter) => parameter.in === 'query')?.name ?? 'colour';
      const twice = await request(operation.method, `${at}?${known}=1&${known}=1`, options);
      expectRefusal(twice, 400, 'invalid_query', known);
    },
  );

  test('none of these queries changed anything', async () => {
    expect(await dump(world)).toEqual(before);
  });

  test('with a NUL character is refused, bytes that are not UTF-8 match nothing', async () => {
    expectRefusal(await world.api.get(`${AFFILIATES}?search=a%00b`), 400, 'invalid_query', 'search');
    expectRefusal(await world.api.get(`${COMMISSIONS}?order_id=%00`), 400, 'invalid_query', 'order_id');
    const answer = await world.api.get(`${COMMISSIONS}?order_id=%ff`);
    expect([answer.status, answer.body.data]).toEqual([200, []]);
  });
});

test('every response has its own request id, by which the log has a failed one', async () => {
  const answers = [
    await world.api.get(PAYOUTS),
    await world.api.get('/v2/nothing'),
    await world.api.get(`${PAYOUTS}/1`),
  ];
  const seen = answers.map((answer) => answer.headers.get('payhook-request-id'));
  expect(new Set(seen).size).toBe(3);
  for (const id of seen) expect(world.log.some((line) => line.reqId === id)).toBe(true);
});
