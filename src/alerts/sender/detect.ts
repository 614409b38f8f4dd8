import sql from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { slowClock } from '../../db/clock.ts';
import { rows, type Tx } from '../../db/database.ts';
import { type AccountId, type EndpointId, idOf, type PayoutId } from '../../kernel/ids.ts';
import { hostOf, nameOf, notify } from '../../notices/notices.ts';
import { PATIENCE } from '../../webhooks/engine/write.ts';

interface ReportedEndpoint {
  account: AccountId;
  endpoint: EndpointId;
  url: string;
  level: number;
}

/**
 * Records alerts about endpoints that are 50, 70 or 90 % of the way to being disabled, and about recovered ones. Returns
 * their number. The reported step is stored with the endpoint's state, so each step is reported once.
 */
export async function notifyOfEndpoints(tx: Tx): Promise<number> {
  const changed = await rows<ReportedEndpoint>(
    tx,
    sql`with seen as (
          select s.account_id, s.endpoint_id, e.url,
                 -- when it fails again after it was reported, no step counts as reported
                 case when s.told > 0 and s.failing_since > s.told_at then 1 else s.told end as before,
                 s.failing_since is null and s.last_success_at > s.told_at as is_over,
                 case when s.failing_since is not null then 100 * least(
                   s.failures / ${PATIENCE.failures}::float8,
                   extract(epoch from ${slowClock} - s.failing_since)::float8 * 1000 / ${PATIENCE.ms}::float8)
                 else 0 end as percent
          from endpoint_state s
          join webhook_endpoints e on e.account_id = s.account_id and e.id = s.endpoint_id
          where (s.failing_since is not null or s.told > 0) and e.disabled_at is null and e.deleted_at is null
          order by s.account_id, s.endpoint_id
          for no key update of s skip locked),
        news as (
          select *, case when is_over and before > 0 then 0
                         when percent >= 90 then 90 when percent >= 70 then 70 when percent >= 50 then 50 else 0 end as level
          from seen)
        update endpoint_state s set told = n.level, told_at = now_ms()
        from news n
        where s.account_id = n.account_id and s.endpoint_id = n.endpoint_id
          and (n.level > n.before or n.level < n.before and n.is_over)
        returning s.account_id as account, s.endpoint_id as endpoint, n.url, n.level`,
    'look_at_endpoints',
  );
  await notify(
    tx,
    changed.map(({ account, endpoint, url, level: percent }) => ({
      account,
      kind: percent === 0 ? 'endpoint_recovered' : 'endpoint_failing',
      subject: idOf('we', endpoint),
      data: { host: nameOf(url, endpoint), ...(percent > 0 && { percent }) },
    })),
  );
  return 0;
}

/** A client certificate whose reported step has changed. */
interface ChangedCertificate {
  account: AccountId;
  endpoint: EndpointId;
  url: string;
  ends: string;
  days: number | null;
  before: number | null;
}

/**
 * Records alerts about client certificates that expire within 30, 7 or 1 days or have expired, each step once. After a
 * clock that was ahead is set back, the steps are undone and reported again in time.
 */
export async function notifyOfCertificates(tx: Tx): Promise<number> {
  const looked = await rows<ChangedCertificate>(
    tx,
    sql`with seen as (
          select s.account_id, s.endpoint_id, e.url, c.print, iso(c.ends) as ends, n.days, n.before
          from webhook_endpoints e
          join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id
          cross join lateral (
            select e.egress -> 'client_certificate' ->> 'fingerprint' as print,
                   (e.egress -> 'client_certificate' ->> 'expires_at')::timestamptz as ends) c
          cross join lateral (
            select case when c.ends <= now() then 0
                        when c.ends <= now() + interval '1 day' then 1
                        when c.ends <= now() + interval '7 days' then 7
                        when c.ends <= now() + interval '30 days' then 30 end as days,
                   case when s.told_certificate = c.print then s.told_days end as before) n
          where e.disabled_at is null and e.deleted_at is null and n.days is distinct from n.before
          order by s.account_id, s.endpoint_id
          for no key update of s skip locked)
        update endpoint_state s set told_certificate = n.print, told_days = n.days
        from seen n
        where s.account_id = n.account_id and s.endpoint_id = n.endpoint_id
        returning s.account_id as account, s.endpoint_id as endpoint, n.url, n.ends, n.days, n.before`,
    'look_at_certificates',
  );
  const news = looked.filter(({ days, before }) => days !== null && (before === null || days < before));
  await notify(
    tx,
    news.map(({ account, endpoint, url, ends, days }) => ({
      account,
      kind: 'certificate_ending',
      subject: idOf('we', endpoint),
      data: { host: hostOf(url), ends, isOver: days === 0 },
    })),
  );
  return 0;
}

/** Records alerts about payouts that have been unpaid for a day, each once. Returns their number. */
export async function notifyOfPayouts(tx: Tx): Promise<number> {
  const waiting = await rows<{ account: AccountId; payout: PayoutId }>(
    tx,
    sql`update payout_books b set told_payout = p.id
        from payouts p
        where p.account_id = b.account_id and p.status = 'unpaid' and id_time(p.id) < now() - interval '1 day'
          and b.told_payout is distinct from p.id
        returning b.account_id as account, p.id as payout`,
  );
  await notify(
    tx,
    waiting.map(({ account, payout }) => ({
      account,
      kind: 'payout_waiting',
      subject: idOf('po', payout),
      data: {},
    })),
  );
  return 0;
}

/**
 * Deletes notices a week after they were sent or failed, and those that no process could send for a day, to affiliates for a week.
 * Returns their number.
 */
export async function deleteOldNotices(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from notices where (account_id, id) in (
          select account_id, id from notices
          where coalesce(sent_at, failed_at) < ${at}::timestamptz - interval '7 days'
             or (tries = 0 and sent_at is null and id_time(id) < ${at}::timestamptz
                   - case when affiliate_id is null then interval '1 day' else interval '7 days' end)
          limit ${SLICE_ROWS}::int)
        returning 1`,
  );
  return gone.length;
}
