import type { Database, Reader, Tx } from '../../db/connect.ts';
import { idOf } from '../../kernel/ids.ts';
import { hashSecret, isSecret } from '../../kernel/secrets.ts';
import { note } from '../audit/service.ts';
import { type Browser, endSession, endSessionsOf, openSession, principalOf } from '../sessions/service.ts';
import { beginAttempt, forgiveAttempt } from './attempts.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { addUser } from './service.ts';
import {
  endLinks,
  endSetUpLinks,
  type LinkPurpose,
  type LinkRow,
  linkByHash,
  lockAccountAndAsk,
  lockUser,
  replacePassword,
  takeLink,
  type UserRow,
  userByEmail,
  userById,
} from './store.ts';

/** A request that shows or sets a password. */
export interface Visit extends Browser {
  readonly requestId: string;
  /** The session (its public id, and of whom) that the browser had before; a new one takes its place. */
  readonly before?: { readonly account: string; readonly id: string } | undefined;
}

/** How showing a password ends: with the secret of a session, or not. */
export type SignInResult =
  | { readonly kind: 'signedIn'; readonly secret: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'limited'; readonly seconds: number };

/**
 * Signs a user in. An unknown address, a user without a password and a wrong password are one answer, after the same
 * time. `email` is in its normal form.
 */
export async function signIn(
  db: Database,
  { email, password }: { email: string; password: string },
  visit: Visit,
): Promise<SignInResult> {
  const attempt = await beginAttempt(db, { email, address: visit.address });
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  const user = await userByEmail(db.reader, email);
  const isRight = await verifyPassword(user?.password_hash ?? null, password);
  if (!user || !isRight) return { kind: 'wrong' };
  const secret = await db.transaction((tx) => begin(tx, user, visit, 'signIn'));
  if (secret === null) return { kind: 'wrong' };
  await forgiveAttempt(db, attempt);
  return { kind: 'signedIn', secret };
}

/** Opens the session of a user whose password was just shown or set, in place of the one the browser had. */
async function begin(
  tx: Tx,
  user: Pick<UserRow, 'id' | 'account' | 'role' | 'password_hash'>,
  visit: Visit,
  action: string,
): Promise<string | null> {
  const passwordHash = user.password_hash ?? '';
  const opened = await openSession(tx, { account: user.account, id: user.id, passwordHash }, visit);
  if (opened === null) return null;
  if (visit.before) {
    // it may have ended by itself since the request came
    await endSession(tx, visit.before.account, visit.before.id).catch(() => undefined);
  }
  const target = action === 'signIn' ? idOf('ses', opened.id) : idOf('usr', user.id);
  const who = principalOf({ ...user, session: opened.id });
  await note(tx, who, { action, target, requestId: visit.requestId });
  return opened.secret;
}

/** How a change of password ends. */
export type ChangeResult = { readonly kind: 'changed' } | Exclude<SignInResult, { kind: 'signedIn' }>;

/**
 * Changes the password of a signed-in user who shows the old one; other sessions and open links end. The new one has
 * been checked.
 */
export async function changePassword(
  db: Database,
  who: { readonly account: string; readonly user: string; readonly session: string },
  { current, next }: { current: string; next: string },
  { address, requestId }: Pick<Visit, 'address' | 'requestId'>,
): Promise<ChangeResult> {
  const user = await userById(db.reader, who.account, who.user);
  if (user === null) return { kind: 'wrong' };
  const attempt = await beginAttempt(db, { email: user.email, address });
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  if (!(await verifyPassword(user.password_hash, current))) return { kind: 'wrong' };
  const hash = await hashPassword(next);
  const isChanged = await db.transaction(async (tx) => {
    if (!(await replacePassword(tx, user, hash, user.password_hash))) return false;
    await endLinks(tx, user.account, user.id);
    await endSessionsOf(tx, user.account, user.id, who.session);
    const principal = principalOf({ ...user, session: who.session });
    const target = idOf('usr', user.id);
    await note(tx, principal, { action: 'changePassword', target, requestId });
    return true;
  });
  if (!isChanged) return { kind: 'wrong' };
  await forgiveAttempt(db, attempt);
  return { kind: 'changed' };
}

/** What a link is for, and whom; `user` is null when it makes the first owner. */
export interface OpenLink {
  readonly purpose: LinkPurpose;
  readonly user: { readonly email: string; readonly name: string } | null;
}

const hashOf = (token: string) => (isSecret('phl_', token) ? hashSecret(token) : null);

/** The link of a token that can still be used, or null. */
export async function openLink(db: Reader, token: string): Promise<OpenLink | null> {
  const hash = hashOf(token);
  const link = hash && (await linkByHash(db, hash));
  if (!link) return null;
  if (link.user === null) return { purpose: link.purpose, user: null };
  const user = await userById(db, link.account, link.user);
  return user && { purpose: link.purpose, user };
}

/**
 * Makes the first owner of an account by a set-up link and signs in. null when the link was used, has ended, or the
 * account has a user. The password has been checked. Throws `duplicate_email` or `invalid_body`.
 */
export async function setUp(
  db: Database,
  token: string,
  input: { name: string; email: string; password: string },
  visit: Visit,
): Promise<string | null> {
  const hash = hashOf(token);
  if (hash === null) return null;
  const link = await linkByHash(db.reader, hash);
  if (link?.purpose !== 'setup') return null;
  const { account } = link;
  const passwordHash = await hashPassword(input.password);
  return db.transaction(async (tx) => {
    // the account before the link, as where a link is made
    if ((await lockAccountAndAsk(tx, account)) || (await takeLink(tx, hash)) === null) return null;
    const { email, name } = input;
    const { id } = await addUser(tx, account, { email, name, role: 'owner', passwordHash });
    await endSetUpLinks(tx, account);
    return begin(tx, { id, account, role: 'owner', password_hash: passwordHash }, visit, 'setUp');
  });
}

/**
 * Sets a password by an invitation or a reset, ends all sessions of the user and signs in. null when the link was used
 * or has ended. The password has been checked.
 */
export async function choosePassword(
  db: Database,
  token: string,
  password: string,
  visit: Visit,
): Promise<string | null> {
  const hash = hashOf(token);
  const link = hash && (await linkByHash(db.reader, hash));
  if (!link || link.user === null) return null;
  const passwordHash = await hashPassword(password);
  return db.transaction((tx) =>
    setByLink(tx, link as LinkRow & { user: string }, { hash, passwordHash }, visit),
  );
}

async function setByLink(
  tx: Tx,
  link: LinkRow & { user: string },
  { hash, passwordHash }: { hash: Buffer; passwordHash: string },
  visit: Visit,
): Promise<string | null> {
  // the user before the link: removing a user takes them in this order too
  const user = await lockUser(tx, link.account, link.user);
  if (user === null || (await takeLink(tx, hash)) === null) return null;
  await replacePassword(tx, user, passwordHash, user.password_hash);
  await endLinks(tx, user.account, user.id);
  await endSessionsOf(tx, user.account, user.id);
  const action = link.purpose === 'invitation' ? 'acceptInvitation' : 'resetPassword';
  return begin(tx, { ...user, password_hash: passwordHash }, visit, action);
}
