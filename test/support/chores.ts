import { choresOf } from '../../src/app/chores.ts';
import { doChore } from '../../src/db/chores.ts';
import type { Database } from '../../src/db/connect.ts';
import { LOCKS, takeLock } from '../../src/db/locks.ts';
import type { World } from './world.ts';

/** Waits until no worker is at the chore, which leaves it to whoever has begun. */
const untilFree = (db: Database, name: string) =>
  db.transaction(async (tx) => {
    for (const lock of [LOCKS.chore(name), LOCKS.counts, LOCKS.retention]) await takeLock(tx, lock);
  });

/**
 * Runs the named chores of a database once, one after the other; without names all of them. What was written before the call
 * has been through each chore when this returns, though a worker does the same chores.
 */
export async function keepHouse({ platform }: Pick<World, 'platform'>, ...names: string[]): Promise<void> {
  const chores = choresOf(platform);
  const unknown = names.filter((name) => !chores.some((chore) => chore.name === name));
  if (unknown.length > 0) throw new Error(`no such chore: ${unknown}`);
  for (const chore of chores) {
    const { name } = chore;
    if (names.length === 0 || names.includes(name)) {
      await untilFree(platform.db, name);
      await doChore(platform.db, chore);
      await untilFree(platform.db, name);
    }
  }
}
