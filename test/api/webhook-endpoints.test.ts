import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint, makeGrant, seedAttempts } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  allOf,
  dump,
  ENDPOINTS,
  EVENT_LOG,
  EVENTS,
  expectRefusal,
  type Json,
  labelled,
  MISSING,
  madeOnce,
  newestEvent,
  nothingChanges,
  nothingChangesInTurn,
  onlyAudited,
  TIMESTAMP,
  unique,
} from './fixtures.ts';

const URL = 'https://shop.example.com/hooks';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const NOBODY = `${ENDPOINTS}/${MISSING.id}`;

const world = useWorld();
const { api } = world;

const one = (id: string) => `${ENDPOINTS}/${id}`;

async function create(fields: object = {}): Promise<Json> {
  const made = await api.post(ENDPOINTS, { url: URL, ...fields });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

async function change(id: string, fields: object): Promise<Json> {
  const changed = await api.patch(one(id), fields);
  expect(changed.status, changed.text).toBe(200);
  return changed.body;
}

const publish = (type = 'order.created') => api.post(EVENTS, { type, data: {} });
const logOf = (id: string) => allOf(api, `${one(id)}/events`);
const secretOf = async (id: string): Promise<string> => (await api.get(`${one(id)}/secret`)).body.secret;

/** The stored row of an endpoint, and whether a text is in it in any spelling. */
async function isStored(text: string): Promise<boolean> {
  const rows = await dump(world);
  const spellings = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')];
  return rows.some((row) => spellings.some((spelling) => row.includes(spelling)));
}

/** An endpoint that refused requests leave as it is. */
const existing = madeOnce(() => create());

describe('an endpoint', () => {
  test('needs only a URL: it gets every event from now on, and says so', async () => {
    const made = await api.post(ENDPOINTS, { url: URL });
    expect(made.status).toBe(201);
    const { created_at } = made.body;
    expect(made.body).toEqual({
      id: expect.stringMatching(/^we_[0-9a-f]{32}$/),
      object: 'webhook_endpoint',
      delivery: 'push',
      url: URL,
      description: null,
      owner: null,
      external_id: null,
      event_types: null,
      filter: null,
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
      ordered: false,
      batch: null,
      rate_limit: null,
      max_age: null,
      headers: [],
      payload: 'full',
      api_version: '2.0.0',
      contact_email: null,
      contact_status: 'off',
      signing: 'standard',
      custom_signing: null,
      second_signature: null,
      proxy: null,
      client_certificate: null,
      client_credentials: null,
      metadata: {},
      paused_until: null,
      next_attempt_at: null,
      first_failure_at: null,
      last_claimed_at: null,
      last_success_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: created_at,
      secret: expect.stringMatching(SECRET),
    });
    expect(await logOf(made.body.id)).toEqual([]);
    const { body: event } = await publish();
    expect((await logOf(made.body.id)).map(({ id }) => id)).toEqual([event.id]);
  });

  test('keeps every given field, and shows it again without the secret', async () => {
    const fields = {
      url: 'http://[2606:4700::1111]:8443/in?shop=7&x=%20',
      description: 'bookkeeping – Zoë',
      event_types: ['payout.paid', 'order.*'],
      ordered: true,
      batch: { max_events: 50, max_bytes: 65_536, max_wait_ms: 0 },
      rate_limit: 20,
      max_age: 3600,
      metadata: { team: 'finance', '': 'empty', 'a b': '' },
    };
    const { secret, ...made } = await create({ ...fields, headers: { 'X-Tenant': 'seven' } });
    expect(made).toMatchObject({ ...fields, headers: ['x-tenant'], status: 'enabled' });
    expect((await api.get(one(made.id))).body).toEqual(made);
    expect((await allOf(api, ENDPOINTS)).find(({ id }) => id === made.id)).toEqual(made);
    expect(secret).toMatch(SECRET);
  });

  test('may be created disabled: its events are held, and none is published about it', async () => {
    const listener = await create({ event_types: ['webhook_endpoint.disabled'] });
    const made = await create({ status: 'disabled' });
    expect(made).toMatchObject({
      status: 'disabled',
      disabled_reason: 'manual',
      disabled_at: expect.stringMatching(TIMESTAMP),
    });
    await publish();
    expect((await logOf(made.id)).map(({ status }) => status)).toEqual(['held']);
    expect(await logOf(listener.id)).toEqual([]);
  });

  test('changes only in the named fields', async () => {
    const before = await create({
      description: 'first',
      event_types: ['order.*'],
      headers: { a: 'b' },
      rate_limit: 5,
      metadata: { k: 'v' },
    });
    const { secret: _, updated_at, ...rest } = before;
    const steps: object[] = [
      { url: `${new globalThis.URL(URL).origin}/elsewhere` },
      { description: null },
      { description: 'second' },
      { event_types: null },
      { event_types: ['a.b'] },
      { ordered: true },
      { ordered: false },
      { batch: { max_events: 2, max_bytes: 16_384, max_wait_ms: 60_000 } },
      { batch: null },
      { rate_limit: null },
      { rate_limit: 10_000 },
      { max_age: 1 },
      { max_age: null },
      { metadata: { other: 'one' } },
      { metadata: {} },
    ];
    let expected: Json = rest;
    for (const step of steps) {
      expected = { ...expected, ...step };
      const changed = await change(before.id, step);
      expect(changed).toEqual({ ...expected, updated_at: expect.stringMatching(TIMESTAMP) });
      expect(changed.updated_at >= updated_at).toBe(true);
      expect((await api.get(one(before.id))).body).toEqual(changed);
    }
    expect(await secretOf(before.id)).toBe(before.secret);
    const last = (await api.get(one(before.id))).body;
    expect(await change(before.id, {})).toEqual(last);
  });

  test.each<[string, object, string]>([
    ['no URL', { url: undefined }, 'url'],
    ['a URL that is null', { url: null }, 'url'],
    ['an empty URL', { url: '' }, 'url'],
    ['a URL of 2,049 characters', { url: `https://a.example/${'x'.repeat(2031)}` }, 'url'],
    ['an empty description', { description: '' }, 'description'],
    ['a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['event_types that are no list', { event_types: 'payout.paid' }, 'event_types'],
    ['no event type at all', { event_types: [] }, 'event_types'],
    ['101 event types', { event_types: Array.from({ length: 101 }, (_, n) => `a.b${n}`) }, 'event_types'],
    ['an event type that is not a text', { event_types: [1] }, 'event_types[0]'],
    ['headers that are a list', { headers: [] }, 'headers'],
    ['headers that are null', { headers: null }, 'headers'],
    ['a header that is a number', { headers: { 'X-A': 1 } }, 'headers.X-A'],
    ['rate_limit 0', { rate_limit: 0 }, 'rate_limit'],
    ['rate_limit -1', { rate_limit: -1 }, 'rate_limit'],
    ['rate_limit 1.5', { rate_limit: 1.5 }, 'rate_limit'],
    ['rate_limit 10001', { rate_limit: 10_001 }, 'rate_limit'],
    ['rate_limit "5"', { rate_limit: '5' }, 'rate_limit'],
    ['max_age 0', { max_age: 0 }, 'max_age'],
    ['max_age of more than a year', { max_age: 31_536_001 }, 'max_age'],
    ['metadata that is null', { metadata: null }, 'metadata'],
    ['metadata that is not a text', { metadata: { k: 1 } }, 'metadata.k'],
    ['metadata of 501 characters', { metadata: { k: 'x'.repeat(501) } }, 'metadata.k'],
    [
      '51 metadata',
      { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, ''])) },
      'metadata',
    ],
    ['NUL in metadata', { metadata: { k: '\0' } }, 'metadata.k'],
    ['another status', { status: 'paused' }, 'status'],
    ['a status that is null', { status: null }, 'status'],
  ])('is not created or changed with %s', async (_, fields, name) => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      expectRefusal(await api.post(ENDPOINTS, { url: URL, ...fields }), 400, 'invalid_body', name);
      if (JSON.stringify(fields) !== '{}')
        expectRefusal(await api.patch(one(id), fields), 400, 'invalid_body', name);
    });
  });

  test.each(['secrets', 'id', 'disabled_reason', 'created_at', 'failures', 'eventTypes'])(
    'has no field %s to set',
    async (name) => {
      const { id } = await existing();
      await nothingChanges(world, async () => {
        expectRefusal(await api.post(ENDPOINTS, { url: URL, [name]: 'x' }), 400, 'unknown_field', name);
        expectRefusal(await api.patch(one(id), { [name]: 'x' }), 400, 'unknown_field', name);
      });
    },
  );

  test('accepts the bounds of its rules', async () => {
    const fields = {
      url: `https://a.example/${'x'.repeat(2030)}`,
      description: 'x'.repeat(500),
      event_types: Array.from({ length: 100 }, (_, n) => `a.b${n}`),
      rate_limit: 1,
      metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 'x'.repeat(500)])),
    };
    expect(await create(fields)).toMatchObject(fields);
    expect(await create({ rate_limit: 10_000 })).toMatchObject({ rate_limit: 10_000 });
  });

  test('is enabled with or without what it held; held is refused with anything else', async () => {
    const { id } = await create({ status: 'disabled' });
    for (const [fields, part] of [
      [{ held: 'discard' }, 'held needs status: enabled'],
      [{ status: 'disabled', held: 'send' }, 'held needs status: enabled'],
      [{ status: 'enabled', held: 'keep' }, 'held must be one of send, discard'],
    ] as const)
      await nothingChanges(world, async () =>
        expectRefusal(await api.patch(one(id), fields), 400, 'invalid_body', part),
      );
    expectRefusal(await api.post(ENDPOINTS, { url: URL, held: 'send' }), 400, 'unknown_field', 'held');
    for (const held of ['send', 'discard', 'discard'])
      expect(await change(id, { status: 'enabled', held })).toMatchObject({ status: 'enabled' });
  });

  test('is listed by status, newest first', async () => {
    const [first, second, third] = [await create(), await create({ status: 'disabled' }), await create()];
    const ids = async (query: string) => (await allOf(api, `${ENDPOINTS}?${query}`)).map(({ id }) => id);
    expect((await ids('sort=-id')).slice(0, 3)).toEqual([third.id, second.id, first.id]);
    expect((await ids('status=enabled')).slice(0, 2)).toEqual([third.id, first.id]);
    expect((await ids('status=disabled'))[0]).toBe(second.id);
  });
});

