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

/** A database, as a world or the data folder of a process has it. */
interface Queried {
  query<Row>(text: string): Promise<Row[]>;
}

/**
 * The statements in a database whose row of pg_stat_activity meets a condition. Those of a cell on a node are there, with a number
 * after the names of tables.
 */
export async function statementsThat({ query }: Queried, condition: string): Promise<string[]> {
  await query('select pg_stat_clear_snapshot()'); // inside a transaction it would not change
  const { cluster, superuser: user } = inject('postgres');
  const active = `select query from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and ${condition}`;
  const waiting = await query<{ query: string }>(active);
  if (!cluster) return waiting.map(({ query: text }) => text);
  const [{ database } = { database: '' }] = await query<{ database: string }>(
    'select current_database() as database',
  );
  const onNodes = cluster.slice(1).map(async (port) => {
    const node = new pg.Client({ host: '127.0.0.1', port, user, database });
    await node.connect();
    const { rows } = await node.query<{ query: string }>(active);
    await node.end();
    return rows;
  });
  return [waiting, ...(await Promise.all(onNodes))].flat().map(({ query: text }) => text);
}

/** Locks that a statement took in a transaction of its own. */
export interface HeldLocks {
  /** Resolves when another statement waits for one of them. */
  reached(): Promise<void>;
  /** Ends the connection that holds them. */
  letGo(): Promise<void>;
}

/**
 * Takes locks as superuser with a statement that returns one row. Unlike `untilLockWait`, `reached` ignores what waits for other locks:
 * chores and starting processes do.
 */
export async function holdLocks(
  database: Queried & { superuser(): Promise<pg.Client> },
  statement: string,
): Promise<HeldLocks> {
  const holder = await database.superuser();
  await holder.query('begin');
  const { rowCount } = await holder.query(statement);
  if (rowCount !== 1) throw new Error(`${rowCount} rows, not one, of: ${statement}`);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waits = `${rows[0]?.pid} = any (pg_blocking_pids(pid))`;
  return {
    reached: () =>
      until(`a statement waits for the locks of: ${statement}`, async () => {
        return (await statementsThat(database, waits)).length > 0;
      }).then(() => undefined),
    letGo: () => holder.end().catch(() => undefined),
  };
}

/** The statements in a database that wait for a lock. */
export const waitingForLocks = (database: Queried) => statementsThat(database, `wait_event_type = 'Lock'`);

/** Resolves when a number of statements in the database wait for a lock. */
export const untilLockWait = (database: Queried, count = 1) =>
  until(`${count} statements wait for a lock`, async () => (await waitingForLocks(database)).length >= count);
