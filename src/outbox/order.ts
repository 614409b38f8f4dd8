import sql, { empty, raw, type Sql } from 'sql-template-tag';

/**
 * The generation of a queue row that is not the first of its ordering key. The claim reads generations up to the
 * endpoint's, so it never reaches this one.
 */
export const BEHIND: Sql = raw('2147483647');

/** The generation of a queue row that a consumer of a pull endpoint holds: `queue_due` has them together, by the end of the lease. */
export const CLAIMED: Sql = raw('2147483646');

/** The parts of the publishing statement that order the deliveries of a key. */
export interface Ordering {
  /** Columns of `event` and `candidate` that the others need. */
  readonly candidate: Sql;
  /** CTEs over `candidate`, each followed by a comma. */
  readonly ctes: Sql;
  /** The query of `wanted`, over `candidate`; its `resumptions` is the generation of the queue row. */
  readonly wanted: Sql;
  /** A further column of `events`. */
  readonly stored: Sql;
  /** Further columns of `wanted` and of the queue. */
  readonly queued: Sql;
  /** The same from `wanted w`. */
  readonly queuedOf: Sql;
  /** A condition on `wanted`, starting with `where`: rows that may be attempted now. */
  readonly inFront: Sql;
  /** The same, starting with `and`. */
  readonly andInFront: Sql;
  /** A further column of the leased rows, from `wanted w`, and the same from `leased l`. */
  readonly leased: Sql;
  readonly returned: Sql;
}

/** For events without keys: the statement has no ordering parts. */
export const NO_ORDER: Ordering = {
  candidate: empty,
  ctes: empty,
  wanted: sql`
          select account_id, endpoint_id, event_id, type, resumptions from candidate where not is_filtered`,
  stored: empty,
  queued: empty,
  queuedOf: empty,
  inFront: empty,
  andInFront: empty,
  leased: empty,
  returned: empty,
};

/**
 * Some events have an `ordering_key`. At ordered endpoints each delivery gets a place in its key, and only place 1 may be
 * attempted now. The row of the key is locked until the transaction ends, so the order is that of the commits. Rows are
 * locked in the order of their primary key, so publishers of several keys cannot deadlock.
 */
export const BY_KEY: Ordering = {
  candidate: sql`, v.ordering_key, v.place, e.ordered and v.ordering_key is not null as is_ordered`,
  ctes: sql`
        turn as materialized (
          select account_id, endpoint_id, event_id, ordering_key,
                 row_number() over (partition by endpoint_id, ordering_key order by place) as turn,
                 count(*) over (partition by endpoint_id, ordering_key) as turns
          from candidate where is_ordered and not is_filtered),
        held as (
          insert into queue_keys as k (account_id, endpoint_id, ordering_key, last_place)
          select account_id, endpoint_id, ordering_key, turns from turn where turn = 1
          order by endpoint_id, ordering_key
          on conflict (endpoint_id, ordering_key) do update set last_place = k.last_place + excluded.last_place
          returning endpoint_id, ordering_key, last_place),
        placed as materialized (
          select t.event_id, t.endpoint_id, t.ordering_key, h.last_place - t.turns + t.turn as place
          from turn t join held h on h.endpoint_id = t.endpoint_id and h.ordering_key = t.ordering_key),`,
  wanted: sql`
          select c.account_id, c.endpoint_id, c.event_id, c.type,
                 case when p.place > 1 then ${BEHIND} else c.resumptions end as resumptions, p.ordering_key, p.place
          from candidate c left join placed p on p.event_id = c.event_id and p.endpoint_id = c.endpoint_id
          where not c.is_filtered`,
  stored: sql`, ordering_key`,
  queued: sql`, ordering_key, place`,
  queuedOf: sql`, w.ordering_key, w.place`,
  inFront: sql` where coalesce(place, 1) = 1`,
  andInFront: sql` and coalesce(w.place, 1) = 1`,
  leased: sql`, w.ordering_key`,
  returned: sql`, l.ordering_key`,
};