describe('the secret', () => {
  test('is shown at creation and by its own call, a new one for each endpoint', async () => {
    const [first, second] = [await create(), await create()];
    expect(first.secret).toMatch(SECRET);
    expect(Buffer.from(first.secret.slice(6), 'base64')).toHaveLength(32);
    expect(second.secret).not.toBe(first.secret);
    const answer = await api.get(`${one(first.id)}/secret`);
    expect(answer.body).toEqual({
      object: 'webhook_endpoint_secret',
      secret: first.secret,
      previous_secret_expires_at: null,
      public_keys_url: null,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('appears nowhere else: not in a list, a record, a change, an event, the log or the database', async () => {
    const listener = await create({ event_types: ['webhook_endpoint.*'] });
    const { id, secret } = await create();
    const rotated = await api.post(`${one(id)}/rotate-secret`);
    const secrets = [secret, rotated.body.secret];
    const answers = [
      await api.get(one(id)),
      await api.get(`${ENDPOINTS}?per_page=100`),
      await api.patch(one(id), { description: 'changed' }),
      await api.post(`${one(id)}/test`),
      await api.patch(one(id), { status: 'disabled' }),
      await api.get(`${one(listener.id)}/events`),
    ].map(({ text }) => text);
    for (const { id: event } of [...(await logOf(id)), ...(await logOf(listener.id))])
      for (const endpoint of [id, listener.id])
        answers.push((await api.get(`${one(endpoint)}/events/${event}`)).text);
    for (const each of secrets) {
      const key = each.slice('whsec_'.length);
      expect(answers.join()).not.toContain(key);
      expect(JSON.stringify(world.log)).not.toContain(key);
      expect(await isStored(key)).toBe(false);
      const bytes = Buffer.from(key, 'base64').toString('hex');
      expect((await dump(world)).some((row) => row.includes(bytes))).toBe(false);
    }
  });

  test.each([
    ['its creation', () => [ENDPOINTS, { url: URL }] as const],
    ['its rotation', async () => [`${one((await create()).id)}/rotate-secret`, undefined] as const],
  ])('is blanked when %s is replayed', async (_, request) => {
    const [path, body] = await request();
    const key = { 'idempotency-key': unique('secret') };
    const first = await api.post(path, body, key);
    const again = await nothingChanges(world, () => api.post(path, body, key));
    expect(first.body.secret).toMatch(SECRET);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect([again.status, again.body]).toEqual([first.status, { ...first.body, secret: null }]);
    expect(await isStored(first.body.secret.slice(6))).toBe(false);
  });

  test('is a new one after a rotation; the old one also signs for a day, or as long as requested', async () => {
    const { id, secret, ...before } = await create();
    const ageOf = async (body?: object) => {
      const rotated = await api.post(`${one(id)}/rotate-secret`, body);
      expect(rotated.status, rotated.text).toBe(200);
      expect((await api.get(`${one(id)}/secret`)).body).toEqual(rotated.body);
      const { updated_at } = (await api.get(one(id))).body;
      const until = rotated.body.previous_secret_expires_at;
      return {
        secret: rotated.body.secret,
        seconds: until === null ? null : Math.round((Date.parse(until) - Date.parse(updated_at)) / 1000),
      };
    };
    const [day, week, second, none] = [
      await ageOf(),
      await ageOf({ overlap_seconds: 604_800 }),
      await ageOf({ overlap_seconds: 1 }),
      await ageOf({ overlap_seconds: 0 }),
    ];
    expect([day, week, second, none].map(({ seconds }) => seconds)).toEqual([86_400, 604_800, 1, null]);
    expect(new Set([secret, day, week, second, none].map((each) => each.secret ?? each)).size).toBe(5);
    const [row] = await world.query<Json>(
      `select previous_secret, previous_secret_until from webhook_endpoints where id = replace($1, 'we_', '')::uuid`,
      [id],
    );
    expect(row).toEqual({ previous_secret: null, previous_secret_until: null });
    const { updated_at: _, ...rest } = before;
    expect((await api.get(one(id))).body).toMatchObject(rest);
  });

  test.each(someOf(labelled([[-1], [604_801], [1.5], ['60'], [null]]), 2))(
    'is not rotated with overlap_seconds %s',
    async (_, overlap_seconds) => {
      const { id } = await existing();
      await nothingChanges(world, async () => {
        const answer = await api.post(`${one(id)}/rotate-secret`, { overlap_seconds });
        expectRefusal(answer, 400, 'invalid_body', 'overlap_seconds');
      });
    },
  );
});

describe('custom headers', () => {
  const namesOf = async (id: string) => (await api.get(one(id))).body.headers.toSorted();

  test('show their names in lower case, never their values, which the database stores encrypted', async () => {
    const made = await create({ headers: { Authorization: 'Bearer s3cr3t-of-the-shop', 'X-Tenant': 'ten' } });
    expect(made.headers).toEqual(['authorization', 'x-tenant']);
    const changed = await change(made.id, { headers: { 'X-Tenant': 'an0ther-s3cr3t' } });
    const shown = JSON.stringify([made, changed, await allOf(api, ENDPOINTS), world.log]);
    for (const value of ['s3cr3t-of-the-shop', 'an0ther-s3cr3t']) {
      expect(shown).not.toContain(value);
      expect(await isStored(value)).toBe(false);
    }
  });

  test('change where a change names them, in any case; null removes one, the others stay', async () => {
    const { id } = await create({ headers: { 'X-A': '1', 'X-B': '2' } });
    expect((await change(id, { headers: { 'x-c': '3' } })).headers).toEqual(['x-a', 'x-b', 'x-c']);
    expect((await change(id, { headers: { 'X-a': null, 'X-B': 'new' } })).headers).toEqual(['x-b', 'x-c']);
    expect((await change(id, { headers: {} })).headers).toEqual(['x-b', 'x-c']);
    expect((await change(id, { description: 'x' })).headers).toEqual(['x-b', 'x-c']);
    // an unknown one is removed already
    expect((await change(id, { headers: { 'x-d': null } })).headers).toEqual(['x-b', 'x-c']);
    expect((await change(id, { headers: { 'x-b': null, 'x-c': null } })).headers).toEqual([]);
    expect((await create({ headers: { 'X-A': null, 'X-B': '1' } })).headers).toEqual(['x-b']);
  });

  test('are at most 20, counted after the change', async () => {
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`x-${n}`, 'v']));
    const { id } = await create({ headers: twenty });
    await nothingChanges(world, async () => {
      expectRefusal(await api.patch(one(id), { headers: { more: 'v' } }), 400, 'invalid_header', '20');
      const made = await api.post(ENDPOINTS, { url: URL, headers: { ...twenty, more: 'v' } });
      expectRefusal(made, 400, 'invalid_header', '20');
    });
    await change(id, { headers: { more: 'v', 'x-0': null } });
    expect(await namesOf(id)).toHaveLength(20);
  });

  const RESERVED = [
    'Host',
    'content-type',
    'Content-Length',
    'Content-Encoding',
    'CONNECTION',
    'Keep-Alive',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'User-Agent',
    'Accept-Encoding',
    'Proxy-Authorization',
    'webhook-id',
    'Webhook-Signature',
    'webhook-timestamp',
    'webhook-anything',
  ];
  test.each(someOf(RESERVED, 6))('cannot be %s, which only the server sets', async (name) => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      for (const answer of [
        await api.post(ENDPOINTS, { url: URL, headers: { [name]: 'v' } }),
        await api.patch(one(id), { headers: { [name]: 'v' } }),
      ])
        expectRefusal(answer, 400, 'invalid_header', name);
    });
  });

  test.each(
    labelled([
      [''],
      ['a b'],
      ['x:y'],
      ['x\r\ny'],
      ['x\ny'],
      ['(x)'],
      ['é'],
      ['x\u0085'],
      ['x'.repeat(101)],
      [' x'],
      ['x/y'],
      ['x"'],
    ]),
  )('cannot have the name %s', async (_, name) => {
    await nothingChanges(world, async () => {
      const answer = await api.post(ENDPOINTS, { url: URL, headers: { [name]: 'v' } });
      expectRefusal(answer, 400, 'invalid_header', `headers.${name.slice(0, 100)}`);
    });
  });

  test.each(
    labelled([
      [''],
      [' v'],
      ['v '],
      ['\tv'],
      ['a\r\nX-Other: b'],
      ['a\nb'],
      ['a\tb'],
      ['é'],
      ['\u007f'],
      ['v'.repeat(4097)],
    ]),
  )('cannot have the value %s', async (_, value) => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      for (const answer of [
        await api.post(ENDPOINTS, { url: URL, headers: { 'X-Bad': value } }),
        await api.patch(one(id), { headers: { 'X-Good': 'v', 'X-Bad': value } }),
      ]) {
        expectRefusal(answer, 400, 'invalid_header', 'headers.X-Bad');
        expect(answer.text).not.toContain(JSON.stringify(value).slice(1, -1) || '\0');
      }
    });
  });

  test('cannot name one twice in different case', async () => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      for (const headers of [
        { 'X-A': '1', 'x-a': '2' },
        { 'x-a': '1', 'X-A': null },
      ]) {
        const [, second = ''] = Object.keys(headers);
        const made = await api.post(ENDPOINTS, { url: URL, headers });
        expectRefusal(made, 400, 'invalid_header', `headers.${second}`, 'twice');
        expectRefusal(await api.patch(one(id), { headers }), 400, 'invalid_header', `headers.${second}`);
      }
    });
  });

  test('may have any name and value that can be sent', async () => {
    const headers = {
      [`x-${'n'.repeat(98)}`]: 'v'.repeat(4096),
      "!#$%&'*+.^_`|~09az-": '~ a, b; c="d" \\ ~',
      '7': 'seven',
      'to-string': 'toString',
      contents: 'not content-',
      hosts: 'not host',
    };
    const made = await create({ headers });
    expect(made.headers.toSorted()).toEqual(Object.keys(headers).toSorted());
  });
});

