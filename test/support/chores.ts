import { choresOf } from '../../src/app/chores.ts';
import { doChore } from '../../src/db/chores.ts';
import type { World } from './world.ts';

/** Runs the named chores of a database once, one after the other; without names all of them. */
export async function keepHouse({ platform }: Pick<World, 'platform'>, ...names: string[]): Promise<void> {
  const chores = choresOf(platform);
  const unknown = names.filter((name) => !chores.some((chore) => chore.name === name));
  if (unknown.length > 0) throw new Error(`no such chore: ${unknown}`);
  for (const chore of chores)
    if (names.length === 0 || names.includes(chore.name)) {
      await doChore(platform.db, chore);
    }
}
