import type { Logger } from 'pino';
import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import { MigrationError } from '../db/migration-files.ts';
import { type AccountId, idOf } from '../kernel/ids.ts';
import { listAccounts } from '../people/accounts/service.ts';
import { readPlaces } from './directory.ts';

/** Where the directory and the cells disagree, each as a sentence with what to do. */
export interface Disagreement {
  /** Accounts that are in two cells. */
  readonly doubled: readonly string[];
  /** Accounts that are in another cell than the directory says. */
  readonly misplaced: readonly string[];
}

/** Compares the directory with the accounts of cells. `reached` is the open ones, cell 0 first. */
export async function compareCells(first: Database, reached: readonly Database[]): Promise<Disagreement> {
  const lists = await Promise.all(
    reached.map(async (db) => ({ db, accounts: await listAccounts(db.reader) })),
  );
  const places = await readPlaces(first.reader);
  const found = new Map<AccountId, number[]>();
  for (const { db, accounts } of lists) {
    for (const { uuid } of accounts) found.set(uuid, [...(found.get(uuid) ?? []), db.cell]);
  }
  const doubled: string[] = [];
  const misplaced: string[] = [];
  for (const [account, [cell = 0, other]] of found) {
    const id = idOf('acc', account);
    const placed = places.get(account) ?? 0;
    if (other !== undefined) doubled.push(twice(id, cell, other));
    else if (cell !== placed) misplaced.push(elsewhere(id, cell, placed));
  }
  const reachedCells = new Set(reached.map(({ cell }) => cell));
  for (const [account, cell] of places) {
    if (!found.has(account) && reachedCells.has(cell)) misplaced.push(missing(idOf('acc', account), cell));
  }
  return { doubled, misplaced };
}

const twice = (id: string, one: number, other: number) =>
  `the account ${id} is in cell ${one} and in cell ${other}: restore one of the two from a backup that does not have it`;
const elsewhere = (id: string, cell: number, placed: number) =>
  placed === 0
    ? `the account ${id} is in cell ${cell}, but the directory does not know it: cell 0 was probably restored from an older backup`
    : `the account ${id} is in cell ${cell}, but the directory places it in cell ${placed}: cell 0 was probably restored from an older backup`;
const missing = (id: string, cell: number) =>
  `the directory places the account ${id} in cell ${cell}, which does not have it: cell ${cell} was probably restored from an older ` +
  'backup, or the account was never completely created';

/** At the start of a server or worker: throws MigrationError if an account is in two cells; logs other disagreements. */
export async function requireAgreement(cells: Cells, log: Logger): Promise<void> {
  if (cells.list().length === 1) return;
  const { doubled, misplaced } = await compareCells(
    cells.first,
    cells.list().flatMap(({ db }) => db ?? []),
  );
  const [first] = doubled;
  if (first !== undefined) throw new MigrationError(first);
  for (const problem of misplaced) log.warn(`${problem}; see payhook doctor`);
}