describe('event_types', () => {
  test.each<[string, string[]]>([
    ['types of the catalogue', ['payout.paid', 'webhook_endpoint.test', 'commissions.imported']],
    ['all under a prefix of ours', ['payout.*', 'commission.*', 'affiliate.*', 'webhook_endpoint.*']],
    ['types of the platform', ['order.created', 'shop.order.*', 'payouts.paid', 'a.b', '1.*']],
  ])('may be %s', async (_, event_types) => {
    const made = await create({ event_types });
    expect(made.event_types).toEqual(event_types);
  });

  test('that are repeated are kept once, in their order', async () => {
    const made = await create({ event_types: ['b.b', 'a.a', 'b.b', 'a.*', 'a.a'] });
    expect(made.event_types).toEqual(['b.b', 'a.a', 'a.*']);
    expect((await change(made.id, { event_types: ['c.c', 'c.c'] })).event_types).toEqual(['c.c']);
  });

  const WRONG = [
    'payout.made_up',
    'payout.paid.twice',
    'payout.paid.*',
    'commission.imported',
    'commissions.created',
    'affiliate.removed',
    'webhook_endpoint.enabled',
    'webhook_endpoint.x.*',
    '*',
    'payout',
    'payout.',
    'pay*',
    'payout.*.paid',
    'payout.p*',
    '.paid',
    'a..b',
    'a b.c',
    'é.b',
    'order.created ',
  ];
  test.each(someOf(WRONG, 10))('cannot name %s: the message gives the index', async (bad) => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      for (const answer of [
        await api.post(ENDPOINTS, { url: URL, event_types: ['order.paid', bad] }),
        await api.patch(one(id), { event_types: ['order.paid', bad] }),
      ])
        expectRefusal(answer, 400, 'invalid_event_type', 'event_types[1]');
    });
  });

  test('under our prefixes must exist', async () => {
    const answer = await api.post(ENDPOINTS, { url: URL, event_types: ['affiliate.removed'] });
    expectRefusal(answer, 400, 'invalid_event_type', 'affiliate.removed', 'affiliate.created', 'affiliate.*');
  });

  test('apply from the change on: earlier deliveries stay, later events follow the new ones', async () => {
    const { id } = await create({ event_types: ['first.*'] });
    await publish('first.one');
    await publish('second.one');
    await change(id, { event_types: ['second.*'] });
    await publish('first.two');
    await publish('second.two');
    expect((await logOf(id)).map(({ type }) => type)).toEqual(['second.two', 'first.one']);
  });
});

