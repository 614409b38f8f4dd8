import { type Reader, type Tx, uniqueViolation } from '../../db/connect.ts';
import type { Role } from '../../http/route.ts';
import { fail } from '../../kernel/errors.ts';
import { idOf, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import { assignmentsOf } from '../changes.ts';
import { endGrantsOfUser } from '../oauth-grants/service.ts';
import { endSessionsOf } from '../sessions/service.ts';
import { normalEmail } from './email.ts';
import {
  endLinks,
  endSetUpLinks,
  hasUsers,
  insertLink,
  insertUser,
  lockAccountAndAsk,
  lockOwners,
  lockUser,
  markRemoved,
  readUser,
  type UserRow,
  updateUser,
} from './store.ts';

const INVITATION_HOURS = 7 * 24;
const RESET_HOURS = 24;
const SET_UP_HOURS = 24;

const missing = () => fail('resource_missing', 'no such user');

function userUuid(id: string): string {
  const uuid = uuidOf('usr', id);
  if (uuid === null) throw missing();
  return uuid;
}

/** The record of a user, also of one who was removed. Throws `resource_missing`. */
export async function getUser(db: Reader, account: string, id: string): Promise<Json<unknown>> {
  const json = await readUser(db, account, userUuid(id));
  if (json === null) throw missing();
  return json;
}

/** The normal form of an e-mail address. Throws `invalid_body`. */
function emailOf(text: string): string {
  const email = normalEmail(text);
  if (email === null) throw fail('invalid_body', 'email must be an e-mail address');
  return email;
}

/** The name without space around it. Throws `invalid_body` when nothing is left. */
function nameOf(text: string): string {
  const name = text.trim();
  if (name === '') throw fail('invalid_body', 'name must not be empty');
  return name;
}

/**
 * Makes a user who chooses a password by a link, good once and for 7 days; `pages` is the address it leads to. The
 * link is in the answer and nowhere else. Throws `duplicate_email` or `invalid_body`.
 */
export async function inviteUser(
  tx: Tx,
  { account, pages }: { account: string; pages: string },
  input: { email: string; name: string; role: Role },
): Promise<Json<unknown>> {
  const { id, json } = await addUser(tx, account, { ...input, passwordHash: null });
  const { url } = await newLink(tx, { account, pages }, { id, password_hash: null });
  return `${json.slice(0, -1)},"invitation_url":${JSON.stringify(url)}}`;
}

/** Makes a user. Throws `duplicate_email` or `invalid_body`. */
export async function addUser(
  tx: Tx,
  account: string,
  input: { email: string; name: string; role: Role; passwordHash: string | null },
): Promise<{ id: string; json: Json<unknown> }> {
  const email = emailOf(input.email);
  try {
    return await insertUser(tx, { ...input, account, email, name: nameOf(input.name) });
  } catch (error) {
    if (uniqueViolation(error) !== 'users_email') throw error;
    throw fail('duplicate_email', 'email: another user has this e-mail address');
  }
}

/** A link that chooses the first password, or a new one. Links made before it end. */
async function newLink(
  tx: Tx,
  { account, pages }: { account: string; pages: string },
  user: Pick<UserRow, 'id' | 'password_hash'>,
): Promise<{ url: string; expires_at: string }> {
  const secret = newSecret('phl_');
  const isNew = user.password_hash === null;
  await endLinks(tx, account, user.id);
  const expires_at = await insertLink(tx, {
    hash: hashSecret(secret),
    account,
    user: user.id,
    purpose: isNew ? 'invitation' : 'reset',
    hours: isNew ? INVITATION_HOURS : RESET_HOURS,
  });
  return { url: `${pages}/password?token=${secret}`, expires_at };
}

/** Changes name and role. Throws `resource_missing`, `last_owner`, `invalid_body`. */
export async function changeUser(
  tx: Tx,
  account: string,
  id: string,
  input: { name?: string; role?: Role },
): Promise<Json<unknown>> {
  const uuid = userUuid(id);
  const changes = assignmentsOf(input.name === undefined ? input : { ...input, name: nameOf(input.name) }, [
    'name',
    'role',
  ]);
  if (changes === null) return getUser(tx, account, id);
  if (input.role !== undefined && input.role !== 'owner') await keepAnOwner(tx, account, uuid);
  const json = await updateUser(tx, account, uuid, changes);
  if (json === null) throw missing();
  return json;
}

/**
 * Removes a user: sessions, links and what they granted to applications end at once. Throws `resource_missing` or
 * `last_owner`.
 */
export async function removeUser(tx: Tx, account: string, id: string): Promise<void> {
  const uuid = userUuid(id);
  await keepAnOwner(tx, account, uuid);
  if (!(await markRemoved(tx, account, uuid))) throw missing();
  await endLinks(tx, account, uuid);
  await endSessionsOf(tx, account, uuid);
  await endGrantsOfUser(tx, account, uuid);
}

/** Throws `last_owner` when the account would be left without an owner, or without one who can sign in. */
async function keepAnOwner(tx: Tx, account: string, user: string): Promise<void> {
  const owners = await lockOwners(tx, account);
  const leaving = owners.find(({ id }) => id === user);
  if (!leaving) return;
  const others = owners.filter((owner) => owner !== leaving);
  const canSignIn = ({ password_hash }: UserRow) => password_hash !== null;
  if (others.length > 0 && (!canSignIn(leaving) || others.some(canSignIn))) return;
  throw fail(
    'last_owner',
    others.length === 0
      ? `${idOf('usr', user)} is the last owner: make another user an owner first`
      : `${idOf('usr', user)} is the last owner who can sign in: the other ones have not chosen a password`,
  );
}

/**
 * Makes a link to choose a new password, good once and for a day (an invitation again, for a user who never chose
 * one). The password in force stays until the link is used. Throws `resource_missing`.
 */
export async function resetPassword(
  tx: Tx,
  { account, pages }: { account: string; pages: string },
  id: string,
): Promise<Json<unknown>> {
  const user = await lockUser(tx, account, userUuid(id));
  if (user === null) throw missing();
  const { url, expires_at } = await newLink(tx, { account, pages }, user);
  return toJson({ object: 'password_reset', user_id: idOf('usr', user.id), reset_url: url, expires_at });
}

/**
 * The secret of a link that makes the first owner of an account (UUID), good once and for a day; the ones before it
 * end. null when the account has a user already.
 */
export async function newSetUpLink(tx: Tx, account: string): Promise<string | null> {
  if (await lockAccountAndAsk(tx, account)) return null;
  await endSetUpLinks(tx, account);
  const secret = newSecret('phl_');
  await insertLink(tx, {
    hash: hashSecret(secret),
    account,
    user: null,
    purpose: 'setup',
    hours: SET_UP_HOURS,
  });
  return secret;
}

/** Whether anybody has been invited or set up on this installation. */
export function isAnybodyThere(db: Reader): Promise<boolean> {
  return hasUsers(db);
}
