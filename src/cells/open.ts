import type { Logger } from 'pino';
import { type Cell, type Cells, onlyCell } from '../db/cells.ts';
import { type ConnectOptions, connect } from '../db/connect.ts';
import type { Database, Tx } from '../db/database.ts';
import { isUnavailable } from '../db/faults.ts';
import { requireSession } from '../db/inspect.ts';
import { type MigrationReport, migrate } from '../db/migrate.ts';
import { MigrationError } from '../db/migration-files.ts';
import { makePartitions } from '../db/partitions.ts';
import { PoolerError } from '../db/session.ts';
import { addressesOf } from '../kernel/database-url.ts';
import { fail } from '../kernel/errors.ts';
import type { Vault } from '../kernel/vault.ts';
import { type CellUrls, CHANNEL, type DirectoryCell, readDirectory } from './directory.ts';
import { installationOf, refuseStranger } from './schemas.ts';

/** How often a process reads the directory, and tries cells again that it could not use. */
const REFRESH_MS = 5000;
/** How long a command waits for a cell that does not answer: it may not be about that cell. */
export const COMMAND_PATIENCE_MS = 3000;

/** The cells of an installation, opened. */
export interface OpenCells extends Cells {
  /** The migrations of a cell other than 0 at its opening; null = it is not open. */
  migrationsOf(number: number): MigrationReport | null;
  /** Reads the directory, and opens and gives up cells accordingly. Resolves when each was tried once. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenCellsOptions {
  readonly first: Database;
  readonly vault: Vault;
  readonly log: Logger;
  readonly connecting: Connecting;
  /** The numbers of the cells that this process serves besides 0; null = all. */
  readonly served: readonly number[] | null;
  /** Follows changes of the directory. Otherwise it is read once, for a command. */
  readonly follows: boolean;
  /** How long to wait for a cell to accept a connection, in milliseconds; default: 10 s. */
  readonly patienceMs: number | undefined;
  /** Checks the secret key that a cell was set up with. Throws MigrationError. */
  checkSecretKey(tx: Tx): Promise<void>;
}

/** How this process connects databases, and where cell 0 is. */
export type Connecting = Pick<
  ConnectOptions,
  'target' | 'direct' | 'poolSize' | 'name' | 'onIdleError' | 'limit'
>;

/** Where a cell is: at its URL, or where cell 0 is. */
export const targetOf = ({ target, direct }: Connecting, { url, listenUrl }: CellUrls) =>
  url === null
    ? { target, direct }
    : {
        target: { connectionString: url },
        direct: listenUrl === null ? undefined : { connectionString: listenUrl },
      };

/** The host of a cell; null = that of cell 0. */
export const hostOf = (url: string | null): string | null =>
  url === null ? null : new URL(addressesOf(url)?.[0] ?? url).host;

/** A cell of the directory within this process. */
interface Held {
  readonly row: DirectoryCell;
  db: Database | null;
  migrations: MigrationReport | null;
  problem: string | null;
  /** What ends the work in it, by what began it. */
  readonly ends: Map<Begin, () => Promise<void>>;
}

type Begin = (db: Database) => () => Promise<void>;

const hasMoved = (before: DirectoryCell, now: DirectoryCell) =>
  now.urlProblem === null && (now.url !== before.url || now.listenUrl !== before.listenUrl);