describe('a URL', () => {
  let strict: World;
  let inTurn: ReturnType<typeof nothingChangesInTurn>;
  let existing: string;
  beforeAll(async () => {
    strict = await borrowWorld({ settings: { DELIVERY_ALLOW_CIDRS: '' } });
    inTurn = nothingChangesInTurn(() => dump(strict));
    existing = (await strict.api.post(ENDPOINTS, { url: URL })).body.id;
  });
  afterAll(() => strict.close());

  test.each([
    ['ftp://shop.example.com/', 'http'],
    ['javascript:alert(1)', 'http'],
    ['file:///etc/passwd', 'http'],
    ['data:text/plain,x', 'http'],
    ['//shop.example.com/', 'http'],
    ['shop.example.com/hooks', 'http'],
    ['http:shop.example.com', 'http'],
    ['nonsense', 'http'],
    ['http://', 'valid'],
    ['http://shop.example.com:99999/', 'valid'],
    ['http://exa mple.com/', 'spaces'],
    [' https://shop.example.com/', 'spaces'],
    ['https://shop.example.com/\n', 'spaces'],
    ['https://shop.example.com/\u0000', ''],
    ['https://user:password@shop.example.com/', 'user name'],
    ['https://user@shop.example.com/', 'user name'],
    ['https://shop.example.com/#here', 'fragment'],
    ['https://shop.example.com/#', 'fragment'],
    ['http://localhost/', 'public'],
    ['http://LOCALHOST:8080/', 'public'],
    ['http://localhost./', 'public'],
    ['http://my.localhost/', 'public'],
    ['http://127.0.0.1/', 'public'],
    ['http://127.0.0.1./', 'public'],
    ['http://127.1/', 'public'],
    ['http://127.255.255.254/', 'public'],
    ['http://2130706433/', 'public'],
    ['http://0x7f.1/', 'public'],
    ['http://0x7f000001/', 'public'],
    ['http://0177.0.0.1/', 'public'],
    ['http://%31%32%37.0.0.1/', 'public'],
    ['http://①②⑦.0.0.1/', 'public'],
    ['http://0/', 'public'],
    ['http://0.0.0.0/', 'public'],
    ['http://10.0.0.1/', 'public'],
    ['http://172.16.0.1/', 'public'],
    ['http://192.168.1.1/', 'public'],
    ['http://100.64.0.1/', 'public'],
    ['http://169.254.169.254/latest/meta-data/', 'public'],
    ['http://192.0.2.1/', 'public'],
    ['http://198.18.0.1/', 'public'],
    ['http://224.0.0.1/', 'public'],
    ['http://240.0.0.1/', 'public'],
    ['http://255.255.255.255/', 'public'],
    ['http://[::1]/', 'public'],
    ['http://[::]/', 'public'],
    ['http://[::ffff:10.0.0.1]/', 'public'],
    ['http://[::ffff:7f00:1]/', 'public'],
    ['http://[::10.0.0.1]/', 'public'],
    ['http://[64:ff9b::10.0.0.1]/', 'public'],
    ['http://[2002:a00:1::]/', 'public'],
    ['http://[fc00::1]/', 'public'],
    ['http://[fd12:3456::1]/', 'public'],
    ['http://[fe80::1]/', 'public'],
    ['http://[ff02::1]/', 'public'],
    ['http://[2001:db8::1]/', 'public'],
    ['http://[4000::1]/', 'public'],
  ])('%j is refused, and nothing is stored', async (url, part) => {
    await inTurn(async () => {
      for (const answer of [
        await strict.api.post(ENDPOINTS, { url }),
        await strict.api.patch(one(existing), { url, description: 'changed' }),
      ])
        expectRefusal(answer, 400, url.includes('\0') ? 'invalid_body' : 'invalid_url', 'url must', part);
    });
  });

  test.each([
    'https://shop.example.com',
    'HTTPS://Shop.Example.com/Path?q=%23',
    'http://8.8.8.8:8080/hook',
    'http://[2606:4700:4700::1111]/',
    'http://bücher.example/',
    'https://shop.example.com./x',
    'https://notlocalhost/',
  ])('%s is accepted unchanged', async (url) => {
    const made = await strict.api.post(ENDPOINTS, { url });
    expect([made.status, made.body.url]).toEqual([201, url]);
  });

  test('at an address that the platform allows is accepted, its neighbours are not', async () => {
    expect((await api.post(ENDPOINTS, { url: 'http://127.0.0.1:9/' })).status).toBe(201);
    expect((await api.post(ENDPOINTS, { url: 'http://localhost:9/' })).status).toBe(201);
    expectRefusal(await api.post(ENDPOINTS, { url: 'http://10.0.0.1/' }), 400, 'invalid_url');
    expectRefusal(await api.post(ENDPOINTS, { url: 'http://[::1]/' }), 400, 'invalid_url');
  });
});

