import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../db/database.ts';
import type { AccountId, PayoutId } from '../kernel/ids.ts';
import type { AffiliateNoticeKind } from './affiliate-kinds.ts';
import { isMailSent } from './notices.ts';

/** Condition: the affiliate `a` of the account `o` gets e-mails of a kind. No mail arrives at `.invalid` (RFC 2606, section 2). */
const gets = (kind: AffiliateNoticeKind): Sql => sql`a.is_notified and lower(a.email) not like '%.invalid'
  and o.affiliate_notices -> 'kinds' ? ${kind}::text`;

/**
 * Records notices to affiliates in the transaction of the change, so they are sent if and only if it is committed. `about` is SQL of
 * rows (affiliate_id int8, subject text, data json): the public id of what each is about, and its `NoticeFacts`. Nothing is
 * recorded for a kind that the account did not switch on, for affiliates who opted out or have no address, and while no
 * process sends e-mail. `waits` is SQL of the interval after which they are due; default: a minute.
 */
export async function notifyAffiliates(
  tx: Tx,
  account: AccountId,
  kind: AffiliateNoticeKind,
  about: Sql,
  waits: Sql = sql`interval '1 minute'`,
): Promise<void> {
  await rows(
    tx,
    sql`with about as (${about}),
        found as materialized (
          select b.affiliate_id, b.subject, b.data, ${waits} as waits
          from about b
          join accounts o on o.id = ${account}
          join affiliates a on a.account_id = ${account} and a.id = b.affiliate_id
          where ${gets(kind)} and ${isMailSent})
        insert into notices (account_id, kind, subject, data, is_alone, affiliate_id, due_at)
        select ${account}::uuid, ${kind}::text, subject, data, true, affiliate_id, now_ms() + waits from found
        order by affiliate_id`,
  );
}

/** Makes the notices of a payout that wait for its invoices due now. */
export async function hurryPaidNotices(tx: Tx, account: AccountId, payout: PayoutId): Promise<void> {
  const kind: AffiliateNoticeKind = 'paid';
  await rows(
    tx,
    sql`with at as (select now_ms() as now)
        update notices n set due_at = at.now from at
        where n.account_id = ${account} and n.affiliate_id is not null and n.kind = ${kind} and n.tries = 0
          and n.subject = public_id('po', ${payout}::uuid) and n.sent_at is null and n.failed_at is null and n.due_at > at.now`,
  );
}

/** Deletes the notices to an affiliate: the person was erased. */
export async function deleteNotices(tx: Tx, account: AccountId, affiliate: number): Promise<void> {
  await rows(tx, sql`delete from notices where account_id = ${account} and affiliate_id = ${affiliate}`);
}

/** Condition: the affiliate `a` and the account `o` still want a waiting notice `n`. */
export const isWanted = sql`a.is_notified and coalesce(o.affiliate_notices -> 'kinds' ? n.kind, false)`;

/** Deletes waiting notices that nobody wants any more: the affiliate opted out, or the account switched the kind off. */
export async function deleteUnwantedNotices(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`delete from notices n using affiliates a, accounts o
        where n.affiliate_id is not null and n.sent_at is null and n.failed_at is null
          and (n.lease is null or n.leased_until < now())
          and a.account_id = n.account_id and a.id = n.affiliate_id and o.id = n.account_id
          and not (${isWanted})`,
  );
}
