import sql from 'sql-template-tag';
import { maybeRow, type Tx } from '../../db/database.ts';
import type { Author } from '../../kernel/author.ts';
import type { AccountId, UserId } from '../../kernel/ids.ts';

/**
 * The user (UUID) behind a request: the signed-in user, the one who authorized the application, or the one who made the
 * key. Null if unknown: a key made by set-up or by a command, or the command line itself.
 */
export async function personBehind(
  tx: Tx,
  account: AccountId,
  { kind, id, user }: Author,
): Promise<UserId | null> {
  if (user !== undefined) return user;
  if (kind !== 'key') return null;
  // a key may have been made with another key
  const maker = await maybeRow<{ id: UserId }>(
    tx,
    sql`with recursive made as (
          select ${id}::text as by
          union
          select k.created_by from made join api_keys k on k.account_id = ${account} and public_id('key', k.id) = made.by)
        select u.id from made join users u on u.account_id = ${account} and public_id('usr', u.id) = made.by`,
  );
  return maker?.id ?? null;
}
