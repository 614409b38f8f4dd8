import sql from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { TOLERANCE } from '../../db/clock.ts';
import { rows, type Tx } from '../../db/database.ts';
import { LONGEST_SECOND_S } from '../signing/rules.ts';

/*
 * Corrects times that were written while the clock was ahead, after it is set back; otherwise nothing would be sent until
 * those times. A time is known to be wrong from the times stored with it, or because no rule allows a time so far ahead.
 */

/** The maximum pause of a schedule or Retry-After. */
const LONGEST_WAIT = sql`interval '8 days'`;
/** The maximum lifetime of a second signature. */
const LONGEST_SECOND = sql`${LONGEST_SECOND_S}::int * interval '1 second'`;
/** The maximum lifetime of a link that confirms a contact (LINK_DAYS of webhooks/endpoints). */
const LONGEST_CONTACT = sql`interval '7 days'`;
/** The maximum duration of the lease of queue row `q`: of a worker, or of a consumer (LONGEST_LEASE_S of webhooks/claims). */
const LONGEST_LEASE = sql`case when q.claim is null then interval '3 minutes' else interval '1 hour' end`;

/**
 * Corrects the times of the queue, a slice at a time. Returns their number. A row that is due by hand, by a recovery or
 * for the first time was due when it was written. A scheduled row is wrong if its previous attempt is in the future; it
 * keeps its pause. A lease is cut to the maximum duration.
 */
export async function repairQueueTimes(tx: Tx): Promise<number> {
  const repaired = await rows(
    tx,
    sql`with wrong as materialized (
          select q.account_id, q.endpoint_id, q.event_id, q.lease_token is not null as is_leased,
                 case when q.lease_token is not null then now() + ${LONGEST_LEASE}
                      when q.trigger <> 'scheduled' or q.step = 0 then now()
                      when d.last_attempt_at > now() + ${TOLERANCE}
                        then now() + least(greatest(q.due_at - d.last_attempt_at, interval '0'), ${LONGEST_WAIT})
                      else now() end as due_at
          from queue q
          left join lateral (
            select last_attempt_at from deliveries l
            where l.account_id = q.account_id and l.endpoint_id = q.endpoint_id and l.event_id = q.event_id limit 1) d on true
          where q.due_at > now() + ${TOLERANCE}
            and case when q.lease_token is not null then q.due_at > now() + ${LONGEST_LEASE} + ${TOLERANCE}
                     else q.trigger <> 'scheduled' or q.step = 0 or d.last_attempt_at > now() + ${TOLERANCE}
                          or q.due_at > now() + ${LONGEST_WAIT} end
          order by q.event_id, q.endpoint_id limit ${SLICE_ROWS}::int for update of q),
        clamped as materialized (select w.*, date_trunc('milliseconds', w.due_at) as next_attempt_at from wrong w),
        queued as (
          update queue q set due_at = w.due_at from clamped w
          where q.event_id = w.event_id and q.endpoint_id = w.endpoint_id),
        logged as (
          update deliveries d set next_attempt_at = w.next_attempt_at from clamped w
          where d.account_id = w.account_id and d.endpoint_id = w.endpoint_id and d.event_id = w.event_id
            and d.status = 'pending' and d.next_attempt_at > now() + ${TOLERANCE} and not w.is_leased)
        select 1 from wrong`,
  );
  if (repaired.length > 0) tx.announce();
  return repaired.length;
}

/**
 * Corrects what is stored about endpoints: waits that no rule allows, or all waits if the clock `wasSetBack`, because it
 * is unknown which of them that clock wrote. A receiver that still wants a pause asks again. Returns their number.
 */
export async function repairEndpointTimes(tx: Tx, wasSetBack: boolean): Promise<number> {
  const repaired = await rows(
    tx,
    sql`update endpoint_state
        set may_start_at = case when may_start_at > at.latest then at.now else may_start_at end,
            -- least() would turn null into a time
            failing_since = case when failing_since > at.now then at.now_ms else failing_since end,
            last_success_at = case when last_success_at > at.now then at.now_ms else last_success_at end
        from (select now() as now, now_ms() as now_ms, now() + ${wasSetBack ? TOLERANCE : LONGEST_WAIT} as latest) at
        where (account_id, endpoint_id) in (
          select account_id, endpoint_id from endpoint_state
          where may_start_at > now() + ${wasSetBack ? TOLERANCE : LONGEST_WAIT}
            or failing_since > now() + ${TOLERANCE} or last_success_at > now() + ${TOLERANCE}
          order by account_id, endpoint_id limit ${SLICE_ROWS}::int for no key update)
        returning 1`,
  );
  const secrets = await rows(
    tx,
    sql`update webhook_endpoints set previous_secret_until = now_ms() + ${LONGEST_SECOND}
        where previous_secret_until > now() + ${LONGEST_SECOND} + ${TOLERANCE} returning 1`,
  );
  await rows(
    tx,
    sql`update webhook_endpoints set contact_expires_at = now_ms() + ${LONGEST_CONTACT}
        where contact_expires_at > now() + ${LONGEST_CONTACT} + ${TOLERANCE}`,
  );
  if (repaired.length > 0) tx.announce();
  return Math.max(repaired.length, secrets.length);
}
