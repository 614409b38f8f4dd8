import { beforeAll, describe, expect, test } from 'vitest';
import { CALLBACK, signedIn } from '../oauth/support.ts';
import { type Answer, type Api, apiOf } from '../support/api.ts';
import { isLong, rounds, someOf } from '../support/depth.ts';
import { makeEndpoint, makeGrant, seedAttempts } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  bookDebt,
  COMMISSIONS,
  completePayout,
  ENDPOINTS,
  EVENT_LOG,
  expectRefusal,
  fill,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  OPERATIONS,
  PAYOUTS,
  PROGRAMS,
  unique,
} from './fixtures.ts';

// Driven by the description: a new list, sort field or filter is tested here.

const world = useWorld();
const { api } = world;
let ids: Record<string, string>;

/** An account with a record in every list, and in every state. */
beforeAll(async () => {
  await fillAccount(await world.otherAccount());
  ids = await fillAccount(api);
  // stored besides the request, once a minute: not within the next hour
  for (const table of ['api_keys', 'oauth_grants'])
    await world.query(
      `update ${table} set last_used_at = now() + interval '1 hour' where last_used_at is not null`,
    );
});

async function fillAccount(client: Api): Promise<Record<string, string>> {
  const endpoints = {
    all: await makeEndpoint(client, { event_types: ['payout.*', 'affiliate.*', 'order.*'] }),
    off: await makeEndpoint(client, { event_types: ['payout.*'], status: 'disabled' }),
    gone: await makeEndpoint(client, { event_types: ['affiliate.created'], owner: 'shop-7' }),
  };
  const programs: number[] = [];
  for (const name of ['North', 'South', 'East'])
    programs.push((await client.post(PROGRAMS, { name, hold_days: name === 'East' ? 3650 : null })).body.id);
  const people: number[] = [];
  for (let index = 0; index < 8; index += 1) {
    const made = await makeAffiliate(client, {
      external_id: index % 2 ? `crm-${index}` : null,
      name_first: ['Zoë', 'ada'][index % 2],
      country: ['DE', 'FR', null][index % 3],
      payout_method: index % 3 ? 'paypal' : null,
    });
    people.push(made.id);
  }
  const sell = async (count: number, fields: (index: number) => object = () => ({})) => {
    for (let index = 0; index < count; index += 1) {
      await makeCommission(client, people[index % 5]!, {
        currency: ['usd', 'eur', 'jpy'][index % 3],
        type: ['sale', 'bonus', 'recurring'][index % 3],
        program_id: [null, programs[0], programs[1]][index % 3],
        order_id: index % 2 ? `o-${index % 4}` : null,
        occurred_at: `2025-01-01T00:00:00.00${(7 * index) % 10}Z`,
        amount: 100 + (index % 4),
        ...fields(index),
      });
    }
  };
  await sell(9);
  const first = await completePayout(client, await makePayout(client), [
    { affiliate_id: people[0], is_paid: true, payment_reference: 'R-1' },
    { affiliate_id: people[1], is_paid: true, payment_reference: 'R-2' },
    { affiliate_id: people[2], is_paid: false },
  ]);
  await fillInvoices(client, first, people);
  await sell(7);
  await completePayout(client, await makePayout(client, { filters: { currency: 'usd' } }));
  await sell(6);
  // some are left out of the last payout, for each reason
  await client.patch(`${AFFILIATES}/${people[3]}`, { status: 'inactive' });
  await client.patch(`${AFFILIATES}/${people[4]}`, { minimum_payout: { usd: 9000, eur: 9000 } });
  await makeCommission(client, people[5]!, { amount: 5 });
  await bookDebt(world, people[5]!, -50);
  await sell(3, () => ({ program_id: programs[2], occurred_at: '2026-01-01T00:00:00Z' }));
  const back = `${PAYOUTS}/${first.id}/affiliates/${people[0]}/returned`;
  await client.post(back, { reason: 'a mistake', currency: 'usd', amount: 30 });
  await client.delete(`${back}/${(await client.get(back)).body.data[0].id}`);
  await client.post(back, { reason: 'a part', currency: 'usd', amount: 20 });
  await client.post(back, { reason: 'closed' });
  await makePayout(client);
  await sell(4);
  await sell(2, () => ({ program_id: programs[2], occurred_at: '2026-01-01T00:00:00Z' }));
  const { data } = (await client.get(`${COMMISSIONS}?status=unpaid&payout_id=none&per_page=2&type=sale`))
    .body;
  for (const { id } of data) await client.post(`${COMMISSIONS}/${id}/void`);
  for (const name of ['ci', 'shop', 'old']) {
    const made = await client.post('/v2/api-keys', { name });
    if (name === 'old') await client.delete(`/v2/api-keys/${made.body.id}`);
  }
  await fillLog(client, endpoints);
  await fillNotices(client, first, people);
  await fillAccess(client);
  return { payout_id: first.id, affiliate_id: String(people[0]), id: endpoints.all };
}

