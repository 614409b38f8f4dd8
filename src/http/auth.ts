import { timingSafeEqual } from 'node:crypto';
import type { Database } from '../db/connect.ts';
import { findKey, touchKey } from '../features/api-keys/service.ts';
import { fail } from '../kernel/errors.ts';
import { idOf } from '../kernel/ids.ts';
import { hashSecret, isSecret } from '../kernel/secrets.ts';
import { type Access, ALL_SCOPES, type Principal } from './route.ts';

/** The credential of the process's own command line: it exists in memory only and dies with the process. */
export interface OperatorCredential {
  readonly token: string;
  /** UUID of the account the command works in. */
  readonly account: string;
}

const CHALLENGE = { 'www-authenticate': 'Bearer' };

/**
 * Who makes the request, from its Authorization header (RFC 6750 section 2.1). Looks the key up in each request,
 * so that a revoked one stops at once on every server. Throws `missing_credentials` or `invalid_credentials`.
 */
export async function authenticate(
  db: Database,
  header: string | undefined,
  operator: OperatorCredential | undefined,
): Promise<Principal> {
  const token = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  if (token === undefined) {
    throw fail('missing_credentials', 'send an API key as `Authorization: Bearer <API_KEY>`', CHALLENGE);
  }
  if (operator && sameText(token, operator.token)) {
    return { kind: 'operator', id: 'operator', account: operator.account, scopes: ALL_SCOPES, role: 'owner' };
  }
  const key = isSecret('ph_', token) ? await findKey(db.reader, hashSecret(token)) : null;
  if (key === null) throw fail('invalid_credentials', 'the API key is unknown or revoked', CHALLENGE);
  touchKey(db, key.id);
  return { kind: 'key', id: idOf('key', key.id), account: key.account, scopes: ALL_SCOPES, role: 'owner' };
}

function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hashSecret(a), hashSecret(b));
}

/** Throws `insufficient_scope` unless the principal may use an operation with this access. */
export function authorize(principal: Principal, access: Access): void {
  if (access === 'full') return; // keys and the operator hold everything
  if (!principal.scopes.has(access)) {
    throw fail('insufficient_scope', `the credential does not hold the scope ${access}`);
  }
}
