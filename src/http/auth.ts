import type { IncomingHttpHeaders } from 'node:http';
import { requireCapability } from '../contract/access.ts';
import { sessionCookie } from '../contract/cookies.ts';
import type { Principal, Route } from '../contract/route.ts';
import { ALL_SCOPES } from '../contract/scopes.ts';
import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { type AccountId, idOf } from '../kernel/ids.ts';
import { cellOf, hashSecret, isSecret, sameSecret } from '../kernel/secrets.ts';
import { findAccess } from '../oauth/service.ts';
import { findKey, touchKey } from '../people/keys/service.ts';
import { findSession } from '../people/sessions/service.ts';
import { findConsumer } from '../webhooks/claims/service.ts';
import { findPortal } from '../webhooks/portal/service.ts';

/** The credential of the process's own command line: it exists in memory only and dies with the process. */
export interface OperatorCredential {
  readonly token: string;
  /** UUID of the account the command works in. */
  readonly account: AccountId;
  /** The cell of the account. */
  readonly cell: number;
}

const CHALLENGE = { 'www-authenticate': 'Bearer' };

interface Request {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Set as soon as the credential names it: an error of this database is one of the cell. */
  db?: Database;
}

/**
 * Finds who makes a request, from its Authorization header (RFC 6750 section 2.1) with a key or a token, or else
 * from the session cookie of our own pages. Each is looked up on every request, so that revoking one takes effect
 * at once on every server. Throws `missing_credentials`, `invalid_credentials` or `cross_site_request`.
 */
export function authenticator(
  cells: Pick<Cells, 'of'>,
  authorizeUrl: () => string,
  operator: OperatorCredential | undefined,
): (request: Request) => Promise<Caller> {
  return (request) => {
    const cookie = sessionCookie(request.headers.cookie, authorizeUrl());
    return authenticate({ cells, operator }, request, cookie);
  };
}

/** Who makes a request, and the database of their cell. */
export interface Caller {
  readonly principal: Principal;
  readonly db: Database;
}

interface Sources {
  readonly cells: Pick<Cells, 'of'>;
  readonly operator: OperatorCredential | undefined;
}

async function authenticate(
  { cells, operator }: Sources,
  request: Request,
  cookie: string | undefined,
): Promise<Caller> {
  const { authorization } = request.headers;
  if (authorization === undefined && cookie !== undefined) return bySession(cells, request, cookie);
  const token = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    throw fail(
      'missing_credentials',
      'send an API key or an access token as `Authorization: Bearer <API_KEY>`',
      CHALLENGE,
    );
  }
  if (operator && sameSecret(token, operator.token)) {
    const { account, cell } = operator;
    const principal: Principal = {
      kind: 'operator',
      id: 'operator',
      account,
      scopes: ALL_SCOPES,
      role: 'owner',
    };
    return { principal, db: cells.of(cell) ?? unknownCell(cell) };
  }
  const db = cells.of(cellOf(token));
  if (db) request.db = db;
  const principal = db && (await bearerOf(db, token));
  if (db === null || principal === null) {
    throw fail('invalid_credentials', 'the API key or token is unknown, expired or revoked', {
      'www-authenticate': 'Bearer error="invalid_token"',
    });
  }
  return { principal, db };
}

function unknownCell(cell: number): never {
  throw new Error(`there is no cell ${cell}`);
}

function bearerOf(db: Database, token: string): Promise<Principal | null> {
  if (isSecret('pha_', token)) return findAccess(db, hashSecret(token));
  if (isSecret('phw_', token)) return findConsumer(db.reader, hashSecret(token));
  return isSecret('phpt_', token) ? findPortal(db.reader, hashSecret(token)) : byKey(db, token);
}

async function byKey(db: Database, token: string): Promise<Principal | null> {
  const key = isSecret('ph_', token) ? await findKey(db.reader, hashSecret(token)) : null;
  if (key === null) return null;
  touchKey(db, key.id);
  const { account, searches, eventChecks } = key;
  const id = idOf('key', key.id);
  return { kind: 'key', id, account, searches, eventChecks, scopes: ALL_SCOPES, role: 'owner' };
}

async function bySession(cells: Pick<Cells, 'of'>, request: Request, cookie: string): Promise<Caller> {
  const { method, headers } = request;
  const db = isSecret('phi_', cookie) ? cells.of(cellOf(cookie)) : null;
  if (db) request.db = db;
  const found = db && (await findSession(db, hashSecret(cookie)));
  if (db === null || found === null)
    throw fail('invalid_credentials', 'the session has ended: sign in again', CHALLENGE);
  // Other sites can make a browser send the cookie, but not this header, and they cannot read the token.
  const token = headers['payhook-csrf'];
  if (
    method !== 'GET' &&
    method !== 'HEAD' &&
    (typeof token !== 'string' || !sameSecret(token, found.csrfToken))
  ) {
    throw fail('cross_site_request', 'send the token of the session in Payhook-CSRF');
  }
  return { principal: found.principal, db };
}

/**
 * Throws `not_in_portal`, `not_for_consumers`, `cross_site_request`, `insufficient_scope`, `full_access_required`, `person_required` or
 * `role_too_low` unless the principal may use the operation.
 */
export function authorize(principal: Principal, route: Route, headers: IncomingHttpHeaders): void {
  const { scope } = route;
  if (principal.portal && route.portal === undefined) {
    throw fail('not_in_portal', 'a portal is for its webhook endpoints and their log, and for nothing else');
  }
  if (principal.endpoint && !route.consumers) {
    throw fail(
      'not_for_consumers',
      'the token of a pull endpoint claims and acknowledges the events of its endpoint, and does nothing else',
    );
  }
  // browsers mark links, images and forms of other sites, which they send with the cookie (Fetch metadata)
  const isFromOtherSite = principal.session !== undefined && headers['sec-fetch-site'] === 'cross-site';
  if (route.kind === 'read' && route.records && isFromOtherSite) {
    throw fail(
      'cross_site_request',
      'this read is recorded under your name, so a page of another site must not start it: open it in the dashboard',
    );
  }
  if (scope !== undefined && scope !== 'any' && !principal.scopes.has(scope)) {
    throw fail('insufficient_scope', `the token does not hold the scope ${scope}`, {
      'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"`,
    });
  }
  requireCapability(principal, route.needs);
}
