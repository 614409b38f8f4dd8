import pg from 'pg';
import { inject } from 'vitest';
import { until } from './wire.ts';
import type { World } from './world.ts';

/** Holds back a statement to PostgreSQL; `reached` resolves when the program has sent it. */
export function holdBack({ latency }: World, statement: string): { reached: Promise<void>; goOn(): void } {
  let [reach, open] = [() => {}, () => {}];
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  if (!latency) throw new Error('a statement is held back by the latency of a world');
  latency.before = (message) => {
    if (!message.includes(statement)) return undefined;
    reach();
    return opened;
  };
  return { reached, goOn: () => open() };
}

const WAITING = `select query from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and backend_type = 'client backend'`;

/**
 * The statements in the database of a world that wait for a lock. Those of a cell on a node wait there, with a number after
 * the names of tables.
 */
export async function waitingForLocks({ query }: World): Promise<string[]> {
  await query('select pg_stat_clear_snapshot()'); // inside a transaction it would not change
  const { cluster, superuser: user } = inject('postgres');
  const waiting = await query<{ query: string }>(WAITING);
  if (!cluster) return waiting.map(({ query: text }) => text);
  const [{ database } = { database: '' }] = await query<{ database: string }>(
    'select current_database() as database',
  );
  const onNodes = cluster.slice(1).map(async (port) => {
    const node = new pg.Client({ host: '127.0.0.1', port, user, database });
    await node.connect();
    const { rows } = await node.query<{ query: string }>(WAITING);
    await node.end();
    return rows;
  });
  return [waiting, ...(await Promise.all(onNodes))].flat().map(({ query: text }) => text);
}

/** Resolves when a number of statements in the database wait for a lock. */
export const untilLockWait = (world: World, count = 1) =>
  until(`${count} statements wait for a lock`, async () => (await waitingForLocks(world)).length >= count);
