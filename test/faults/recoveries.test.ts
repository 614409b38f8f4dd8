import { afterEach, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { LOOSE_ENDS } from '../support/imbalances.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

// leases of four seconds: deliveries in flight at a killed worker are due again soon
const settings = { DELIVERY_TIMEOUT_MS: '2000', DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' };
const ROUNDS = rounds(2, 6);
const EVENTS = 1200;
const PUBLISHERS = 8;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function publishAll(api: Api): Promise<string[]> {
  const ids: string[] = [];
  const publish = async () => {
    for (let index = 0; index < EVENTS / PUBLISHERS; index++) {
      const { status, text, body } = await api.post('/v2/events', { type: 'order.created', data: {} });
      expect(status, text).toBe(201);
      ids.push(body.id);
    }
  };
  await Promise.all(Array.from({ length: PUBLISHERS }, publish));
  return ids;
}

test('a recovery whose server is killed, and PostgreSQL every other time, continues where it was and queues nothing twice', async () => {
  const folder = dataFolder({ settings });
  cleanups.push(() => folder.remove());
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  let server = await folder.start();
  const made = await server.api.post('/v2/webhook-endpoints', {
    url: receiver.url,
    event_types: ['order.*'],
  });
  expect(made.status, made.text).toBe(201);
  const endpoint = `/v2/webhook-endpoints/${made.body.id}`;
  const events = await publishAll(server.api);
  const idle = async () => (await folder.query('select 1 from queue limit 1')).length === 0;
  await until('all are delivered', idle);

  // so slow that no round completes
  const limited = async (rate_limit: number | null) =>
    expect((await server.api.patch(endpoint, { rate_limit })).status).toBe(200);
  await limited(20);
  receiver.received.length = 0;
  const { status, text, body } = await server.api.post(`${endpoint}/recover`, {
    since: '2020-01-01',
    status: 'delivered',
  });
  expect(status, text).toBe(201);
  const read = async () => (await server.api.get(`${endpoint}/recoveries/${body.id}`)).body;
  let queued = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const wanted = queued + Math.round(10 + Math.random() * 50);
    await until('it has queued more', async () => (await read()).queued_count >= wanted);
    await server.kill(round % 2 === 1);
    server = await folder.start();
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
     from attempts where trigger = 'recovery' group by event_id order by event_id`,
  );
  // deliveries in flight at a killed worker were sent again, and are logged as lost before
  expect(attempts.filter(({ good, bad }) => good !== 1 || bad !== 0)).toEqual([]);
  expect(attempts.map(({ id }) => id)).toEqual(events.toSorted());
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
  expect(await folder.query(LOOSE_ENDS)).toEqual([]);
  expect((await server.signal('SIGTERM')).code).toBe(0);
});
