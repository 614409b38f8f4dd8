import sql, { empty, type Sql } from 'sql-template-tag';
import { type Reader, rows, type Tx } from '../db/database.ts';
import { type AccountId, type EndpointId, type EventId, idOf, nil } from '../kernel/ids.ts';
import { BEHIND } from './order.ts';

/*
 * The busy ordering keys of ordered endpoints (docs/decisions/0057). A key has a row in `queue_keys` as long as the queue
 * has a row with it. Publishers of the key lock that row until they commit, and so do transactions that release the next
 * delivery. Queue rows are locked in the order of their primary key, as a settle does.
 */

/** An ordering key at an endpoint (UUID). */
export interface Key {
  readonly endpoint: EndpointId;
  readonly orderingKey: string;
}

const SLICE_KEYS = 1000;
const SLICE_ROWS = 1000;

/** The next waiting delivery of the key `k`. The limit forces an index lookup, whatever the planner expects. */
const nextOf = (k: Sql) => sql`
  select q.account_id, q.event_id from queue q
  where q.endpoint_id = ${k}.endpoint_id and q.ordering_key = ${k}.ordering_key and q.generation = ${BEHIND}
  order by q.place limit 1`;

/** The current delivery of the key `k`. */
const frontOf = (k: Sql) => sql`
  select q.event_id from queue q
  where q.endpoint_id = ${k}.endpoint_id and q.ordering_key = ${k}.ordering_key and q.generation < ${BEHIND}
  limit 1`;

/** A key to lock, and the result. */
export interface HeldKey extends Key {
  /**
   * `held` until the transaction ends; `followed`: another transaction holds it, and a next delivery exists already;
   * `taken`: the same, without a next delivery; `gone`: it is not busy.
   */
  readonly state: 'held' | 'followed' | 'taken' | 'gone';
}

/**
 * Locks keys until the transaction ends, without waiting unless it is called with `waits`, which only the first statement of a
 * transaction may do. Returns them in the same order.
 */
export function holdKeys(
  tx: Tx,
  keys: readonly Key[],
  { waits = false }: { waits?: boolean } = {},
): Promise<HeldKey[]> {
  return rows<HeldKey>(
    tx,
    sql`with wanted as materialized (
          select * from unnest(${keys.map(({ endpoint }) => endpoint)}::uuid[],
                               ${keys.map(({ orderingKey }) => orderingKey)}::text[])
            with ordinality as w (endpoint_id, ordering_key, nth)),
        held as materialized (
          select * from (
            select k.endpoint_id, k.ordering_key from wanted w
            join queue_keys k on k.endpoint_id = w.endpoint_id and k.ordering_key = w.ordering_key
            order by k.endpoint_id, k.ordering_key
            for update of k${waits ? empty : sql` skip locked`}) h)
        select w.endpoint_id as endpoint, w.ordering_key as "orderingKey",
               case when exists (
                      select from held h where h.endpoint_id = w.endpoint_id and h.ordering_key = w.ordering_key)
                    then 'held'
                    when busy.is_found is null then 'gone'
                    when next.event_id is null then 'taken' else 'followed' end as state
        from wanted w
        left join lateral (
          select true as is_found from queue_keys k
          where k.endpoint_id = w.endpoint_id and k.ordering_key = w.ordering_key limit 1) busy on true
        left join lateral (${nextOf(sql`w`)}) next on true
        order by nth`,
    waits ? 'wait_for_keys' : 'hold_keys',
  );
}

/**
 * Makes the next delivery of each key due where none is current, and removes keys without deliveries, if this transaction
 * has held them since an earlier statement: this statement must see everything published before. A key that another
 * transaction holds is not removed, because what it publishes may not be visible yet.
 */
export async function letNextGo(tx: Tx, keys: readonly HeldKey[]): Promise<void> {
  if (keys.length === 0) return;
  const freed = await rows(
    tx,
    sql`with idle as materialized (
          select k.endpoint_id, k.ordering_key, k.state, next.account_id, next.event_id
          from unnest(${keys.map(({ endpoint }) => endpoint)}::uuid[],
                      ${keys.map(({ orderingKey }) => orderingKey)}::text[], ${keys.map(({ state }) => state)}::text[])
            as k (endpoint_id, ordering_key, state)
          left join lateral (${frontOf(sql`k`)}) front on true
          left join lateral (${nextOf(sql`k`)}) next on true
          where front.event_id is null),
        next as materialized (
          select * from (
            select q.account_id, q.event_id, q.endpoint_id
            from idle i join queue q on q.event_id = i.event_id and q.endpoint_id = i.endpoint_id
            where q.generation = ${BEHIND}
            order by q.event_id, q.endpoint_id for update of q) n),
        forgotten as (
          delete from queue_keys k using idle i
          where k.endpoint_id = i.endpoint_id and k.ordering_key = i.ordering_key and i.event_id is null
            and i.state = 'held')
        update queue q set generation = e.resumptions, due_at = now()
        from next n join webhook_endpoints e on e.account_id = n.account_id and e.id = n.endpoint_id
        where q.event_id = n.event_id and q.endpoint_id = n.endpoint_id
        returning 1`,
    'let_next_go',
  );
  if (freed.length > 0) tx.announce();
}

