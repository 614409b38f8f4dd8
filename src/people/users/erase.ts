import sql from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import { ERASED_NAME } from '../../erasure/person.ts';
import { type AccountId, idOf, type UserId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { forgetErrors } from '../../notices/notices.ts';
import { forgetPlacesOf } from '../sessions/service.ts';
import { findOrMakePerson } from './people.ts';
import type { User } from './record.ts';
import { getUser, missing, removeUser, userUuid } from './service.ts';

/** The address of whoever was erased. */
const NOBODY = /^usr_[0-9a-f]{32}@erased\.invalid$/;

/**
 * Takes the person behind a user out of the account, for ever: name, e-mail address, and from where they signed in. A
 * user who is still there is removed first. Rows and their ids stay, so that what the user did stays theirs. Earlier
 * users of the same person in this account are erased too; other accounts are unchanged, and the address is removed permanently
 * with the last of them. Throws `resource_missing` or `last_owner`.
 */
export async function eraseUser(tx: Tx, account: AccountId, id: string): Promise<Json<User>> {
  const user = userUuid(id);
  const find = () => findLocked(tx, account, user);
  // of two erasures at once the second waits for a person who is gone then, and finds the one in their place
  const found = (await find()) ?? (await find());
  if (found === null) throw missing();
  if (!found.is_removed) await removeUser(tx, account, id);
  if (NOBODY.test(found.email)) return getUser(tx, account, id);
  const nobody = await findOrMakePerson(tx, `${idOf('usr', user)}@erased.invalid`);
  const erased = await rows<{ id: UserId }>(
    tx,
    sql`update users set name = ${ERASED_NAME}, person_id = ${nobody}, alert_kinds = null, updated_at = now()
        where account_id = ${account} and person_id = ${found.person} and removed_at is not null returning id`,
  );
  const users = erased.map((each) => each.id);
  await forgetPlacesOf(tx, account, users);
  await forgetErrors(tx, account, users);
  await rows(
    tx,
    sql`delete from people p where p.id = ${found.person} and not exists (select from users u where u.person_id = p.id)`,
  );
  return getUser(tx, account, id);
}

/** The person (UUID) of a user, whose row stays locked until the transaction ends. */
function findLocked(
  tx: Tx,
  account: AccountId,
  user: UserId,
): Promise<{ person: string; email: string; is_removed: boolean } | null> {
  return maybeRow(
    tx,
    sql`select p.id as person, p.email, u.removed_at is not null as is_removed
        from users u join people p on p.id = u.person_id
        where u.account_id = ${account} and u.id = ${user} for update of p`,
  );
}
