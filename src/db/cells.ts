import type { Database } from './database.ts';

/** A cell as a process sees it: the database of some accounts, with their users and keys (docs/decisions/0097). */
export interface Cell {
  readonly number: number;
  /** The schema that holds it; null = that of the login. */
  readonly schema: string | null;
  /** The host of its PostgreSQL; null = that of cell 0. */
  readonly host: string | null;
  /** A draining cell takes no new accounts. */
  readonly state: 'open' | 'draining';
  /** Whether this process serves it (CELLS). */
  readonly isServed: boolean;
  /** null while it cannot be used. */
  readonly db: Database | null;
  /** Why it cannot be used, in words that follow "cell 3"; null = it can. */
  readonly problem: string | null;
}

/** The cells that a process uses. */
export interface Cells {
  /** Cell 0, which holds the directory of the others. */
  readonly first: Database;
  /** All cells of the directory, by number. */
  list(): readonly Cell[];
  /**
   * The database of a cell; null = no such cell, or it was removed. Throws `cell_unavailable` while the cell cannot be used, or
   * when this process does not serve it.
   */
  of(number: number): Database | null;
  /**
   * Calls `begin` for each cell that can be used, also for those that can be used later. What it returns is called when the
   * cell is given up; the returned function gives up all.
   */
  each(begin: (db: Database) => () => Promise<void>): () => Promise<void>;
}

/** One database without a directory of others, as programs without cells have. */
export function onlyCell(db: Database): Cells {
  return {
    first: db,
    list: () => [{ number: 0, schema: null, host: null, state: 'open', isServed: true, db, problem: null }],
    of: (number) => (number === 0 ? db : null),
    each: (begin) => begin(db),
  };
}

/** One value for each database, made when it is first asked for. */
export function perDatabase<Value>(make: (db: Database) => Value): (db: Database) => Value {
  const made = new WeakMap<object, Value>();
  return (db) => {
    const value = made.get(db.scopeKey) ?? make(db);
    made.set(db.scopeKey, value);
    return value;
  };
}
