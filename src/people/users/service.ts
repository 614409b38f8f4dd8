import { assignmentsOf } from '../../contract/changes.ts';
import { grantsMore, type Role } from '../../contract/roles.ts';
import type { Principal } from '../../contract/route.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/faults.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { EMAIL_RULE, newEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, type UserId, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { nameWithoutAddress } from '../../kernel/names.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import type { Vault } from '../../kernel/vault.ts';
import { dropLetters, notifyOne, placeOfLink } from '../../notices/notices.ts';
import { authorizeLettingIn } from '../accounts/service.ts';
import { note } from '../audit/service.ts';
import { endGrantsOfFormerOwner, endGrantsOfUser } from '../grants/service.ts';
import { endSessionsOf } from '../sessions/service.ts';
import { dropUnusedPassword, findOrMakePerson, isMemberSomewhere, lockPerson } from './people.ts';
import {
  type Invitation,
  type InvitedUser,
  type PasswordReset,
  type User,
  type UserChange,
  withInvitation,
} from './record.ts';
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
  userById,
} from './store.ts';

const INVITATION_HOURS = 7 * 24;
const RESET_HOURS = 24;
const SET_UP_HOURS = 24;

export const missing = () => fail('resource_missing', 'no such user');

/** The UUID in the id of a user. Throws `resource_missing`. */
export function userUuid(id: string): UserId {
  const uuid = uuidOf('usr', id);
  if (uuid === null) throw missing();
  return uuid;
}

/** The record of a user, including one who was removed. Throws `resource_missing`. */
export async function getUser(db: Reader, account: AccountId, id: string): Promise<Json<User>> {
  const json = await readUser(db, account, userUuid(id));
  if (json === null) throw missing();
  return json;
}

/** The normal form of an e-mail address. Throws `invalid_body`. */
export function emailOf(text: string): string {
  const email = newEmail(text);
  if (email === null) throw fail('invalid_body', `email must be ${EMAIL_RULE}`);
  return email;
}

/** Who makes a link, the address of the pages it leads to, and what seals it for an e-mail. */
interface Inviter {
  readonly principal: Principal;
  readonly pages: string;
  readonly vault: Vault;
}

/**
 * Invites somebody with a link, valid once and for 7 days, where they join with a password of their own. The link is only in the response, and in an e-mail where the server sends any. The response is the same whether or not the address is
 * known from other accounts. Throws `owner_required`, `duplicate_email` or `invalid_body`.
 */
export async function inviteUser(
  tx: Tx,
  { principal, pages, vault }: Inviter,
  input: Invitation,
): Promise<Json<InvitedUser>> {
  await authorizeLettingIn(tx, principal, 'invite');
  const { account } = principal;
  const person = await findOrMakePerson(tx, emailOf(input.email));
  const { id, json } = await addUser(tx, account, { ...input, person, joined: false });
  const invited = { id, joined: false };
  const { url } = await newLink(tx, { account, pages, byOperator: false }, invited);
  return withInvitation(json, { url, isEmailed: await emailLink(tx, { account, vault, url }, invited) });
}

/** Makes a user of a person (UUID). Throws `duplicate_email` or `invalid_body`. */
export async function addUser(
  tx: Tx,
  account: AccountId,
  input: { person: string; name: string; role: Role; joined: boolean },
): Promise<{ id: UserId; json: Json<User> }> {
  try {
    return await insertUser(tx, { ...input, account, name: nameWithoutAddress(input.name) });
  } catch (error) {
    if (uniqueViolation(error) !== 'users_person') throw error;
    throw fail('duplicate_email', 'email: another user of the account has this e-mail address');
  }
}

/** Creates a link that accepts the invitation, or chooses a new password. Earlier links of the user end. */
async function newLink(
  tx: Tx,
  { account, pages, byOperator }: { account: AccountId; pages: string; byOperator: boolean },
  user: Pick<UserRow, 'id' | 'joined'>,
): Promise<{ url: string; expires_at: string }> {
  const secret = newSecret('phl_', tx.cell);
  const isNew = !user.joined;
  await endLinks(tx, account, user.id);
  await dropLetters(tx, account, user.id);
  const expires_at = await insertLink(tx, {
    hash: hashSecret(secret),
    account,
    user: user.id,
    purpose: isNew ? 'invitation' : 'reset',
    hours: isNew ? INVITATION_HOURS : RESET_HOURS,
    byOperator,
  });
  return { url: `${pages}/password?token=${secret}`, expires_at };
}

/** Sends a link to its user by e-mail; false where the server sends none, or no more at the moment. */
async function emailLink(
  tx: Tx,
  { account, vault, url }: { account: AccountId; vault: Vault; url: string },
  { id, joined }: Pick<UserRow, 'id' | 'joined'>,
): Promise<boolean> {
  const link = vault.seal(url, placeOfLink(account, id), await sealingKey(tx));
  const kind = joined ? 'password_link' : 'invitation';
  return (await notifyOne(tx, { account, kind, to: { user: id }, link })) === 'noted';
}

