import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { addCells } from '../../src/cells/manage.ts';
import { expectRefusal } from '../api/fixtures.ts';
import { type Api, apiOf } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import { borrowWorld } from '../support/pool.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { accountIn, addCellsTo, queryIn, urlOfWorld } from './support.ts';

let world: World;
let proxy: LatencyProxy;
/** The URL of the world's database through the proxy. */
let url: string;
beforeAll(async () => {
  const { host, port } = inject('postgres');
  world = await borrowWorld({ own: true, delivers: true, settings: { DATABASE_POOL_SIZE: '2' } });
  proxy = await latencyProxy({ host, port }, 0);
  url = await urlOfWorld(world, proxy.port);
});
afterAll(async () => {
  await world.close();
  await proxy.close();
});

const publish = (api: Api) => api.post('/v2/events', { type: 'order.created', data: {} });

test('while a cell is down its accounts get 503, the others are served, and everything is delivered afterwards', async () => {
  world.expectErrors();
  const receiver = await startReceiver();
  const [near] = await addCellsTo(world, 1);
  const [far] = await addCells(world.platform, { url, listenUrl: null, schema: 'cell_', count: 1 });
  const [here, there] = [await accountIn(world, near ?? 0), await accountIn(world, far ?? 0)];
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
  const settings = { DATABASE_POOL_SIZE: '8', DATABASE_CONNECTIONS: '12' };
  const small = await borrowWorld({ own: true, settings });
  try {
    await addCellsTo(small, 1);
    const { api } = await accountIn(small, 1);
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          index % 2 === 0
            ? publish(api)
            : api.post('/v2/affiliates', { email: `${round}-${index}@example.com` }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    }
  } finally {
    await small.close();
  }
});

test('a cell that says it is another one, or whose schema is newer, is not used, and the reason is shown', async () => {
  const other = await borrowWorld({ own: true });
  try {
    await addCellsTo(other, 3);
    const { api, key } = await accountIn(other, 2);
    expect((await api.get('/v2/account')).status).toBe(200);
    await queryIn(other, 1, `update server_settings set value = '7' where key = 'cell_number'`);
    await queryIn(other, 2, `insert into schema_migrations (version, name) values (9000, '9000_later')`);
    await queryIn(other, 3, `update server_settings set value = 'x' where key = 'cell_installation'`);
    const second = await other.secondServer();
    try {
      expectRefusal(await apiOf(second.api.url, key).get('/v2/account'), 503, 'cell_unavailable');
      expect((await second.api.get('/v2/account')).status).toBe(200);
    } finally {
      await second.close();
    }
  } finally {
    await other.close();
  }
});
