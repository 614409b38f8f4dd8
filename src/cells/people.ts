import type { Cells } from '../db/cells.ts';
import { SLICE_ROWS, type Slice } from '../db/chores.ts';
import type { Database, Reader, Tx } from '../db/database.ts';
import { readSecretKeyState, sealingKey } from '../db/secret-key.ts';
import { SecretKeyError, type Vault } from '../kernel/vault.ts';
import type { CellsOfPerson } from '../people/users/credentials.ts';
import { newPeople, peopleAfter } from '../people/users/people.ts';
import { cellsWith, forgetPeople, insertPeople, readPeople } from './directory.ts';
import { markOf } from './schemas.ts';

/*
 * Where the people of the cells are: `person_cells` in cell 0 names the cells other than 0 where an e-mail address has a user. It
 * has keyed hashes of the addresses. Sign-in reads it, and a chore of each cell writes it, so that no operation on users depends
 * on cell 0.
 */

/** How often all people of a cell are compared with their marks. */
const EVERYTHING_MS = 3_600_000;
/** How long a cell has to show that it answers. */
const ANSWER_MS = 2000;

const hashOf = (vault: Vault, email: string, fingerprint: string) =>
  vault.mark(email, 'person_cells', fingerprint);

/**
 * The chore of a cell other than 0: marks new people, and at first, after a change of the secret key and every hour marks everybody
 * and removes the marks of people who are gone. `first` is cell 0.
 */
export function markingOf(first: Database, vault: Vault): Slice {
  let markedUnder: string | null = null;
  let markedAt = 0;
  let recent: ReadonlySet<string> = new Set();
  return async (tx) => {
    const { current, next } = await readSecretKeyState(first.reader);
    const key = next ?? current;
    if (key !== markedUnder || performance.now() - markedAt > EVERYTHING_MS) {
      await markEverybody(tx, first, vault);
      markedUnder = key;
      markedAt = performance.now();
      return 0;
    }
    const found = await newPeople(tx);
    const missing = found.filter(({ id }) => !recent.has(id)).map(({ email }) => email);
    if (missing.length > 0) await mark(first, vault, tx.cell, missing);
    recent = new Set(found.map(({ id }) => id));
    return 0;
  };
}

async function markEverybody(tx: Tx, first: Database, vault: Vault): Promise<void> {
  // read before the people: the mark of somebody who is created meanwhile is not among them
  const stale = new Set((await readPeople(first.reader, tx.cell)).map((each) => each.toString('hex')));
  let after: string | null = null;
  do {
    const people = await peopleAfter(tx, after, SLICE_ROWS);
    const marks = await mark(
      first,
      vault,
      tx.cell,
      people.map(({ email }) => email),
    );
    for (const each of marks) stale.delete(each.toString('hex'));
    after = people.length < SLICE_ROWS ? null : (people.at(-1)?.id ?? null);
  } while (after !== null);
  if (stale.size === 0) return;
  const gone = [...stale].map((each) => Buffer.from(each, 'hex'));
  await first.transaction((there) => forgetPeople(there, tx.cell, gone));
}

/** Marks that e-mail addresses have a user in a cell. Returns the marks. */
function mark(first: Database, vault: Vault, cell: number, emails: readonly string[]): Promise<Buffer[]> {
  return first.transaction(async (tx) => {
    const key = await sealingKey(tx);
    const marks = emails.map((email) => hashOf(vault, email, key));
    await insertPeople(tx, cell, marks);
    return marks;
  });
}

/**
 * The cells where an e-mail address (in its normal form) may have a user. With one cell nothing is queried.
 */
export async function cellsOfPerson(cells: Cells, vault: Vault, email: string): Promise<CellsOfPerson> {
  const first = cells.first.anonymous;
  if (cells.list().length === 1) return { databases: [first], isComplete: true };
  const [numbers, answering] = await Promise.all([
    numbersOf(first.reader, vault, email),
    answeringCells(cells),
  ]);
  const others = answering.filter(({ cell }) => cell !== 0 && numbers.has(cell));
  return {
    databases: [first, ...others.map(({ anonymous }) => anonymous)],
    isComplete: answering.length === cells.list().length,
  };
}

async function numbersOf(db: Reader, vault: Vault, email: string): Promise<ReadonlySet<number>> {
  const { current, next, retired } = await readSecretKeyState(db);
  // the marks under the retired key are replaced a few seconds after a rotation
  const marks = [current, next, retired].flatMap((key) => (key === null ? [] : held(vault, email, key)));
  return cellsWith(db, marks);
}

/** The mark under a key; none if this process no longer has it. */
function held(vault: Vault, email: string, key: string): Buffer[] {
  try {
    return [hashOf(vault, email, key)];
  } catch (error) {
    if (error instanceof SecretKeyError) return [];
    throw error;
  }
}

const asking = new WeakMap<Cells, Promise<Database[]>>();

/**
 * The cells that answer at the moment. Every sign-in asks all of them, so that neither its answer nor its time shows where
 * somebody is while a cell is down. Sign-ins at the same time share the answers.
 */
function answeringCells(cells: Cells): Promise<Database[]> {
  const running = asking.get(cells);
  if (running) return running;
  const asked = Promise.all(
    cells.list().map(async ({ db }) => (db !== null && (db.cell === 0 || (await answers(db))) ? [db] : [])),
  ).then((found) => found.flat());
  asking.set(cells, asked);
  void asked.finally(() => asking.delete(cells));
  return asked;
}

function answers(db: Database): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ANSWER_MS);
    markOf(db.reader)
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}