/** Notices to affiliates: waiting, sent and failed. The server under test sends no e-mail, so none would be written. */
async function fillNotices(client: Api, payout: Json, [one = 0, other = 0]: number[]): Promise<void> {
  const account = (await client.get('/v2/account')).body.id.replace('acc_', '');
  for (const [affiliate, kind, sent, failed] of [
    [one, 'paid', 'now_ms()', 'null'],
    [one, 'returned', 'null', 'null'],
    [other, 'paid', 'null', 'now_ms()'],
    [other, 'returned', 'now_ms()', 'null'],
  ])
    await world.query(
      `insert into notices (account_id, kind, subject, data, is_alone, affiliate_id, due_at, sent_at, failed_at)
       select $1::uuid, $2, $3, '{}', true, $4::int8, now_ms() + interval '1 hour', ${sent}, ${failed}`,
      [account, kind, payout.id, affiliate],
    );
}

/** Issues invoices for a payout's payments to two affiliates who agreed to it. */
async function fillInvoices(
  client: Api,
  payout: Json,
  [one = 0, other = 0, ...more]: number[],
): Promise<void> {
  const address = { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' };
  const self_billing = { agreed_on: '2020-01-01', agreed_by: 'Ada' };
  await client.patch('/v2/account', {
    tax_profile: { legal_name: 'Muster GmbH', country: 'DE', address, vat_id: 'DE136695976' },
    invoicing: { rules: [{ country: 'DE', category: 'E', exemption: 'Small business' }] },
  });
  for (const [id, name] of [
    [one, 'Ada'],
    [other, 'Zoë'],
  ] as const)
    await client.put(`${AFFILIATES}/${id}/tax-profile`, {
      ...{ legal_type: 'person', legal_name: name, country: 'DE', address, self_billing },
      tax_id: { type: 'vat', number: 'DE136695976' },
    });
  // forms that lapsed, that lapse this year, and that do not lapse
  const year = new Date().getUTCFullYear();
  for (const [id, country, form] of [
    [more[0], 'DE', { type: 'w8ben', signed_on: `${year - 5}-06-01` }],
    [more[1], 'FR', { type: 'w8ben', signed_on: `${year - 3}-06-01` }],
    [more[2], 'US', { type: 'w9', signed_on: `${year - 4}-06-01` }],
  ] as const)
    await client.put(`${AFFILIATES}/${id}/tax-profile`, {
      ...{ legal_type: 'person', legal_name: `Signer ${id}`, country, address, form },
    });
  const { body } = await client.post(`${PAYOUTS}/${payout.id}/invoices`);
  expect(body.skipped).toEqual([]);
  expect(body.issued).toBeGreaterThan(1);
}

/** Fills the delivery log with every state. */
async function fillLog(client: Api, endpoints: Record<'all' | 'off' | 'gone', string>): Promise<void> {
  await client.post('/v2/events', { type: 'order.created', data: {} });
  await client.post('/v2/events', {
    type: 'order.created',
    data: {},
    external_id: 'order-7-created',
    tags: ['order:7'],
  });
  await client.post('/v2/events', { type: 'order.created', data: {}, owner: 'shop-7' });
  await client.post('/v2/events', { type: 'order.created', data: {} });
  const [, second, third, fourth, fifth] = await allOf(
    client,
    `${ENDPOINTS}/${endpoints.all}/events?sort=id`,
  );
  await seedAttempts(world, second, [{ status: 500 }, { status: 200 }]);
  await seedAttempts(world, third, [{ status: null }]);
  await seedAttempts(world, fourth, [{ status: 204 }]);
  await seedAttempts(world, fifth, [{ status: 422 }], 'cancelled');
  const [left] = await allOf(client, `${ENDPOINTS}/${endpoints.gone}/events`);
  await seedAttempts(world, left, [{ status: 410 }]);
  await client.delete(`${ENDPOINTS}/${endpoints.gone}`);
}

/** Users, sessions, applications, and grants that are used, unused and revoked; the log has their actions. */
async function fillAccess(client: Api): Promise<void> {
  for (const role of ['owner', 'member', 'viewer', 'viewer'])
    await client.post('/v2/users', { email: `${unique(role)}@example.com`, name: `The ${role}`, role });
  const first = await makeGrant(world, client);
  await apiOf(world.url, first.access_token).post(PROGRAMS, { name: unique('By an application') });
  // stored besides the request
  await until('the use of the grant', async () => {
    return (await client.get(`/v2/oauth-grants/${first.grant_id}`)).body.last_used_at;
  });
  const { id, cookie, csrf } = await signedIn(world, { api: client });
  const answer = await apiOf(world.url, '').post(
    PROGRAMS,
    { name: unique('By a user') },
    { cookie: `payhook_session=${cookie}`, 'payhook-csrf': csrf },
  );
  expect(answer.status, answer.text).toBe(201);
  await makeGrant(world, client, { name: 'B', kind: 'public', redirect_uris: [CALLBACK] });
  const third = await makeGrant(world, client);
  await client.delete(`/v2/oauth-grants/${third.grant_id}`);
  await client.patch(`/v2/users/${id}`, { name: 'Another name' });
}

interface List {
  readonly title: string;
  readonly path: () => string;
  readonly sortFields: readonly string[];
  readonly filters: readonly { name: string; schema: Json }[];
  readonly mayStopCounting: boolean;
}

// those of a preview are requested by POST, and tested next to it
const LISTS: readonly List[] = OPERATIONS.filter(
  // a key has no sessions of its own, and a report is not a list
  ({ method, path, parameters }) =>
    method === 'GET' &&
    parameters.some(({ name }) => name === 'page') &&
    !['/v2/me/sessions', '/v2/reports/summary'].includes(path),
).flatMap(({ path, parameters }) => {
  const sort = parameters.find(({ name }) => name === 'sort')?.schema.enum as string[];
  const made = (title: string, at: () => string): List => ({
    title,
    path: at,
    sortFields: sort.filter((field) => !field.startsWith('-')),
    filters: parameters.filter(
      ({ name, in: place }) =>
        place === 'query' && !['page', 'per_page', 'after', 'sort', 'max_total'].includes(name),
    ),
    mayStopCounting: parameters.some(({ name }) => name === 'max_total'),
  });
  if (!path.includes('{payout_id}')) return [made(path, () => fill(path, ids))];
  // the lists of a payout: of a paid one and of the unpaid one
  return [
    made(`${path} of a paid payout`, () => fill(path, ids)),
    made(`${path} of the unpaid payout`, () => fill(path, { ...ids, payout_id: 'current' })),
  ];
});

/** The links of a Link header by their relation. */
function linksOf(answer: Answer): Record<string, URL> {
  const header = answer.headers.get('link') ?? '';
  return Object.fromEntries(
    [...header.matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, href = '', rel = '']) => [rel, new URL(href)]),
  );
}