describe('disabling', () => {
  test('holds later events and rewrites nothing; enabling sends them all', async () => {
    const { id } = await create();
    const { body: early } = await publish();
    const [waiting] = await logOf(id);
    const rows = () => world.query('select * from deliveries order by 1, 2, 3');
    const stored = await rows();
    const disabled = await change(id, { status: 'disabled' });
    expect(disabled).toMatchObject({
      status: 'disabled',
      disabled_reason: 'manual',
      disabled_at: expect.stringMatching(TIMESTAMP),
    });
    expect(await rows()).toEqual(expect.arrayContaining(stored));
    const { body: late } = await publish();
    const held = await logOf(id);
    expect(held.map((row) => [row.id, row.status, row.next_attempt_at])).toEqual([
      [late.id, 'held', null],
      [early.id, 'held', null],
    ]);
    const enabled = await change(id, { status: 'enabled' });
    expect(enabled).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null });
    const pending = await logOf(id);
    expect(pending.map((row) => [row.id, row.status])).toEqual([
      [late.id, 'pending'],
      [early.id, 'pending'],
    ]);
    expect(pending[1]).toEqual(waiting);
  });

  test('is published once to the other subscribed endpoints, not to the disabled one', async () => {
    const [all, wide, elsewhere] = [
      await create(),
      await create({ event_types: ['webhook_endpoint.*'] }),
      await create({ event_types: ['payout.*'] }),
    ];
    const { id } = await create({ headers: { 'X-Shop': 'seven' } });
    const record = await change(id, { status: 'disabled', description: 'off' });
    const disabledEvents = async (endpoint: Json) =>
      (await logOf(endpoint.id)).filter(({ type }) => type === 'webhook_endpoint.disabled');
    for (const endpoint of [all, wide]) {
      const [event, ...more] = await disabledEvents(endpoint);
      expect(more).toEqual([]);
      const { payload } = (await api.get(`${one(endpoint.id)}/events/${event.id}`)).body;
      expect(payload.data).toEqual(record);
    }
    expect(await newestEvent(world, api, 'webhook_endpoint.disabled')).toEqual(record);
    expect([...(await disabledEvents({ id })), ...(await disabledEvents(elsewhere))]).toEqual([]);
    // again, enabled, enabled again: no event
    for (const status of ['disabled', 'enabled', 'enabled']) await change(id, { status });
    expect(await disabledEvents(all)).toHaveLength(1);
    const other = await world.otherAccount();
    expect(await allOf(other, EVENT_LOG)).toEqual([]);
  });

  longRun.test('again changes neither time nor reason', async () => {
    const { id } = await create({ status: 'disabled' });
    await onlyAudited(world, () => change(id, { status: 'disabled' }));
    await world.query(
      `update webhook_endpoints set disabled_reason = 'gone' where id = replace($1, 'we_', '')::uuid`,
      [id],
    );
    const kept = await onlyAudited(world, () => change(id, { status: 'disabled' }));
    expect(kept.disabled_reason).toBe('gone');
  });

  test('enabling resets earlier failures', async () => {
    const { id } = await create({ status: 'disabled' });
    await world.query(
      `update endpoint_state set failing_since = '2026-01-02T03:04:05.678Z', failures = 25, lane = 1,
         may_start_at = now() + interval '1 day', last_success_at = '2026-01-01T00:00:00Z'
       where endpoint_id = replace($1, 'we_', '')::uuid`,
      [id],
    );
    const shown = (await api.get(one(id))).body;
    expect(shown).toMatchObject({
      first_failure_at: '2026-01-02T03:04:05.678Z',
      last_success_at: '2026-01-01T00:00:00.000Z',
    });
    const enabled = await change(id, { status: 'enabled' });
    expect(enabled).toMatchObject({ first_failure_at: null, last_success_at: '2026-01-01T00:00:00.000Z' });
    const [state] = await world.query<Json>(
      `select lane, failures, may_start_at = '-infinity' as free from endpoint_state
       where endpoint_id = replace($1, 'we_', '')::uuid`,
      [id],
    );
    expect(state).toEqual({ lane: 4, failures: 0, free: true });
  });
});

