import { randomUUID } from 'node:crypto';
import type { Cell } from '../db/cells.ts';
import { hasNodes, missingSettings, placeOnNode } from '../db/citus.ts';
import { connect } from '../db/connect.ts';
import type { Database, Reader, Tx } from '../db/database.ts';
import { migrate } from '../db/migrate.ts';
import { makePartitions } from '../db/partitions.ts';
import { writeNewSetting } from '../db/settings.ts';
import type { Vault } from '../kernel/vault.ts';
import { listAccounts } from '../people/accounts/service.ts';
import { CellError } from './accounts.ts';
import {
  announceDirectory,
  type CellUrls,
  forgetPeople,
  insertCell,
  lockDirectory,
  placedAccounts,
  readPeople,
  setCellState,
  setCellUrls,
} from './directory.ts';
import { createLogin, newLogin, urlWith } from './logins.ts';
import { type Connecting, type OpenCells, targetOf } from './open.ts';
import {
  createSchema,
  hasTables,
  INSTALLATION,
  installationOf,
  markCell,
  readFacts,
  refuseUsed,
  strangerProblem,
} from './schemas.ts';

/** What changing the directory needs of an open platform. */
interface Installation {
  /** Cell 0. */
  readonly db: Database;
  readonly cells: OpenCells;
  readonly vault: Vault;
  readonly connecting: Connecting;
  checkSecretKey(tx: Tx): Promise<void>;
}

/** A cell as the operator sees it. */
export interface ListedCell extends Pick<Cell, 'number' | 'state' | 'schema' | 'host' | 'problem'> {
  /** null while the cell cannot be reached. */
  readonly accounts: number | null;
  /** The version of its schema; null likewise. */
  readonly version: number | null;
}

/** All cells, with what each says of itself. */
export function listCells({ cells }: Pick<Installation, 'cells'>): Promise<ListedCell[]> {
  return Promise.all(
    cells.list().map(async ({ number, state, schema, host, problem, db }) => {
      const found = db && (await readFacts(db.reader));
      return { number, state, schema, host, accounts: null, version: null, ...found, problem };
    }),
  );
}

/** Where new cells are: in a schema of this name, or of this name and the number of the cell. */
export interface NewCells extends CellUrls {
  /** null = the schema of the login. */
  readonly schema: string | null;
  /** How many; the schema's name gets the number of the cell if it is given. */
  readonly count: number | null;
}

/**
 * Adds cells, one after the other: creates the schema, and a login for it if Citus has nodes, applies the migrations, places it on a
 * node, and enters the cell in the directory. If it is killed, it can be repeated. Returns their numbers. Throws CellError when the
 * schema holds something else, its login cannot be created, or Citus cannot place it.
 */
export async function addCells(at: Installation, { schema, count, ...urls }: NewCells): Promise<number[]> {
  const { db } = at;
  await db.transaction((tx) => writeNewSetting(tx, INSTALLATION, randomUUID()));
  const installation = await installationOf(db);
  const numbers: number[] = [];
  for (let left = count ?? 1; left > 0; left--) {
    const added = await db.transaction(
      async (tx) => {
        const number = await lockDirectory(tx);
        const wanted = { number, ...urls, schema: count === null ? schema : `${schema}${number}` };
        const place = await createPlace(at, wanted, installation);
        await prepare(at, place, installation);
        if (place.listenUrl !== null) await requireCellAt(at, place.listenUrl, place);
        await insertCell(tx, at.vault, place);
        return number;
      },
      { takesLong: true },
    );
    numbers.push(added);
  }
  await announceDirectory(db.reader);
  await at.cells.refresh();
  return numbers;
}

interface Place extends CellUrls {
  readonly number: number;
  readonly schema: string | null;
}

/**
 * Creates the schema of a cell, if one is named and it is missing. Where Citus has nodes it gets a login too, which then selects it.
 * Returns where the cell is. Throws CellError.
 */