const query = (path: string, parameters: Record<string, string>) =>
  api.get(`${path}?${new URLSearchParams(parameters)}`);

/** The rows of a list by its cursors, and what each page says about itself. */
async function walkBy(
  path: string,
  parameters: Record<string, string>,
): Promise<[rows: Json[], pages: Json[]]> {
  const [rows, pages]: [Json[], Json[]] = [[], []];
  let next: string | null = null;
  do {
    const { sort, ...rest } = parameters;
    const answer = await query(path, next === null ? parameters : { ...rest, after: next });
    expect(answer.status, answer.text).toBe(200);
    rows.push(...answer.body.data);
    pages.push(answer.body.pagination);
    next = answer.body.pagination.next;
    expect(linksOf(answer).first?.searchParams.get('after') ?? null).toBeNull();
    expect(pages.length).toBeLessThanOrEqual(200);
  } while (next !== null);
  return [rows, pages];
}

test('the description has the known lists', () => {
  expect(LISTS.length).toBeGreaterThanOrEqual(9);
});

/** Wrong values of the parameters that all lists share: the first list gets all of them, the others the first. */
const BAD_PAGING = [
  ['page', '0', ['-1', '1.5', 'abc', '', '0x1', '1e2', ' 1', '１', 'null']],
  ['per_page', '101', ['0', '-1', '1.5', 'abc', '', '99999999999999999999']],
  ['sort', '', ['-', '--id', 'id desc', 'ID', 'id,created_at', 'toString']],
] as const;

/** A page size that divides a list into a few pages, or in a long run into many. */
const pagesOf = (rows: number) => String(rounds(Math.max(1, Math.ceil(rows / 4)), 2));

