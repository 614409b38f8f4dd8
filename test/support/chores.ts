import { choresOf } from '../../src/app/chores.ts';
import { doChore } from '../../src/db/chores.ts';
import type { Database } from '../../src/db/database.ts';
import { LOCKS, takeLock } from '../../src/db/locks.ts';
import type { World } from './world.ts';

/** Waits until no worker runs the chore, so that one worker finishes it. */
const untilFree = (db: Database, name: string) =>
  db.transaction(async (tx) => {
    // in the order of a drop, which takes the lock of the counts on another connection
    for (const lock of [LOCKS.chore(name), LOCKS.retention, LOCKS.counts]) await takeLock(tx, lock);
  });

/**
 * Runs the named chores of a database once, in order; without names all of them. When this returns, each chore has
 * processed everything written before the call, even if a worker runs the same chores.
 */
export async function keepHouse(
  { platform, db }: Pick<World, 'platform' | 'db'>,
  ...names: string[]
): Promise<void> {
  const chores = choresOf({ ...platform, db });
  const unknown = names.filter((name) => !chores.some((chore) => chore.name === name));
  if (unknown.length > 0) throw new Error(`no such chore: ${unknown}`);
  for (const chore of chores) {
    const { name } = chore;
    if (names.length === 0 || names.includes(name)) {
      await untilFree(db, name);
      await doChore(db, chore);
      await untilFree(db, name);
    }
  }
}
