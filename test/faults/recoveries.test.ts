import { afterAll, afterEach, expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import type { Api } from '../support/api.ts';
import { isLong, longRun, rounds, someOf } from '../support/depth.ts';
import { statementsThat } from '../support/held.ts';
import { LOOSE_ENDS, MISCOUNTS } from '../support/imbalances.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

// leases of four seconds: deliveries in flight at a killed worker are due again soon
const settings = { DELIVERY_TIMEOUT_MS: '2000', DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' };
const ROUNDS = rounds(1, 6);
/** More than the rounds of a recovery queue. */
const EVENTS = rounds(120, 1200);
/** More than a slice of a discard, which is a thousand rows. */
const DISCARDED = 1200;

const cleanups: (() => Promise<void>)[] = [];
/** Each test continues on the server of the previous one, until a test fails. */
let running: { folder: DataFolder; server: ServerProcess } | undefined;

async function open(): Promise<{ folder: DataFolder; server: ServerProcess }> {
  if (running) return running;
  const folder = dataFolder({ settings });
  running = { folder, server: await folder.start() };
  return running;
}

/** Kills the server, and PostgreSQL if `andPostgres`, and starts it again. */
async function restart(andPostgres: boolean): Promise<ServerProcess> {
  const { folder, server } = await open();
  await server.kill(andPostgres);
  running = { folder, server: await folder.start() };
  return running.server;
}

afterEach(async ({ task }) => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  if (task.result?.state === 'pass') return;
  await running?.folder.remove();
  running = undefined;
});
afterAll(async () => {
  if (!running) return;
  const { code } = await running.server.signal('SIGTERM');
  await running.folder.remove();
  expect(code).toBe(0);
});

/** SQL: a trigger that calls `wait_at` waits there until the row is gone from `stops`, also after a restart of PostgreSQL. */
const STOPS = `
  create table if not exists stops (place int primary key);
  grant select on stops to public;
  create or replace function wait_at(here int) returns void language plpgsql as $$ begin
    while exists (select from stops where place = here) loop perform pg_sleep(0.01); end loop; end $$`;

/** SQL: the deliveries of an endpoint that are not cancelled. */
const notCancelled = (endpoint: string) =>
  `select 1 from deliveries where endpoint_id = '${uuidOf(endpoint)}' and status <> 'cancelled'`;

/** Whether a statement waits at a stop. */
const isStopped = async (folder: DataFolder) =>
  (await statementsThat(folder, `wait_event = 'PgSleep'`)).length > 0;

/** Publishes this many events; returns their ids. */
async function publishAll(api: Api, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const events = Array(Math.min(count - ids.length, 1000)).fill({ type: 'order.created', data: {} });
    const { status, text, body } = await api.post('/v2/events/batch', { events });
    expect(status, text).toBe(200);
    ids.push(...body.items.map(({ event }: { event: { id: string } }) => event.id));
  }
  return ids;
}

const KINDS: [string, object][] = [
  ['of what its endpoint never got', { missing: true }],
  ['of delivered events', { since: '2020-01-01', status: 'delivered' }],
];
test.each(someOf(KINDS, 1))(
  'a recovery %s whose server is killed, and PostgreSQL every other time, continues where it was and queues nothing twice',
  async (_, filters) => {
    let { folder, server } = await open();
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    const early = 'missing' in filters ? await publishAll(server.api, EVENTS) : null;
    const made = await server.api.post('/v2/webhook-endpoints', {
      url: receiver.url,
      event_types: ['order.*'],
    });
    expect(made.status, made.text).toBe(201);
    const endpoint = `/v2/webhook-endpoints/${made.body.id}`;
    const events = early ?? (await publishAll(server.api, EVENTS));
    const idle = async () => (await folder.query('select 1 from queue limit 1')).length === 0;
    await until('all are delivered', idle);

    // so slow that no round completes
    const limited = async (rate_limit: number | null) =>
      expect((await server.api.patch(endpoint, { rate_limit })).status).toBe(200);
    await limited(20);
    receiver.received.length = 0;
    const { status, text, body } = await server.api.post(`${endpoint}/recover`, filters);
    expect(status, text).toBe(201);
    const read = async () => (await server.api.get(`${endpoint}/recoveries/${body.id}`)).body;
    let queued = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const wanted = queued + Math.round(10 + Math.random() * 50);
      await until('it has queued more', async () => (await read()).queued_count >= wanted);
      server = await restart(round % 2 === 0);
      const now = await read();
      expect([now.status, now.queued_count >= wanted, now.completed_at]).toEqual(['running', true, null]);
      queued = now.queued_count;
    }
    await limited(null);
    await until('it has ended', async () => (await read()).status === 'completed');
    await until('nothing waits', idle);

    expect(await read()).toMatchObject({ queued_count: EVENTS, skipped_count: 0 });
    const attempts = await folder.query<{ id: string; good: number; bad: number }>(
      `select public_id('evt', event_id) as id, count(*) filter (where error_code is null)::int as good,
            count(*) filter (where error_code <> 'lost')::int as bad
     from attempts where trigger = 'recovery' and endpoint_id = '${uuidOf(made.body.id)}' group by event_id order by event_id`,
    );
    // deliveries in flight at a killed worker were sent again, and are logged as lost before
    expect(attempts.filter(({ good, bad }) => good !== 1 || bad !== 0)).toEqual([]);
    expect(attempts.map(({ id }) => id)).toEqual(events.toSorted());
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
    expect((await server.api.get(`${endpoint}/events?status=delivered`)).body.pagination.total).toBe(EVENTS);
    expect(await folder.query(LOOSE_ENDS)).toEqual([]);
    expect(await folder.query(MISCOUNTS)).toEqual([]);
    expect((await server.api.delete(endpoint)).status).toBe(204);
  },
);

