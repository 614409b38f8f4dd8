import sql, { raw, type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../db/connect.ts';
import type { AccountId, EndpointId } from '../kernel/ids.ts';

/*
 * Where a worker begins to read the queue of an endpoint (docs/decisions/0086). PostgreSQL keeps the index entries of rows
 * that are gone as long as an old snapshot may read them, and they lie before those of the rows that are due. A position
 * says that no row lies before it. It is made only where many such entries were read, and lives in memory.
 *
 * A row may come to lie before a position if the transaction that writes it began earlier than the position says and commits
 * later: it writes the time of its beginning as `due_at`. A position therefore stays behind the clock. A transaction that
 * lasted longer than that says so when it announces its work, and the position goes back (`noteLate`). What was
 * announced to nobody is found when the position is found again, once a minute.
 */

/** No row of the endpoint lies before (generation, due_at). Times are passed on unread, with their microseconds. */
export interface Position {
  readonly account_id: AccountId;
  readonly endpoint_id: EndpointId;
  readonly generation: number;
  readonly due_at: string;
}

/** No lease of the endpoint that has not ended ends earlier. */
export interface LeasePosition {
  readonly endpoint_id: EndpointId;
  readonly leased_from: string;
}

/** Something was announced at `notedAt` that may be due since `since` (of `performance.now`). */
interface Late {
  readonly since: number;
  readonly notedAt: number;
}

interface Known extends Position {
  leased_from: string | null;
  late: Late | null;
  /** When it was made from the first entry of the endpoint on. */
  readonly madeAt: number;
}

/** The positions of a process. */
export interface Positions {
  /** As `knownPositions` reads them. */
  json(): string;
  /** Notes what a statement found that began at that time (of `performance.now`) from what `json` said. */
  advance(found: readonly Position[], begunAt: number): void;
  advanceLeases(found: readonly LeasePosition[]): void;
  /** Makes positions that a statement found that began at that time, from the first entry on, and forgets the one of `instead`. */
  make(found: readonly Position[], begunAt: number, instead?: EndpointId): void;
  /** A transaction committed that had begun so many milliseconds ago. */
  noteLate(ageMs: number): void;
  /** Hints may have been missed: every endpoint is read from its first entry again. */
  forgetAll(): void;
  /** An endpoint whose position was made long ago; null = there is none. */
  oldest(): Pick<Position, 'account_id' | 'endpoint_id'> | null;
}

/** Positions stay so far behind the beginning of the transaction that finds them. */
const MARGIN_MS = 300;
/** An announcement comes within this time, or the position is found again before its row is. */
const NEWS_MS = 2000;
const MADE_AGAIN_MS = 60_000;
/** No statement that finds positions lasts longer (`LONGEST_STATEMENT`). */
const FIND_MS = 300_000;
/** Longer than any transaction that publishes. */
const LONG_AGO_MS = 48 * 3_600_000;
/** More endpoints than these are read from their first entry. */
const MOST = 200;
/** So many entries of rows that are gone are worth a position. */
export const MANY_ENTRIES = 1000;

/** Makes an empty set of positions. `now` is in milliseconds. */
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
      // what was announced meanwhile may have been committed after the statement began
      const late = last !== null && last.notedAt >= begunAt ? last : null;
      for (const position of found)
        if (known.size < MOST)
          known.set(position.endpoint_id, { ...position, leased_from: null, late, madeAt: now() });
    },
    noteLate(ageMs) {
      if (ageMs < MARGIN_MS / 2) return;
      const notedAt = now();
      const since = notedAt - ageMs;
      // a statement that makes positions may be under way since an earlier note
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

/** No endpoint is known: what is published where no worker of the process delivers reads from the first entry. */
export const NO_POSITIONS = '[]';

/** The rows of `Positions.json`: with `due_from` no row is due before (generation, due_from), at time `now`. */
export const knownPositions = (json: string, now: Sql): Sql => sql`
  select k.account_id, k.endpoint_id, k.generation, k.leased_from,
         least(k.due_at, ${now} - k.late_ms * interval '1 millisecond') as due_from
  from json_to_recordset(${json}::json)
    as k (account_id uuid, endpoint_id uuid, generation int, due_at timestamptz, leased_from timestamptz, late_ms int)`;

/** Whether the row `q` of the queue does not lie before the position of `k`, whose columns are null if there is none. */
export const notBefore = (q: Sql, k: Sql): Sql =>
  sql`(${q}.generation, ${q}.due_at) >= (coalesce(${k}.generation, 0), coalesce(${k}.due_from, '-infinity'))`;

/** How many index entries this transaction has read of the order in which rows are due, those of rows that are gone included. */
export const entriesRead: Sql = raw(`pg_stat_get_xact_tuples_returned('queue_due'::regclass)`);

const MARGIN = sql`${MARGIN_MS}::int * interval '1 millisecond'`;

/**
 * The position of an endpoint, as columns, from its `resumptions` and the first row `first` that was found from an earlier
 * position on, whose columns are null if there is none. Rows that are published later get the endpoint's generation or a
 * larger one, and rows that are in flight keep theirs, with a later time than now. The transaction begins before the snapshot
 * that `first` comes from.
 */
export const positionAfter = (first: Sql, resumptions: Sql): Sql => sql`
  least(${first}.generation, ${resumptions}) as generation,
  least(case when ${first}.generation <= ${resumptions} then ${first}.due_at end, now() - ${MARGIN}) as due_at`;

/**
 * Finds the endpoints in gaps, as a claim names them, of which very many entries are read before the first row, and their
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