describe.each(LISTS)('the list $title', ({ path, sortFields, filters, mayStopCounting }) => {
  let known: Json[] | undefined;
  /** Its rows, which no test changes. */
  const all = async () => (known ??= await allOf(api, path()));

  // one function reads the paging of all lists: a short run tries wrong values at some of them
  const isTried = someOf(LISTS, 10).some((list) => list.path === path);

  if (isTried)
    test.each(BAD_PAGING)('refuses %s=%j by name', async (name, first, more) => {
      for (const value of path() === LISTS[0]?.path() ? [first, ...more] : [first])
        expectRefusal(await query(path(), { [name]: value }), 400, 'invalid_query', name);
    });

  if (isTried)
    test('refuses an unknown order, and lists the known ones', async () => {
      expectRefusal(await query(path(), { sort: 'colour' }), 400, 'invalid_query', 'sort', ...sortFields);
    });

  test('shows the total, 50 to a page, and links to the other pages', async () => {
    const rows = await all();
    const first = await api.get(path());
    const pages = Math.ceil(rows.length / 50);
    const more = (is: boolean) => (is ? expect.any(String) : null);
    expect(first.body.pagination).toEqual({
      page: 1,
      limit: 50,
      total: rows.length,
      pages,
      next: more(pages > 1),
    });
    const small = await query(path(), { per_page: '2', page: '2' });
    const last = Math.max(1, Math.ceil(rows.length / 2));
    expect(small.body.data).toEqual(rows.slice(2, 4));
    expect(small.body.pagination).toEqual({
      page: 2,
      limit: 2,
      total: rows.length,
      pages: Math.ceil(rows.length / 2),
      next: more(rows.length > 4),
    });
    const links = linksOf(small);
    const pageOf = (rel: string) => links[rel]?.searchParams.get('page');
    expect([pageOf('first'), pageOf('prev'), pageOf('last')]).toEqual(['1', '1', String(last)]);
    expect(pageOf('next')).toBe(last > 2 ? '3' : undefined);
    for (const link of Object.values(links)) {
      expect(link.searchParams.get('per_page')).toBe('2');
      expect(link.origin).toBe(new URL(world.url).origin);
      expect(link.pathname).toBe(path());
    }
    expect(linksOf(await query(path(), { per_page: '2', page: String(last) })).next).toBeUndefined();
    expect(linksOf(first).prev).toBeUndefined();
  });

  if (isTried)
    test('is empty past its end, however far', async () => {
      const { total } = (await api.get(path())).body.pagination;
      for (const page of ['99', '0009007199254740991']) {
        const answer = await query(path(), { page });
        expect([answer.status, answer.body.data, answer.body.pagination.total]).toEqual([200, [], total]);
        const { prev, next, last } = linksOf(answer);
        expect([prev?.searchParams.get('page'), next]).toEqual([last?.searchParams.get('page'), undefined]);
      }
    });

  const inOrder = (sort: string) => allOf(api, `${path()}?sort=${sort}`);

  test.each(sortFields)('can be sorted by %s both ways, every row once', async (field) => {
    const isFirst = field === sortFields[0];
    const up = await inOrder(field);
    // one function reverses every order: a short run tries it at the first field of each list
    const down = isLong || isFirst ? await inOrder(`-${field}`) : up.toReversed();
    const everything = await all();
    const text = (rows: Json[]) => rows.map((row) => JSON.stringify(row));
    expect(text(up).toSorted()).toEqual(text(everything).toSorted());
    expect(new Set(text(up)).size).toBe(everything.length);
    expect(text(down)).toEqual(text(up).toReversed());
    const values = up.map((row) => row[field]).filter((value) => value !== null && value !== undefined);
    const rank = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value) as number | string;
    for (let index = 1; index < values.length; index += 1)
      if (typeof values[index] !== 'string' || /_at$|^id$/.test(field))
        expect(rank(values[index]) >= rank(values[index - 1])).toBe(true);
    const orders = [
      [field, up],
      [`-${field}`, down],
    ] as const;
    for (const [sort, expected] of isTried && isFirst ? orders : someOf(orders, 1)) {
      const [rows, pages] = await walkBy(path(), { sort, per_page: pagesOf(expected.length) });
      expect(rows).toEqual(expected);
      const numbers = pages.map(({ page }) => page);
      expect(numbers).toEqual(numbers.map((_, index) => index + 1));
      expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([expected.length]));
      expect(pages.slice(0, -1).every(({ next }) => typeof next === 'string')).toBe(true);
      expect(pages.at(-1)?.next).toBeNull();
    }
  });

  // one function writes the links of all lists: a short run reads pages by them in one order of some, and elsewhere by cursors alone
  test.each(sortFields.slice(0, rounds(isTried ? 1 : 0, 100)))(
    'can be read by links in the order of %s, both ways',
    async (field) => {
      for (const sort of [field, `-${field}`]) {
        const expected = await inOrder(sort);
        const rows: Json[] = [];
        let next: URL | undefined = new URL(
          `${world.url}${path()}?sort=${sort}&per_page=${pagesOf(expected.length)}`,
        );
        while (next) {
          const answer: Answer = await api.get(next.pathname + next.search);
          expect(answer.status, answer.text).toBe(200);
          rows.push(...answer.body.data);
          next = linksOf(answer).next;
        }
        expect(rows).toEqual(expected);
      }
    },
  );

  test('refuses a cursor of another list, with a page, or with another order', async () => {
    const [sort = ''] = sortFields;
    const { next } = (await query(path(), { per_page: '1', sort })).body.pagination;
    const rows = await all();
    expect(next === null).toBe(rows.length < 2);
    if (next === null) return;
    const [list, order, page, key] = JSON.parse(Buffer.from(next, 'base64url').toString());
    const forged = (...cursor: unknown[]) => Buffer.from(JSON.stringify(cursor)).toString('base64url');
    const nothing = key.map(() => 'nothing of the kind\0');
    for (const after of [
      forged('listX', order, page, key),
      ...(isTried ? ['', 'x', '%', next.slice(1), forged(), forged(list, order, page)] : []),
    ])
      expectRefusal(await query(path(), { after }), 400, 'invalid_query', 'after');
    for (const cursor of [
      forged(list, order, page, [...key, 'more']),
      forged(list, order, '-1', key),
      forged(
        list,
        order,
        page,
        key.map(() => 7),
      ),
    ])
      expectRefusal(await query(path(), { after: cursor }), 400, 'invalid_query', 'after');
    expectRefusal(
      await query(path(), { after: forged(list, 'colour', page, key) }),
      400,
      'invalid_query',
      'sort',
    );
    expectRefusal(await query(path(), { after: next, page: '2' }), 400, 'invalid_query', 'page', 'after');
    expectRefusal(
      await query(path(), { after: next, sort: `-${sort}` }),
      400,
      'invalid_query',
      'after',
      'sort',
    );
    expect((await query(path(), { after: next, sort, per_page: '1' })).status).toBe(200);
    const answer = await query(path(), { after: forged(list, order, page, nothing) });
    // a text accepts any text; a number, an id and a time do not
    if (answer.status !== 200) expectRefusal(answer, 400, 'invalid_query', 'after');
  });

  test('stops counting at max_total where it may, and gives the same rows', async () => {
    if (!mayStopCounting) {
      const answer = await query(path(), { max_total: '5' });
      return expectRefusal(answer, 400, 'unknown_query_parameter', 'max_total');
    }
    const type = 'affiliate.*';
    const rows = (await all()).filter((row) => row.type.startsWith('affiliate.'));
    expect(rows.length).toBeGreaterThan(2);
    for (const [most, total] of [
      [rows.length + 1, rows.length],
      [rows.length, rows.length],
      [2, 2],
    ] as const) {
      const filter = { type, max_total: String(most) };
      const page = await query(path(), { ...filter, per_page: '1', page: '2' });
      expect(page.body.data).toEqual([rows[1]]);
      expect(page.body.pagination).toMatchObject({ total, pages: total });
      expect((await query(path(), { ...filter, per_page: '2', page: '2' })).body.data).toEqual(
        rows.slice(2, Math.max(2, total)).slice(0, 2),
      );
      expect((await walkBy(path(), { ...filter, per_page: pagesOf(rows.length) }))[0]).toEqual(rows);
    }
    for (const max_total of ['', '0', '-1', '1.5', 'many', '1000001'])
      expectRefusal(await query(path(), { max_total }), 400, 'invalid_query', 'max_total', '1000000');
  });

  if (filters.length === 0) return;

  // lists share the filters of a name: a short run tries everything at the first list that has it
  const isTriedWhole = (name: string) =>
    isLong || LISTS.find((list) => list.filters.some((filter) => filter.name === name))?.path === path;
  const valuesOf = <Value>(name: string, all: readonly Value[], most = 3): readonly Value[] =>
    isTriedWhole(name) ? all : someOf(all, most);

  /** Those that a short run tries: of the four ends of a period one, and all four at the first list that has it. */
  const tried = filters.filter(({ name }) => !/\[(gt|lte|lt)\]$/.test(name) || isTriedWhole(name));

  test.each(tried)('refuses a bad $name by name', async ({ name, schema }) => {
    for (const value of valuesOf(name, badValues(name, schema), 1))
      expectRefusal(await query(path(), { [name]: value }), 400, 'invalid_query', name);
  });

  test.each(tried)('is filtered by $name, exactly', async ({ name, schema }) => {
    const rows = await all();
    const values = await goodValues(name, schema, rows);
    const cases = SPAN.test(name) ? valuesOf(name, values) : values;
    const [some] = cases.filter(([, found]) => rows.filter(found).length > 1);
    // a short run walks through some lists with their first filter
    if (some && (isLong || (isTried && name === filters[0]?.name)))
      expect((await walkBy(path(), { [name]: some[0], per_page: pagesOf(rows.length) }))[0]).toEqual(
        rows.filter(some[1]),
      );
    expect(cases.length, `no value to try ${name} with`).toBeGreaterThan(0);
    for (const [value, matches] of cases) {
      const expected = rows.filter(matches);
      const answer = await query(path(), { [name]: value, per_page: '100' });
      expect(answer.status, answer.text).toBe(200);
      expect([value, answer.body.data]).toEqual([value, expected]);
      expect(answer.body.pagination.total).toBe(expected.length);
    }
    // the same in another order, for which the planner may choose another plan
    if (!isTriedWhole(name)) return;
    const [value, matches] = cases.find(([, found]) => rows.some(found)) ?? cases[0]!;
    const order = sortFields.includes('id') ? 'id' : (sortFields[0] ?? '');
    const sorted = await allOf(api, `${path()}?${new URLSearchParams({ [name]: value, sort: order })}`);
    const texts = (list: Json[]) => list.map((row) => JSON.stringify(row)).toSorted();
    expect(texts(sorted)).toEqual(texts(rows.filter(matches)));
  });
});

