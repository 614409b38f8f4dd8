import sql, { raw } from 'sql-template-tag';
import { DONE } from '../db/chores.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../db/database.ts';
import { LOCKS, takeLock } from '../db/locks.ts';
import {
  type AccountId,
  type AlertChannelId,
  type EndpointId,
  idOf,
  type UserId,
  uuidOf,
} from '../kernel/ids.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { SealedIn } from '../kernel/vault.ts';
import { type AlertData, type AlertKind, CONTACT_ALERTS, type LetterKind, notifiedRoles } from './kinds.ts';

/** The chore that sends e-mail. Only processes with SMTP_URL run it, so its last run says whether e-mail is sent. */
export const MAIL_CHORE = 'e-mail' as const;

/** SQL: whether a process that sends e-mail ran within the last day. */
export const MAIL_IS_SENT = `exists (select from server_settings
  where key = '${DONE + MAIL_CHORE}' and value::timestamptz > now() - interval '1 day')`;
export const isMailSent = raw(MAIL_IS_SENT);

/** An alert to record. */
export interface Notice {
  readonly account: AccountId;
  readonly kind: AlertKind;
  /** The public id of its subject; null = it has none. */
  readonly subject: string | null;
  /** The number of occurrences; default 1. */
  readonly count?: number;
  readonly data: AlertData;
}

const isForContact = (kind: AlertKind): boolean => CONTACT_ALERTS.some((each) => each === kind);

/**
 * Records alerts for everyone who receives them, in the transaction that causes them: they are sent if and only if the
 * change is committed. Alerts for a person or channel within a minute go into one message. The confirmed contact of an endpoint gets
 * some of those about it, each as an e-mail of its own.
 */
export async function notify(tx: Tx, notices: readonly Notice[]): Promise<void> {
  if (notices.length === 0) return;
  const records = notices.map(({ account, kind, subject, count = 1, data }) => ({
    endpoint_id: isForContact(kind) ? uuidOf('we', subject ?? '') : null,
    account_id: account,
    kind,
    subject,
    count,
    data,
    roles: notifiedRoles(kind),
  }));
  await rows(
    tx,
    sql`insert into notices (account_id, kind, subject, count, data, is_alone, user_id, channel_id, endpoint_id, due_at)
        select n.account_id, n.kind, n.subject, n.count, n.data, r.endpoint_id is not null, r.user_id, r.channel_id, r.endpoint_id,
               now_ms() + interval '1 minute'
        from json_to_recordset(${JSON.stringify(records)}::json) as n (
          account_id uuid, kind text, subject text, count int, data json, roles text[], endpoint_id uuid)
        cross join lateral (
          select u.id as user_id, null::uuid as channel_id, null::uuid as endpoint_id from users u
          where u.account_id = n.account_id and u.joined_at is not null and u.removed_at is null and ${isMailSent}
            and case when u.alert_kinds is null then u.role = any(n.roles) else n.kind = any(u.alert_kinds) end
          union all
          select null, c.id, null from alert_channels c where c.account_id = n.account_id and n.kind = any(c.kinds)
          union all
          select null, null, e.id from webhook_endpoints e join accounts o on o.id = e.account_id
          where e.account_id = n.account_id and e.id = n.endpoint_id and e.contact_confirmed_at is not null
            and o.contact_notices is not null and ${isMailSent}) r`,
    'notify',
  );
}

/** A message to one recipient that is sent at once. */
interface Letter {
  readonly account: AccountId;
  readonly kind: LetterKind;
  readonly to: { readonly user: UserId } | { readonly channel: AlertChannelId };
  /** Sealed, see `placeOfLink`. */
  readonly link?: Buffer;
}

/** Limits within an hour: messages to a person from all accounts, and from an account to all people. */
export const MOST_LETTERS = { toPerson: 5, fromAccount: 50 };

/**
 * Records a message to one user. Returns `no_mail` if no process sends e-mail, or `limited` if the account or the person
 * has reached the hourly limit, which exists because these messages go to arbitrary addresses from the operator's domain.
 */
