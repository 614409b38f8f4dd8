import { expect, inject, test } from 'vitest';
import { createConnectionLimit } from '../../src/db/connection-limit.ts';
import { hostsOf } from '../../src/db/hosts.ts';
import { openPool } from '../../src/db/pool.ts';
import { startWatch } from '../../src/db/watch.ts';

test('a pool whose idle connection is promised to a caller delays no other pool', async () => {
  const { host, port, user, password } = inject('postgres');
  const hosts = hostsOf([{ host, port, user, password, database: 'postgres' }]);
  const common = {
    cell: { number: 0, schema: null },
    watch: startWatch(hosts, () => undefined),
    name: 'payhook test',
    limit: createConnectionLimit(2),
    renewals: () => 0,
    onIdleError: () => undefined,
  };
  const open = () => openPool(hosts, { max: 1 }, common);
  const [other, busy, waiting] = [open(), open(), open()];
  (await other.take()).release();
  (await busy.take()).release();
  // the connection of the newer pool is idle until the next tick, and is kept after it
  const [kept, opened] = await Promise.all([busy.take(), waiting.take()]);
  expect([other, busy, waiting].map((pool) => pool.use('reading').open)).toEqual([0, 1, 1]);
  kept.release();
  opened.release();
  await Promise.all([other, busy, waiting].map((pool) => pool.end()));
  common.watch.close();
});
