import type { Database, Reader, Tx } from '../../db/database.ts';
import type { AccountId, UserId } from '../../kernel/ids.ts';
import { hashSecret, isSecret } from '../../kernel/secrets.ts';
import { endSessionsOfPerson } from '../sessions/service.ts';
import { beginAttempt, forgiveAttempt } from './attempts.ts';
import { beginSession, type SignInResult, type Visit } from './credentials.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import {
  endResetLinks,
  findOrMakePerson,
  isMemberSomewhere,
  lockPerson,
  type Person,
  personByEmail,
  personById,
  replacePassword,
} from './people.ts';
import { addUser, emailOf } from './service.ts';
import {
  endLinks,
  endSetUpLinks,
  type LinkPurpose,
  type LinkRow,
  linkByHash,
  lockAccountAndAsk,
  lockUser,
  markJoined,
  takeLink,
  type UserRow,
  userById,
} from './store.ts';

/** The purpose of a link and its user; `user` is null when it makes the first owner. */
export interface OpenLink {
  readonly purpose: LinkPurpose;
  readonly account: AccountId;
  readonly user: { readonly email: string; readonly name: string; readonly person: string } | null;
}

/** The result of following a link. `ended`: it was used, has expired, or is no longer valid. */
export type LinkResult = SignInResult | { readonly kind: 'ended' };

const ENDED: LinkResult = { kind: 'ended' };
const WRONG: LinkResult = { kind: 'wrong' };
const hashOf = (token: string) => (isSecret('phl_', token) ? hashSecret(token) : null);
const resultOf = (secret: string | null): LinkResult =>
  secret === null ? ENDED : { kind: 'signedIn', secret };

/** The link of a token that can still be used, or null. It reveals nothing about other accounts of its user. */
export async function openLink(db: Reader, token: string): Promise<OpenLink | null> {
  const hash = hashOf(token);
  const link = hash && (await linkByHash(db, hash));
  if (!link) return null;
  const { purpose, account } = link;
  if (link.user === null) return { purpose, account, user: null };
  const user = await userById(db, account, link.user);
  if (user === null || (purpose === 'reset' && (await isOutOfReach(db, link, user.person)))) return null;
  return { purpose, account, user };
}

/** Whether an owner's link would set the password of somebody who is a member of another account too. */
async function isOutOfReach(db: Reader, link: LinkRow, person: string): Promise<boolean> {
  return !link.by_operator && isMemberSomewhere(db, person, link.account);
}

/**
 * Makes the first owner of an account by a set-up link and signs in; `settle` sets the account up in the same transaction.
 * Somebody who is a member of another account shows the password they have (`wrong` when it is another), anybody else
 * chooses one, which has been checked. Throws `invalid_body`.
 */
export async function setUp(
  db: Database,
  token: string,
  input: { name: string; email: string; password: string },
  visit: Visit,
  settle: (tx: Tx, account: AccountId) => Promise<unknown>,
): Promise<LinkResult> {
  const hash = hashOf(token);
  const link = hash && (await linkByHash(db.reader, hash));
  if (!hash || link?.purpose !== 'setup') return ENDED;
  const { account } = link;
  const email = emailOf(input.email);
  return withAttempt(db, { email, address: visit.address }, async () => {
    const known = await personByEmail(db.reader, email);
    const shown = await shownHash(known, input.password);
    const chosen = await hashPassword(input.password);
    return db.transaction(async (tx) => {
      // the account before the person and the link, as where a link is made
      if ((await lockAccountAndAsk(tx, account)) || !(await linkByHash(tx, hash))) return ENDED;
      const person = await lockPerson(tx, await findOrMakePerson(tx, email));
      const passwordHash = await passwordFor(tx, person, { shown, chosen });
      if (passwordHash === null) return WRONG;
      await takeLink(tx, hash);
      const { id } = await addUser(tx, account, {
        person: person.id,
        name: input.name,
        role: 'owner',
        joined: true,
      });
      await endSetUpLinks(tx, account);
      await settle(tx, account);
      const member = { account, user: id, role: 'owner', person: person.id, passwordHash } as const;
      return resultOf(await beginSession(tx, member, visit, 'setUp'));
    });
  });
}

/** The hash of the password in force if this is it; else null. */
async function shownHash(person: Person | null, password: string): Promise<string | null> {
  const isRight = await verifyPassword(person?.password_hash ?? null, password);
  return isRight ? (person?.password_hash ?? null) : null;
}

/**
 * The password a person joins an account with: a member of another account shows theirs, anybody else chooses one.
 * null when neither applies. The person's row is locked already.
 */