export async function notifyOne(
  tx: Tx,
  { account, kind, to, link }: Letter,
): Promise<'noted' | 'no_mail' | 'limited'> {
  if ('user' in to) {
    if (!(await sendsMail(tx))) return 'no_mail';
    if (!(await mayGetLetter(tx, account, to.user))) return 'limited';
  }
  const [user, channel] = 'user' in to ? [to.user, null] : [null, to.channel];
  await rows(
    tx,
    sql`insert into notices (account_id, kind, data, link, is_alone, user_id, channel_id, due_at)
        values (${account}, ${kind}, '{}', ${link ?? null}, true, ${user}, ${channel}, now_ms())`,
  );
  return 'noted';
}

async function mayGetLetter(tx: Tx, account: AccountId, user: UserId): Promise<boolean> {
  const { person } = await oneRow<{ person: string }>(
    tx,
    sql`select person_id as person from users where account_id = ${account} and id = ${user}`,
  );
  // always in this order, so that two messages cannot deadlock
  await takeLock(tx, LOCKS.letters(account));
  await takeLock(tx, LOCKS.letters(person));
  const lately = sql`n.is_alone and n.user_id is not null and n.id >= id_floor(now() - interval '1 hour')`;
  const { of_account, of_person } = await oneRow<{ of_account: number; of_person: number }>(
    tx,
    sql`select (select count(*)::int from notices n where n.account_id = ${account} and ${lately}) as of_account,
               (select count(*)::int from users u
                join notices n on n.account_id = u.account_id and n.recipient = u.id
                where u.person_id = ${person} and ${lately}) as of_person`,
  );
  return of_account < MOST_LETTERS.fromAccount && of_person < MOST_LETTERS.toPerson;
}

/** Drops the waiting messages with a link to a user: a newer link replaced theirs. */
export async function dropLetters(tx: Tx, account: AccountId, user: UserId): Promise<void> {
  await rows(
    tx,
    sql`${giveUpLetters} where account_id = ${account} and recipient = ${user} and ${waitsWithLink}`,
  );
}

/** Drops messages whose link no longer works: it was used, has expired, or its user was removed. */
export async function dropEndedLetters(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`${giveUpLetters} where ${waitsWithLink} and not exists (
          select from user_links l where l.account_id = notices.account_id and l.user_id = notices.user_id
            and l.used_at is null and l.expires_at > now())`,
  );
}

// one that is being sent is not touched
const waitsWithLink = sql`link is not null and user_id is not null and sent_at is null and failed_at is null
  and (lease is null or leased_until < now())`;
const giveUpLetters = sql`update notices set failed_at = now_ms(), link = null, error = 'its link has ended'`;

/** Whether e-mail is sent at all. */
export async function sendsMail(db: Reader): Promise<boolean> {
  return (await maybeRow(db, sql`select where ${isMailSent}`)) !== null;
}

/** The results of sending to a recipient. */
export interface LastMessage {
  readonly last_sent_at: Timestamp | null;
  readonly last_error: string | null;
}

/** `last_sent_at` and `last_error` of a recipient (SQL of account and UUID), from the newest notice that was tried. */
export const lastMessageColumns = (account: string, recipient: string) => ({
  last_sent_at: `(select iso(max(n.sent_at)) from notices n where n.account_id = ${account} and n.recipient = ${recipient})`,
  last_error: `(select n.error from notices n where n.account_id = ${account} and n.recipient = ${recipient} and n.tries > 0
    order by coalesce(n.sent_at, n.failed_at, now()) desc, n.id desc limit 1)`,
});

/** Deletes the errors of messages to users: the response of a mail server contains the recipient. */
export async function forgetErrors(tx: Tx, account: AccountId, users: readonly UserId[]): Promise<void> {
  await rows(
    tx,
    sql`update notices set error = null where account_id = ${account} and user_id = any(${users}::uuid[])`,
  );
}

/** The context under which the link to a user or to the contact of an endpoint (UUID) is sealed. */
export const placeOfLink = (account: AccountId, recipient: UserId | EndpointId): SealedIn => ({
  account,
  place: `notice ${recipient} link`,
});

/** The host that a message shows instead of a URL, which may contain a secret. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url.slice(0, 100));

/** The host of an endpoint (UUID) for messages; of a pull endpoint, which has no URL, its id. */
export const nameOf = (url: string | null, endpoint: EndpointId): string =>
  url ? hostOf(url) : idOf('we', endpoint);
