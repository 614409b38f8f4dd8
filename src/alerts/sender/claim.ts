import sql from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, AlertChannelId, UserId } from '../../kernel/ids.ts';
import type { AlertData, AlertKind, LetterKind } from '../../notices/kinds.ts';

/** Notices of one kind about one thing: one line of a message. */
export interface NoticeGroup {
  readonly kind: AlertKind | LetterKind;
  readonly subject: string | null;
  readonly count: number;
  readonly data: AlertData;
}

/** The recipient of a message. `email` is null once the person was removed. */
export type Recipient =
  | { readonly user: UserId; readonly email: string | null; readonly name: string }
  | { readonly channel: AlertChannelId; readonly format: 'webhook' | 'slack'; readonly target: Buffer };

/** The waiting notices of one recipient, leased to be sent. */
export interface Message {
  readonly lease: string;
  /** The first and last notice, so that a repeated message has the same id. */
  readonly id: string;
  readonly account: AccountId;
  readonly accountName: string;
  readonly recipient: Recipient;
  readonly groups: readonly NoticeGroup[];
  /** The sealed link of an account message. */
  readonly link: Buffer | null;
}

/** Concurrent messages for each way. */
export const AT_ONCE = 10;
/** Messages to a recipient within an hour. Later notices wait and go into one message. */
export const MOST_AN_HOUR = 6;
/** Longer than the time limit of a message. */
export const LEASE = sql`interval '2 minutes'`;
/** The pause after each try, in seconds: about a day in total. */
const PAUSES = [60, 300, 900, 3600, 7200, 14_400, 28_800, 28_800];

export const isOpen = sql`n.sent_at is null and n.failed_at is null`;
// a time too far in the future was written before the clock was set back
export const isFree = sql`(n.leased_until is null or n.leased_until not between now() and now() + ${LEASE})`;
export const isDue = sql`n.due_at not between now() and now() + interval '1 day'`;

interface ClaimedRow {
  lease: string;
  message: string;
  account: AccountId;
  account_name: string;
  kind: AlertKind | LetterKind;
  subject: string | null;
  count: number;
  data: string;
  link: Buffer | null;
  user: UserId | null;
  name: string;
  email: string | null;
  channel: AlertChannelId;
  format: 'webhook' | 'slack';
  target: Buffer;
}

/**
 * Leases messages that are due by e-mail or to channels. All waiting notices of a recipient form one message. One process
 * claims at a time (the caller holds the lock). A lease that ends without a result is claimed again.
 */
export async function claimMessages(tx: Tx, way: 'mail' | 'channels'): Promise<Message[]> {
  const claimed = await rows<ClaimedRow>(
    tx,
    sql`with ready as materialized (
          select account_id, recipient, alone, gen_random_uuid() as lease
          from (select n.account_id, n.recipient, n.tries, n.due_at, ${isDue} as is_due,
                       case when n.is_alone then n.id end as alone
                from notices n where ${isOpen} and ${isFree}
                  and case when ${way === 'mail'}::boolean then n.user_id else n.channel_id end is not null) waiting
          group by account_id, recipient, alone
          having bool_or(is_due) and bool_and(is_due or tries = 0)
            and (alone is not null or ${MOST_AN_HOUR}::int > (
              select count(distinct s.sent_at) from notices s
              where s.account_id = waiting.account_id and s.recipient = waiting.recipient and not s.is_alone
                and s.sent_at between now() - interval '1 hour' and now() + interval '1 minute'))
          order by min(due_at) limit ${AT_ONCE}::int),
        taken as (
          update notices n set lease = r.lease, leased_until = now_ms() + ${LEASE}, tries = n.tries + 1
          from ready r
          where n.account_id = r.account_id and n.recipient = r.recipient and ${isOpen} and ${isFree}
            and case when r.alone is null then not n.is_alone else n.id = r.alone end
          returning n.*)
        select t.lease, t.account_id as account, a.name as account_name, t.kind, t.subject, sum(t.count)::int as count,
               (array_agg(t.data::text order by t.id desc))[1] as data, (array_agg(t.link))[1] as link,
               min(min(t.id::text)) over message || '.' || max(max(t.id::text)) over message as message,
               t.user_id as user, u.name, case when u.removed_at is null then p.email end as email,
               c.id as channel, c.format, c.target
        from taken t
        join accounts a on a.id = t.account_id
        left join users u on u.account_id = t.account_id and u.id = t.user_id
        left join people p on p.id = u.person_id
        left join alert_channels c on c.account_id = t.account_id and c.id = t.channel_id
        group by t.lease, t.account_id, a.name, t.kind, t.subject, t.user_id, u.name, u.removed_at, p.email,
                 c.id, c.format, c.target
        window message as (partition by t.lease)
        order by t.lease, min(t.id::text)`,
    'claim_notices',
  );
  const byLease = new Map<string, ClaimedRow[]>();
  for (const row of claimed) byLease.set(row.lease, [...(byLease.get(row.lease) ?? []), row]);
  return [...byLease.values()].flatMap((groups) => messageOf(groups) ?? []);
}

function messageOf(groups: readonly ClaimedRow[]): Message | null {
  const [first] = groups;
  if (first === undefined) return null;
  const { user, email, name, channel, format, target } = first;
  return {
    lease: first.lease,
    id: first.message,
    account: first.account,
    accountName: first.account_name,
    recipient: user === null ? { channel, format, target } : { user, email, name },
    groups: groups.map(({ kind, subject, count, data }) => ({
      kind,
      subject,
      count,
      data: JSON.parse(data) as AlertData,
    })),
    link: first.link,
  };
}

/** Records that a message was sent. */
export async function noteSent(tx: Tx, lease: string): Promise<void> {
  await rows(
    tx,
    sql`update notices set sent_at = now_ms(), lease = null, leased_until = null, link = null, error = null
        where lease = ${lease}`,
  );
}

/**
 * Records that a message was not sent. It is retried after a pause, for about a day, unless the error is `final`. A
 * secret link is dropped together with its notice. Returns whether the message was given up.
 */
export async function noteUnsent(
  tx: Tx,
  lease: string,
  { error, isFinal }: { error: string; isFinal: boolean },
): Promise<boolean> {
  const isOver = sql`(${isFinal}::boolean or tries > ${PAUSES.length}::int)`;
  const noted = await rows<{ is_over: boolean }>(
    tx,
    sql`update notices
        set lease = null, leased_until = null, error = ${error}, failed_at = case when ${isOver} then at.now end,
            link = case when ${isOver} then null else link end,
            due_at = add_span(at.now, coalesce((${PAUSES}::int[])[tries], 0) * interval '1 second')
        from (select now_ms() as now) at
        where lease = ${lease}
        returning failed_at is not null as is_over`,
  );
  return noted.some((row) => row.is_over);
}