/**
 * Changes name and role. Grants of an owner end when they are no longer one. The audit log also records a role that
 * grants more as `raiseUserRole`. Throws `resource_missing`, `owner_required`, `last_owner`, `invalid_body`.
 */
export async function changeUser(
  tx: Tx,
  { principal, requestId }: { principal: Principal; requestId: string },
  id: string,
  input: UserChange,
): Promise<Json<User>> {
  const { account } = principal;
  const uuid = userUuid(id);
  const stored = input.name === undefined ? null : await userById(tx, account, uuid);
  const name = input.name === undefined ? {} : { name: nameWithoutAddress(input.name, stored?.name) };
  const changes = assignmentsOf({ ...input, ...name }, ['name', 'role']);
  if (changes === null) return getUser(tx, account, id);
  const isNoOwner = input.role !== undefined && input.role !== 'owner';
  if (isNoOwner) await keepAnOwner(tx, account, uuid);
  const before = await lockUser(tx, account, uuid);
  if (before === null) throw missing();
  if (input.role !== undefined && grantsMore(input.role, before.role)) {
    await authorizeLettingIn(tx, principal, 'raise_role');
    await note(tx, principal, { action: 'raiseUserRole', target: idOf('usr', uuid), requestId });
  }
  const json = await updateUser(tx, account, uuid, changes);
  if (json === null) throw missing();
  if (isNoOwner) await endGrantsOfFormerOwner(tx, account, uuid);
  return json;
}

/**
 * Removes a user: sessions in this account, links and grants end at once. Other accounts of the person are
 * unchanged; somebody left in none loses the password. Throws `resource_missing` or `last_owner`.
 */
export async function removeUser(tx: Tx, account: AccountId, id: string): Promise<void> {
  const uuid = userUuid(id);
  const user = await userById(tx, account, uuid);
  if (user === null) throw missing();
  await lockPerson(tx, user.person);
  await keepAnOwner(tx, account, uuid);
  if (!(await markRemoved(tx, account, uuid))) throw missing();
  await endLinks(tx, account, uuid);
  await endSessionsOf(tx, account, uuid);
  await endGrantsOfUser(tx, account, uuid);
  await dropUnusedPassword(tx, user.person);
}

/** Throws `last_owner` when the account would be left without an owner, or without one who can sign in. */
async function keepAnOwner(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  const owners = await lockOwners(tx, account);
  const leaving = owners.find(({ id }) => id === user);
  if (!leaving) return;
  const others = owners.filter((owner) => owner !== leaving);
  const canSignIn = ({ joined }: UserRow) => joined;
  if (others.length > 0 && (!canSignIn(leaving) || others.some(canSignIn))) return;
  throw fail(
    'last_owner',
    others.length === 0
      ? `${idOf('usr', user)} is the last owner: make another user an owner first`
      : `${idOf('usr', user)} is the last owner who can sign in: the others have not accepted their invitation`,
  );
}

/**
 * Creates a link to choose a new password, valid once and for a day (or another invitation, for a user who has not
 * accepted theirs). The password in force stays until the link is used. For a member of another account only the
 * operator may, because whoever holds the link gets into both. Throws `owner_required`, `resource_missing` or
 * `member_elsewhere`.
 */
export async function resetPassword(
  tx: Tx,
  { principal, pages, vault }: Inviter,
  id: string,
): Promise<Json<PasswordReset>> {
  await authorizeLettingIn(tx, principal, 'make_link');
  const { account } = principal;
  const uuid = userUuid(id);
  const found = await userById(tx, account, uuid);
  if (found === null) throw missing();
  await lockPerson(tx, found.person);
  const user = await lockUser(tx, account, uuid);
  if (user === null) throw missing();
  const byOperator = principal.kind === 'operator';
  if (user.joined && !byOperator && (await isMemberSomewhere(tx, user.person, account))) {
    throw fail(
      'member_elsewhere',
      `${idOf('usr', user.id)} is also a member of another account, and the password opens both: they must change it ` +
        'themselves, or the operator makes a link with payhook users reset-password on the machine of the server',
    );
  }
  const { url, expires_at } = await newLink(tx, { account, pages, byOperator }, user);
  return toJson({
    object: 'password_reset',
    user_id: idOf('usr', user.id),
    reset_url: url,
    is_emailed: await emailLink(tx, { account, vault, url }, user),
    expires_at,
  });
}

/**
 * The secret of a link that makes the first owner of an account (UUID), valid once and for a day; earlier ones end.
 * null when the account has a user already.
 */
export async function newSetUpLink(tx: Tx, account: AccountId): Promise<string | null> {
  if (await lockAccountAndAsk(tx, account)) return null;
  await endSetUpLinks(tx, account);
  const secret = newSecret('phl_', tx.cell);
  await insertLink(tx, {
    hash: hashSecret(secret),
    account,
    user: null,
    purpose: 'setup',
    hours: SET_UP_HOURS,
    byOperator: true,
  });
  return secret;
}

/** Whether this installation has any user or invitation. */
export function isAnybodyThere(db: Reader): Promise<boolean> {
  return hasUsers(db);
}
