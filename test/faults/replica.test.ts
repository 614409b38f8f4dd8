import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { OPERATIONS } from '../tenants/support.ts';
import { type Replicated, startReplicated } from './replica-support.ts';

const READS = rounds(60, 10_000);
const CALLERS = rounds(2, 8);
const LIST = '/v2/affiliates?sort=-created_at';

// one after the other: each leaves a replica that is read, except the last
let stage: Replicated;
beforeAll(async () => {
  stage = await startReplicated();
});
afterAll(() => stage?.close());

/** Repeats until the replica answers, which on a busy machine may have been too late before; returns that response. */
const untilByReplica = (api: Api, path: string) =>
  until(`${path} from the replica`, async () => {
    stage.answered();
    const answer = await api.get(path);
    expect(answer.status, path).toBe(200);
    return stage.answered().replica === 1 ? answer : null;
  });

test('the replica answers lists, reports and charts; the primary answers the rest', async () => {
  const { api, answered } = stage;
  const made = await api.post('/v2/affiliates', { email: 'a@example.com' });
  const LONG = [
    '/v2/affiliates',
    '/v2/affiliates/balances',
    '/v2/affiliates/commissions',
    '/v2/affiliates/payouts',
    '/v2/analytics/commissions',
    '/v2/analytics/deliveries',
    '/v2/audit-log',
    '/v2/affiliates/reports/paid?year=2026',
    '/v2/webhook-events/',
  ];
  for (const path of LONG) await untilByReplica(api, path);
  answered();
  for (const path of [`/v2/affiliates/${made.body.id}`, '/v2/account', '/v2/system']) {
    expect((await api.get(path)).status, path).toBe(200);
  }
  expect(answered()).toEqual({ primary: 3, replica: 0 });
  const { replica } = (await api.get('/v2/system')).body;
  expect(replica).toMatchObject({ is_used: true, problem: null });
});

test('no list or report of the replica contains anything of another account', async () => {
  const { api, url, answered, otherAccount } = stage;
  const [mark, theirMark] = ['of-ours@example.com', 'of-theirs@example.com'];
  const other = apiOf(url, (await otherAccount()).secret);
  for (const [of, email] of [
    [api, mark],
    [other, theirMark],
  ] as const) {
    const { body } = await of.post('/v2/affiliates', { email });
    const sale = { affiliate_id: body.id, currency: 'usd', amount: 100, external_id: `sale ${email}` };
    expect((await of.post('/v2/affiliates/commissions', sale)).status).toBe(201);
    expect((await of.post('/v2/affiliates/payouts')).status).toBe(201);
  }
  await untilByReplica(other, LIST);
  const paths = OPERATIONS.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  expect(paths.length).toBeGreaterThan(15);
  answered();
  for (const { path, query, operationId } of paths) {
    const answer = await other.get(path + query);
    expect(answer.text, operationId).not.toContain(mark);
  }
  expect(answered().replica).toBeGreaterThan(5);
  expect((await untilByReplica(other, LIST)).text).toContain(theirMark);
  expect((await untilByReplica(api, LIST)).text).not.toContain(theirMark);
});

test('a read includes every acknowledged write, even of another server, while replay pauses and resumes', async () => {
  const { api, replay, secondServer, answered } = stage;
  const other = await api.post('/v2/api-keys', { name: 'another' });
  answered();
  const second = await secondServer();
  try {
    await second.untilUsed();
    const reader = apiOf(second.url, other.body.key);
    let isOver = false;
    const pausing = (async () => {
      for (let paused = false; !isOver; paused = !paused) await replay(paused);
      await replay(true);
    })();
    const storeAndRead = async (email: string) => {
      const { status, body } = await api.post('/v2/affiliates', { email });
      expect(status).toBe(201);
      const found = await reader.get(`/v2/affiliates?email=${email}`);
      expect(found.body.data.map(({ id }: { id: number }) => id)).toEqual([body.id]);
    };
    let left = READS;
    const call = async () => {
      for (let n = left--; n > 0; n = left--) await storeAndRead(`a${n}@example.com`);
    };
    await Promise.all(Array.from({ length: CALLERS }, call)).finally(() => {
      isOver = true;
    });
    await pausing;
    // a pause of the race may be shorter than a read waits
    await replay(false);
    await storeAndRead('late@example.com');
    await replay(true);
    expect(answered()).toEqual({ primary: 0, replica: 0 });
    const { primary, replica } = second.answered();
    expect(primary + replica).toBe(READS + 1);
    expect([primary > 0, replica > 0]).toEqual([true, true]);
  } finally {
    await second.close();
  }
});

