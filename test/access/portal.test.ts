import { beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import {
  dump,
  furnish,
  type Ids,
  nobodys,
  numberApart,
  OPERATIONS,
  type Operation,
  pathOf,
  requestOf,
} from '../tenants/support.ts';
import { makeLink, openLink, partsOf, portalAt } from './portal-support.ts';
import { bearer, memberOf, nonsense, send } from './support.ts';

const ENDPOINTS = '/v2/webhook-endpoints';
const PUBLIC = 'https://receiver.example.com/hook';

/** All operations a portal may use, by how they are limited to its endpoints. */
const BY_PATH = [
  'getWebhookEndpoint',
  'changeWebhookEndpoint',
  'deleteWebhookEndpoint',
  'getWebhookEndpointSecret',
  'rotateWebhookEndpointSecret',
  'confirmWebhookEndpointContact',
  'createWebhookEndpointToken',
  'testWebhookEndpoint',
  'recoverWebhookEndpoint',
  'discardEventsOfWebhookEndpoint',
  'previewRecoveryOfWebhookEndpoint',
  'listRecoveriesOfWebhookEndpoint',
  'getRecoveryOfWebhookEndpoint',
  'deleteRecoveryOfWebhookEndpoint',
  'listEventsOfWebhookEndpoint',
  'getEventOfWebhookEndpoint',
  'retryEventOfWebhookEndpoint',
];
const OTHERS = [
  'listWebhookEndpoints',
  'createWebhookEndpoint',
  'getDeliveryAnalytics',
  'listEventTypes',
  'getEventType',
  'getMe',
];
const ALLOWED = new Set([...BY_PATH, ...OTHERS]);
const ofNames = (names: readonly string[]) =>
  OPERATIONS.filter(({ operationId }) => names.includes(operationId));

const world = useWorld();
let other: Api;
let ours: Ids;
let theirs: Ids;
beforeAll(async () => {
  await numberApart(world);
  other = await world.otherAccount();
  ours = await furnish(world, world.api, 'ours');
  theirs = await furnish(world, other, 'theirs');
});

const one = (id: unknown) => `${ENDPOINTS}/${id}`;

/** Does the work and checks that no row of any account changed. */
async function changingNothing(work: () => Promise<void>): Promise<void> {
  const before = await dump(world);
  await work();
  expect(await dump(world)).toBe(before);
}

const forbidden = { status: 403, reason: 'not_in_portal' };

describe('a portal', () => {
  test('may call the operations listed here, and gets 403 from every other', async () => {
    const portal = await portalAt(world.api, String(ours.id));
    const closed = OPERATIONS.filter(({ operationId }) => !ALLOWED.has(operationId));
    expect(ofNames([...ALLOWED])).toHaveLength(ALLOWED.size);
    expect(closed.length).toBeGreaterThan(60);
    await changingNothing(async () => {
      for (const operation of closed) {
        // with existing records and a valid body: nothing else refuses it
        const answer = await portal.request(
          operation.method,
          pathOf(operation, ours),
          requestOf(operation, ours),
        );
        expect(answer, operation.operationId).toMatchObject(forbidden);
      }
      for (const operation of ofNames([...ALLOWED])) {
        const answer = await send(world, bearer(portal.key), nonsense(operation));
        expect([200, 400, 404], `${operation.operationId} ${answer.text}`).toContain(answer.status);
      }
    });
  });

  const foreign: Readonly<Record<string, () => Promise<Ids> | Ids>> = {
    'another endpoint of the account': async () => ({ ...ours, id: await makeEndpoint(world.api) }),
    "another account's": () => theirs,
    nobodys: () => nobodys,
  };
  const all = Object.keys(foreign).flatMap((whose) => [
    [whose, 'alone', {}] as const,
    [whose, 'of its owner', { all_of_owner: true }] as const,
  ]);
  // one function finds the endpoint of every operation: a short run tries each kind of id once
  const ofEachKind = isLong
    ? all
    : all.filter(([whose, how]) => (how === 'alone') !== (whose === "another account's"));
  test.each(ofEachKind)(
    'finds nothing by the ids of %s, when it is of an endpoint %s',
    async (whose, _, of) => {
      const id = await makeEndpoint(world.api, { owner: `owner-${whose}` });
      const portal = await portalAt(world.api, id, of);
      const ids = (await foreign[whose]?.()) ?? nobodys;
      await changingNothing(async () => {
        for (const operation of ofNames(BY_PATH)) {
          const answer = await portal.request(
            operation.method,
            pathOf(operation, ids),
            requestOf(operation, ids),
          );
          expect([answer.status, answer.reason], operation.operationId).toEqual([404, 'resource_missing']);
          expect(answer.body.error.message).toBe('no such webhook endpoint');
        }
      });
      const seen = await portal.get(`/v2/analytics/deliveries?webhook_endpoint_id=${ids.id}`);
      expect([seen.status, seen.reason]).toEqual([400, 'invalid_query']);
    },
  );

  test('counts the deliveries of its endpoint, and not those of the account', async () => {
    const portal = await portalAt(world.api, String(ours.id));
    const all = await portal.get('/v2/analytics/deliveries');
    expect([all.status, all.body.error.message]).toEqual([
      400,
      'webhook_endpoint_id must name a webhook endpoint of the portal',
    ]);
    const twice = `webhook_endpoint_id=${ours.id}&webhook_endpoint_id=${theirs.id}`;
    expect((await portal.get(`/v2/analytics/deliveries?${twice}`)).status).toBe(400);
    expect((await portal.get(`/v2/analytics/deliveries?webhook_endpoint_id=${ours.id}`)).status).toBe(200);
  });

  test('of an owner lists and reaches only the endpoints of that owner', async () => {
    const own = [
      await makeEndpoint(world.api, { owner: 'Ada', metadata: { note: 'pays late' } }),
      await makeEndpoint(world.api, { owner: 'Ada' }),
    ];
    const others = [await makeEndpoint(world.api, { owner: 'ada' }), await makeEndpoint(world.api)];
    await makeEndpoint(other, { owner: 'Ada' });
    const portal = await portalAt(world.api, own[0] ?? '', { all_of_owner: true });
    const { body } = await portal.get(`${ENDPOINTS}?sort=created_at`);
    expect(body.data.map((each: { id: string }) => each.id)).toEqual(own);
    expect(body.pagination.total).toBe(2);
    expect(body.data[0].metadata).toEqual({});
    for (const id of own) expect((await portal.get(one(id))).body.metadata).toEqual({});
    for (const id of others) expect((await portal.get(one(id))).status).toBe(404);
    expect((await portal.get('/v2/me')).body).toMatchObject({
      kind: 'portal',
      role: 'member',
      has_full_access: false,
      email: null,
      portal: { owner: 'Ada', event_types: null },
    });
  });

  test('of one endpoint lists only that one, and creates and deletes none', async () => {
    const id = await makeEndpoint(world.api, { owner: 'Bob' });
    await makeEndpoint(world.api, { owner: 'Bob' });
    const portal = await portalAt(world.api, id);
    expect((await portal.get(ENDPOINTS)).body.data.map((each: { id: string }) => each.id)).toEqual([id]);
    expect(await portal.post(ENDPOINTS, { url: PUBLIC })).toMatchObject(forbidden);
    expect(await portal.delete(one(id))).toMatchObject(forbidden);
  });

  test('loses an endpoint as soon as it is deleted or gets an owner', async () => {
    const own = await makeEndpoint(world.api);
    const before = await portalAt(world.api, own);
    expect((await before.get(one(own))).status).toBe(200);
    await world.api.patch(one(own), { owner: 'Mallory' });
    expect((await before.get(one(own))).status).toBe(404);
    const id = await makeEndpoint(world.api, { owner: 'Eve' });
    const portals = [await portalAt(world.api, id), await portalAt(world.api, id, { all_of_owner: true })];
    for (const portal of portals) expect((await portal.get(one(id))).status).toBe(200);
    await world.api.delete(one(id));
    for (const portal of portals) expect((await portal.get(`${one(id)}/events`)).status).toBe(404);
  });
});

describe('its user gets only what the link gives:', () => {
  const filter = { 'data.customer': 'ada' };

  test('event types among those the endpoint has or the link offers; never others, and never all', async () => {
    const id = await makeEndpoint(world.api, { event_types: ['order.*'], filter });
    const portal = await portalAt(world.api, id);
    const change = (event_types: unknown) => portal.patch(one(id), { event_types });
    expect((await change(['order.created'])).status).toBe(200);
    expect((await change(['order.item.*', 'order.*'])).status).toBe(200);
    for (const beyond of [['payout.paid'], ['order.created', 'orders.made'], ['order.*', 'payout.*'], null]) {
      const refused = await change(beyond);
      expect([refused.status, refused.reason]).toEqual([400, 'invalid_event_type']);
      expect(refused.body.error.message).toContain('must be among the types of this portal: order.');
    }
    expect((await portal.get(one(id))).body.event_types).toEqual(['order.item.*', 'order.*']);
  });

  test('event types that a link offers come with its filter: an endpoint with another filter gets none of them', async () => {
    const narrow = await makeEndpoint(world.api, { owner: 'Cy', event_types: ['order.*'], filter });
    const open = await makeEndpoint(world.api, { owner: 'Cy', event_types: ['ping.sent'] });
    const portal = await portalAt(world.api, narrow, { all_of_owner: true });
    const refused = await portal.patch(one(open), { event_types: ['order.created'] });
    expect([refused.status, refused.reason]).toEqual([400, 'invalid_event_type']);
    expect((await portal.patch(one(narrow), { event_types: ['order.created'] })).status).toBe(200);
    expect((await portal.patch(one(narrow), { event_types: ['order.*'] })).status).toBe(200);
  });

  test.each([
    ['filter', null],
    ['owner', 'Mallory'],
    ['metadata', {}],
  ])('it cannot set %s', async (field, value) => {
    const id = await makeEndpoint(world.api, { owner: 'Dee', event_types: ['order.*'], filter });
    const portal = await portalAt(world.api, id, { all_of_owner: true });
    await changingNothing(async () => {
      for (const refused of [
        await portal.patch(one(id), { [field]: value }),
        await portal.post(ENDPOINTS, { url: PUBLIC, [field]: value }),
      ]) {
        expect(refused).toMatchObject(forbidden);
        expect(refused.body.error.message).toContain(field);
      }
    });
  });

  test('it sets whether its own endpoint is ordered and takes batches, and that of no other', async () => {
    const id = await makeEndpoint(world.api, { owner: 'Eve' });
    const portal = await portalAt(world.api, id, {});
    expect((await portal.patch(one(id), { ordered: true })).body).toMatchObject({ ordered: true });
    const batch = { max_events: 10, max_bytes: 16_384, max_wait_ms: 0 };
    expect((await portal.patch(one(id), { batch })).body).toMatchObject({ batch });
    await changingNothing(async () => {
      for (const other of [ours.id, theirs.id]) {
        for (const change of [{ ordered: true }, { batch }]) {
          const refused = await portal.patch(one(other), change);
          expect([refused.status, refused.reason]).toEqual([404, 'resource_missing']);
        }
      }
    });
  });

  test('an endpoint it creates has its owner, and the filter and types of the link', async () => {
    const id = await makeEndpoint(world.api, { owner: 'Flo', event_types: ['order.*', 'ping.sent'], filter });
    const portal = await portalAt(world.api, id, { all_of_owner: true, event_types: ['order.*'] });
    const made = await portal.post(ENDPOINTS, { url: PUBLIC });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ owner: 'Flo', filter, event_types: ['order.*'], metadata: {} });
    const { body } = await world.api.get(`/v2/audit-log?target=${made.body.id}`);
    expect(body.data[0].actor).toMatchObject({ kind: 'portal', id: expect.stringMatching(/^pl_/) });
    const beyond = await portal.post(ENDPOINTS, { url: PUBLIC, event_types: ['ping.sent'] });
    expect([beyond.status, beyond.reason]).toEqual([400, 'invalid_event_type']);
    expect((await portal.delete(one(made.body.id))).status).toBe(204);
  });

  test('an owner creates at most ten endpoints, so that the account has room for others', async () => {
    const id = await makeEndpoint(world.api, { owner: 'Gus' });
    const portal = await portalAt(world.api, id, { all_of_owner: true });
    for (let count = 1; count < 10; count += 1) {
      expect((await portal.post(ENDPOINTS, { url: PUBLIC })).status).toBe(201);
    }
    const refused = await portal.post(ENDPOINTS, { url: PUBLIC });
    expect([refused.status, refused.reason]).toEqual([409, 'too_many_endpoints']);
    expect(await makeEndpoint(world.api, { owner: 'Gus' })).toMatch(/^we_/);
  });

  test('a read-only portal sees the log and no secret, and changes and sends nothing', async () => {
    const portal = await portalAt(world.api, String(ours.id), { read_only: true });
    expect((await portal.get(`${one(ours.id)}/events/${ours.event_id}`)).status).toBe(200);
    const closed = ofNames([...ALLOWED]).filter(
      ({ method, operationId }) => method !== 'GET' || operationId === 'getWebhookEndpointSecret',
    );
    expect(closed.length).toBeGreaterThan(7);
    await changingNothing(async () => {
      for (const operation of closed) {
        const answer = await portal.request(
          operation.method,
          pathOf(operation, ours),
          requestOf(operation, ours),
        );
        expect(answer, operation.operationId).toMatchObject({ status: 403, reason: 'role_too_low' });
        expect(answer.body.error.message).toContain('this portal');
      }
    });
  });

  test('its URL must be public, even where the operator allows others', async () => {
    const id = await makeEndpoint(world.api, { owner: 'Hal' });
    const portal = await portalAt(world.api, id, { all_of_owner: true });
    for (const refused of [
      await portal.patch(one(id), { url: 'http://127.0.0.1:9/other' }),
      await portal.post(ENDPOINTS, { url: 'http://127.0.0.1:9/other' }),
    ]) {
      expect([refused.status, refused.reason], refused.text).toEqual([400, 'invalid_url']);
    }
    expect((await world.api.patch(one(id), { url: 'http://127.0.0.1:9/other' })).status).toBe(200);
  });
});

