import { randomBytes } from 'node:crypto';
import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Role } from '../../contract/roles.ts';
import type { Principal } from '../../contract/route.ts';
import { ALL_SCOPES } from '../../contract/scopes.ts';
import type { SignedIn } from '../../contract/web-pages.ts';
import type { Database, Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, type SessionId, type UserId, uuidOf } from '../../kernel/ids.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import { note } from '../audit/service.ts';
import type { OwnSession } from './record.ts';
import {
  forgetPlaces,
  insertSession,
  keepsPassword,
  listOwnSessions,
  personOfUser,
  queueUpFor,
  revokeOwnSessions,
  revokeSessions,
  sessionByHash,
  touchSession,
} from './store.ts';

/** How long a browser keeps the cookie: the longest a session can last. */
export const SESSION_SECONDS = 30 * 86_400;

const LONGEST_AGENT = 300;

/** A user (UUID), as the author of a change. */
export function principalOf(user: {
  account: AccountId;
  id: UserId;
  role: Role;
  session?: SessionId;
}): Principal {
  return {
    kind: 'user',
    id: idOf('usr', user.id),
    account: user.account,
    scopes: ALL_SCOPES,
    role: user.role,
    user: user.id,
    ...(user.session === undefined ? {} : { session: user.session }),
  };
}

const touching = new Set<string>();

/** The user whose live session has this hash (SHA-256 of the cookie), or null. Looked up on every request. */
export async function findSession(db: Database, hash: Buffer): Promise<SignedIn | null> {
  const found = await sessionByHash(db.reader, hash);
  if (found === null) return null;
  if (found.is_stale) touch(db, found.id);
  const { id, account, user, role, person } = found;
  const principal = principalOf({ account, id: user, role, session: id });
  return { principal, person, csrfToken: found.csrf_token };
}

/** Notes that a session was used, outside the request's transaction. */
function touch(db: Database, id: SessionId): void {
  if (touching.has(id)) return;
  touching.add(id);
  db.transaction((tx) => touchSession(tx, id))
    .catch(() => undefined) // the next request tries again
    .finally(() => touching.delete(id));
}

/** Where a session is opened from. */
export interface Browser {
  readonly userAgent: string | undefined;
  readonly address: string;
}

/** A person as a user of an account; ids are UUIDs. */
interface Member {
  readonly account: AccountId;
  readonly id: UserId;
  readonly person: string;
}

/**
 * Opens a session for a user who showed the password with this hash. The secret is only in the cookie. null when
 * the user was removed, or the password changed, in the meantime.
 */
export async function openSession(
  tx: Tx,
  user: Member & { readonly passwordHash: string },
  browser: Browser,
): Promise<{ secret: string; id: SessionId } | null> {
  if (!(await keepsPassword(tx, user.person, user.passwordHash))) return null;
  return newSession(tx, user, browser, null);
}

/**
 * Replaces a session by one in another account of the same person, for the rest of its lifetime. Forms of the old
 * session do not work in the new one. Returns its secret. Throws `resource_missing` when the old one has ended, or
 * the person is no member of the account.
 */
export async function moveSession(
  tx: Tx,
  from: Principal & { readonly session: SessionId },
  to: Member & { readonly role: Role },
  browser: Browser & { readonly requestId: string },
): Promise<string> {
  await queueUpFor(tx, to.person);
  await endSession(tx, from.account, idOf('ses', from.session));
  const opened = await newSession(tx, to, browser, from.session);
  if (opened === null) throw fail('resource_missing', 'no such account');
  const { requestId } = browser;
  // each account's audit log gets only its own part
  await note(tx, from, { action: 'signOut', target: idOf('ses', from.session), requestId });
  const there = principalOf({ ...to, session: opened.id });
  await note(tx, there, { action: 'signIn', target: idOf('ses', opened.id), requestId });
  return opened.secret;
}

async function newSession(
  tx: Tx,
  { account, id: user, person }: Member,
  { userAgent, address }: Browser,
  after: SessionId | null,
): Promise<{ secret: string; id: SessionId } | null> {
  const secret = newSecret('phi_', tx.cell);
  const id = await insertSession(tx, {
    hash: hashSecret(secret),
    csrfToken: randomBytes(32).toString('base64url'),
    account,
    user,
    person,
    userAgent: userAgent?.slice(0, LONGEST_AGENT) ?? null,
    address,
    after,
  });
  return id === null ? null : { secret, id };
}

/** Ends a session of an account, at once on every server. Throws `resource_missing`. */
export async function endSession(tx: Tx, account: AccountId, id: string): Promise<void> {
  const uuid = uuidOf('ses', id);
  if (uuid === null || (await revokeSessions(tx, account, { id: uuid })) === 0) {
    throw fail('resource_missing', 'no such active session');
  }
}

/** Ends all sessions of a user (UUID) in an account. */
export async function endSessionsOf(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  await revokeSessions(tx, account, { user });
}

/** Forgets from where users signed in: their browsers and addresses. */
export async function forgetPlacesOf(tx: Tx, account: AccountId, users: readonly UserId[]): Promise<void> {
  await forgetPlaces(tx, account, users);
}

/** Ends all sessions of a person (UUID) in all accounts. */
export async function endSessionsOfPerson(tx: Tx, person: string): Promise<void> {
  await revokeOwnSessions(tx, person, {});
}

/** The person (UUID) and the session (UUID) of a signed-in caller; every caller with the access `person` has both. */
async function personOf(db: Reader, { account, user, session }: Principal) {
  if (user === undefined || session === undefined) throw new Error('only a signed-in user has sessions');
  return { person: await personOfUser(db, account, user), session };
}

/** The live sessions of a signed-in caller, in all their accounts. */
export async function ownSessions(db: Reader, caller: Principal, list: ListQuery): Promise<Page<OwnSession>> {
  return listOwnSessions(db, await personOf(db, caller), list);
}

/** Ends a session (its public id) of a signed-in caller, in any of their accounts. Throws `resource_missing`. */
export async function endOwnSession(
  tx: Tx,
  caller: Principal,
  session: string,
  requestId: string,
): Promise<void> {
  const id = uuidOf('ses', session);
  const { person } = await personOf(tx, caller);
  if (id === null || (await endSessionsFor(tx, person, { id }, requestId)) === 0)
    throw fail('resource_missing', 'you have no such session: it has ended, or it is of another person');
}

/** Ends all sessions of a signed-in caller but the one of this request, in all their accounts. */
export async function endOtherSessions(tx: Tx, caller: Principal, requestId: string): Promise<void> {
  const { person, session } = await personOf(tx, caller);
  await endSessionsFor(tx, person, { except: session }, requestId);
}

/** Ends sessions of a person (UUID); returns how many. The audit log of each account gets the sessions in that account. */
async function endSessionsFor(
  tx: Tx,
  person: string,
  which: { readonly id: string } | { readonly except: string },
  requestId: string,
): Promise<number> {
  await queueUpFor(tx, person);
  const ended = await revokeOwnSessions(tx, person, which);
  for (const { id, account, user, role } of ended) {
    const target = idOf('ses', id);
    await note(tx, principalOf({ account, id: user, role }), { action: 'deleteSession', target, requestId });
  }
  return ended.length;
}
