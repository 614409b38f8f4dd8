import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { expectRefusal } from '../api/fixtures.ts';
import { type Api, apiOf } from '../support/api.ts';
import { longRun, rounds } from '../support/depth.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import { borrowWorld } from '../support/pool.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { accountIn, addCellsTo, borrowCells, queryIn } from './support.ts';

let world: World;
/** In front of cell 2; cell 1 has no proxy. */
let proxy: LatencyProxy;
beforeAll(async () => {
  const { host, port } = inject('postgres');
  const settings = { DATABASE_POOL_SIZE: '8', DATABASE_CONNECTIONS: '12' };
  proxy = await latencyProxy({ host, port }, 0);
  world = await borrowCells({ delivers: true, settings }, proxy.port);
});
afterAll(async () => {
  await world?.close();
  await proxy.close();
});

const publish = (api: Api) => api.post('/v2/events', { type: 'order.created', data: {} });

test('while a cell is down its accounts get 503, the others are served, and everything is delivered afterwards', async () => {
  world.expectErrors();
  const receiver = await startReceiver();
  const [here, there] = [await accountIn(world, 1), await accountIn(world, 2)];
  const endpoint = { url: receiver.url, event_types: ['order.created'] };
  const sent: string[] = [];
  for (const { api } of [here, there])
    expect((await api.post('/v2/webhook-endpoints', endpoint)).status).toBe(201);

  receiver.respond(503);
  const before = await publish(there.api);
  sent.push(before.body.id);
  await receiver.until(1);
  proxy.refusing = true;
  proxy.cut();
  const refused = await publish(there.api);
  expectRefusal(refused, 503, 'cell_unavailable');
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expectRefusal(await there.api.get('/v2/account'), 503, 'cell_unavailable');
  receiver.respond(200);
  for (const api of [here.api, here.api, here.api]) {
    const event = await publish(api);
    expect(event.status).toBe(201);
    sent.push(event.body.id);
  }
  expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
  await receiver.until(4);

  // a server that starts meanwhile serves the others
  const late = await world.secondServer();
  expectRefusal(await apiOf(late.api.url, there.key).get('/v2/account'), 503, 'cell_unavailable');
  expect((await apiOf(late.api.url, here.key).get('/v2/account')).status).toBe(200);
  await late.close();

  proxy.refusing = false;
  await until('the cell to be back', async () => (await there.api.get('/v2/account')).status === 200);
  const after = await publish(there.api);
  sent.push(after.body.id);
  const retried = await there.api.get('/v2/webhook-deliveries?status=retrying');
  for (const { event_id, webhook_endpoint_id } of retried.body.data ?? []) {
    await there.api.post(`/v2/webhook-endpoints/${webhook_endpoint_id}/events/${event_id}/retry`, {});
  }
  await receiver.until((all) => sent.every((id) => all.some(({ headers }) => headers['webhook-id'] === id)));
  await receiver.close();
});

longRun.test('a process uses no more connections to all cells than DATABASE_CONNECTIONS', async () => {
  const settings = { DATABASE_POOL_SIZE: '4', DATABASE_CONNECTIONS: '12' };
  const small = await borrowWorld({ own: true, settings });
  try {
    const cells = await addCellsTo(small, 6);
    const shops = [];
    for (const cell of cells) shops.push(await accountIn(small, cell));
    let most = 0;
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        shops.flatMap(({ api }) => [
          api.get('/v2/account'),
          api.get('/v2/affiliates'),
          publish(api),
          publish(api),
        ]),
      );
      expect(answers.map(({ status }) => status)).toEqual(cells.flatMap(() => [200, 200, 201, 201]));
      const pools = small.platform.cells.list().flatMap(({ db }) => db?.pools() ?? []);
      most = Math.max(
        most,
        pools.reduce((sum, { open }) => sum + open, 0),
      );
    }
    expect(most).toBeGreaterThan(6);
    expect(most).toBeLessThanOrEqual(12);
  } finally {
    await small.close();
  }
});

test('a burst in one cell that needs all connections of the process is served', async () => {
  const { api } = await accountIn(world, 1, 'Busy');
  for (let round = 0; round < rounds(1, 3); round++) {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 2 === 0
          ? publish(api)
          : api.post('/v2/affiliates', { email: `${round}-${index}@example.com` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  }
});

test('a cell that says it is another one, or whose schema is newer, is not used, and the reason is shown', async () => {
  const keys: string[] = [];
  for (const cell of [1, 2]) keys.push((await accountIn(world, cell, `Strange ${cell}`)).key);
  const set = (key: string, value: string) =>
    queryIn(world, 1, 'update server_settings set value = $2 where key = $1', [key, value]);
  const refused = async (...reasons: RegExp[]) => {
    const second = await world.secondServer();
    try {
      for (const [index, reason] of reasons.entries()) {
        const answer = await apiOf(second.api.url, keys[index] ?? '').get('/v2/account');
        expectRefusal(answer, 503, 'cell_unavailable');
        expect(answer.body.error.message).toMatch(reason);
      }
      expect((await second.api.get('/v2/account')).status).toBe(200);
    } finally {
      await second.close();
    }
  };
  await set('cell_number', '7');
  await queryIn(world, 2, `insert into schema_migrations (version, name) values (9000, '9000_later')`);
  await refused(/cell 1 .*the database is cell 7, not cell 1/, /cell 2 .*9000/);
  await set('cell_number', '1');
  await queryIn(world, 2, 'delete from schema_migrations where version = 9000');
  await set('cell_installation', 'x');
  await refused(/cell 1 of another installation, not cell 1/);
});