const SPAN = /^(\w+)\[(gte|gt|lte|lt)\]$/;

function badValues(name: string, schema: Json): string[] {
  if (SPAN.test(name))
    return [
      '',
      'yesterday',
      '2025-02-30',
      '2025-13-01',
      '1',
      '2025-01-01T00:00:00',
      '2025-01-01T00:00:00.000',
    ];
  if (schema.enum)
    return ['', 'nonsense', schema.enum[0].toUpperCase(), `${schema.enum[0]},${schema.enum[0]}`];
  if (schema.type === 'integer') return ['', '0', '-1', '1.5', 'abc', '1,2', '99999999999999999999'];
  if (name === 'currency') return ['', 'us', 'usdd', 'xyz', '1'];
  if (name === 'payout_id') return ['', '1', 'null', 'po_1', `com_${'0'.repeat(32)}`, 'NONE'];
  if (name === 'webhook_endpoint_id') return ['', '1', 'null', 'none', 'we_1', `evt_${'0'.repeat(32)}`];
  const prefix = OPAQUE[name];
  if (prefix) return ['', '1', 'null', `${prefix}_1`, `com_${'0'.repeat(32)}`, 'none'];
  if (name === 'search') return ['x'.repeat(201)];
  if (name === 'country') return ['', 'D', 'DEU', 'None', '1'];
  if (name === 'response_status') return ['', '0', '99', '600', '20', '2000', '20.5', 'abc'];
  if (name === 'error_code') return ['', 'TIMEOUT', 'time out', "x'", '1'];
  if (name === 'type') return ['', '*', 'paid', 'PAYOUT.PAID', 'payout.nothing', '\0'];
  return schema.minLength === 1 ? ['', '\0'] : ['\0'];
}

/** The id prefixes that filters accept. */
const OPAQUE: Readonly<Record<string, string>> = { user_id: 'usr', application_id: 'app', event_id: 'evt' };

/** Filters on a nested field. */
const INSIDE: Readonly<Record<string, (row: Json) => Json>> = {
  actor_kind: (row) => row.actor.kind,
  actor_id: (row) => row.actor.id,
};

