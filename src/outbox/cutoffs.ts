import sql, { type Sql } from 'sql-template-tag';
import { type Database, rows, type Tx } from '../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';
import { cancel, leaving } from './ending.ts';
import type { Leased } from './hand-over.ts';
import { holdKeys, type Key, letNextGo } from './keys.ts';
import { holdLog } from './queue.ts';

/*
 * An endpoint has a cutoff: events that are older than its `max_age`, or were held when somebody enabled it and discarded
 * them, are cancelled instead of sent (docs/decisions/0102). The claim checks each delivery, so that nothing is sent too
 * late, and `cancelOld` follows the cutoff, so that nothing else waits for a claim.
 */

/**
 * SQL: why endpoint `e` no longer wants the scheduled delivery of a queue row; null = it does. Attempts by hand and of
 * recoveries are always wanted.
 */
export const unwanted = (row: Sql, now: Sql): Sql => sql`case
  when ${row}.trigger <> 'scheduled' then null
  when e.discarded_until is not null and ${row}.event_id < id_floor(e.discarded_until) then 'discarded'
  when e.max_age is not null and id_time(${row}.event_id) < ${now} - e.max_age * interval '1 second' then 'expired' end`;

/** Cancels leased deliveries that are `unwanted`: nothing was sent, so nothing is logged. */
export async function cancelUnwanted(tx: Tx, deliveries: readonly Leased[], token: string): Promise<void> {
  const keys = await holdKeys(
    tx,
    deliveries.flatMap(({ endpoint, orderingKey }): Key[] =>
      orderingKey === null ? [] : [{ endpoint, orderingKey }],
    ),
  );
  await rows(
    tx,
    sql`with doomed as materialized (
          select * from (
            select q.account_id, q.endpoint_id, q.event_id, u.code
            from unnest(${deliveries.map(({ event }) => event)}::uuid[], ${deliveries.map(({ endpoint }) => endpoint)}::uuid[],
                        ${deliveries.map((delivery) => delivery.unwanted)}::text[]) as u (event_id, endpoint_id, code)
            join queue q on q.event_id = u.event_id and q.endpoint_id = u.endpoint_id
            where q.lease_token = ${token}
            order by q.event_id, q.endpoint_id for update of q) d),
        ${leaving(sql`doomed`, 'cancelled', sql`d.code`)}
        select 1 from ended`,
    'cancel_unwanted',
  );
  await letNextGo(
    tx,
    keys.filter(({ state }) => state !== 'taken'),
  );
  tx.announce();
}

const SLICES_AT_ONCE = 100;
const SLICE_ROWS = 1000;

interface Slice {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Event ids. */
  readonly after: EventId;
  readonly until: EventId;
  /** Those before are discarded, the others expired; null = none. */
  readonly discardedUntil: EventId | null;
}

/**
 * Cancels what waits, also at disabled endpoints, and is older than its endpoint wants. Each delivery of such an endpoint is
 * looked at once, when it has reached that age. Returns whether there was anything to look at.
 */
export async function cancelOld(db: Database): Promise<boolean> {
  const slices = await db.engine((tx) =>
    rows<Slice>(
      tx,
      sql`select e.account_id as account, e.id as endpoint, s.judged_until as after, at.until,
                 id_floor(e.discarded_until) as "discardedUntil"
          from webhook_endpoints e
          join endpoint_state s on s.account_id = e.account_id and s.endpoint_id = e.id
          cross join lateral (
            select id_floor(greatest(e.discarded_until, now() - e.max_age * interval '1 second')) as until) at
          where (e.max_age is not null or e.discarded_until is not null) and e.deleted_at is null
            and exists (
              select from deliveries d where d.account_id = e.account_id and d.endpoint_id = e.id
                and d.event_id > s.judged_until and d.event_id < at.until)
          limit ${SLICES_AT_ONCE}::int`,
    ),
  );
  for (const slice of slices) await db.engine((tx) => cancelSlice(tx, slice));
  return slices.length > 0;
}

async function cancelSlice(
  tx: Tx,
  { account, endpoint, after, until, discardedUntil }: Slice,
): Promise<void> {
  await holdLog(tx);
  const seen = await rows<{ event: EventId; isPending: boolean }>(
    tx,
    sql`select d.event_id as event, d.status = 'pending' as "isPending" from deliveries d
        where d.account_id = ${account} and d.endpoint_id = ${endpoint}
          and d.event_id > ${after}::uuid and d.event_id < ${until}::uuid
        order by d.event_id limit ${SLICE_ROWS}::int`,
  );
  const events = seen.flatMap(({ event, isPending }) => (isPending ? [event] : []));
  if (events.length > 0) {
    const code = sql`case when d.event_id < ${discardedUntil}::uuid then 'discarded' else 'expired' end`;
    await cancel(tx, { account, endpoint, events }, { code, among: sql`q.trigger = 'scheduled'` });
  }
  // several workers may look at a slice: the second one finds nothing pending
  await rows(
    tx,
    sql`update endpoint_state set judged_until = greatest(judged_until, ${seen.at(-1)?.event ?? after}::uuid)
        where account_id = ${account} and endpoint_id = ${endpoint}`,
  );
}

/**
 * Lets `cancelOld` begin with the oldest delivery that waits at an endpoint, because it may now be older than wanted.
 */
export async function judgeWaiting(tx: Tx, account: AccountId, endpoint: EndpointId): Promise<void> {
  await rows(
    tx,
    sql`update endpoint_state set judged_until = coalesce((
          select id_floor(id_time((array_agg(event_id order by event_id))[1])) from queue
          where account_id = ${account} and endpoint_id = ${endpoint}), judged_until)
        where account_id = ${account} and endpoint_id = ${endpoint}`,
  );
}