test('a replica that does not replay is excluded and shows how far it is behind; it is used again when it has caught up', async () => {
  const { api, replay, answered, untilUsed, untilExcluded, otherAccount, url } = stage;
  const other = apiOf(url, (await otherAccount()).secret);
  const [ours, theirs] = [await api.get(LIST), await other.get(LIST)];
  await replay(false);
  const { body: made } = await api.post('/v2/affiliates', { email: 'newest@example.com' });
  answered();
  expect((await api.get(LIST)).body.data[0].id).toBe(made.id);
  expect((await other.get(LIST)).text).toBe(theirs.text);
  expect(answered()).toEqual({ primary: 2, replica: 0 });
  await untilExcluded(/^does not have what the primary has$/);
  const status = await until('its lag to be reported', async () => {
    const { replica } = (await api.get('/v2/system')).body;
    return replica.lag_ms > 1000 && replica;
  });
  expect(status).toMatchObject({ is_used: false, problem: 'the replica does not have what the primary has' });
  expect(status.lag_bytes).toBeGreaterThan(0);
  await replay(true);
  await untilUsed();
  expect((await untilByReplica(api, LIST)).body.data[0].id).toBe(made.id);
  expect(ours.body.data[0]?.id).not.toBe(made.id);
  expect((await untilByReplica(other, LIST)).text).toBe(theirs.text);
});

test('a replica that is killed during many reads fails no request, and is used again after its restart', async () => {
  const { api, pair, answered, untilUsed, untilExcluded } = stage;
  let isOver = false;
  const statuses: number[] = [];
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) statuses.push((await api.get('/v2/affiliates')).status);
  });
  await until('many to be answered', () => statuses.length > 50);
  await pair.killReplica();
  await untilExcluded(/^(does not answer|cannot be reached)/);
  const before = statuses.length;
  await until('more to be answered', () => statuses.length > before + 50);
  await pair.startReplica();
  await untilUsed();
  const after = statuses.length;
  answered();
  await until('the replica to answer', () => statuses.length > after + 50);
  expect(answered().replica).toBeGreaterThan(0);
  isOver = true;
  await Promise.all(callers);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('a replica that falls silent fails no request: the primary answers the waiting ones', async () => {
  const { api, proxy, untilUsed, untilExcluded, answered } = stage;
  expect((await api.get('/v2/affiliates')).status).toBe(200);
  answered();
  proxy.silent = true;
  const requests = Array.from({ length: CALLERS }, () => api.get('/v2/affiliates'));
  for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
  await untilExcluded(/^(does not answer within 1 s|cannot be reached)/);
  expect((await api.get('/v2/affiliates')).status).toBe(200);
  expect(answered().replica).toBe(0);
  proxy.silent = false;
  proxy.cut();
  await untilUsed();
});

test('a primary that is named as the replica is never read', async () => {
  const server = await stage.secondServer(stage.pair.primary.connection);
  try {
    await server.untilExcluded(/^takes writes/);
    expect((await apiOf(server.url, stage.api.key).get('/v2/affiliates')).status).toBe(200);
    expect(server.answered()).toEqual({ primary: 1, replica: 0 });
  } finally {
    await server.close();
  }
});

test('a promoted replica is excluded, and so is one that has diverged since', async () => {
  const { api, pair, answered, untilExcluded } = stage;
  await pair.promote();
  await untilExcluded(/^takes writes/);
  // it writes more than the primary: by its position alone it would seem to be ahead
  await pair.query('replica', `create table gone as select repeat('x', 1000) from generate_series(1, 2000)`);
  await pair.query('replica', 'checkpoint');
  await pair.startReplica({ following: false });
  await untilExcluded(/^does not get what is written to the primary/);
  const { body: made } = await api.post('/v2/affiliates', { email: 'last@example.com' });
  answered();
  expect((await api.get(LIST)).body.data[0].id).toBe(made.id);
  expect(answered()).toEqual({ primary: 1, replica: 0 });
});
