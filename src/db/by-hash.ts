import { coalesce } from '../kernel/coalesce.ts';
import type { Reader } from './database.ts';

/**
 * Creates a question that shares a statement with others of its kind at the same time, so that however many are asked at
 * once, they take two connections of the reader at most. `run` answers each, in order. Each is answered from what is stored
 * when it is asked.
 */
export function askedTogether<Item, Result>(
  run: (db: Reader, items: readonly Item[]) => Promise<readonly Result[]>,
): (db: Reader, item: Item) => Promise<Result> {
  const questions = new WeakMap<Reader, (item: Item) => Promise<Result>>();
  return (db, item) => {
    const ask = questions.get(db) ?? coalesce((items: readonly Item[]) => run(db, items));
    questions.set(db, ask);
    return ask(item);
  };
}

/**
 * Creates what finds the row with a hash (SHA-256 of a secret), or null; `read` returns the rows with any of these hashes.
 * A flood of wrong secrets shares its statements with the right ones.
 */
export function finderByHash<Row extends { readonly hash: Buffer }>(
  read: (db: Reader, hashes: readonly Buffer[]) => Promise<readonly Row[]>,
): (db: Reader, hash: Buffer) => Promise<Row | null> {
  return askedTogether(async (db, hashes: readonly Buffer[]) => {
    const found = new Map((await read(db, hashes)).map((row) => [row.hash.toString('hex'), row]));
    return hashes.map((hash) => found.get(hash.toString('hex')) ?? null);
  });
}
