import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { createConnectionLimit } from '../../src/db/connection-limit.ts';
import { hostsOf } from '../../src/db/hosts.ts';
import { openPool, type Pool, type Pooling } from '../../src/db/pool.ts';
import { startWatch } from '../../src/db/watch.ts';
import { latencyProxy } from '../support/latency.ts';

const server = () => {
  const { host, port, user, password } = inject('postgres');
  return { host, port, user, password, database: 'postgres' };
};

let hosts: ReturnType<typeof hostsOf>;
let common: Pooling;
let pools: Pool[];
beforeEach(() => {
  hosts = hostsOf([server()]);
  pools = [];
});
afterEach(() => {
  for (const pool of pools) pool.cut();
  common.watch.close();
});

/** Opens pools of one connection each, which have `most` connections together. */
function open(count: number, most: number): Pool[] {
  common = {
    cell: { number: 0, schema: null },
    watch: startWatch(hosts, () => undefined),
    name: 'payhook test',
    limit: createConnectionLimit(most),
    renewals: () => 0,
    onIdleError: () => undefined,
  };
  pools = Array.from({ length: count }, () => openPool(hosts, { max: 1 }, common));
  return pools;
}

const opened = () => pools.map((pool) => pool.use('reading').open);

async function connectOnce(pool: Pool): Promise<void> {
  (await pool.take()).release();
}

test('a pool whose idle connection is promised to a caller delays no other pool', async () => {
  const [other, busy, waiting] = open(3, 2) as [Pool, Pool, Pool];
  await connectOnce(other);
  await connectOnce(busy);
  // the connection of the newer pool is idle until the next tick, and is kept after it
  const [kept, taken] = await Promise.all([busy.take(), waiting.take()]);
  expect(opened()).toEqual([0, 1, 1]);
  kept.release();
  taken.release();
});

test('a caller that waits for a connection closes one idle connection, not those of all pools', async () => {
  const [, , , , waiting] = open(5, 4) as [Pool, Pool, Pool, Pool, Pool];
  for (const pool of pools.slice(0, 4)) await connectOnce(pool);
  (await waiting.take()).release();
  expect(opened()).toEqual([1, 1, 1, 0, 1]);
});

test('several callers that wait close one idle connection each', async () => {
  const [, , , , ...waiting] = open(6, 4);
  for (const pool of pools.slice(0, 4)) await connectOnce(pool);
  const taken = await Promise.all(waiting.map((pool) => pool.take()));
  expect(opened()).toEqual([1, 1, 0, 0, 1, 1]);
  for (const client of taken) client.release();
});

test('a pool that ends while it is asked for its idle connection delays no other pool', async () => {
  const [first, ending, waiting] = open(3, 2) as [Pool, Pool, Pool];
  await connectOnce(first);
  await connectOnce(ending);
  // the limit asks for the connection of the newer pool, which is given out at the next tick
  const taking = waiting.take();
  const ended = ending.end();
  const kept = await taking;
  // needs that of the first pool; a limit that still waits for the ended pool refuses it
  const impatient = openPool(hosts, { max: 1, patienceMs: 3000 }, common);
  const taken = await impatient.take();
  expect(opened()).toEqual([0, 0, 1]);
  taken.release();
  kept.release();
  await Promise.all([ended, impatient.end()]);
});

test('a server that is silent delays no pool of another one', async () => {
  const [first] = open(1, 2) as [Pool];
  await connectOnce(first);
  const { host, port } = inject('postgres');
  const proxy = await latencyProxy({ host, port }, 0);
  const silent = openPool(
    hostsOf([{ ...server(), host: '127.0.0.1', port: proxy.port }]),
    { max: 1 },
    common,
  );
  const waiting = openPool(hosts, { max: 1 }, common);
  try {
    await connectOnce(silent);
    proxy.silence();
    const kept = await first.take();
    (await waiting.take()).release();
    kept.release();
    expect(silent.use('reading').open).toBe(0);
  } finally {
    silent.cut();
    waiting.cut();
    await proxy.close();
  }
});

test('a pool that is ended twice leaves the limit alone', async () => {
  const [first, twice, waiting] = open(3, 1) as [Pool, Pool, Pool];
  await Promise.all([twice.end(), twice.end()]);
  await connectOnce(first);
  await connectOnce(waiting);
  // the connection of the newest pool is the one to close
  (await first.take()).release();
  expect(opened()).toEqual([1, 0, 0]);
});