async function createPlace(at: Installation, place: Place, installation: string): Promise<Place> {
  const { number, schema } = place;
  if (schema === null) return place;
  const options = { ...at.connecting, ...targetOf(at.connecting, place), poolSize: 1 };
  const db = connect(options);
  try {
    if (await createSchema(db, schema)) return place;
    const { target, direct } = options;
    const login = newLogin(schema);
    const urls = {
      url: urlWith(target, login),
      listenUrl: direct === undefined ? null : urlWith(direct, login),
    };
    await createLogin(db, login, { number, installation });
    return { number, schema: null, ...urls };
  } finally {
    await db.close();
  }
}

/** Makes a schema a cell. */
async function prepare(
  at: Installation,
  { number, schema, ...urls }: Place,
  installation: string,
): Promise<void> {
  const target = targetOf(at.connecting, urls);
  const cell = connect({ ...at.connecting, ...target, poolSize: 1, cell: { number, schema } });
  try {
    await refuseUsed(cell.reader, number, installation);
    const isPlaced = await hasNodes(cell.reader);
    const missing = isPlaced ? await missingSettings(cell.reader) : null;
    if (missing !== null) throw new CellError(`Citus places each cell on a node, and ${missing}`);
    await migrate(cell, async (tx) => {
      await markCell(tx, number, installation);
      await makePartitions(tx);
      await at.checkSecretKey(tx);
      // before a server uses it: its transactions and this one would end in a deadlock
      if (isPlaced) await placeOnNode(tx);
    });
  } finally {
    await cell.close();
  }
}

/** Makes a cell take no new accounts, or take them again. Throws CellError if there is no such cell. */
export async function drainCell(at: Installation, number: number, state: 'open' | 'draining'): Promise<void> {
  requireCell(at, number);
  await at.db.transaction((tx) => setCellState(tx, number, state));
  await announceDirectory(at.db.reader);
}

/** Changes where a cell is. Throws CellError if the cell is not there, and what PostgreSQL says. */
export async function setUrls(at: Installation, number: number, urls: CellUrls): Promise<void> {
  const { schema } = requireCell(at, number);
  for (const url of [urls.url, urls.listenUrl])
    if (url !== null) await requireCellAt(at, url, { number, schema });
  await at.db.transaction((tx) => setCellUrls(tx, at.vault, number, urls));
  await announceDirectory(at.db.reader);
}

/** Throws CellError unless a URL leads to the tables of a cell. */
async function requireCellAt(
  at: Installation,
  url: string,
  { number, schema }: Pick<Place, 'number' | 'schema'>,
): Promise<void> {
  const target = targetOf(at.connecting, { url, listenUrl: null });
  const cell = connect({ ...at.connecting, ...target, poolSize: 1, cell: { number, schema } });
  try {
    if (!(await hasTables(cell.reader))) {
      const where = schema === null ? 'the schema of the login' : `the schema ${schema}`;
      throw new CellError(
        `${where} there has no tables of Payhook: payhook restore FILE --cell ${number} --url URL restores a backup of the cell there`,
      );
    }
    const problem = await strangerProblem(cell.reader, number, await installationOf(at.db));
    if (problem !== null) throw new CellError(problem);
  } finally {
    await cell.close();
  }
}

/**
 * Removes a cell without accounts from the directory; its tables stay. Its number is not used again. Throws CellError if it has
 * accounts.
 */
export async function removeCell(at: Installation, number: number): Promise<void> {
  const { db: cell } = requireCell(at, number);
  const { db } = at;
  await db.transaction(async (tx) => {
    await setCellState(tx, number, 'closed');
    await forgetPeople(tx, number, await readPeople(tx, number));
    const count = Math.max(
      (await placedAccounts(tx)).get(number) ?? 0,
      cell === null ? 0 : await accountsIn(cell.reader),
    );
    if (count > 0)
      throw new CellError(
        `cell ${number} has ${count} account${count === 1 ? '' : 's'}: it cannot be removed`,
      );
  });
  await announceDirectory(db.reader);
  await at.cells.refresh();
}

const accountsIn = async (db: Reader) => (await listAccounts(db)).length;

function requireCell({ cells }: Installation, number: number) {
  if (number === 0) throw new CellError('cell 0 holds the directory: it is neither drained nor removed');
  const found = cells.list().find((cell) => cell.number === number);
  if (found === undefined) throw new CellError(`there is no cell ${number}: payhook cells list shows all`);
  return found;
}