/**
 * Releases waiting deliveries of endpoints that are no longer ordered, a slice at a time: they are due now, in no order.
 * The current delivery keeps its key until it ends. Returns the number released.
 */
export async function releaseUnordered(tx: Tx): Promise<number> {
  const released = await rows(
    tx,
    sql`with recursive
        busy (account_id, endpoint_id) as (
          (select account_id, endpoint_id from queue_keys order by endpoint_id limit 1)
          union all
          select k.account_id, k.endpoint_id from busy b cross join lateral (
            select account_id, endpoint_id from queue_keys
            where endpoint_id > b.endpoint_id order by endpoint_id limit 1) k),
        behind as materialized (
          select * from (
            select q.event_id, q.endpoint_id, e.resumptions
            from busy b
            join webhook_endpoints e on e.account_id = b.account_id and e.id = b.endpoint_id and not e.ordered
            cross join lateral (
              select event_id, endpoint_id, ordering_key from queue q
              where q.endpoint_id = b.endpoint_id and q.ordering_key is not null and q.generation = ${BEHIND}
              order by q.ordering_key, q.place limit ${SLICE_ROWS}::int) q
            join queue_keys k on k.endpoint_id = q.endpoint_id and k.ordering_key = q.ordering_key
            limit ${SLICE_ROWS}::int for update of k skip locked) k),
        locked as materialized (
          select * from (
            select q.event_id, q.endpoint_id, b.resumptions
            from behind b join queue q on q.event_id = b.event_id and q.endpoint_id = b.endpoint_id
            where q.generation = ${BEHIND}
            order by q.event_id, q.endpoint_id for update of q) l)
        update queue q
        set generation = l.resumptions, due_at = now(), ordering_key = null, place = null
        from locked l
        where q.event_id = l.event_id and q.endpoint_id = l.endpoint_id
        returning 1`,
    'release_unordered',
  );
  if (released.length > 0) tx.announce();
  return released.length;
}

/**
 * Checks a slice of the keys after `after`, and releases the next delivery where none is current, because the previous
 * one was ended by a transaction that does not handle keys, such as a worker of an earlier version or the deletion of an
 * endpoint. Returns the last key of the slice; null at the end.
 */
export async function tendKeys(tx: Tx, after: Key | null): Promise<Key | null> {
  const slice = await rows<Key & { is_idle: boolean }>(
    tx,
    sql`select k.endpoint_id as endpoint, k.ordering_key as "orderingKey", front.event_id is null as is_idle
        from (select endpoint_id, ordering_key from queue_keys
              where (endpoint_id, ordering_key) > (${after?.endpoint ?? nil()}::uuid, ${after?.orderingKey ?? ''}::text)
              order by endpoint_id, ordering_key limit ${SLICE_KEYS}::int) k
        left join lateral (${frontOf(sql`k`)}) front on true
        order by k.endpoint_id, k.ordering_key`,
    'tend_keys',
  );
  const idle = slice.filter(({ is_idle }) => is_idle);
  if (idle.length > 0) await letNextGo(tx, await holdKeys(tx, idle));
  return slice.length < SLICE_KEYS ? null : (slice.at(-1) ?? null);
}

/** The ordering keys whose deliveries have waited long behind the current one. */
export interface LongWaits {
  readonly count: number;
  /** The one that has waited longest, with ids as in the API. */
  readonly account: string;
  readonly endpoint: string;
  /** The event of the current delivery. */
  readonly event: string;
  /** When the first one behind it was published (RFC 3339). */
  readonly since: string;
}

/**
 * The keys of all accounts whose deliveries have waited for an hour at an enabled endpoint; null = none. Linear in the
 * number waiting.
 */
export async function findLongWaits(db: Reader): Promise<LongWaits | null> {
  const [found] = await rows<{
    count: number;
    account: AccountId;
    endpoint: EndpointId;
    event: EventId;
    since: string;
  }>(
    db,
    sql`with waiting as materialized (
          select q.account_id, q.endpoint_id, q.ordering_key, min(id_time(q.event_id)) as since
          from queue q join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id
          where q.ordering_key is not null and q.generation = ${BEHIND} and id_time(q.event_id) < now() - interval '1 hour'
            and e.disabled_at is null and e.deleted_at is null
          group by q.account_id, q.endpoint_id, q.ordering_key)
        select (select count(*)::int from waiting) as count, w.account_id as account, w.endpoint_id as endpoint,
               front.event_id as event, iso(w.since) as since
        from waiting w cross join lateral (${frontOf(sql`w`)}) front
        order by w.since limit 1`,
  );
  if (!found) return null;
  const { count, account, endpoint, event, since } = found;
  return {
    count,
    account: idOf('acc', account),
    endpoint: idOf('we', endpoint),
    event: idOf('evt', event),
    since,
  };
}
