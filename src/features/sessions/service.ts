import { randomBytes } from 'node:crypto';
import type { Database, Reader, Tx } from '../../db/connect.ts';
import type { SignedIn } from '../../http/page.ts';
import { ALL_SCOPES, type Principal, type Role } from '../../http/route.ts';
import { fail } from '../../kernel/errors.ts';
import { idOf, uuidOf } from '../../kernel/ids.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import {
  deleteOldSessions,
  insertSession,
  revokeSessions,
  type SessionRow,
  sessionByHash,
  sessionsOf,
  touchSession,
} from './store.ts';

/** How long a browser keeps the cookie: as long as a session can last. */
export const SESSION_SECONDS = 30 * 86_400;

const LONGEST_AGENT = 300;

/** A user (UUID) as the one who does something. */
export function principalOf(user: { account: string; id: string; role: Role; session?: string }): Principal {
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

/** The user whose live session has this hash (SHA-256 of the cookie), or null. Asked in each request. */
export async function findSession(db: Database, hash: Buffer): Promise<SignedIn | null> {
  const found = await sessionByHash(db.reader, hash);
  if (found === null) return null;
  if (found.is_stale) touch(db, found.id);
  const { id, account, user, role } = found;
  return { principal: principalOf({ account, id: user, role, session: id }), csrfToken: found.csrf_token };
}

/** Notes that a session was used: beside the request, never inside it. */
function touch(db: Database, id: string): void {
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

/**
 * Opens a session for a user who showed the password with this hash. The secret goes into the cookie and nowhere
 * else. null when the user was removed, or the password changed, in the meantime.
 */
export async function openSession(
  tx: Tx,
  user: { readonly account: string; readonly id: string; readonly passwordHash: string },
  { userAgent, address }: Browser,
): Promise<{ secret: string; id: string } | null> {
  const secret = newSecret('phi_');
  const id = await insertSession(tx, {
    hash: hashSecret(secret),
    csrfToken: randomBytes(32).toString('base64url'),
    account: user.account,
    user: user.id,
    passwordHash: user.passwordHash,
    userAgent: userAgent?.slice(0, LONGEST_AGENT) ?? null,
    address,
  });
  return id === null ? null : { secret, id };
}

/** The sessions of a user (UUID) that have not ended, the last used first. */
export function liveSessions(db: Reader, account: string, user: string): Promise<SessionRow[]> {
  return sessionsOf(db, account, user);
}

/** Ends a session at once, everywhere; only if it is of `user` (UUID), when given. Throws `resource_missing`. */
export async function endSession(tx: Tx, account: string, id: string, user?: string): Promise<void> {
  const uuid = uuidOf('ses', id);
  const which = user === undefined ? {} : { user };
  if (uuid === null || (await revokeSessions(tx, account, { id: uuid, ...which })) === 0) {
    throw fail('resource_missing', 'no such live session');
  }
}

/** Ends all sessions of a user (UUID), or all but one (UUID); how many. */
export function endSessionsOf(tx: Tx, account: string, user: string, except?: string): Promise<number> {
  return revokeSessions(tx, account, { user, ...(except === undefined ? {} : { except }) });
}

/** Forgets sessions that ended a month ago, a bounded slice at a time. */
export function forgetOldSessions(db: Database): Promise<void> {
  return db.transaction(deleteOldSessions);
}
