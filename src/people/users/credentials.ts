import type { SignedIn } from '../../contract/web-pages.ts';
import type { Database, Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, uuidOf } from '../../kernel/ids.ts';
import { note } from '../audit/service.ts';
import {
  type Browser,
  endSession,
  endSessionsOfPerson,
  moveSession,
  openSession,
  principalOf,
} from '../sessions/service.ts';
import { type Attempt, beginAttempt, forgiveAttempt } from './attempts.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import {
  endResetLinks,
  type Membership,
  membershipsOf,
  type Person,
  personByEmail,
  personById,
  replacePassword,
} from './people.ts';

/** A request that shows or sets a password. */
export interface Visit extends Browser {
  readonly requestId: string;
  /** The session (its public id, and of whom) that the browser had before; a new one of its cell takes its place. */
  readonly before?: { readonly cell: number; readonly account: AccountId; readonly id: string } | undefined;
}

/** The result of showing a password: the secret of a session, or a refusal. */
export type SignInResult =
  | { readonly kind: 'signedIn'; readonly secret: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number };

/** A person of a cell whose password was shown, and their accounts there. */
export interface Shown {
  readonly db: Database;
  readonly person: Person;
  readonly accounts: readonly Membership[];
}

/** The cells where an e-mail address may have a user, without those that do not answer at the moment. */
export interface CellsOfPerson {
  readonly databases: readonly Database[];
  /** Whether every cell of the installation answers; it does not depend on the address. */
  readonly isComplete: boolean;
}

/** Where somebody signs in. */
export interface SignInPlace {
  /** Cell 0, which counts the attempts. */
  readonly first: Database;
  /** How many passwords are compared at least, so that the time does not show in how many cells the address has a user. */
  readonly leastChecks: number;
  find(email: string): Promise<CellsOfPerson>;
  /** Whether the person may sign in there now. */
  isWanted(shown: Shown): boolean;
}

/** The password is right in several cells. The attempt counts until an account is chosen. */
export interface SeveralCells {
  readonly kind: 'several';
  readonly attempt: Attempt;
  readonly shown: readonly Shown[];
}

/** `elsewhere`: the password is right only where it is not wanted. */
export type SignInResultOfCells =
  | Exclude<SignInResult, { readonly kind: 'wrong' }>
  | SeveralCells
  | { readonly kind: 'wrong' | 'elsewhere'; readonly isComplete: boolean };

/**
 * Signs a person in, to the account they used last. An unknown address, a person without a password and a wrong
 * password get the same answer after the same time. `email` is in its normal form.
 */
export async function signIn(
  place: SignInPlace,
  { email, password }: { email: string; password: string },
  visit: Visit,
): Promise<SignInResultOfCells> {
  const { first, leastChecks } = place;
  const attempt = await beginAttempt(first, { email, address: visit.address });
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  const { databases, isComplete } = await place.find(email);
  const all = await whoShows({ databases, leastChecks }, email, password);
  const shown = all.filter((each) => place.isWanted(each));
  if (shown.length > 1) return { kind: 'several', attempt, shown };
  const [one] = shown;
  if (one === undefined) return { kind: all.length > 0 ? 'elsewhere' : 'wrong', isComplete };
  const { db, person, accounts } = one;
  const passwordHash = person.password_hash ?? '';
  // the second account is for a person who is being removed from the first at this moment
  for (const member of accounts.slice(0, 2)) {
    const secret = await db.transaction((tx) =>
      beginSession(tx, { ...member, person: person.id, passwordHash }, visit, 'signIn'),
    );
    if (secret === null) continue;
    await forgiveAttempt(first, attempt);
    return { kind: 'signedIn', secret };
  }
  return { kind: 'wrong', isComplete };
}

/** The people with an e-mail address and this password, who are members of an account. */
async function whoShows(
  { databases, leastChecks }: { databases: readonly Database[]; leastChecks: number },
  email: string,
  password: string,
): Promise<Shown[]> {
  const found = await Promise.all(
    databases.map(async (db) => ({ db, person: await personByEmail(db.reader, email) })),
  );
  const known = found.flatMap(({ db, person }) => (person?.password_hash ? [{ db, person }] : []));
  const nobodys = Array.from({ length: Math.max(0, leastChecks - known.length) }, () => null);
  const hashes = [...known.map(({ person }) => person.password_hash), ...nobodys];
  const isRight = await Promise.all(hashes.map((hash) => verifyPassword(hash, password)));
  const shown = await Promise.all(
    known
      .filter((_, index) => isRight[index])
      .map(async (each) => ({ ...each, accounts: await membershipsOf(each.db.reader, each.person.id) })),
  );
  return shown.filter(({ accounts }) => accounts.length > 0);
}

/** Opens the session of a person whose password was just shown or set, replacing the browser's earlier one. */
export async function beginSession(
  tx: Tx,
  user: Pick<Membership, 'account' | 'user' | 'role'> & { person: string; passwordHash: string },
  visit: Visit,
  action: string,
): Promise<string | null> {
  const opened = await openSession(tx, { ...user, id: user.user }, visit);
  if (opened === null) return null;
  if (visit.before?.cell === tx.cell) {
    // it may have expired since the request came
    await endSession(tx, visit.before.account, visit.before.id).catch(() => undefined);
  }
  const target = action === 'signIn' ? idOf('ses', opened.id) : idOf('usr', user.user);
  const who = principalOf({ account: user.account, id: user.user, role: user.role, session: opened.id });
  await note(tx, who, { action, target, requestId: visit.requestId });
  return opened.secret;
}

/**
 * Changes the password of a signed-in person who shows the old one. All sessions, in all accounts, and open links end; the
 * browser gets a new session, with the secret of the result. The new password has been checked.
 */
export async function changePassword(
  db: Database,
  { principal, person: id }: SignedIn,
  { current, next }: { current: string; next: string },
  visit: Visit,
): Promise<SignInResult> {
  const { account, user, role } = principal;
  if (user === undefined) throw new Error('only a signed-in user has a password');
  const person = await personById(db.reader, id);
  const attempt = await beginAttempt(db, { email: person.email, address: visit.address });
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  if (!(await verifyPassword(person.password_hash, current))) return { kind: 'wrong' };
  const hash = await hashPassword(next);
  const secret = await db.transaction(async (tx) => {
    if (!(await replacePassword(tx, id, hash, person.password_hash))) return null;
    await endResetLinks(tx, id);
    await endSessionsOfPerson(tx, id);
    return beginSession(tx, { account, user, role, person: id, passwordHash: hash }, visit, 'changePassword');
  });
  if (secret === null) return { kind: 'wrong' };
  await forgiveAttempt(db, attempt);
  return { kind: 'signedIn', secret };
}

/** The accounts a person (UUID) may work in, the last used first. */
export function accountsOf(db: Reader, person: string): Promise<Membership[]> {
  return membershipsOf(db, person);
}

/**
 * Switches the signed-in person to another account (its public id); returns the secret of the session that replaces
 * theirs. Throws `resource_missing` for an account they are not a member of, as for one that does not exist.
 */
export async function switchAccount(
  db: Database,
  { principal, person }: SignedIn,
  wanted: string,
  visit: Visit,
): Promise<string> {
  const account = uuidOf('acc', wanted);
  const member = (await membershipsOf(db.reader, person)).find((each) => each.account === account);
  const { session } = principal;
  if (!member || session === undefined) throw fail('resource_missing', 'no such account');
  const to = { ...member, id: member.user, person };
  return db.transaction((tx) => moveSession(tx, { ...principal, session }, to, visit));
}
