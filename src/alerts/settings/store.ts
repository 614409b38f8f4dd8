import sql, { raw } from 'sql-template-tag';
import type { Role } from '../../contract/roles.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, AlertChannelId, UserId } from '../../kernel/ids.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { type LastMessage, lastMessageColumns } from '../../notices/notices.ts';

interface ChoiceRow extends LastMessage {
  readonly user_id: string;
  readonly email: string;
  readonly role: Role;
  readonly kinds: string[] | null;
}

const lastMessage = lastMessageColumns('u.account_id', 'u.id');

/** A user's choice with the last result of sending, or null. */
export function readChoice(db: Reader, account: AccountId, user: UserId): Promise<ChoiceRow | null> {
  return maybeRow(
    db,
    sql`select public_id('usr', u.id) as user_id, p.email, u.role, u.alert_kinds as kinds, ${raw(lastMessage.last_sent_at)} as last_sent_at,
               ${raw(lastMessage.last_error)} as last_error
        from users u join people p on p.id = u.person_id where u.account_id = ${account} and u.id = ${user}
          and u.removed_at is null`,
  );
}

/** Stores a user's choice; null = the role's default. */
export async function writeChoice(
  tx: Tx,
  account: AccountId,
  user: UserId,
  kinds: readonly string[] | null,
): Promise<void> {
  await rows(
    tx,
    sql`update users set alert_kinds = ${kinds}::text[] where account_id = ${account} and id = ${user}`,
  );
}

/** Whether a test for a recipient (UUID) is waiting. */
export async function isTestWaiting(
  db: Reader,
  account: AccountId,
  recipient: UserId | AlertChannelId,
): Promise<boolean> {
  const { waits } = await oneRow<{ waits: boolean }>(
    db,
    sql`select exists (select from notices where account_id = ${account} and recipient = ${recipient}
          and kind = 'test' and sent_at is null and failed_at is null) as waits`,
  );
  return waits;
}

/** The time of the transaction, RFC 3339. */
export async function timeOf(tx: Tx): Promise<Timestamp> {
  return (await oneRow<{ now: Timestamp }>(tx, sql`select iso(now_ms()) as now`)).now;
}
