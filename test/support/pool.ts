import { inject } from 'vitest';
import { cellOfFile } from './cell-of-file.ts';
import { makeWorld, type OwnWorld, type World, type WorldOptions } from './world.ts';

/*
 * The worlds of one process. A world costs about a second of processor time, and accounts isolate tests from each
 * other, so a test file borrows a world and returns it. A returned world must be idle and balanced (see
 * left-behind.ts); then it is wiped and waits for the next file that needs the same settings.
 */

/** At most this many wait unused in a process: each holds connections. */
const MOST_IDLE = 4;

interface Pool {
  /** Least recently used first. */
  readonly idle: { readonly key: string; readonly world: OwnWorld }[];
  started: number;
}

/** Files share their process, but each may have its own modules. */
const shared = globalThis as { payhookWorlds?: Pool };
shared.payhookWorlds ??= { idle: [], started: 0 };
const pool = shared.payhookWorlds;

/** Records a started world: the report of the run shows how many each file needed. */
export function countWorld(): void {
  pool.started += 1;
}

/** How many worlds this process has started. */
export const worldsStarted = (): number => pool.started;

/** Whether a world with these options can be used again: a pooler or a replica keeps its own state. */
function isShared({ own = false, pooler }: WorldOptions): boolean {
  const { replica, pooler: always } = inject('postgres');
  return !own && !pooler && !always && !replica;
}

/**
 * A world from the pool, or a new one. `close` returns it; it throws when the test left something behind, and discards
 * such a world.
 */
export async function borrowWorld(options: WorldOptions = {}): Promise<World> {
  const cell = options.cell ?? cellOfFile();
  const key = JSON.stringify([
    cell,
    options.delivers ?? false,
    options.processes,
    options.poolSize,
    options.databaseLatencyMs,
    Object.entries(options.settings ?? {}).sort(),
  ]);
  const found = isShared(options) ? pool.idle.findIndex((each) => each.key === key) : -1;
  const world =
    pool.idle.splice(found, found === -1 ? 0 : 1)[0]?.world ?? (await makeWorld({ ...options, cell }));
  await world.begin();
  if (!isShared(options)) return world;
  return {
    ...world,
    async close() {
      try {
        await world.settle();
        await world.stop();
        await world.check(true);
        await world.reset();
      } catch (error) {
        await world.close().catch(() => undefined);
        throw error;
      }
      pool.idle.push({ key, world });
      if (pool.idle.length > MOST_IDLE) await pool.idle.shift()?.world.close();
    },
  };
}
