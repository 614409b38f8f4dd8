import sql from 'sql-template-tag';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drainCell, listCells, removeCell } from '../../src/cells/manage.ts';
import { rows } from '../../src/db/database.ts';
import { newSecret } from '../../src/kernel/secrets.ts';
import { expectRefusal } from '../api/fixtures.ts';
import { type Api, apiOf } from '../support/api.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeAffiliates } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import { accountIn, addCellsTo, borrowCells, queryIn } from './support.ts';

let world: World;
let shops: { api: Api; key: string; id: string }[];
beforeAll(async () => {
  world = await borrowCells({ delivers: true });
  shops = [await accountIn(world, 1), await accountIn(world, 2)];
});
afterAll(() => world.close());

const shop = (cell: 1 | 2) => shops[cell - 1] as (typeof shops)[0];

test('a key names its cell, and every record of the account is stored there', async () => {
  const { api, key, id } = shop(2);
  expect(key).toMatch(/^ph_2_[0-9A-Za-z]{49}$/);
  expect((await api.get('/v2/account')).body.id).toBe(id);
  await makeAffiliates(api, 3);
  const count = (cell: number) =>
    queryIn<{ count: number }>(world, cell, 'select count(*)::int as count from affiliates');
  expect([await count(0), await count(1), await count(2)]).toEqual([
    [{ count: 0 }],
    [{ count: 0 }],
    [{ count: 3 }],
  ]);
  expect(await queryIn(world, 1, 'select name from accounts')).toEqual([{ name: 'Shop 1' }]);
});

test('a credential of another cell, with the number exchanged or without one, is unknown', async () => {
  const { key } = shop(2);
  for (const wrong of [
    key.replace('_2_', '_1_'),
    key.replace('_2_', '_'),
    key.replace('_2_', '_77_'),
    newSecret('ph_', 2),
    newSecret('ph_', 77),
    newSecret('pha_', 1),
    newSecret('phpt_', 2),
  ]) {
    expectRefusal(await apiOf(world.url, wrong).get('/v2/account'), 401, 'invalid_credentials');
  }
});

test('the ids of another cell are unknown in each', async () => {
  const [one, two] = [shop(1).api, shop(2).api];
  const endpoint = { url: 'https://example.com/hook', event_types: ['order.created'] };
  const made = await two.post('/v2/webhook-endpoints', endpoint);
  const application = await two.post('/v2/oauth-applications', {
    name: 'App',
    kind: 'confidential',
    redirect_uris: ['https://example.com/callback'],
    scopes: ['affiliates'],
  });
  expect([made.status, application.status]).toEqual([201, 201]);
  expect(application.body.id).toMatch(/^app_.{12}8.{15}0002$/);
  expect(application.body.client_secret).toMatch(/^phs_2_/);
  for (const path of [
    `/v2/webhook-endpoints/${made.body.id}`,
    `/v2/oauth-applications/${application.body.id}`,
  ]) {
    expect((await two.get(path)).status).toBe(200);
    expectRefusal(await one.get(path), 404, 'resource_missing');
    expectRefusal(await world.api.get(path), 404, 'resource_missing');
    expectRefusal(await one.delete(path), 404, 'resource_missing');
  }
  expect((await two.delete(`/v2/webhook-endpoints/${made.body.id}`)).status).toBe(204);
});

test('an application of a cell gets tokens there, and its preflights are answered', async () => {
  const { api } = shop(1);
  const made = await api.post('/v2/oauth-applications', {
    name: 'Page',
    kind: 'public',
    redirect_uris: ['https://page.example.com/callback'],
    scopes: ['affiliates'],
  });
  const preflight = await fetch(`${world.url}/oauth/token`, {
    method: 'OPTIONS',
    headers: { origin: 'https://page.example.com', 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers.get('access-control-allow-origin')).toBe('https://page.example.com');
  const ask = (client: string) =>
    fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: client,
        code: newSecret('phc_', 1),
        redirect_uri: 'https://page.example.com/callback',
        code_verifier: 'x'.repeat(43),
      }),
    }).then(async (answer) => (await answer.json()) as { error: string });
  expect(await ask(made.body.id)).toMatchObject({ error: 'invalid_grant' });
  // the same id in another cell, and one of a cell that does not exist
  for (const cell of ['0002', '004d']) {
    expect(await ask(`${made.body.id.slice(0, -4)}${cell}`)).toMatchObject({ error: 'invalid_client' });
  }
});

