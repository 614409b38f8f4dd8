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

/** Resolves when a connection to the database waits for a lock. */
export const untilLockWait = ({ query }: World) =>
  until('a statement waits for a lock', async () => {
    const waiting = await query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