async function passwordFor(
  tx: Tx,
  person: Person,
  { shown, chosen }: { shown: string | null; chosen: string | null },
): Promise<string | null> {
  if (await isMemberSomewhere(tx, person.id)) return shown === person.password_hash ? shown : null;
  if (chosen !== null) await replacePassword(tx, person.id, chosen, person.password_hash);
  return chosen;
}

/**
 * Follows an invitation or a reset: sets the password, ends all sessions of the person and signs in. The password
 * has been checked. For an invitation of somebody who is a member of another account the result is `wrong`: their
 * password stays.
 */
export async function choosePassword(
  db: Database,
  token: string,
  password: string,
  visit: Visit,
): Promise<LinkResult> {
  const found = await follow(db, token);
  if (found === null) return ENDED;
  const { link, email } = found;
  return withAttempt(db, { email, address: visit.address }, async () => {
    const chosen = await hashPassword(password);
    return use(db, found, visit, async (tx, person) => {
      if (link.purpose === 'invitation') return passwordFor(tx, person, { shown: null, chosen });
      return (await replacePassword(tx, person.id, chosen, person.password_hash)) ? chosen : null;
    });
  });
}

/** Accepts an invitation with the password that the person has from another account, and signs in. */
export async function joinWithPassword(
  db: Database,
  token: string,
  password: string,
  visit: Visit,
): Promise<LinkResult> {
  const found = await follow(db, token);
  if (found?.link.purpose !== 'invitation') return ENDED;
  return withAttempt(db, { email: found.email, address: visit.address }, async () => {
    const shown = await shownHash(await personById(db.reader, found.person), password);
    return use(db, found, visit, (tx, person) => passwordFor(tx, person, { shown, chosen: null }));
  });
}

/** Accepts an invitation of the person (UUID) who is signed in. */
export async function joinSignedIn(
  db: Database,
  token: string,
  person: string,
  visit: Visit,
): Promise<LinkResult> {
  const found = await follow(db, token);
  if (found?.link.purpose !== 'invitation' || found.person !== person) return ENDED;
  return use(db, found, visit, async (_, { password_hash }) => password_hash);
}

/** A link that can still be used, and its user. */
interface Followed {
  readonly hash: Buffer;
  readonly link: LinkRow & { readonly user: UserId };
  readonly person: string;
  readonly email: string;
}

async function follow(db: Database, token: string): Promise<Followed | null> {
  const hash = hashOf(token);
  const link = hash && (await linkByHash(db.reader, hash));
  if (!link || link.user === null) return null;
  const user = await userById(db.reader, link.account, link.user);
  return user && { hash, link: { ...link, user: link.user }, person: user.person, email: user.email };
}

/** Uses a link up with the password (its hash) that `decide` returns, and signs in; null = a wrong password. */
function use(
  db: Database,
  { hash, link, person: id }: Followed,
  visit: Visit,
  decide: (tx: Tx, person: Person) => Promise<string | null>,
): Promise<LinkResult> {
  return db.transaction(async (tx) => {
    // the person, the user, the link: the order in which removing a user locks them too
    const person = await lockPerson(tx, id);
    const user = await lockUser(tx, link.account, link.user);
    if (
      user === null ||
      !(await linkByHash(tx, hash)) ||
      (link.purpose === 'reset' && (await isOutOfReach(tx, link, id)))
    )
      return ENDED;
    const passwordHash = await decide(tx, person);
    if (passwordHash === null) return WRONG;
    await takeLink(tx, hash);
    await settleLink(tx, link, user);
    const { account, role } = user;
    const action = link.purpose === 'invitation' ? 'acceptInvitation' : 'resetPassword';
    const member = { account, user: user.id, role, person: id, passwordHash };
    return resultOf(await beginSession(tx, member, visit, action));
  });
}

async function settleLink(tx: Tx, { purpose, account }: LinkRow, { id, person }: UserRow): Promise<void> {
  await endLinks(tx, account, id);
  if (purpose === 'invitation') return markJoined(tx, account, id);
  await endResetLinks(tx, person);
  await endSessionsOfPerson(tx, person);
}

/** Counts an attempt, and forgives it when it ends with a session. */
async function withAttempt(
  db: Database,
  trier: { email: string; address: string },
  work: () => Promise<LinkResult>,
): Promise<LinkResult> {
  const attempt = await beginAttempt(db, trier);
  if ('seconds' in attempt) return { kind: 'limited', ...attempt };
  const result = await work();
  if (result.kind === 'signedIn') await forgiveAttempt(db, attempt);
  return result;
}