test('events of every cell are delivered by the worker of that cell, each once', async () => {
  const receiver = await startReceiver();
  try {
    const published: string[] = [];
    for (const { api } of [...shops, { api: world.api }]) {
      await api.post('/v2/webhook-endpoints', { url: receiver.url, event_types: ['order.created'] });
      for (let index = 0; index < 5; index++) {
        const event = await api.post('/v2/events', { type: 'order.created', data: { index } });
        expect(event.status, event.text).toBe(201);
        published.push(event.body.id);
      }
    }
    await receiver.until(published.length);
    expect(receiver.received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(
      published.toSorted(),
    );
  } finally {
    await receiver.close();
  }
});

test('payouts of every cell pay only its own commissions, and all books balance', async () => {
  await Promise.all(
    [world.api, ...shops.map(({ api }) => api)].map(async (api, index) => {
      const [affiliate] = await makeAffiliates(api, 1, 'payee');
      for (let number = 0; number < 3; number++) {
        const commission = {
          external_id: `sale-${number}`,
          affiliate_id: affiliate,
          amount: 100 * (index + 1),
        };
        expect((await api.post('/v2/affiliates/commissions', commission)).status).toBe(201);
      }
      const payout = await api.post('/v2/affiliates/payouts', {});
      expect(payout.body.totals).toEqual([expect.objectContaining({ amount: 300 * (index + 1) })]);
    }),
  );
  for (const cell of [0, 1, 2]) expect(await queryIn(world, cell, IMBALANCES)).toEqual([]);
});

test('the state of the installation is only for cell 0', async () => {
  expectRefusal(await shop(1).api.get('/v2/system'), 403, 'installation_only');
  expect((await world.api.get('/v2/system')).status).toBe(200);
});

test('new accounts go to the open cell with the fewest; a draining one takes none', async () => {
  const { platform } = world;
  const [third] = await addCellsTo(world, 1);
  expect(third).toBe(3);
  expect(await platform.accounts.create('Fourth')).toMatchObject({ cell: 3 });
  await drainCell(platform, 3, 'draining');
  await platform.cells.refresh();
  await expect(platform.accounts.create('Fifth', 3)).rejects.toThrow(/draining/);
  expect((await platform.accounts.create('Fifth')).cell).not.toBe(3);
  await expect(removeCell(platform, 3)).rejects.toThrow('cell 3 has 1 account: it cannot be removed');
  const { uuid } = (await platform.accounts.list()).find(({ name }) => name === 'Fourth') ?? {};
  if (uuid === undefined) throw new Error('the account is not listed');
  await platform.accounts.markDemo(uuid);
  expect(await platform.accounts.remove(uuid)).toBe(null);
  await removeCell(platform, 3);
  expectRefusal(await apiOf(world.url, newSecret('ph_', 3)).get('/v2/account'), 401, 'invalid_credentials');
  // its number is not used again: the next schema would be that of cell 4
  const { db } = world;
  await db.transaction((tx) => rows(tx, sql`create schema cell_4`));
  await db.transaction((tx) => rows(tx, sql`create table cell_4.orders (id int)`));
  await expect(addCellsTo(world, 1)).rejects.toThrow('the schema cell_4 has other tables');
});

test('a schema that holds something else is refused, and nothing is added', async () => {
  const before = await listCells(world.platform);
  const add = (schema: string | null) => addCellsTo(world, 1, { schema, count: null });
  await expect(add('cell_1')).rejects.toThrow('the schema cell_1 already holds cell 1');
  await expect(add(null)).rejects.toThrow('the schema public already holds cell 0 of an installation');
  const { db } = world;
  await db.transaction((tx) => rows(tx, sql`create schema other`));
  await db.transaction((tx) => rows(tx, sql`create table other.orders (id int)`));
  await expect(add('other')).rejects.toThrow('the schema other has other tables');
  await expect(drainCell(world.platform, 0, 'draining')).rejects.toThrow(/cell 0 holds the directory/);
  await expect(removeCell(world.platform, 9)).rejects.toThrow('there is no cell 9');
  expect(await listCells(world.platform)).toEqual(before);
});
