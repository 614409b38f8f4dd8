import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { longRun } from './depth.ts';
import { borrowWorld, worldsStarted } from './pool.ts';
import { onSignal } from './signals.ts';
import type { World, WorldOptions } from './world.ts';

const LEFT = { settings: { LOG_LEVEL: 'warn' } };

/** Returns a world after a test has left something in it; returns the message, or null when the pool accepted it. */
async function returned(leave: (world: World) => Promise<unknown>, options: WorldOptions = LEFT) {
  const world = await borrowWorld(options);
  await leave(world);
  return world.close().then(
    () => null,
    (error: Error) => error.message,
  );
}

describe('a world that a test returns', () => {
  test('is used again, and holds nothing of the previous test', async () => {
    expect(
      await returned(async ({ api }) => {
        const { id } = await makeAffiliate(api);
        await makeCommission(api, id);
        await makePayout(api);
      }),
    ).toBeNull();
    const started = worldsStarted();
    const again = await borrowWorld(LEFT);
    expect(worldsStarted()).toBe(started);
    for (const path of ['/v2/affiliates', '/v2/affiliates/payouts', '/v2/events', '/v2/api-keys']) {
      const { body } = await again.api.get(path);
      expect(body.pagination.total, path).toBe(path === '/v2/api-keys' ? 1 : 0);
    }
    await again.close();
  });

  test('is refused with an open transaction', async () => {
    expect(await returned(({ query }) => query('begin'))).toMatch('a transaction of `query` is open');
    const clients: { end(): Promise<void> }[] = [];
    const message = await returned(async (world) => {
      const client = await world.connect();
      clients.push(client);
      await client.query('begin');
      await client.query('select 1 as left_open');
    });
    expect(message).toMatch(/a transaction is open: idle in transaction: select 1 as left_open/);
    for (const client of clients) await client.end();
  });

  test('is refused with a changed setting or schema', async () => {
    expect(await returned(({ query }) => query(`set work_mem = '1MB'`))).toMatch(
      'settings were changed: work_mem',
    );
    expect(await returned(({ query }) => query('create table left_behind (id int)'))).toMatch(
      'the schema was changed',
    );
  });

  test('is refused with a request that has no response, and nothing else', async () => {
    const insert = `insert into idempotency_keys (account_id, credential, key, request_hash) select id, 'a', 'b', '' from accounts`;
    expect(await returned(({ query }) => query(insert))).toMatch('left no response');
  });

  test('is refused with books that do not balance', async () => {
    const message = await returned(async ({ api, query }) => {
      const { id } = await makeAffiliate(api);
      await makeCommission(api, id);
      await makePayout(api);
      await query('update payout_line_totals set amount = amount + 1');
    });
    expect(message).toMatch('a line is not the sum of its commissions');
  });

  longRun.test('is refused with a delivery that its worker should have made', async () => {
    const message = await returned(
      async ({ api, query, connect }) => {
        const url = 'http://127.0.0.1:9/hook';
        const { body } = await api.post('/v2/webhook-endpoints', { url, event_types: ['order.*'] });
        const event = (await api.post('/v2/events', { type: 'order.created', data: {} })).body.id;
        const path = `/v2/webhook-endpoints/${body.id}/events/${event}`;
        const tried = async () => (await api.get(path)).body.attempt_count === 1;
        await onSignal({ query }, 'settled', 'the first attempt', tried);
        // as if no worker looked: a claim skips endpoints that others have locked
        const client = await connect();
        await client.query('begin');
        await client.query('select from endpoint_state for update');
        await query('update queue set due_at = now()');
      },
      { delivers: true, ...LEFT },
    );
    expect(message).toMatch(/deliveries are queued: .* for http:\/\/127\.0\.0\.1:9\/hook/);
  });
});

describe('a signal', () => {
  test('wakes a waiting test at once', async () => {
    const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const world = await borrowWorld({ delivers: true });
    const url = `http://127.0.0.1:${port}/`;
    const { body } = await world.api.post('/v2/webhook-endpoints', { url, event_types: ['order.*'] });
    const event = (await world.api.post('/v2/events', { type: 'order.created', data: {} })).body.id;
    const path = `/v2/webhook-endpoints/${body.id}/events/${event}`;
    const delivered = async () => (await world.api.get(path)).body.status === 'delivered';
    await onSignal(world, 'settled', 'the delivery', delivered);
    await world.close();
    receiver.closeAllConnections();
    receiver.close();
  });

  test('that never comes fails with its name and the state of the engine', async () => {
    const world = await borrowWorld(LEFT);
    await expect(onSignal(world, 'settled', 'a delivery', () => false, 20)).rejects.toThrow(
      /waited 20 ms for a delivery: the signal `settled` came 0 times, the engine has \{"queued":0,"leased":0/,
    );
    await world.close();
  });
});