type Case = [value: string, matches: (row: Json) => boolean];

const RELATIONS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  gte: (a, b) => a >= b,
  gt: (a, b) => a > b,
  lte: (a, b) => a <= b,
  lt: (a, b) => a < b,
};

const distinct = (rows: readonly Json[], field: string): string[] => [
  ...new Set(
    rows
      .map((row) => row[field])
      .filter((value) => value !== null && value !== undefined)
      .map(String),
  ),
];

const EMPTY_HAYSTACK: Case = ['nothing has this in it', () => false];

/** Values to filter by, each with its expected rows, computed from the rows alone. */
async function goodValues(name: string, schema: Json, rows: readonly Json[]): Promise<Case[]> {
  const span = SPAN.exec(name);
  if (span) return spanCases(String(span[1]), RELATIONS[String(span[2])]!, rows);
  const first = rows[0] ?? {};
  if (name === 'status' && first.object === 'api_key')
    return [
      ['active', (row) => row.revoked_at === null],
      ['revoked', (row) => row.revoked_at !== null],
    ];
  if (name === 'status' && first.object === 'affiliate_commission') return commissionStatuses();
  if (name === 'affiliate_id' && first.object === 'affiliate_payout') return payoutsOfAffiliates();
  if (name === 'program_id' && first.object === 'affiliate') return affiliatesOfPrograms();
  if (name === 'has_program' || (OF_COMMISSIONS.includes(name) && first.object === 'refund'))
    return casesOfCommissions(name, rows);
  if (name === 'currency' && first.object === 'affiliate_payout')
    return ['USD', 'jpy', 'kwd'].map(
      (code): Case => [
        code,
        (row) => row.totals.some(({ currency }: Json) => currency === code.toLowerCase()),
      ],
    );
  if (name === 'payout_method')
    return schema.enum.map((word: string): Case => [word, (row) => (row.paid_through ?? 'none') === word]);
  if (name === 'has_destination')
    return [
      ['true', hasDestination],
      ['false', (row) => !hasDestination(row)],
    ];
  // the currency in which the list is sorted
  if (name === 'balance_currency') return ['USD', 'kwd'].map((code): Case => [code, () => true]);
  if (name === 'is_undone')
    return [
      ['true', (row) => row.undone_at !== null],
      ['false', (row) => row.undone_at === null],
    ];
  if (name === 'search')
    return [
      ['ZOË', (row) => row.name_first === 'Zoë'],
      ['ada example', (row) => row.name_first === 'ada'],
      EMPTY_HAYSTACK,
    ];
  // the ends of a period, which no row shows
  if (name === 'from')
    return [
      ['1970-01-01', () => true],
      ['2999-12-31', () => false],
    ];
  if (name === 'to')
    return [
      ['2999-12-31', () => true],
      ['1970-01-01', () => false],
    ];
  if (name === 'country')
    return ['DE', 'fr', 'none'].map(
      (code): Case => [code, (row) => (row.country ?? 'none').toLowerCase() === code.toLowerCase()],
    );
  // reports begin in some year; nothing was paid in this one
  if (name === 'year') return [['2021', () => false]];
  if (name === 'is_reportable')
    return ['true', 'false'].map(
      (value): Case => [value, (row) => String(row.residence === 'us' && row.is_above_threshold) === value],
    );
  if (name === 'form' && first.object === 'affiliate_tax_profile')
    return schema.enum.map((type: string): Case => [type, (row) => row.form?.type === type]);
  if (name === 'form_status') {
    const year = (row: Json) =>
      Number((row.form?.valid_until ?? '9999').slice(0, 4)) - new Date().getUTCFullYear();
    return [
      ['none', (row) => row.form === null],
      ['lapsed', (row) => year(row) < 0],
      ['lapsing', (row) => year(row) === 0],
      ['valid', (row) => row.form !== null && year(row) >= 0],
    ];
  }
  if (name === 'self_billing_status') {
    const today = new Date().toISOString().slice(0, 10);
    const soon = new Date(Date.now() + 90 * 86_400_000).toISOString().slice(0, 10);
    const ends = (row: Json): string => row.self_billing?.expires_on ?? '9999-12-31';
    return [
      ['none', (row) => row.self_billing === null],
      ['ended', (row) => ends(row) < today],
      ['ending', (row) => ends(row) >= today && ends(row) <= soon],
      ['valid', (row) => row.self_billing !== null && ends(row) >= today],
    ];
  }
  if (name === 'is_above_state_threshold')
    return ['true', 'false'].map(
      (value): Case => [value, (row) => String(row.is_above_state_threshold) === value],
    );
  const inside = INSIDE[name];
  if (inside) {
    const values = [...new Set(rows.map(inside))] as string[];
    expect(values.length).toBeGreaterThan(1);
    return [...values, ...(schema.enum ?? [])].map((value) => [value, (row) => inside(row) === value]);
  }
  const log = first.object === 'webhook_event' || name === 'tag' ? await logCases(name) : null;
  if (log !== null) return log;
  const found = distinct(rows, name);
  const cases: Case[] = found
    .slice(0, rounds(4, 12))
    .map((value) => [value, (row) => String(row[name]) === value]);
  const prefix = OPAQUE[name];
  if (prefix) return [...cases, [`${prefix}_${'0'.repeat(32)}`, () => false]];
  if (name === 'type' && /^(webhook|published)_event$/.test(first.object))
    return [...cases, ['payout.*', (row) => row.type.startsWith('payout.')], ['nobody.sent', () => false]];
  if (name === 'email') cases.push(['nobody@example.com', () => false]);
  if (name === 'email') cases.push([String(found[0]).toUpperCase(), (row) => row.email === found[0]]);
  if (name === 'currency')
    cases.push([String(found[0] ?? 'usd').toUpperCase(), (row) => row.currency === (found[0] ?? 'usd')]);
  if (name === 'payout_id') cases.push([`po_${'0'.repeat(32)}`, () => false]);
  // not every commission is in a payout
  if (name === 'payout_id' && first.object === 'affiliate_commission')
    cases.push(['none', (row) => row.payout_id === null]);
  if (name === 'commission_id') return [...cases, [`com_${'0'.repeat(32)}`, () => false]];
  if (name === 'webhook_endpoint_id') return [...cases, [`we_${'0'.repeat(32)}`, () => false]];
  if (schema.enum) for (const word of schema.enum) cases.push([word, (row) => String(row[name]) === word]);
  if (schema.type === 'integer') cases.push(['999999999', () => false]);
  if (
    schema.type === 'string' &&
    !schema.enum &&
    !schema.pattern &&
    !/^(payout_id|commission_id|email)$/.test(name)
  )
    cases.push(EMPTY_HAYSTACK);
  return cases;
}

