import { createHash } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import { readSecretKeyState } from '../../db/secret-key.ts';
import { nil, uuidOf } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import { type Attempt, takeAttempt } from './attempts.ts';
import { beginSession, type SeveralCells, type Visit } from './credentials.ts';
import { membershipsOf, personByEmail } from './people.ts';

/*
 * The choice of an account by somebody whose password is right in several cells. The page of the choice carries a sealed proof
 * instead of the password. It is valid once, for ten minutes, and only while the password stays.
 */

/** What the proof says. */
export interface Proof {
  readonly attempt: Attempt;
  /** In its normal form. */
  readonly email: string;
  readonly people: readonly {
    readonly cell: number;
    /** UUID. */
    readonly id: string;
    /** A digest of the stored hash: a proof that leaks cannot be used to guess the password. */
    readonly password: string;
  }[];
}

const SEALED_IN = { account: nil<'acc'>(), place: 'sign-in proof' };
const digestOf = (passwordHash: string | null) =>
  createHash('sha256')
    .update(passwordHash ?? '')
    .digest('base64url');

/** The proof that a password is right in these cells, as a text. `first` is cell 0. */
export async function sealProof(
  first: Database,
  vault: Vault,
  email: string,
  { attempt, shown }: SeveralCells,
): Promise<string> {
  const { current, next } = await readSecretKeyState(first.reader);
  const people = shown.map(({ db, person }) => ({
    cell: db.cell,
    id: person.id,
    password: digestOf(person.password_hash),
  }));
  const proof: Proof = { attempt, email, people };
  return vault.seal(JSON.stringify(proof), SEALED_IN, next ?? current ?? '').toString('base64url');
}

/** What a proof says; null = it is none, or was altered. */
export function openProof(vault: Vault, text: string): Proof | null {
  try {
    return JSON.parse(vault.open(Buffer.from(text, 'base64url'), SEALED_IN));
  } catch {
    return null;
  }
}

/**
 * Signs in to an account (its public id) of the cell `db` with a proof. Returns the secret of the session; null = the proof is
 * too old, was used, or does not cover the account, or the password changed.
 */
export async function signInWithProof(
  { first, db }: { readonly first: Database; readonly db: Database },
  { attempt, email, people }: Proof,
  account: string,
  visit: Visit,
): Promise<string | null> {
  const proven = people.find(({ cell }) => cell === db.cell);
  const person = await personByEmail(db.reader, email);
  if (!person || person.id !== proven?.id || digestOf(person.password_hash) !== proven.password) return null;
  const wanted = uuidOf('acc', account);
  const member = (await membershipsOf(db.reader, person.id)).find((each) => each.account === wanted);
  if (!member || !(await takeAttempt(first, attempt))) return null;
  const user = { ...member, person: person.id, passwordHash: person.password_hash ?? '' };
  return db.transaction((tx) => beginSession(tx, user, visit, 'signIn'));
}
