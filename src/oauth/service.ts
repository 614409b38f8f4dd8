import { createHash } from 'node:crypto';
import type { Principal } from '../contract/route.ts';
import type { Scope } from '../contract/scopes.ts';
import type { Database, Tx } from '../db/database.ts';
import { type GrantId, idOf } from '../kernel/ids.ts';
import { hashSecret, isSecret, newSecret } from '../kernel/secrets.ts';
import type { Application } from '../people/applications/service.ts';
import { note } from '../people/audit/service.ts';
import { refuse } from './errors.ts';
import {
  accessByHash,
  activateGrant,
  type CodeRow,
  deleteToken,
  endGrant,
  extendToken,
  insertCode,
  insertGrant,
  insertToken,
  lockCode,
  lockToken,
  markCodeUsed,
  markTokenUsed,
  repairLifetimes,
  type TokenRow,
  touchGrant,
} from './store.ts';

const CODE_SECONDS = 60;
const ACCESS_SECONDS = 3600;
const REFRESH_SECONDS = 90 * 86_400;

/** The caller of the token endpoint, and the id in its log lines. */
export interface Caller {
  readonly db: Database;
  readonly application: Application;
  readonly requestId: string;
}

/** A successful response of the token endpoint (RFC 6749 section 5.1). */
export interface Tokens {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
}

// The result of a transaction. A refusal is returned instead of thrown, because its writes must be committed first.
type Outcome = { readonly tokens: Tokens } | { readonly refused: ReturnType<typeof refuse> };

/**
 * Stores a user's grant to an application. Returns the authorization code (RFC 6749 section 4.1.2). The grant is useless
 * until its code is exchanged. Throws `access_denied` if the application was deleted meanwhile, or the user is no longer
 * an owner.
 */
export function grantCode(
  { db, application, requestId }: Caller,
  principal: Principal,
  wanted: { scopes: readonly Scope[]; redirectUri: string; challenge: string | null },
): Promise<string> {
  return db.transaction(async (tx) => {
    const { account, user } = principal;
    if (user === undefined) throw new Error('only a signed-in user can grant access');
    const { scopes, ...rest } = wanted;
    const grant = await insertGrant(tx, { account, user, application: application.id, scopes });
    if (grant === null)
      throw refuse('access_denied', 'the application was deleted, or the user is no longer an owner');
    const code = newSecret('phc_', tx.cell);
    await insertCode(tx, { hash: hashSecret(code), grant, lifetime: CODE_SECONDS, ...rest });
    await note(tx, principal, { action: 'grantOAuthApplication', target: idOf('grant', grant), requestId });
    return code;
  });
}

/**
 * Exchanges an authorization code for tokens (RFC 6749 section 4.1.3, RFC 7636 section 4.6). Any attempt uses up the
 * code, and a second one revokes the grant. Throws `invalid_grant`.
 */
export async function exchangeCode(
  caller: Caller,
  given: { code: string; redirectUri: string; verifier: string | undefined },
): Promise<Tokens> {
  if (!isSecret('phc_', given.code)) throw unknownCode();
  const hash = hashSecret(given.code);
  return settle(caller, async (tx) => {
    const row = await lockCode(tx, hash);
    if (row === null) return { refused: unknownCode() };
    if (row.used) return { refused: await codeAgain(tx, caller, row) };
    await markCodeUsed(tx, hash);
    const problem = problemOfCode(row, caller, given);
    if (problem !== null) return { refused: refuse('invalid_grant', problem) };
    await activateGrant(tx, row.grant_id);
    const refresh = await newToken(tx, row, 'refresh', row.granted);
    return { tokens: await tokensOf(tx, row, { scopes: row.granted, refresh }) };
  });
}

const unknownCode = () => refuse('invalid_grant', 'the code is unknown or expired');

/** A code was used twice, so it was stolen: the grant is revoked. An application cannot revoke another one's grant. */
async function codeAgain(tx: Tx, caller: Caller, row: CodeRow) {
  if (row.application_id === caller.application.id) await endByReuse(tx, caller, row);
  return refuse('invalid_grant', 'the code was already used');
}

function problemOfCode(
  row: CodeRow,
  { application }: Caller,
  { redirectUri, verifier }: { redirectUri: string; verifier: string | undefined },
): string | null {
  if (row.application_id !== application.id) return 'the code was given to another application';
  if (row.expired) return 'the code is unknown or expired';
  if (!row.live) return 'the grant was revoked';
  if (row.redirect_uri !== redirectUri)
    return 'redirect_uri differs from the one in the authorization request';
  // RFC 9700 section 4.8.2: a verifier without a challenge means that the challenge was removed in transit
  if (row.challenge === null)
    return verifier === undefined ? null : 'no code_challenge was sent for this code';
  if (verifier === undefined) return 'code_verifier is missing';
  return challengeOf(verifier) === row.challenge ? null : 'code_verifier does not match the code_challenge';
}

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/; // RFC 7636 section 4.1

function challengeOf(verifier: string): string | null {
  return VERIFIER.test(verifier) ? createHash('sha256').update(verifier).digest('base64url') : null;
}

/**
 * Issues a new access token for a refresh token (RFC 6749 section 6), with all of its scopes or fewer. A public
 * application's refresh token is rotated (RFC 9700 section 4.14.2); reuse after ten seconds revokes the grant. Throws
 * `invalid_grant`; `invalid_scope` without using up the token.
 */
