import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ApplicationId, type GrantId, type UserId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Grant } from './record.ts';
import { markRevoked, markRevokedByApplication, markRevokedByUser, readGrant } from './store.ts';

const missing = () => fail('resource_missing', 'no such grant');

function grantUuid(id: string): GrantId {
  const uuid = uuidOf('grant', id);
  if (uuid === null) throw missing();
  return uuid;
}

/** The record of a grant, including a revoked one. Throws `resource_missing`. */
export async function getGrant(db: Reader, account: AccountId, id: string): Promise<Json<Grant>> {
  const json = await readGrant(db, account, grantUuid(id));
  if (json === null) throw missing();
  return json;
}

/** Revokes a grant and all its tokens, at once on every server. Throws `resource_missing`, also for a revoked one. */
export async function revokeGrant(tx: Tx, account: AccountId, id: string): Promise<void> {
  const uuid = uuidOf('grant', id);
  if (uuid === null || !(await markRevoked(tx, account, uuid, 'merchant'))) {
    throw fail('resource_missing', 'no such active grant');
  }
}

/** Ends every account's grants to an application (UUID). */
export function endGrantsOfApplication(tx: Tx, application: ApplicationId): Promise<void> {
  return markRevokedByApplication(tx, application);
}

/** Ends the grants of a user (UUID) who leaves the account. */
export function endGrantsOfUser(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  return markRevokedByUser(tx, account, user, 'user_removed');
}

/** Ends the grants of a user (UUID) who is no longer an owner. */
export function endGrantsOfFormerOwner(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  return markRevokedByUser(tx, account, user, 'user_not_owner');
}
