import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeAffiliate, makeCommission } from '../api/fixtures.ts';
import type { Answer, Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import { standIn, type World } from '../support/world.ts';

/*
 * The clock of the database may jump past all existing partitions. The transaction that stores an event creates those
 * it needs.
 */

const EVENTS = '/v2/events';
const TABLES = ['events', 'deliveries', 'attempts'];

let started: World;
let second: { api: Api; close(): Promise<void> };
const world = standIn(() => started);

beforeAll(async () => {
  started = await borrowWorld({ own: true, databaseLatencyMs: 5 });
  second = await world.secondServer();
});
afterAll(async () => {
  await second.close();
  await started.close();
});
beforeEach(losePartitions);

/** As if the clock had jumped: the log is empty, and no partition is for now or later. */
async function losePartitions(): Promise<void> {
  await world.query(
    `truncate ${TABLES}, queue, queue_keys, event_keys, delivery_counts, delivery_count_deltas, attempt_counts`,
  );
  const partitions = await world.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent::regclass::text = any($1)`,
    [TABLES],
  );
  for (const { name } of partitions) await world.query(`drop table ${name}`);
}

const stored = async () => (await world.query<{ n: number }>('select count(*)::int as n from events'))[0]?.n;
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);
const order = { type: 'order.created', data: {} };

test('events are still published, by many requests at two servers at once, each once', async () => {
  await makeEndpoint(world.api);
  await losePartitions();
  const publish = (api: Api, n: number) =>
    api.post(EVENTS, { ...order, external_id: `jump-${n}`, ...(n % 3 === 0 ? { ordering_key: 'k' } : {}) });
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, n) => publish(n % 2 ? world.api : second.api, n)),
  );
  expect(statuses(answers)).toEqual(Array(24).fill(201));
  expect(await stored()).toBe(24);
  expect(await world.query('select 1 from deliveries')).toHaveLength(24);
});

test('a batch is published whole, and its key repeats the response', async () => {
  const send = () =>
    world.api.post(`${EVENTS}/batch`, { events: [order, order, order] }, { 'idempotency-key': 'a batch' });
  const [first, again] = [await send(), await send()];
  expect([first.status, again.text]).toEqual([200, first.text]);
  expect(await stored()).toBe(3);
});

longRun.test('a test event is sent', async () => {
  const id = await makeEndpoint(world.api);
  await losePartitions();
  expect((await world.api.post(`/v2/webhook-endpoints/${id}/test`)).status).toBe(201);
  expect(await stored()).toBe(1);
});

test('a change of money happens once, with its event, although it had begun when the event found no partition', async () => {
  const { id } = await makeAffiliate(world.api);
  await makeCommission(world.api, id);
  await losePartitions();
  const { status, text } = await world.api.post('/v2/affiliates/payouts');
  expect(status, text).toBe(201);
  expect((await world.api.get('/v2/affiliates/payouts')).body.pagination.total).toBe(1);
  expect(await world.query('select type from events')).toEqual([{ type: 'payout.created' }]);
});

test('a file is imported once: it is read again from its beginning', async () => {
  const { id } = await makeAffiliate(world.api);
  await losePartitions();
  const lines = Array.from({ length: 500 }, (_, n) => `jump-${n},${id},12.50`);
  const answer = await world.api.upload(
    '/v2/affiliates/commissions/import',
    ['external_id,affiliate_id,amount', ...lines, ''].join('\n'),
  );
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ lines: 500, created: 500, failed: 0 });
  expect(await world.query('select type from events')).toEqual([{ type: 'commissions.imported' }]);
});

test('a check of the rows themselves is still an error, and is not retried', async () => {
  world.expectErrors();
  await world.query(`alter table accounts add constraint no_name check (name <> 'Refused')`);
  const { status, reason } = await world.api.patch('/v2/account', { name: 'Refused' });
  await world.query('alter table accounts drop constraint no_name');
  expect([status, reason]).toEqual([500, 'internal_error']);
});