/** Filters of the delivery log by fields that have another name there. */
async function logCases(name: string): Promise<Case[] | null> {
  if (name === 'external_id') {
    const published = await world.query<{ external_id: string; id: string }>(
      `select external_id, 'evt_' || replace(event_id::text, '-', '') as id from event_keys`,
    );
    const ids = (external: string) =>
      published.filter((each) => each.external_id === external).map(({ id }) => id);
    return ['order-7-created', 'nobody-s'].map((value) => [value, (row) => ids(value).includes(row.id)]);
  }
  if (name === 'tag') {
    const tagged = await world.query<{ id: string }>(
      `select 'evt_' || replace(event_id::text, '-', '') as id from event_tags where tag = 'order:7'`,
    );
    const ids = tagged.map(({ id }) => id);
    return [
      ['order:7', (row) => ids.includes(row.id)],
      ['order:8', () => false],
    ];
  }
  if (name === 'owner') {
    const owned = await world.query<{ id: string }>(
      `select 'we_' || replace(id::text, '-', '') as id from webhook_endpoints where owner = 'shop-7'`,
    );
    const ids = owned.map(({ id }) => id);
    return [
      ['shop-7', (row) => ids.includes(row.webhook_endpoint_id)],
      ['nobody', () => false],
    ];
  }
  const rows = await allOf(api, EVENT_LOG);
  const values = (field: string, more: string[]) => [...distinct(rows, field), ...more];
  if (name === 'event_id')
    return values('id', [`evt_${'0'.repeat(32)}`]).map((value) => [value, (row) => row.id === value]);
  if (name === 'response_status')
    return values('last_response_status', ['599', '200']).map((value) => [
      value,
      (row) => String(row.last_response_status) === value,
    ]);
  if (name === 'response_class')
    return ['2xx', '3xx', '4xx', '5xx', 'none'].map((value) => [
      value,
      (row) =>
        value === 'none'
          ? row.last_response_status === null && row.attempt_count > 0
          : String(row.last_response_status).startsWith(value[0]!),
    ]);
  if (name === 'error_code')
    return values('last_error_code', ['dns_error']).map((value) => [
      value,
      (row) => row.last_error_code === value,
    ]);
  return null;
}

/** Filters of refunds by their commissions. */
const OF_COMMISSIONS = ['affiliate_id', 'program_id', 'currency', 'commission_id'];

/** Filters by a field of a commission, or of one that a refund applies to. */
function casesOfCommissions(name: string, rows: readonly Json[]): Case[] {
  const of = (row: Json): Json[] => row.refunds?.map(({ commission }: Json) => commission) ?? [row];
  if (name === 'has_program')
    return ['true', 'false'].map(
      (value): Case => [
        value,
        (row) => of(row).some(({ program_id }) => String(program_id !== null) === value),
      ],
    );
  const field = name === 'commission_id' ? 'id' : name;
  const values = distinct(rows.flatMap(of), field);
  const matches = (value: string) => (row: Json) => of(row).some((each) => String(each[field]) === value);
  const nothing = { currency: 'kwd', commission_id: `com_${'0'.repeat(32)}` }[name] ?? '999999999';
  return [...values, nothing].map((value): Case => [value, matches(value)]);
}

const hasDestination = ({ payout_method, paypal_email, name_first, name_last }: Json): boolean =>
  payout_method === 'wise'
    ? (name_first ?? name_last) !== null
    : payout_method === 'other' || paypal_email !== null;

/** Programs with the affiliates who earned in them, computed from commissions. */
async function affiliatesOfPrograms(): Promise<Case[]> {
  const sold = await allOf(api, COMMISSIONS);
  const programs = distinct(sold, 'program_id');
  const of = (id: string) =>
    new Set(sold.filter((row) => String(row.program_id) === id).map((row) => row.affiliate_id));
  return [...programs, '999999999'].map((id): Case => [id, (row) => of(id).has(row.id)]);
}

