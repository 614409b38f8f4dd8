import { addCells } from '../../src/cells/manage.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { type Api, apiOf } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import type { World } from '../support/world.ts';

/** Adds two cells, 1 and 2, to the database of a world. */
export const addTwoCells = (world: World) =>
  addCells(world.platform, { url: null, schema: 'cell_', count: 2 });

const databaseOf = ({ platform }: World, cell: number) => {
  const db = platform.cells.of(cell);
  if (db === null) throw new Error(`there is no cell ${cell}`);
  return db;
};

/** Creates an account in a cell; returns the client of a key. */
export async function accountIn(world: World, cell: number, name: string): Promise<Api> {
  const { id } = await world.platform.accounts.create(name, cell);
  const made = await databaseOf(world, cell).transaction((tx) =>
    createKey(tx, id, { name: 'key', createdBy: 'test' }),
  );
  return apiOf(world.url, made.secret);
}

/** Runs the chore by which sign-in finds the people of these cells. */
export async function markPeople(world: World, ...cells: number[]): Promise<void> {
  for (const cell of cells)
    await keepHouse({ platform: { ...world.platform, db: databaseOf(world, cell) } }, 'addresses of cells');
}
