import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';
import { createAccount, type ListedAccount, listAccounts } from '../people/accounts/service.ts';
import { forgetAccount, placeAccount, placedAccounts, placeOf } from './directory.ts';

/** A command about cells that cannot be carried out; the message says why. */
export class CellError extends Error {
  override name = 'CellError';
}

/** An account, with the number of its cell. */
export interface PlacedAccount extends ListedAccount {
  readonly cell: number;
}

const closed = (cell: number) =>
  new CellError(`cell ${cell} is draining or was removed: it takes no new accounts`);

/** Operations on the accounts of all cells. */
export function accountsIn(cells: Cells) {
  const { first } = cells;

  function databaseIn(cell: number): Database {
    const found = cells.list().find(({ number }) => number === cell);
    if (found === undefined) throw new CellError(`there is no cell ${cell}: payhook cells list shows all`);
    if (found.db === null) throw new CellError(`cell ${cell} ${found.problem ?? 'is not open'}`);
    return found.db;
  }

  /** The open cell with the fewest accounts. */
  async function roomiest(): Promise<number> {
    const open = cells.list().filter(({ state, db }) => state === 'open' && db !== null);
    if (open.length === 1) return 0;
    const placed = await placedAccounts(first.reader);
    const ofFirst = (await listAccounts(first.reader)).length;
    const countOf = (cell: number) => (cell === 0 ? ofFirst : (placed.get(cell) ?? 0));
    return open.map(({ number }) => number).toSorted((one, other) => countOf(one) - countOf(other))[0] ?? 0;
  }

  const databaseOf = async (account: AccountId) => databaseIn((await placeOf(first.reader, account)) ?? 0);

  return {
    databaseOf,
    /** The accounts of all cells that can be reached, by cell, the oldest first. */
    async list(): Promise<PlacedAccount[]> {
      const reached = cells.list().flatMap(({ db }) => db ?? []);
      const lists = await Promise.all(
        reached.map(async (db) =>
          (await listAccounts(db.reader)).map((each) => ({ ...each, cell: db.cell })),
        ),
      );
      return lists.flat();
    },
    async create(name: string, wanted?: number) {
      const cell = wanted ?? (await roomiest());
      return databaseIn(cell).transaction(async (tx) => {
        const made = await createAccount(tx, name);
        // before the commit: the directory then knows every account, and at worst one that was not made
        const isPlaced =
          cell === 0 || (await first.transaction((directory) => placeAccount(directory, made.id, cell)));
        if (!isPlaced) throw closed(cell);
        return { ...made, cell };
      });
    },
    /** Runs `remove` on the cell of an account, which the directory forgets unless it was refused. Returns the refusal, or null. */
    async removeFrom(
      account: AccountId,
      remove: (db: Database) => Promise<string | null>,
    ): Promise<string | null> {
      const db = await databaseOf(account);
      const refusal = await remove(db);
      if (refusal === null && db.cell !== 0) await first.transaction((tx) => forgetAccount(tx, account));
      return refusal;
    },
  };
}
