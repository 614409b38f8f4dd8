import { keepHouse } from '../support/chores.ts';
import type { World } from '../support/world.ts';

/** Runs the chore by which sign-in finds the people of these cells. */
export async function markPeople({ platform }: World, ...cells: number[]): Promise<void> {
  for (const cell of cells) {
    const db = platform.cells.of(cell);
    if (db === null) throw new Error(`there is no cell ${cell}`);
    await keepHouse({ platform, db }, 'addresses of cells');
  }
}