/** Opens the cells of the directory. One that cannot be used is tried again, unless the process is a command. */
export async function openCells(options: OpenCellsOptions): Promise<OpenCells> {
  const { first, log, served, follows } = options;
  const held = new Map<number, Held>();
  const begins = new Set<Begin>();
  let refreshing: Promise<void> | undefined;
  const isServed = ({ row }: Held) => served?.includes(row.number) ?? true;

  async function tryOpen(cell: Held): Promise<void> {
    try {
      const { db, report } = await openCell(options, cell.row);
      cell.db = db;
      cell.migrations = report;
      cell.problem = null;
      for (const begin of begins) cell.ends.set(begin, begin(cell.db));
    } catch (error) {
      const problem = problemOf(error);
      if (cell.problem !== problem) log.warn({ err: error }, `cell ${cell.row.number} ${problem}`);
      cell.problem = problem;
    }
  }

  async function look(): Promise<void> {
    for (const row of await readDirectory(first.reader, options.vault)) {
      const before = held.get(row.number);
      if (before?.db && hasMoved(before.row, row)) await giveUp(before);
      if (row.state !== 'closed') {
        held.set(row.number, { db: null, migrations: null, problem: null, ends: new Map(), ...before, row });
      } else if (before) {
        held.delete(row.number);
        await giveUp(before);
      }
    }
    await Promise.all([...held.values()].filter((cell) => cell.db === null && isServed(cell)).map(tryOpen));
  }

  function refresh(): Promise<void> {
    refreshing ??= look().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  await refresh();
  const stopFollowing = follows ? followDirectory(first, log, refresh) : async () => {};
  const shown = (cell: Held): Cell => ({
    number: cell.row.number,
    schema: cell.row.schema,
    host: hostOf(cell.row.url),
    state: cell.row.state === 'draining' ? 'draining' : 'open',
    isServed: isServed(cell),
    db: cell.db,
    problem: isServed(cell) ? cell.problem : 'is not served by this process (CELLS)',
  });
  return {
    first,
    list: () => [
      ...onlyCell(first).list(),
      ...[...held.values()].map(shown).toSorted((one, other) => one.number - other.number),
    ],
    of(number) {
      const cell = held.get(number);
      if (number === 0 || cell === undefined) return number === 0 ? first : null;
      if (cell.db !== null) return cell.db;
      const message = `cell ${number} ${shown(cell).problem ?? 'is not open yet'}; try again later`;
      throw fail('cell_unavailable', message, { 'retry-after': '5' });
    },
    each(begin) {
      begins.add(begin);
      const endFirst = begin(first);
      for (const { db, ends } of held.values()) if (db) ends.set(begin, begin(db));
      return async () => {
        begins.delete(begin);
        await Promise.all([endFirst(), ...[...held.values()].map(({ ends }) => endOf(ends, begin))]);
      };
    },
    migrationsOf: (number) => held.get(number)?.migrations ?? null,
    refresh,
    async close() {
      await stopFollowing();
      await refreshing?.catch(() => undefined);
      await Promise.all([...held.values()].map(giveUp));
    },
  };
}

async function endOf(ends: Held['ends'], begin: Begin): Promise<void> {
  const end = ends.get(begin);
  ends.delete(begin);
  await end?.();
}

/** Ends the work in a cell, then its connections. */
async function giveUp(cell: Held): Promise<void> {
  const { db, ends } = cell;
  cell.db = null;
  await Promise.all([...ends.keys()].map((begin) => endOf(ends, begin)));
  await db?.close();
}

/** Calls `refresh` when the directory changes, and every few seconds. Returns a function that stops it. */
function followDirectory(first: Database, log: Logger, refresh: () => Promise<void>): () => Promise<void> {
  const look = () =>
    refresh().catch((error: unknown) => log.warn({ err: error }, 'the directory of cells could not be read'));
  const timer = setInterval(look, REFRESH_MS).unref();
  const stopListening = first.listen(CHANNEL, look);
  return () => {
    clearInterval(timer);
    return stopListening();
  };
}

/** Connects a cell, migrates it and checks that it is the one. Throws MigrationError, and what PostgreSQL says. */
async function openCell(
  { first, connecting, follows, patienceMs, checkSecretKey }: OpenCellsOptions,
  row: DirectoryCell,
): Promise<{ db: Database; report: MigrationReport }> {
  const { number, urlProblem, schema } = row;
  if (urlProblem !== null) throw new MigrationError(`its URL cannot be decrypted: ${urlProblem}`);
  const db = connect({
    ...connecting,
    ...targetOf(connecting, row),
    cell: { number, schema },
    patienceMs,
    makePartitions,
  });
  try {
    const installation = await installationOf(first);
    const { report } = await migrate(
      db,
      async (tx) => {
        await refuseStranger(tx, number, installation);
        await makePartitions(tx);
        await checkSecretKey(tx);
      },
      { onlyExisting: true },
    );
    if (follows) await requireSessionOf(db, number);
    return { db, report };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** A process that delivers listens in each cell. Throws MigrationError if a pooler is in the way. */
async function requireSessionOf(db: Database, number: number): Promise<void> {
  await requireSession(db).catch((error: unknown) => {
    if (!(error instanceof PoolerError)) throw error;
    throw new MigrationError(
      `its URL is that of a connection pooler: payhook cells set-url ${number} URL --listen-url URL adds the URL of PostgreSQL itself`,
    );
  });
}

function problemOf(error: unknown): string {
  return isUnavailable(error) ? 'cannot be reached' : `cannot be used: ${(error as Error).message}`;
}