export async function refreshTokens(
  caller: Caller,
  given: { refreshToken: string; scopes: readonly string[] | null },
): Promise<Tokens> {
  if (!isSecret('phr_', given.refreshToken)) throw unknownToken();
  const hash = hashSecret(given.refreshToken);
  return settle(caller, async (tx) => {
    const row = await lockToken(tx, hash);
    const problem = problemOfToken(row, caller);
    if (row === null || problem !== null) {
      if (row?.used_long_ago && row.application_id === caller.application.id)
        await endByReuse(tx, caller, row);
      return { refused: problem ?? unknownToken() };
    }
    const wanted = given.scopes;
    const scopes = wanted === null ? row.scopes : row.scopes.filter((scope) => wanted.includes(scope));
    if (wanted !== null && (wanted.length === 0 || scopes.length < new Set(wanted).size)) {
      return { refused: refuse('invalid_scope', 'scope names more than was granted') };
    }
    const refresh = await nextRefreshToken(tx, caller, row, given.refreshToken);
    return { tokens: await tokensOf(tx, row, { scopes, refresh }) };
  });
}

const unknownToken = () => refuse('invalid_grant', 'the refresh token is unknown, expired or revoked');

function problemOfToken(row: TokenRow | null, { application }: Caller) {
  if (row === null || row.kind !== 'refresh' || !row.live) return unknownToken();
  if (row.application_id !== application.id) {
    return refuse('invalid_grant', 'the refresh token was given to another application');
  }
  if (row.used)
    return refuse('invalid_grant', 'the refresh token was already used; use the one returned then');
  return row.expired ? unknownToken() : null;
}

/** A confidential application keeps its refresh token, which is bound to its secret, so a lost response does no harm. */
async function nextRefreshToken(
  tx: Tx,
  { application }: Caller,
  row: TokenRow,
  current: string,
): Promise<string> {
  if (application.kind === 'public') {
    await markTokenUsed(tx, hashSecret(current));
    return newToken(tx, row, 'refresh', row.scopes);
  }
  await extendToken(tx, hashSecret(current), REFRESH_SECONDS);
  return current;
}

/**
 * Revokes a token of the application (RFC 7009): a refresh token revokes its grant, an access token only itself. An
 * unknown one counts as revoked. Throws `invalid_grant` for another application's token.
 */
export async function revokeToken(caller: Caller, token: string): Promise<void> {
  if (!isSecret('pha_', token) && !isSecret('phr_', token)) return;
  const hash = hashSecret(token);
  await caller.db.transaction(async (tx) => {
    const row = await lockToken(tx, hash);
    if (row === null) return;
    if (row.application_id !== caller.application.id) {
      throw refuse('invalid_grant', 'the token was given to another application');
    }
    if (row.kind === 'access') return deleteToken(tx, hash);
    if (await endGrant(tx, row.grant_id, 'application')) await noteEnd(tx, caller, row);
  });
}

/** The principal of an access token (SHA-256), or null. Records when its grant was last used. */
export async function findAccess(db: Database, hash: Buffer): Promise<Principal | null> {
  const access = await accessByHash(db.reader, hash);
  if (access === null) return null;
  if (access.is_stale) touch(db, access.grant_id);
  return {
    kind: 'application',
    id: idOf('app', access.application_id),
    account: access.account_id,
    user: access.user_id,
    role: 'owner',
    scopes: new Set(access.scopes),
    redirectUris: access.redirect_uris,
  };
}

/** Caps the expiry of codes and tokens written while the clock ran fast. Returns an upper bound on the number changed. */
export function repairTokenTimes(tx: Tx): Promise<number> {
  return repairLifetimes(tx, { code: CODE_SECONDS, access: ACCESS_SECONDS, refresh: REFRESH_SECONDS });
}

const touching = new Set<string>();

/** Records the use of a grant, after the request and outside its transaction. */
function touch(db: Database, grant: GrantId): void {
  if (touching.has(grant)) return;
  touching.add(grant);
  db.transaction((tx) => touchGrant(tx, grant))
    .catch(() => undefined) // the next request retries
    .finally(() => touching.delete(grant));
}

/** Commits what the attempt wrote, then returns or throws: a rollback would undo the revocation of a grant. */
async function settle({ db }: Caller, attempt: (tx: Tx) => Promise<Outcome>): Promise<Tokens> {
  const outcome = await db.transaction(attempt);
  if ('refused' in outcome) throw outcome.refused;
  return outcome.tokens;
}

type Holder = Pick<CodeRow, 'grant_id' | 'application_id' | 'account_id' | 'user_id'>;

async function endByReuse(tx: Tx, caller: Caller, holder: Holder): Promise<void> {
  if (await endGrant(tx, holder.grant_id, 'reuse')) await noteEnd(tx, caller, holder);
}

function noteEnd(tx: Tx, { requestId }: Caller, holder: Holder): Promise<void> {
  const principal: Principal = {
    kind: 'application',
    id: idOf('app', holder.application_id),
    account: holder.account_id,
    user: holder.user_id,
    role: 'owner',
    scopes: new Set(),
  };
  const target = idOf('grant', holder.grant_id);
  return note(tx, principal, { action: 'deleteOAuthGrant', target, requestId });
}

async function newToken(
  tx: Tx,
  { grant_id: grant }: Holder,
  kind: 'access' | 'refresh',
  scopes: readonly Scope[],
): Promise<string> {
  const token = newSecret(kind === 'access' ? 'pha_' : 'phr_', tx.cell);
  const lifetime = kind === 'access' ? ACCESS_SECONDS : REFRESH_SECONDS;
  await insertToken(tx, { hash: hashSecret(token), kind, grant, scopes, lifetime });
  return token;
}

async function tokensOf(
  tx: Tx,
  holder: Holder,
  { scopes, refresh }: { scopes: readonly Scope[]; refresh: string },
): Promise<Tokens> {
  return {
    access_token: await newToken(tx, holder, 'access', scopes),
    token_type: 'Bearer',
    expires_in: ACCESS_SECONDS,
    refresh_token: refresh,
    scope: scopes.join(' '),
  };
}