test('a discard whose server and PostgreSQL are killed continues where it was and cancels each event once', async () => {
  let { folder, server } = await open();
  const made = await server.api.post('/v2/webhook-endpoints', {
    url: 'http://127.0.0.1:9/nobody',
    event_types: ['order.*'],
    status: 'disabled',
  });
  expect(made.status, made.text).toBe(201);
  const endpoint = `/v2/webhook-endpoints/${made.body.id}`;
  await publishAll(server.api, DISCARDED);
  // both slices, of a thousand rows and of the rest, stop before their counts are written
  await folder.query(STOPS);
  await folder.query(`insert into stops values (1000), (${DISCARDED})`);
  await folder.query(`
    create function stop_here() returns trigger language plpgsql as $$ begin
      perform wait_at(new.queued_count::int); return new; end $$`);
  await folder.query(
    'create trigger stop_here before update on webhook_recoveries for each row execute function stop_here()',
  );
  const { status, text, body } = await server.api.post(`${endpoint}/discard`, { since: '2020-01-01' });
  expect(status, text).toBe(201);
  const read = async () => (await server.api.get(`${endpoint}/recoveries/${body.id}`)).body;
  const cancelled = async () =>
    (await server.api.get(`${endpoint}/events?status=cancelled&per_page=1`)).body.pagination.total;
  // in the middle of the first slice: nothing of it remains
  await until('the first slice is at work', () => isStopped(folder));
  if (isLong) {
    server = await restart(false);
    expect([(await read()).discarded_count, await cancelled()]).toEqual([0, 0]);
  }
  // in the middle of the second one: the first remains
  await folder.query('delete from stops where place = 1000');
  await until('the first slice is done', async () => (await read()).discarded_count === 1000);
  await until('the second slice is at work', () => isStopped(folder));
  server = await restart(true);
  expect([(await read()).discarded_count, await cancelled()]).toEqual([1000, 1000]);

  await folder.query('delete from stops');
  await until('it has ended', async () => (await read()).status === 'completed');
  expect(await read()).toMatchObject({ discarded_count: DISCARDED, skipped_count: 0, queued_count: 0 });
  await folder.query('drop function stop_here cascade');
  expect(await folder.query(notCancelled(made.body.id))).toEqual([]);
  expect(await folder.query('select 1 from queue')).toEqual([]);
  expect(await folder.query(LOOSE_ENDS)).toEqual([]);
  expect(await folder.query(MISCOUNTS)).toEqual([]);
  expect((await server.api.delete(endpoint)).status).toBe(204);
});

longRun.test(
  'enabling an endpoint without its held events goes on after its server is killed: none is sent, each is cancelled once',
  async () => {
    let { folder, server } = await open();
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    const made = await server.api.post('/v2/webhook-endpoints', {
      ...{ url: receiver.url, event_types: ['order.*'], status: 'disabled' },
    });
    expect(made.status, made.text).toBe(201);
    const endpoint = `/v2/webhook-endpoints/${made.body.id}`;
    await publishAll(server.api, EVENTS);
    // a slice stops before its position is written, which is that of its last row
    await folder.query(STOPS);
    await folder.query('insert into stops values (1)');
    await folder.query(`
    create function stop_here() returns trigger language plpgsql as $$ begin
      if new.judged_until > old.judged_until and exists (select from deliveries where event_id = new.judged_until)
      then perform wait_at(1); end if; return new; end $$`);
    await folder.query(
      'create trigger stop_here before update on endpoint_state for each row execute function stop_here()',
    );
    expect((await server.api.patch(endpoint, { status: 'enabled', held: 'discard' })).status).toBe(200);
    const cancelled = async () =>
      (await server.api.get(`${endpoint}/events?status=cancelled&per_page=1`)).body.pagination.total;
    for (const withDatabase of [false, true]) {
      await until('a slice is at work', () => isStopped(folder));
      server = await restart(withDatabase);
    }
    await folder.query('delete from stops');
    await until('all are cancelled', async () => (await cancelled()) === EVENTS);
    expect(await folder.query(notCancelled(made.body.id))).toEqual([]);
    await until(
      'nothing waits',
      async () => (await folder.query('select 1 from queue limit 1')).length === 0,
    );
    expect(receiver.received).toEqual([]);
    expect(await folder.query(LOOSE_ENDS)).toEqual([]);
    expect(await folder.query(MISCOUNTS)).toEqual([]);
  },
);
