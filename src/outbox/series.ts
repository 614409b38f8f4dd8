import sql, { type Sql } from 'sql-template-tag';
import { type Reader, rows } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';
import { cut, type Lengths, type Piece } from '../kernel/spans.ts';
import { formatInstant } from '../kernel/time.ts';
import { type Endpoints, ofEndpoints, ofScope } from './counts.ts';

const LENGTHS: Lengths = [
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** What to read from the sums of outbox/counts.ts. */
interface DeliverySeries {
  readonly account: AccountId;
  readonly endpoint: Endpoints;
  /** The beginnings of buckets and the end of the last: milliseconds since 1970, whole minutes, in order. */
  readonly edges: readonly number[];
  /** A query of `event_id`: failed deliveries that are not counted yet. */
  readonly uncounted: Sql;
}

/** The numbers of deliveries and attempts in a bucket. */
export interface DeliverySum {
  /** The index of the bucket. */
  readonly bucket: number;
  /** Deliveries of events published in it, and how many of them have this status now. */
  readonly published: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Attempts that began in it, by code, as the migration of `attempt_code` defines it. */
  readonly attempts: Readonly<Record<string, number>>;
}

/** The sums of consecutive spans of time. Spans without any are left out. */
export async function readDeliverySeries(
  db: Reader,
  { account, endpoint, edges, uncounted }: DeliverySeries,
): Promise<DeliverySum[]> {
  const pieces = piecesOf(edges);
  const instants = (times: readonly number[]) => sql`${times.map(formatInstant)}::timestamptz[]`;
  // a position from 1 on; values outside all buckets are dropped at the end
  const bucketOf = (at: Sql) => sql`width_bucket(${at}, (select edges from asked))`;
  const ofPiece = (table: Sql) => sql`
    piece p cross join lateral (
      select * from ${table} s
      where s.account_id = ${account} ${ofScope(sql`s.scope_id`, account, endpoint)} and s.span = p.span
        and s.starts_at >= p.from_at and s.starts_at < p.until_at offset 0) s`;
  const sums = await rows<Omit<DeliverySum, 'attempts'> & { attempts: string }>(
    db,
    sql`with asked as materialized (select ${instants(edges)} as edges),
        piece as materialized (
          select * from unnest(${pieces.map(({ length }) => length)}::text[], ${instants(pieces.map(({ from }) => from))},
            ${instants(pieces.map(({ until }) => until))}) as p (span, from_at, until_at)),
        fresh as materialized (
          select * from delivery_count_deltas
          where account_id = ${account} ${ofEndpoints(sql`endpoint_id`, endpoint)}),
        counted as (
          select bucket, sum(total) as published, sum(delivered) as delivered, sum(failed) as failed,
                 sum(cancelled) as cancelled
          from (
            select ${bucketOf(sql`s.starts_at`)} as bucket, s.total, s.delivered, s.failed, s.cancelled
            from ${ofPiece(sql`delivery_counts`)}
            union all
            select ${bucketOf(sql`minute`)}, total, delivered, failed, cancelled from fresh
            union all
            select ${bucketOf(sql`id_time(event_id)`)}, 0, 0, 1, 0 from (${uncounted}) u) part
          group by 1),
        attempted as (
          select bucket, json_object_agg(code, n) as attempts
          from (
            select bucket, code, sum(n) as n
            from (
              select ${bucketOf(sql`s.starts_at`)} as bucket, each.code, each.n
              from ${ofPiece(sql`attempt_counts`)} cross join lateral unnest(s.codes, s.counts) each (code, n)
              union all
              select ${bucketOf(sql`attempted_minute`)}, abs(code)::int2, sign(code)::int
              from fresh cross join lateral unnest(attempt_codes) code) part
            group by 1, 2 having sum(n) <> 0) coded
          group by 1)
        select bucket - 1 as bucket, coalesce(published, 0)::float8 as published, coalesce(delivered, 0)::float8 as delivered,
               coalesce(failed, 0)::float8 as failed, coalesce(cancelled, 0)::float8 as cancelled,
               coalesce(attempts, '{}') as attempts
        from counted full join attempted using (bucket)
        where bucket between 1 and ${edges.length - 1}::int`,
  );
  return sums.map(({ attempts, ...sum }) => ({ ...sum, attempts: JSON.parse(attempts) }));
}

/** Groups the buckets into few pieces: consecutive sums of one length are read together. */
function piecesOf(edges: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  const each = edges.slice(1).flatMap((until, index) => cut({ from: edges[index] ?? until, until }, LENGTHS));
  for (const piece of each) {
    const last = pieces.at(-1);
    if (last?.length === piece.length && last.until === piece.from) {
      pieces[pieces.length - 1] = { ...last, until: piece.until };
    } else {
      pieces.push(piece);
    }
  }
  return pieces;
}
