import sql, { raw, type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../db/database.ts';
import type { AccountId, EndpointId } from '../kernel/ids.ts';

/*
 * Where a worker begins to read the queue of an endpoint (docs/decisions/0086). PostgreSQL keeps index entries of deleted
 * rows as long as an old snapshot may read them, and they precede those of due rows. A position states that no row
 * precedes it. It is created only where many such entries were read, and is kept in memory.
 *
 * A row may appear before a position if its transaction began before the time of the position and commits later, because
 * it writes its start time as `due_at`. So a position stays behind the clock by a margin. A transaction that lasts longer
 * announces this with its work, and the position is set back (`noteLate`). A missed announcement is made up for when the
 * position is searched again, once a minute.
 */

/** No row of the endpoint precedes (generation, due_at). Times are passed through as text with their microseconds. */
export interface Position {
  readonly account_id: AccountId;
  readonly endpoint_id: EndpointId;
  readonly generation: number;
  readonly due_at: string;
}

/** No unexpired lease of the endpoint ends before this. */
export interface LeasePosition {
  readonly endpoint_id: EndpointId;
  readonly leased_from: string;
}

/** Announced at `notedAt`: a row may be due since `since` (both of `performance.now`). */
interface Late {
  readonly since: number;
  readonly notedAt: number;
}

interface Known extends Position {
  leased_from: string | null;
  late: Late | null;
  /** When it was created by reading from the first entry of the endpoint. */
  readonly madeAt: number;
}

/** The positions of a process. */
export interface Positions {
  /** JSON for `knownPositions`. */
  json(): string;
  /**
   * Stores what a statement found that began at `begunAt` (of `performance.now`) and read from the positions of `json`.
   */
  advance(found: readonly Position[], begunAt: number): void;
  advanceLeases(found: readonly LeasePosition[]): void;
  /**
   * Stores positions found by a statement that began at `begunAt` and read from the first entry. Removes the position of
   * `instead`.
   */
  make(found: readonly Position[], begunAt: number, instead?: EndpointId): void;
  /** A transaction that began `ageMs` milliseconds ago committed. */
  noteLate(ageMs: number): void;
  /** Announcements may have been missed: every endpoint is read from its first entry again. */
  forgetAll(): void;
  /** An endpoint whose position is old enough to search again, or null. */
  oldest(): Pick<Position, 'account_id' | 'endpoint_id'> | null;
}

/** How far positions stay behind the start of the transaction that finds them. */
const MARGIN_MS = 300;
/** An announcement arrives within this time, or the position is searched again before its row is due. */
const NEWS_MS = 2000;
const MADE_AGAIN_MS = 60_000;
/** The maximum duration of a statement that finds positions (`LONGEST_STATEMENT`). */
const FIND_MS = 300_000;
/** Longer than any transaction that publishes. */
const LONG_AGO_MS = 48 * 3_600_000;
/** Further endpoints are read from their first entry. */
const MOST = 200;
/** The number of entries of deleted rows that justifies a position. */
export const MANY_ENTRIES = 1000;

/** Creates an empty set of positions. `now` is in milliseconds. */
export function createPositions(now: () => number = () => performance.now()): Positions {
  const known = new Map<EndpointId, Known>();
  let last: Late | null = null;
  return {
    json() {
      const at = now();
      return JSON.stringify(
        Array.from(known.values(), ({ late, madeAt: _, ...position }) => ({
          ...position,
          late_ms: MARGIN_MS + (late === null ? 0 : NEWS_MS + Math.ceil(at - late.since)),
        })),
      );
    },
    advance(found, begunAt) {
      for (const position of found) {
        const before = known.get(position.endpoint_id);
        if (before === undefined) continue;
        const late = before.late !== null && before.late.notedAt >= begunAt ? before.late : null;
        known.set(position.endpoint_id, { ...before, ...position, late });
      }
    },
    advanceLeases(found) {
      for (const { endpoint_id, leased_from } of found) {
        const before = known.get(endpoint_id);
        if (before !== undefined) before.leased_from = leased_from;
      }
    },
    make(found, begunAt, instead) {
      if (instead !== undefined) known.delete(instead);
      // an announcement meanwhile may have been committed after the statement began
      const late = last !== null && last.notedAt >= begunAt ? last : null;
      for (const position of found)
        if (known.size < MOST)
          known.set(position.endpoint_id, { ...position, leased_from: null, late, madeAt: now() });
    },
    noteLate(ageMs) {
      if (ageMs < MARGIN_MS / 2) return;
      const notedAt = now();
      const since = notedAt - ageMs;
      // a statement that creates positions may have started before an earlier announcement
      last = {
        since: last !== null && notedAt - last.notedAt < FIND_MS ? Math.min(last.since, since) : since,
        notedAt,
      };
      for (const one of known.values())
        one.late = { since: Math.min(one.late?.since ?? since, since), notedAt };
    },
    forgetAll() {
      last = { since: now() - LONG_AGO_MS, notedAt: now() };
      known.clear();
    },
    oldest: () => Array.from(known.values()).find(({ madeAt }) => now() - madeAt > MADE_AGAIN_MS) ?? null,
  };
}

/** Used for events published in a process without a worker: every endpoint is read from its first entry. */
export const NO_POSITIONS = '[]';

/** The rows of `Positions.json`: with `due_from`, no row is due before (generation, due_from) at time `now`. */
export const knownPositions = (json: string, now: Sql): Sql => sql`
  select k.account_id, k.endpoint_id, k.generation, k.leased_from,
         least(k.due_at, ${now} - k.late_ms * interval '1 millisecond') as due_from
  from json_to_recordset(${json}::json)
    as k (account_id uuid, endpoint_id uuid, generation int, due_at timestamptz, leased_from timestamptz, late_ms int)`;

/** Whether the queue row `q` does not precede the position of `k`, whose columns are null if there is none. */
export const notBefore = (q: Sql, k: Sql): Sql =>
  sql`(${q}.generation, ${q}.due_at) >= (coalesce(${k}.generation, 0), coalesce(${k}.due_from, '-infinity'))`;

/** The number of entries of the due-order index that this transaction has read, including those of deleted rows. */
export const entriesRead: Sql = raw(`pg_stat_get_xact_tuples_returned('queue_due'::regclass)`);

const MARGIN = sql`${MARGIN_MS}::int * interval '1 millisecond'`;

/**
 * The position of an endpoint, as columns, from its `resumptions` and the first row `first` found from an earlier
 * position on, whose columns are null if there is none. Rows published later get the endpoint's generation or a larger
 * one, and rows in flight keep theirs, with a time in the future. The transaction must begin before the snapshot of
 * `first`.
 */
export const positionAfter = (first: Sql, resumptions: Sql): Sql => sql`
  least(${first}.generation, ${resumptions}) as generation,
  least(case when ${first}.generation <= ${resumptions} then ${first}.due_at end, now() - ${MARGIN}) as due_at`;

/**
 * Finds the endpoints among `gaps`, as named by a claim, with very many entries before the first row, and their
 * positions. Reads all these entries once.
 */
export function findPositions(tx: Tx, gaps: string): Promise<Position[]> {
  return found(
    tx,
    sql`with gap as materialized (
          select * from json_to_recordset(${gaps}::json)
            as g (after_account uuid, after_endpoint uuid, to_account uuid, to_endpoint uuid)),
        candidate as materialized (
          select e.account_id, e.id, e.resumptions from gap g join webhook_endpoints e
            on (e.account_id, e.id) > (g.after_account, g.after_endpoint)
            and (e.account_id, e.id) < (g.to_account, g.to_endpoint)
          union
          select e.account_id, e.id, e.resumptions from gap g join webhook_endpoints e
            on e.account_id = g.to_account and e.id = g.to_endpoint)
        select json_agg(row_to_json(position)) as found from (
          select c.account_id, c.id as endpoint_id, ${positionAfter(sql`first`, sql`c.resumptions`)}
          from candidate c
          cross join lateral (select ${entriesRead} as before where c.id is not null offset 0) b
          left join lateral (
            select q.generation, q.due_at from queue q
            where q.account_id = c.account_id and q.endpoint_id = c.id and b.before is not null
            order by q.generation, q.due_at limit 1) first on true
          cross join lateral (
            select ${entriesRead} - b.before as walked where coalesce(first.generation, 0) is not null offset 0) r
          where r.walked >= ${MANY_ENTRIES}::int) position`,
    'find_positions',
  );
}

async function found(tx: Tx, query: Sql, name: string): Promise<Position[]> {
  const [row] = await rows<{ found: string | null }>(tx, query, name);
  return JSON.parse(row?.found ?? '[]') as Position[];
}
