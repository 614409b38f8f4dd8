import { expect, inject } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { addCells, type NewCells, setUrls } from '../../src/cells/manage.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { runHere } from '../cli/here.ts';
import { type Api, apiOf } from '../support/api.ts';
import { urlOf } from '../support/database-url.ts';
import { onceInRun } from '../support/once-in-run.ts';
import { borrowWorld } from '../support/pool.ts';
import { asAdmin, type World, type WorldOptions } from '../support/world.ts';

/** Adds cells to the database of a world, in the schemas cell_1, cell_2 and so on. Returns their numbers. */
export const addCellsTo = (world: World, count: number, where: Partial<NewCells> = {}): Promise<number[]> =>
  addCells(world.platform, { url: null, listenUrl: null, schema: 'cell_', count, ...where });

/**
 * A world of its own with the cells 1 and 2 in its database, which are made once in a run; with a port, cell 2 is reached through the
 * proxy there.
 */
export async function borrowCells(options: WorldOptions = {}, proxyPort?: number): Promise<World> {
  const { templates, user, secretKey, ...server } = inject('postgres');
  const copyOf = `${templates[0].name}_two`;
  await onceInRun('two-cells', async (folder) => {
    await asAdmin(`create database ${copyOf} template ${templates[0].name} owner ${user}`);
    const config = readConfig({ DATA_DIR: folder, SECRET_KEY: secretKey, LOG_LEVEL: 'error' });
    const target = { ...server, user, database: copyOf };
    const platform = await openPlatform(config, { purpose: 'command', target });
    await addCells(platform, { url: null, listenUrl: null, schema: 'cell_', count: 2 }).finally(() =>
      platform.close(),
    );
  });
  const world = await borrowWorld({ ...options, own: true, copyOf });
  if (proxyPort === undefined) return world;
  await setUrls(world.platform, 2, { url: await urlOfWorld(world, proxyPort), listenUrl: null });
  await world.platform.cells.refresh();
  return world;
}

/** Creates an account in a cell, with a key; returns its client and its id. */
export async function accountIn(
  world: World,
  cell: number,
  name = `Shop ${cell}`,
): Promise<{ api: Api; key: string; id: string }> {
  const { id, json } = await world.platform.accounts.create(name, cell);
  const db = world.platform.cells.of(cell);
  if (db === null) throw new Error(`there is no cell ${cell}`);
  const { secret } = await db.transaction((tx) => createKey(tx, id, { name: 'key', createdBy: 'test' }));
  return { api: apiOf(world.url, secret), key: secret, id: (JSON.parse(json) as { id: string }).id };
}

/** The URL of a world's database, as a proxy in front of it has it; without one, as another name of the same database. */
export async function urlOfWorld(world: World, port?: number): Promise<string> {
  const postgres = inject('postgres');
  const [row] = await world.query<{ name: string }>('select current_database() as name');
  const at = port === undefined ? postgres : { ...postgres, host: '127.0.0.1', port };
  return urlOf({ ...at, database: row?.name ?? '' });
}

/** The rows of a statement, with the tables of one cell. */
export async function queryIn<Row>(
  world: World,
  cell: number,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = await world.connect();
  try {
    await client.query(`set search_path to ${cell === 0 ? 'public' : `cell_${cell}`}`);
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** A world as its cell sees it: its database and its queries are those of the cell. */
export function worldIn(world: World, cell: number): World {
  const db = world.platform.cells.of(cell);
  if (db === null) throw new Error(`there is no cell ${cell}`);
  return {
    ...world,
    db,
    query: <Row>(text: string, values?: unknown[]) => queryIn<Row>(world, cell, text, values),
  };
}

export const PROGRAM = new URL('../../dist/cli/main.js', import.meta.url).pathname;

/**
 * Runs a command inside this process on a data folder, and on a shared database with `settings`; it must succeed. Returns its output.
 */
export async function command(
  folder: { readonly path: string; readonly settings?: Readonly<Record<string, string>> },
  ...args: string[]
): Promise<string> {
  const ran = await runHere([...args, '--data-dir', `${folder.path}/data`], { env: folder.settings ?? {} });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.stdout;
}
