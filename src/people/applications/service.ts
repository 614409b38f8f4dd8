import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ApplicationId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { nameFrom } from '../../kernel/names.ts';
import { hashSecret, newSecret } from '../../kernel/secrets.ts';
import { endGrantsOfApplication } from '../grants/service.ts';
import {
  type ApplicationChange,
  type ApplicationInput,
  type NewOAuthApplication,
  type OAuthApplication,
  withSecret,
} from './record.ts';
import { type ApplicationKind, isPageOf, mayRedirectTo, refusalOfRedirect } from './redirects.ts';
import {
  type Application,
  findById,
  insertApplication,
  lockApplication,
  markDeleted,
  publicRedirects,
  readApplication,
  updateApplication,
} from './store.ts';

export type { Application } from './store.ts';
export { isPageOf, mayRedirectTo };

const missing = () => fail('resource_missing', 'no such OAuth application');

function applicationUuid(id: string): ApplicationId {
  const uuid = uuidOf('app', id);
  if (uuid === null) throw missing();
  return uuid;
}

/** The record of an application. Throws `resource_missing`. */
export async function getApplication(
  db: Reader,
  account: AccountId,
  id: string,
): Promise<Json<OAuthApplication>> {
  const json = await readApplication(db, account, applicationUuid(id));
  if (json === null) throw missing();
  return json;
}

/**
 * Registers an application (RFC 6749 section 2). The secret of a confidential one is only in the response. Throws
 * `invalid_body` or `invalid_redirect_uri`.
 */
export async function createApplication(
  tx: Tx,
  account: AccountId,
  { kind, ...input }: ApplicationInput,
): Promise<Json<NewOAuthApplication>> {
  const secret = kind === 'confidential' ? newSecret('phs_', tx.cell) : null;
  const json = await insertApplication(tx, account, {
    kind,
    ...columnsOf(input, kind),
    ...(secret === null ? {} : secretColumns(secret)),
  });
  return withSecret(json, secret);
}

/**
 * Changes the named fields; existing grants stay. Throws `resource_missing`, `invalid_body`,
 * `invalid_redirect_uri`.
 */
export async function changeApplication(
  tx: Tx,
  account: AccountId,
  id: string,
  input: ApplicationChange,
): Promise<Json<OAuthApplication>> {
  const uuid = applicationUuid(id);
  const kind = await lockApplication(tx, account, uuid);
  if (kind === null) throw missing();
  const columns = columnsOf(input, kind);
  if (Object.keys(columns).length > 0) await updateApplication(tx, account, uuid, columns);
  return getApplication(tx, account, id);
}

/** Generates a new secret; the old one stops working at once. Throws `resource_missing`, `application_is_public`. */
export async function rotateClientSecret(
  tx: Tx,
  account: AccountId,
  id: string,
): Promise<Json<NewOAuthApplication>> {
  const uuid = applicationUuid(id);
  const kind = await lockApplication(tx, account, uuid);
  if (kind === null) throw missing();
  if (kind === 'public') {
    throw fail('application_is_public', 'a public application has no secret: it proves itself with PKCE');
  }
  const secret = newSecret('phs_', tx.cell);
  await updateApplication(tx, account, uuid, secretColumns(secret));
  return withSecret(await getApplication(tx, account, id), secret);
}

/** Deletes an application and ends every grant to it. Throws `resource_missing`. */
export async function deleteApplication(tx: Tx, account: AccountId, id: string): Promise<void> {
  const uuid = applicationUuid(id);
  if (!(await markDeleted(tx, account, uuid))) throw missing();
  await endGrantsOfApplication(tx, uuid);
}

/** The live application with this client id, in any account, or null. */
export async function findApplication(db: Reader, clientId: string): Promise<Application | null> {
  const uuid = uuidOf('app', clientId);
  return uuid === null ? null : findById(db, uuid);
}

/** Whether a public application of any account has a redirect URI with this origin (RFC 6454 section 6.1). */
export async function isPublicOrigin(db: Reader, origin: string): Promise<boolean> {
  if (!/^https?:\/\/[^/?#@\\]{1,300}$/.test(origin) || !URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  const uris = await publicRedirects(db, `${protocol}//${hostname}`);
  return uris.some((uri) => isPageOf(uri, origin));
}

function columnsOf(input: ApplicationChange, kind: ApplicationKind): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  if (input.name !== undefined) columns.name = nameFrom(input.name);
  if (input.scopes !== undefined) columns.scopes = [...new Set(input.scopes)];
  if (input.redirect_uris !== undefined) {
    for (const [index, uri] of input.redirect_uris.entries()) {
      const problem = refusalOfRedirect(uri, kind);
      if (problem !== null) throw fail('invalid_redirect_uri', `redirect_uris[${index}] must ${problem}`);
    }
    columns.redirect_uris = [...new Set(input.redirect_uris)];
  }
  return columns;
}

function secretColumns(secret: string): Record<string, unknown> {
  return { secret_hash: hashSecret(secret), secret_hint: `${secret.slice(0, 7)}…${secret.slice(-4)}` };
}