describe('a link', () => {
  const refusalOf = async (url: string) => {
    const { status, body } = await openLink(world.url, partsOf(url));
    return [status, body.error, body.error_description];
  };

  test('is shown once, stored as a hash, opens once, and is listed with how it was used', async () => {
    const before = Date.now();
    const made = await makeLink(world.api, String(ours.id), { ttl_seconds: 60 });
    const after = Date.now();
    const { id, secret } = partsOf(made.url);
    expect(made).toMatchObject({ id, status: 'unused', owner: null, read_only: false, used_at: null });
    // a second, because the database has its own clock
    expect(Date.parse(made.expires_at)).toBeGreaterThanOrEqual(before + 59_000);
    expect(Date.parse(made.expires_at)).toBeLessThanOrEqual(after + 61_000);
    const opened = await openLink(world.url, { id, secret });
    expect(opened).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^phpt_\w{49}$/) } });
    expect(Date.parse(opened.body.ends_at) - before).toBeGreaterThan(3_500_000);
    const stored = await dump(world);
    for (const shown of [secret, opened.body.token]) expect(stored).not.toContain(shown);
    expect(await refusalOf(made.url)).toEqual([
      400,
      'used',
      'this link was opened before, and opens only once: ask for a new one where you found it',
    ]);
    const { body } = await world.api.get(`/v2/portal-links?webhook_endpoint_id=${ours.id}&status=open`);
    expect(body.data[0]).toEqual({
      ...made,
      url: undefined,
      status: 'open',
      used_at: expect.any(String),
      ends_at: opened.body.ends_at,
    });
    const audit = await world.api.get(`/v2/audit-log?target=${id}`);
    expect(audit.body.data.map((each: { action: string }) => each.action)).toEqual(['openPortal']);
  });

  test('opens nothing after it expires, once revoked, with another id or with an invented secret', async () => {
    const [late, revoked, mixed, used] = await Promise.all(
      [1, 2, 3, 4].map(() => makeLink(world.api, String(ours.id))),
    );
    await world.query('update portal_links set expires_at = now() where id = $1', [late.id.slice(3)]);
    expect((await refusalOf(late.url)).slice(0, 2)).toEqual([400, 'expired']);
    expect((await world.api.delete(`/v2/portal-links/${revoked.id}`)).status).toBe(204);
    expect((await world.api.delete(`/v2/portal-links/${revoked.id}`)).status).toBe(404);
    expect((await refusalOf(revoked.url)).slice(0, 2)).toEqual([400, 'revoked']);
    const swapped = { id: used.id, secret: partsOf(mixed.url).secret };
    expect(await openLink(world.url, swapped)).toMatchObject({ status: 400, body: { error: 'unknown' } });
    const typo = { id: used.id, secret: `${partsOf(used.url).secret.slice(0, -1)}!` };
    expect(await openLink(world.url, typo)).toMatchObject({ status: 400, body: { error: 'unknown' } });
    expect((await openLink(world.url, partsOf(used.url))).status).toBe(200);
  });

  test('ends its portal when it is revoked, and after an hour', async () => {
    const [first, second] = [
      await portalAt(world.api, String(ours.id)),
      await portalAt(world.api, String(ours.id)),
    ];
    const ids = (await world.api.get('/v2/portal-links?status=open&per_page=2')).body.data.map(
      (each: { id: string }) => each.id,
    );
    expect((await world.api.delete(`/v2/portal-links/${ids[1]}`)).status).toBe(204);
    expect(await first.get(one(ours.id))).toMatchObject({ status: 401, reason: 'invalid_credentials' });
    expect((await second.get(one(ours.id))).status).toBe(200);
    await world.query('update portal_links set ends_at = now() where id = $1', [ids[0].slice(3)]);
    expect(await second.get(one(ours.id))).toMatchObject({ status: 401, reason: 'invalid_credentials' });
    expect((await world.api.get(`/v2/portal-links?status=ended`)).body.data[0].id).toBe(ids[0]);
  });

  test('is deleted a month after it expires', async () => {
    const [old, young] = [
      await makeLink(world.api, String(ours.id)),
      await makeLink(world.api, String(ours.id)),
    ];
    for (const [link, days] of [
      [old, 31],
      [young, 29],
    ]) {
      const ended =
        "update portal_links set expires_at = $3::timestamptz - $2::int * interval '1 day' where id = $1";
      await world.query(ended, [link.id.slice(3), days, link.expires_at]);
    }
    await keepHouse(world, 'portal links');
    const { body } = await world.api.get('/v2/portal-links?per_page=100');
    const left = body.data.map((each: { id: string }) => each.id);
    expect([left.includes(old.id), left.includes(young.id)]).toEqual([false, true]);
  });

  test("of another account is not found, nor is a link at another account's endpoint", async () => {
    const made = await makeLink(other, String(theirs.id));
    expect((await world.api.delete(`/v2/portal-links/${made.id}`)).status).toBe(404);
    expect((await world.api.get(`/v2/portal-links?webhook_endpoint_id=${theirs.id}`)).body.data).toEqual([]);
    expect((await world.api.post(`${one(theirs.id)}/portal-link`)).status).toBe(404);
  });

  test('to all endpoints of an owner needs an endpoint that has an owner', async () => {
    const refused = await world.api.post(`${one(await makeEndpoint(world.api))}/portal-link`, {
      all_of_owner: true,
    });
    expect([refused.status, refused.reason]).toEqual([400, 'invalid_body']);
    expect(refused.body.error.message).toBe(
      'all_of_owner: the endpoint has no owner; give it one, or omit this',
    );
  });

  test('is created by owners and keys only: not by members, and not by a portal', async () => {
    const asks: Operation[] = ofNames(['createPortalLink', 'listPortalLinks', 'deletePortalLink']);
    expect(asks).toHaveLength(3);
    const member = await memberOf(world.api, 'member');
    for (const ask of asks) {
      const answer = await send(world, member.credentials, [
        ask.method,
        pathOf(ask, ours),
        requestOf(ask, ours),
      ]);
      expect(answer).toMatchObject({ status: 403, reason: 'role_too_low' });
    }
  });

  test('is not shown again when its response is replayed', async () => {
    const again = { 'idempotency-key': 'one link' };
    const path = `${one(ours.id)}/portal-link`;
    const [first, second] = [await world.api.post(path, {}, again), await world.api.post(path, {}, again)];
    expect(first.body.url).toContain('#phpl_');
    expect(second.body).toEqual({ ...first.body, url: null });
  });
});

test('opened by many at once gives one of them the portal', async () => {
  const { url } = await makeLink(world.api, String(ours.id));
  // the first one waits for this, and all others wait for the first
  const holder = await world.connect();
  await holder.query('begin');
  await holder.query('select from portal_links where id = $1 for update', [partsOf(url).id.slice(3)]);
  const opening = Array.from({ length: 6 }, () => openLink(world.url, partsOf(url)));
  await untilLockWait(world, 2);
  await holder.query('commit');
  await holder.end();
  const answers = await Promise.all(opening);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  const token = answers.find(({ status }) => status === 200)?.body.token;
  expect((await apiOf(world.url, token).get(one(ours.id))).status).toBe(200);
  for (const { status, body } of answers) if (status === 400) expect(body.error).toBe('used');
});
