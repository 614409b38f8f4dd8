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
import { beginAttempt, forgiveAttempt } from './attempts.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import {
  endResetLinks,
  type Membership,
  membershipsOf,
  personByEmail,
  personById,
  replacePassword,
} from './people.ts';

/** A request that shows or sets a password. */
export interface Visit extends Browser {
  readonly requestId: string;
  /** The session (its public id, and of whom) that the browser had before; a new one takes its place. */
  readonly before?: { readonly account: AccountId; readonly id: string } | undefined;
}

/** The result of showing a password: the secret of a session, or a refusal. */
export type SignInResult =
  | { readonly kind: 'signedIn'; readonly secret: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number };

/**
 * Signs a person in, to the account they used last. An unknown address, a person without a password and a wrong
 * password get the same answer after the same time. `email` is in its normal form.
 */
export async function signIn(
  db: Database,
  { email, password }: { email: string; password: string },
  visit: Visit,
): Promise<SignInResult> {
  const attempt = await beginAttempt(db, { email, address: visit.address });
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  const person = await personByEmail(db.reader, email);
  const isRight = await verifyPassword(person?.password_hash ?? null, password);
  if (!person || !isRight) return { kind: 'wrong' };
  const passwordHash = person.password_hash ?? '';
  // the second account is for a person who is being removed from the first at this moment
  for (const member of (await membershipsOf(db.reader, person.id)).slice(0, 2)) {
    const secret = await db.transaction((tx) =>
      beginSession(tx, { ...member, person: person.id, passwordHash }, visit, 'signIn'),
    );
    if (secret === null) continue;
    await forgiveAttempt(db, attempt);
    return { kind: 'signedIn', secret };
  }
  return { kind: 'wrong' };
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
  if (visit.before) {
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
