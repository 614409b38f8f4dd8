import sql from 'sql-template-tag';
import { DONE } from '../db/chores.ts';
import { maybeRow, type Reader, rows, type Tx } from '../db/connect.ts';
import type { AccountId, AlertChannelId, UserId } from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import { ALERTS, type AlertData, type AlertKind, type LetterKind } from './kinds.ts';

/** The chore that sends e-mail. Only processes with SMTP_URL do it, so when it was last done says whether e-mail is sent. */
export const MAIL_CHORE = 'e-mail';

/** Whether a process that sends e-mail was at work within the last day. */
const isMailSent = sql`exists (select from server_settings
  where key = ${DONE + MAIL_CHORE} and value::timestamptz > now() - interval '1 day')`;

/** Something that people are told. */
export interface Notice {
  readonly account: AccountId;
  readonly kind: AlertKind;
  /** The public id of what it is about; null = nothing has an id. */
  readonly subject: string | null;
  /** How many things happened; default 1. */
  readonly count?: number;
  readonly data: AlertData;
}

/**
 * Notes alerts for everybody who is told of them, in the transaction that causes them: it is sent if and only if the
 * change is committed. What happens to the same recipient within a minute goes into one message.
 */
export async function notify(tx: Tx, notices: readonly Notice[]): Promise<void> {
  if (notices.length === 0) return;
  const records = notices.map(({ account, kind, subject, count = 1, data }) => ({
    account_id: account,
    kind,
    subject,
    count,
    data,
    roles: ALERTS[kind].roles,
  }));
  await rows(
    tx,
    sql`insert into notices (account_id, kind, subject, count, data, is_alone, user_id, channel_id, due_at)
        select n.account_id, n.kind, n.subject, n.count, n.data, false, r.user_id, r.channel_id,
               now_ms() + interval '1 minute'
        from json_to_recordset(${JSON.stringify(records)}::json) as n (
          account_id uuid, kind text, subject text, count int, data json, roles text[])
        cross join lateral (
          select u.id as user_id, null::uuid as channel_id from users u
          where u.account_id = n.account_id and u.joined_at is not null and u.removed_at is null and ${isMailSent}
            and case when u.alert_kinds is null then u.role = any(n.roles) else n.kind = any(u.alert_kinds) end
          union all
          select null, c.id from alert_channels c where c.account_id = n.account_id and n.kind = any(c.kinds)) r`,
    'notify',
  );
}

/** A message to one recipient, which goes out at once. */
interface Letter {
  readonly account: AccountId;
  readonly kind: LetterKind;
  readonly to: { readonly user: UserId } | { readonly channel: AlertChannelId };
  /** Sealed, see `placeOfLink`. */
  readonly link?: Buffer;
}

/** Notes a letter; false when it cannot be sent, because no process sends e-mail. */
export async function notifyOne(tx: Tx, { account, kind, to, link }: Letter): Promise<boolean> {
  const [user, channel] = 'user' in to ? [to.user, null] : [null, to.channel];
  const noted = await rows(
    tx,
    sql`insert into notices (account_id, kind, data, link, is_alone, user_id, channel_id, due_at)
        select ${account}::uuid, ${kind}::text, '{}', ${link ?? null}::bytea, true, ${user}::uuid, ${channel}::uuid, now_ms()
        where ${channel}::uuid is not null or ${isMailSent} returning 1`,
  );
  return noted.length === 1;
}

/** Whether e-mail is sent at all. */
export async function sendsMail(db: Reader): Promise<boolean> {
  return (await maybeRow(db, sql`select where ${isMailSent}`)) !== null;
}

/** What came of the messages to a recipient. */
export interface Told {
  readonly last_sent_at: Timestamp | null;
  readonly last_error: string | null;
}

/** `last_sent_at` and `last_error` of a recipient (SQL of account and UUID); the newest notice that was tried counts. */
export const toldColumns = (account: string, recipient: string) => ({
  last_sent_at: `(select iso(max(n.sent_at)) from notices n where n.account_id = ${account} and n.recipient = ${recipient})`,
  last_error: `(select n.error from notices n where n.account_id = ${account} and n.recipient = ${recipient} and n.tries > 0
    order by coalesce(n.sent_at, n.failed_at, now()) desc, n.id desc limit 1)`,
});

/** Forgets why messages to users could not be sent: the answer of a mail server names its recipient. */
export async function forgetErrors(tx: Tx, account: AccountId, users: readonly UserId[]): Promise<void> {
  await rows(
    tx,
    sql`update notices set error = null where account_id = ${account} and user_id = any(${users}::uuid[])`,
  );
}

/** The context under which the link to a user (UUID) is sealed. */
export const placeOfLink = (user: UserId): string => `notice ${user} link`;

/** The host that a message names instead of a URL, which may hold a secret. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url.slice(0, 100));
