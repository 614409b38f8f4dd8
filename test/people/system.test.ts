import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { serve } from '../../src/app/serve.ts';
import { type ChoreName, keepHouse } from '../../src/db/chores.ts';
import { nil } from '../../src/kernel/ids.ts';
import { apiOf } from '../support/api.ts';
import { makeEndpoint } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { makeUser } from './support.ts';

const world = useWorld();
const SYSTEM = '/v2/system';

test('the first account reads versions, sizes and when the database was started', async () => {
  const { status, body } = await world.api.get(SYSTEM);
  const [{ version, schema, size } = { version: '', schema: 0, size: 0 }] = await world.query<{
    version: string;
    schema: number;
    size: number;
  }>(
    `select split_part(current_setting('server_version'), ' ', 1) as version, max(schema_migrations.version) as schema,
            pg_database_size(current_database())::float8 as size from schema_migrations`,
  );
  expect([status, body.version, body.schema_version]).toEqual([200, '0.1.0', Number(schema)]);
  expect(body.database.version).toBe(version);
  expect(Math.abs(body.database.size_bytes - size)).toBeLessThan(size);
  expect(Date.parse(body.database.started_at)).toBeLessThan(Date.now());
  expect([body.disk, body.backups]).toEqual([null, { last: null, failure: null }]);
});

test('waiting deliveries are counted over all accounts: due, held and later', async () => {
  const before = (await world.api.get(SYSTEM)).body.backlog;
  const other = await world.otherAccount();
  await makeEndpoint(other);
  await makeEndpoint(other, { status: 'disabled' });
  const { body } = await other.post('/v2/events', { type: 'order.created', data: {} });
  await makeEndpoint(world.api);
  await world.api.post('/v2/events', { type: 'order.created', data: {} });
  await world.query(`update queue set due_at = now() + interval '1 hour', step = 1
    where account_id = (select account_id from webhook_endpoints where disabled_at is null order by id desc limit 1)`);
  const { backlog, workers } = (await world.api.get(SYSTEM)).body;
  // three wait, one of them is held and one is due later
  expect([backlog.queued_count, backlog.due_count]).toEqual([before.queued_count + 3, before.due_count + 1]);
  expect(Date.parse(backlog.oldest_due_at)).toBeLessThanOrEqual(Date.parse(body.timestamp) + 1000);
  expect(workers.in_flight_count).toBe(0);
});

test('deliveries behind another one of their ordering key are counted, and are not due', async () => {
  const before = (await world.api.get(SYSTEM)).body.backlog;
  const other = await world.otherAccount();
  await makeEndpoint(other, { ordered: true });
  for (let each = 0; each < 3; each += 1) {
    await other.post('/v2/events', { type: 'order.created', data: {}, ordering_key: 'order:1' });
  }
  const { backlog } = (await world.api.get(SYSTEM)).body;
  const { queued_count, due_count, behind_count } = backlog;
  expect([queued_count, due_count, behind_count]).toEqual([
    before.queued_count + 3,
    before.due_count + 1,
    before.behind_count + 2,
  ]);
});

test('a chore is recorded when it succeeded, and not when it failed', async () => {
  const { db } = world;
  const read = async (): Promise<{ name: string; last_done_at: string }[]> =>
    (await world.api.get(SYSTEM)).body.chores;
  const warnings: unknown[] = [];
  const begun = Date.now();
  const stop = keepHouse(
    [
      { name: 'mopping' as ChoreName, everyMs: 1, run: () => Promise.reject(new Error('no water')) },
      { name: 'sweeping' as ChoreName, everyMs: 1, slice: async () => 0 },
    ],
    {
      db,
      log: { warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger,
      firstMs: 0,
      notify: async () => undefined,
    },
  );
  await until('the record of the chore', async () => (await read()).some(({ name }) => name === 'sweeping'));
  stop();
  const chores = await read();
  const sweeping = chores.find(({ name }) => name === 'sweeping');
  // a second, because the database has its own clock
  expect(Date.parse(sweeping?.last_done_at ?? '')).toBeGreaterThanOrEqual(begun - 1000);
  expect(chores.some(({ name }) => name === 'mopping')).toBe(false);
  expect(warnings).toContainEqual({ err: new Error('no water'), chore: 'mopping' });
});

test('only owners of the first account see it, and the command line', async () => {
  const other = await world.otherAccount();
  const theirs = await makeUser(other, 'owner');
  for (const refused of [await other.get(SYSTEM), await theirs.browser.call('GET', SYSTEM, undefined, null)])
    expect([refused.status, refused.reason]).toEqual([403, 'installation_only']);
  const member = await makeUser(world.api, 'member');
  const refused = await member.browser.call('GET', SYSTEM, undefined, null);
  expect([refused.status, refused.reason]).toEqual([403, 'role_too_low']);
  const owner = await makeUser(world.api, 'owner');
  expect((await owner.browser.call('GET', SYSTEM, undefined, null)).status).toBe(200);
  const accounts = await world.platform.accounts.list();
  const operator = { token: 'the-operator-of-one-process', account: accounts.at(-1)?.uuid ?? nil(), cell: 0 };
  const commands = await serve(world.platform, { listen: { host: '127.0.0.1', port: 0 }, operator });
  expect((await apiOf(commands.address, operator.token).get(SYSTEM)).status).toBe(200);
  await commands.close();
});
