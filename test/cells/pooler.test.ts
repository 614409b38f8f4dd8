import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { addCells } from '../../src/cells/manage.ts';
import { expectRefusal } from '../api/fixtures.ts';
import { runHere } from '../cli/here.ts';
import { dataFolder } from '../faults/support-server.ts';
import { settingsOf, urlOf } from '../support/database-url.ts';
import { longRun } from '../support/depth.ts';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { borrowWorld } from '../support/pool.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { clientOf, type World } from '../support/world.ts';
import { accountIn } from './support.ts';

describe.skipIf(!hasPgBouncer)('cells with a login each, behind PgBouncer in transaction mode', () => {
  let world: World;
  const poolers: PgBouncer[] = [];
  const logins: string[] = [];
  beforeAll(async () => {
    world = await borrowWorld({ own: true, delivers: true });
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all(poolers.map((pooler) => pooler.close()));
    const admin = clientOf('postgres');
    await admin.connect();
    for (const login of logins) await admin.query(`drop role ${login}`);
    await admin.end();
  });

  /** A login with a schema of its own, and its URLs through a PgBouncer and without it. */
  async function addLogin(name: string): Promise<{ url: string; listenUrl: string }> {
    const { host, port } = inject('postgres');
    const [row] = await world.query<{ database: string }>('select current_database() as database');
    const database = row?.database ?? '';
    // logins belong to the whole server: other tests must not meet this one
    const user = `${name}_${database.slice(-20)}`;
    const password = 'login-of-a-cell';
    await world.query(`create role ${user} login password '${password}'`);
    await world.query(`alter role ${user} set search_path = ${name}`);
    await world.query(`create schema ${name} authorization ${user}`);
    const pooler = await startPgBouncer({ host, port, user, password }, { default_pool_size: '4' });
    poolers.push(pooler);
    logins.push(user);
    return {
      url: urlOf({ ...pooler, user, password, database }),
      listenUrl: urlOf({ host, port, user, password, database }),
    };
  }

  test('deliver what is published in them, and PostgreSQL keeps each from reading the other', async () => {
    const receiver = await startReceiver();
    const shops = [];
    for (const name of ['shop_1', 'shop_2']) {
      const urls = await addLogin(name);
      const [cell = 0] = await addCells(world.platform, { ...urls, schema: null, count: null });
      shops.push({ name, cell, ...(await accountIn(world, cell)) });
    }
    for (const { api } of shops) {
      const endpoint = { url: receiver.url, event_types: ['order.created'] };
      expect((await api.post('/v2/webhook-endpoints', endpoint)).status).toBe(201);
      const events = Array.from({ length: 20 }, () =>
        api.post('/v2/events', { type: 'order.created', data: {} }),
      );
      expect((await Promise.all(events)).map(({ status }) => status)).toEqual(events.map(() => 201));
    }
    await receiver.until(40);
    await receiver.close();

    const [login = ''] = logins;
    const client = await world.connect();
    await client.query(`set role ${login}`);
    await expect(client.query('select from shop_1.accounts')).resolves.toMatchObject({ rowCount: 1 });
    await expect(client.query('select from shop_2.accounts')).rejects.toMatchObject({ code: '42501' });
    await client.end();
  });

  longRun.test(
    'are refused without the URL of PostgreSQL itself, with the command that adds it',
    async () => {
      const { url, listenUrl } = await addLogin('shop_3');
      const [cell = 0] = await addCells(world.platform, { url, listenUrl: null, schema: null, count: null });
      const { key } = await accountIn(world, cell);
      const { DATABASE_URL = '', SECRET_KEY = '', ...rest } = await settingsOf(world);
      const database = { url: DATABASE_URL, secretKey: SECRET_KEY, superuser: {}, apiKey: key };
      const folder = dataFolder({ database, settings: rest });
      try {
        const server = await folder.start();
        const refused = await server.api.get('/v2/account');
        expectRefusal(refused, 503, 'cell_unavailable');
        expect(refused.body.error.message).toContain(`payhook cells set-url ${cell} URL --listen-url URL`);

        const env = { DATABASE_URL, SECRET_KEY, ...rest, DATA_DIR: folder.path };
        const ran = await runHere(['cells', 'set-url', String(cell), url, '--listen-url', listenUrl], {
          env,
        });
        expect(ran.code, ran.stderr).toBe(0);
        await until(
          'the server to use the cell',
          async () => (await server.api.get('/v2/account')).status === 200,
        );
        expect((await server.signal('SIGTERM')).code).toBe(0);
      } finally {
        await folder.remove();
      }
    },
  );
});