describe('a test', () => {
  test('is sent to this endpoint only, whatever it and others subscribed to', async () => {
    const [{ id }, all] = [await create({ event_types: ['order.created'] }), await create()];
    const before = await logOf(all.id);
    const tested = await api.post(`${one(id)}/test`);
    expect(tested.status).toBe(201);
    expect(tested.body).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      object: 'webhook_event',
      webhook_endpoint_id: id,
      type: 'webhook_endpoint.test',
      status: 'pending',
      attempt_count: 0,
      next_attempt_at: expect.stringMatching(TIMESTAMP),
      waits_for: null,
      last_attempt_at: null,
      last_response_status: null,
      last_error_code: null,
      delivered_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
    });
    expect(await logOf(id)).toEqual([tested.body]);
    expect(await logOf(all.id)).toEqual(before);
    const { payload } = (await api.get(`${one(id)}/events/${tested.body.id}`)).body;
    expect(payload.data).toEqual({
      object: 'webhook_test',
      webhook_endpoint_id: id,
      message: expect.stringMatching(/test/),
    });
  });

  test('has any given type and data, digit for digit, and is marked as a test', async () => {
    // an account of its own: an event names a hundred skipped endpoints, and this file creates more
    const api = await world.otherAccount();
    const id = await makeEndpoint(api, { event_types: ['order.created'] });
    const other = await makeEndpoint(api);
    const body = '{"type":"order.paid","data":{"amount":12345678901234567890.10}}';
    const tested = await api.request('POST', `${one(id)}/test`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect(tested.status, tested.text).toBe(201);
    expect(tested.body).toMatchObject({ webhook_endpoint_id: id, type: 'order.paid' });
    const event = await api.get(`${EVENTS}/${tested.body.id}`);
    expect(event.text).toContain('"is_test":true,"data":{"amount":12345678901234567890.10}');
    const reason = event.body.not_sent_to.find((each: Json) => each.webhook_endpoint_id === other)?.reason;
    expect(reason).toBe('not_addressed');
    const { example } = (await api.get('/v2/event-types?per_page=100')).body.data.find(
      (each: Json) => each.type === 'payout.paid',
    );
    const payout = await api.post(`${one(id)}/test`, { type: 'payout.paid', data: example.data });
    expect(payout.status).toBe(201);
  });

  test.each([
    ['payout.exploded', 'there is no event type'],
    ['order.*', 'dotted name'],
    ['order', 'dotted name'],
  ])('of the type %s is refused', async (type, rule) => {
    const { id } = await existing();
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(`${one(id)}/test`, { type }), 400, 'invalid_event_type', rule),
    );
  });

  test('of data that a credential may not read is refused', async () => {
    const [{ id }, { id: all }] = [await create({ event_types: ['order.created'] }), await create()];
    const { access_token } = await makeGrant(world, api, { scopes: ['webhooks'] });
    const token = apiOf(world.url, access_token);
    expect((await token.post(`${one(id)}/test`, { type: 'order.paid', data: {} })).status).toBe(201);
    expect((await token.post(`${one(all)}/test`)).status).toBe(201);
    for (const [to, body] of [
      [id, { type: 'payout.paid' }],
      [all, { type: 'order.paid', data: {} }],
    ] as const) {
      expectRefusal(await token.post(`${one(to)}/test`, body), 403, 'insufficient_scope', 'affiliates');
    }
  });

  test('beyond 256 KiB is refused and stores nothing', async () => {
    const { id } = await existing();
    await nothingChanges(world, async () => {
      const body = { type: 'order.created', data: { text: 'x'.repeat(262_144) } };
      expectRefusal(await api.post(`${one(id)}/test`, body), 400, 'payload_too_large', 'maximum');
    });
  });

  test('of a disabled endpoint is refused and stores nothing', async () => {
    const { id } = await create({ status: 'disabled' });
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(`${one(id)}/test`), 409, 'endpoint_disabled', 'enable'),
    );
  });
});