function spanCases(
  field: string,
  relation: (a: string, b: string) => boolean,
  rows: readonly Json[],
): Case[] {
  const shown = distinct(rows, field).toSorted();
  const some = [shown[0], shown[Math.floor(shown.length / 2)], shown.at(-1)].filter((at) => at !== undefined);
  const near = some.flatMap((at) => [-1, 0, 1].map((ms) => new Date(Date.parse(at) + ms).toISOString()));
  const cases: Case[] = ['2000-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', ...near].map((at) => [
    at,
    (row) => row[field] !== null && relation(row[field], at),
  ]);
  for (const at of some) {
    const day = at.slice(0, 10);
    cases.push([day, (row) => row[field] !== null && relation(row[field].slice(0, 10), day)]);
    // the same instant in another zone
    const there = new Date(Date.parse(at) + 5_400_000).toISOString().replace('Z', '+01:30');
    cases.push([there, (row) => row[field] !== null && relation(row[field], at)]);
  }
  return cases;
}

/** The states of a commission, defined a second time. */
async function commissionStatuses(): Promise<Case[]> {
  const rows = await world.query<{ external_id: string; status: string }>(
    `select c.external_id, case
       when c.voided_at is not null then 'voided'
       when exists (select from payouts p where p.id = c.payout_id and p.status = 'paid') then 'paid'
       when exists (select from payouts p where p.id = c.payout_id) or c.available_at <= now() then 'unpaid'
       else 'pending' end as status
     from commissions c`,
  );
  const known = new Map(rows.map(({ external_id, status }) => [external_id, status]));
  return ['pending', 'unpaid', 'paid', 'voided'].map((status) => [
    status,
    (row) => row.status === status && known.get(row.external_id) === status,
  ]);
}

async function payoutsOfAffiliates(): Promise<Case[]> {
  const lines = await world.query<{ payout: string; affiliate: string }>(
    `select 'po_' || replace(payout_id::text, '-', '') as payout, affiliate_id::text as affiliate from payout_lines`,
  );
  return [...new Set(lines.map(({ affiliate }) => affiliate)), '999999999'].map((id) => [
    id,
    (row) => lines.some(({ payout, affiliate }) => payout === row.id && affiliate === id),
  ]);
}

test('the lists were tested with every state of a commission', async () => {
  for (const status of ['pending', 'unpaid', 'paid', 'voided'])
    expect((await query(COMMISSIONS, { status })).body.pagination.total, status).toBeGreaterThan(0);
  const { excluded } = (await api.get(`${PAYOUTS}/current`)).body;
  expect(excluded.map(({ reason }: Json) => reason)).toEqual([
    'affiliate_inactive',
    'below_minimum',
    'negative_balance',
    'on_hold',
  ]);
});

test('filters by response combine with a status, and work in the log of one endpoint', async () => {
  const rows = await allOf(api, EVENT_LOG);
  const failing = rows.filter(({ last_error_code: code }) => code !== null);
  expect(failing.length).toBeGreaterThan(2);
  for (const { status, last_error_code: code, webhook_endpoint_id: endpoint } of failing) {
    const same = rows.filter((row) => row.status === status && row.last_error_code === code);
    expect((await query(EVENT_LOG, { status, error_code: code })).body.data).toEqual(same);
    const there = same.filter((row) => row.webhook_endpoint_id === endpoint);
    const answer = await query(`${ENDPOINTS}/${endpoint}/events`, { status, error_code: code });
    expect([answer.body.data, answer.body.pagination.total]).toEqual([there, there.length]);
  }
});

test('the lists were tested with every state of a delivery', async () => {
  for (const status of ['pending', 'held', 'delivered', 'failed', 'cancelled'])
    expect((await query(EVENT_LOG, { status })).body.pagination.total, status).toBeGreaterThan(0);
});

test('rows that appear or disappear meanwhile neither repeat nor hide others', async () => {
  const status = { status: 'unpaid', per_page: '2' };
  const before = (await allOf(api, `${COMMISSIONS}?status=unpaid`)).map(({ id }) => id);
  expect(before.length).toBeGreaterThan(5);
  const first = await query(COMMISSIONS, status);
  const [person] = await allOf(api, `${AFFILIATES}?status=active`);
  for (let index = 0; index < 3; index += 1) await makeCommission(api, person!.id, {});
  await api.post(`${COMMISSIONS}/${before[0]}/void`, { reason: 'a mistake' });
  const seen = first.body.data.map(({ id }: Json) => id);
  let { next } = first.body.pagination;
  while (next !== null) {
    const { body } = await query(COMMISSIONS, { ...status, after: next });
    seen.push(...body.data.map(({ id }: Json) => id));
    next = body.pagination.next;
  }
  expect(seen).toEqual(before);
});

test('filters combine: each narrows the result of the others', async () => {
  const rows = (await allOf(api, COMMISSIONS)).filter(
    (row) => row.status === 'paid' && row.currency === 'usd' && row.occurred_at > '2025-01-01T00:00:00.000Z',
  );
  const answer = await query(COMMISSIONS, {
    status: 'paid',
    currency: 'USD',
    'occurred_at[gt]': '2025-01-01T00:00:00.000Z',
  });
  expect(rows.length).toBeGreaterThan(0);
  expect(answer.body.data).toEqual(rows);
});
