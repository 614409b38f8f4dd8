import { compareCells, type Disagreement } from '../cells/agreement.ts';
import { type DirectoryCell, readDirectory } from '../cells/directory.ts';
import { COMMAND_PATIENCE_MS, type Connecting, hostOf, targetOf } from '../cells/open.ts';
import { installationOf, strangerProblem } from '../cells/schemas.ts';
import type { Cell } from '../db/cells.ts';
import { connect } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import type { Vault } from '../kernel/vault.ts';

/** How many cells are inspected at once: each needs a few connections. */
const AT_ONCE = 8;

/** What the inspection of a database finds, as far as it matters here. */
interface Inspected {
  readonly schemaVersion: number;
  readonly isOurs: boolean;
}

/** A cell other than 0. */
export interface InspectedCell<Inspection> extends Pick<Cell, 'number' | 'state' | 'schema' | 'host'> {
  /** Why it cannot be inspected; null = it can. */
  readonly problem: string | null;
  readonly inspection: Inspection | null;
}

export interface CellsInspection<Inspection> extends Disagreement {
  readonly cells: readonly InspectedCell<Inspection>[];
}

export const NO_CELLS: CellsInspection<never> = { cells: [], doubled: [], misplaced: [] };

interface Options<Inspection> {
  readonly first: Database;
  readonly vault: Vault;
  readonly connecting: Connecting;
  readonly inspect: (db: Database) => Promise<Inspection>;
}

/** Inspects the cells other than 0 and compares them with the directory. */
export async function inspectCells<Inspection extends Inspected>({
  first,
  vault,
  connecting,
  inspect,
}: Options<Inspection>): Promise<CellsInspection<Inspection>> {
  const directory = (await readDirectory(first.reader, vault)).filter(({ state }) => state !== 'closed');
  if (directory.length === 0) return NO_CELLS;
  const installation = await installationOf(first);
  const opened = directory.map((row) => ({
    row,
    db: connect({
      ...connecting,
      ...targetOf(connecting, row),
      cell: row,
      patienceMs: COMMAND_PATIENCE_MS,
    }),
  }));
  try {
    const found: { db: Database; cell: InspectedCell<Inspection> }[] = [];
    for (let begin = 0; begin < opened.length; begin += AT_ONCE) {
      const some = opened.slice(begin, begin + AT_ONCE).map(async ({ row, db }) => ({
        db,
        cell: await inspectOne(db, row, { installation, inspect }),
      }));
      found.push(...(await Promise.all(some)));
    }
    const comparable = found.filter(({ cell }) => cell.problem === null && cell.inspection?.isOurs);
    return {
      cells: found.map(({ cell }) => cell),
      ...(await compareCells(first, [first, ...comparable.map(({ db }) => db)])),
    };
  } finally {
    await Promise.all(opened.map(({ db }) => db.close()));
  }
}

async function inspectOne<Inspection extends Inspected>(
  db: Database,
  { number, state, schema, url, urlProblem }: DirectoryCell,
  { installation, inspect }: { installation: string; inspect: Options<Inspection>['inspect'] },
): Promise<InspectedCell<Inspection>> {
  const about = { number, schema, host: hostOf(url), state: state === 'draining' ? state : 'open' } as const;
  if (urlProblem !== null) {
    return { ...about, problem: `its URL cannot be decrypted: ${urlProblem}`, inspection: null };
  }
  try {
    const inspection = await inspect(db);
    const problem =
      inspection.schemaVersion === 0
        ? 'there is no schema of Payhook'
        : await strangerProblem(db.reader, number, installation);
    return { ...about, problem, inspection };
  } catch (error) {
    return { ...about, problem: (error as Error).message, inspection: null };
  }
}