describe('a deleted endpoint', () => {
  test('no longer exists, except for its log', async () => {
    const { id } = await create({ headers: { 'X-Shop': 'v4lue' } });
    const { body: delivered } = await api.post(`${one(id)}/test`);
    await seedAttempts(world, delivered, [{ status: 200 }]);
    const { body: waiting } = await publish();
    const before = await api.get(`${one(id)}/events/${delivered.id}`);
    const gone = await api.delete(one(id));
    expect([gone.status, gone.text]).toEqual([204, '']);

    await nothingChanges(world, async () => {
      for (const [method, path, body] of [
        ['GET', one(id)],
        ['PATCH', one(id), { description: 'x' }],
        ['PATCH', one(id), { status: 'enabled' }],
        ['DELETE', one(id)],
        ['GET', `${one(id)}/secret`],
        ['POST', `${one(id)}/rotate-secret`],
        ['POST', `${one(id)}/test`],
      ] as const) {
        const answer = await api.request(method, path, { body });
        expectRefusal(answer, 404, 'resource_missing');
        const missing = await api.request(method, path.replace(id, String(MISSING.id)), { body });
        expect(answer.text).toBe(missing.text);
      }
    });
    expect((await allOf(api, ENDPOINTS)).map((row) => row.id)).not.toContain(id);

    const log = await logOf(id);
    expect(log.map((row) => row.id)).toEqual([waiting.id, delivered.id]);
    expect(await allOf(api, `${EVENT_LOG}?webhook_endpoint_id=${id}`)).toEqual(log);
    expect((await api.get(`${one(id)}/events/${delivered.id}`)).text).toBe(before.text);
    await nothingChanges(world, async () => {
      for (const event of [waiting, delivered]) {
        const retried = await api.post(`${one(id)}/events/${event.id}/retry`);
        expectRefusal(retried, 409, 'endpoint_deleted');
      }
    });
  });

  test('gets no events any more, and keeps neither secrets nor headers', async () => {
    const { id } = await create({ headers: { 'X-Shop': 'value' } });
    await api.post(`${one(id)}/rotate-secret`);
    await api.delete(one(id));
    await publish();
    expect(await logOf(id)).toEqual([]);
    const [row] = await world.query<Json>(
      `select length(secret) as secret, previous_secret, header_names, header_values from webhook_endpoints
       where id = replace($1, 'we_', '')::uuid`,
      [id],
    );
    expect(row).toEqual({ secret: 0, previous_secret: null, header_names: [], header_values: null });
  });

  longRun.test('that was disabled is deleted, too: a retry says so', async () => {
    const { id } = await create({ status: 'disabled' });
    const { body: event } = await publish();
    await api.delete(one(id));
    const retried = await api.post(`${one(id)}/events/${event.id}/retry`);
    expectRefusal(retried, 409, 'endpoint_deleted');
  });

  test('fails its waiting deliveries without an attempt', async () => {
    const busy = await borrowWorld();
    try {
      const [deleted, kept] = [
        await makeEndpoint(busy.api, { url: 'http://8.8.8.8/' }),
        await makeEndpoint(busy.api, { status: 'disabled' }),
      ];
      await busy.api.post(EVENTS, { type: 'order.created', data: {} });
      await busy.api.delete(one(deleted));
      const worker = await busy.startWorker();
      const [row] = await until('the row has expired', async () => {
        const found = await allOf(busy.api, `${EVENT_LOG}?status=failed`);
        return found.length > 0 ? found : null;
      });
      await worker.close();
      expect(row).toMatchObject({
        webhook_endpoint_id: deleted,
        status: 'failed',
        attempt_count: 0,
        last_error_code: 'endpoint_deleted',
        next_attempt_at: null,
      });
      expect(
        (await allOf(busy.api, `${EVENT_LOG}?status=held`)).map((each) => each.webhook_endpoint_id),
      ).toEqual([kept]);
    } finally {
      await busy.close();
    }
  });
});

describe('the first error decides', () => {
  test.each<[string, () => Promise<Json>, number, string]>([
    ['a bad shape and an unknown id', () => api.patch(NOBODY, { rate_limit: 0 }), 400, 'invalid_body'],
    ['an unknown id and a bad URL', () => api.patch(NOBODY, { url: 'ftp://x' }), 404, 'resource_missing'],
    [
      'an unknown id and a bad header',
      () => api.patch(NOBODY, { headers: { host: 'x' } }),
      404,
      'resource_missing',
    ],
    [
      'an unknown id and a bad type',
      () => api.patch(NOBODY, { event_types: ['*'] }),
      404,
      'resource_missing',
    ],
    [
      'a bad overlap and an unknown id',
      () => api.post(`${NOBODY}/rotate-secret`, { overlap_seconds: -1 }),
      400,
      'invalid_body',
    ],
    ['a body where none is accepted', () => api.post(`${NOBODY}/test`, { x: 1 }), 400, 'unknown_field'],
    ['a bad page and an unknown id', () => api.get(`${NOBODY}/events?page=0`), 400, 'invalid_query'],
  ])('%s', async (_, ask, status, reason) => {
    await nothingChanges(world, async () => expectRefusal(await ask(), status, reason));
  });
});
