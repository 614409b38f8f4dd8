import type pg from 'pg';
import { connect } from '../src/db/connect.ts';
import { makePartitions } from '../src/db/partitions.ts';
import type { Bench } from './program.ts';

const WEEK_MS = 7 * 86_400_000;
/** Endpoints of each account. */
const ENDPOINTS = 4;

/** What `seedLog` makes. */
export interface LogSeed {
  /** The accounts that share the rows in turn. */
  readonly accounts: readonly string[];
  readonly count: number;
  /** Milliseconds: the age of the oldest row, and the time over which the rows are spread evenly. */
  readonly ageMs: number;
  readonly spanMs: number;
}

/** Makes the partitions of the last weeks: a server makes those of its own time. */
export async function makePastWeeks(bench: Bench, weeks: number): Promise<void> {
  const db = connect({
    target: bench.connection,
    poolSize: 1,
    name: 'payhook bench',
    onIdleError: () => undefined,
  });
  const past = Array.from({ length: weeks }, (_, week) =>
    new Date(Date.now() - week * WEEK_MS).toISOString(),
  );
  await db.transaction((tx) => makePartitions(tx, past));
  await db.close();
}

// Of the row g: its time, its account, and a number that decides its result.
const ROWS = `generate_series($4::int, $5::int) g
  cross join lateral (select $2::int8 + g::int8 * $3::int8 / ($6::int + 1) as ms,
                             hashint4(g) & 2147483647 as dice) drawn
  cross join (
    select array_agg(account_id order by account_id, id) as accounts, array_agg(id order by account_id, id) as ids
    from webhook_endpoints where account_id = any($1)) e`;
const FAILED = 'dice % 50 = 7';
// 5 ms to 1.3 s, most of them below 100 ms
const CODE = `attempt_code((5 + dice % 97 * (1 + dice % 13) * (dice % 11) / 10)::int, case when ${FAILED} then 500 else 200 end)`;

/**
 * Makes a log of ended deliveries, at four endpoints of each account in turn, one in fifty of them failed, one
 * in a thousand of the type payout.paid, with its counts as they would have been folded, of one attempt each too. The
 * events and attempts themselves are left out: no list reads them. Both cores write: half of the rows each.
 */
export async function seedLog(bench: Bench, { accounts, count, ageMs, spanMs }: LogSeed): Promise<void> {
  await bench.pg.query(
    `with made as (
       insert into webhook_endpoints (account_id, url, secret)
       select account_id, 'https://hooks.example.com/' || g, ''
       from unnest($1::uuid[]) account_id, generate_series(1, $2::int) g returning account_id, id)
     insert into endpoint_state (account_id, endpoint_id) select account_id, id from made`,
    [accounts, ENDPOINTS],
  );
  const from = Date.now() - ageMs;
  const values = (first: number, last: number) => [accounts, from, spanMs, first, last, count];
  const half = count >> 1;
  const second = await bench.connect();
  await Promise.all([insertRows(bench.pg, values(1, half)), insertRows(second, values(half + 1, count))]);
  await second.end();
  await bench.pg.query("set work_mem = '512MB'"); // the groups of 90 days of minutes
  await bench.pg.query(
    `insert into delivery_counts (account_id, scope_id, span, starts_at, total, delivered, failed)
     select account_id, scope_id, span, date_bin(length, to_timestamp(minute * 60), '2001-01-01Z'), sum(total),
            sum(total - failed), sum(failed)
     from (
       select accounts[1 + g % cardinality(ids)] as account_id, ids[1 + g % cardinality(ids)] as endpoint_id,
              ms / 60000 as minute, count(*) as total, count(*) filter (where ${FAILED}) as failed
       from ${ROWS} group by 1, 2, 3) counted
     cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
     cross join (values ('week', interval '7 days'), ('hour', '1 hour'), ('minute', '1 minute')) part (span, length)
     group by 1, 2, 3, 4`,
    values(1, count),
  );
  await bench.pg.query(
    `insert into attempt_counts
     select account_id, scope_id, span, starts_at, date_bin('7 days', starts_at, '2001-01-01Z'), array_agg(code),
            array_agg(n)
     from (
       select account_id, scope_id, span, date_bin(length, to_timestamp(minute * 60), '2001-01-01Z') as starts_at, code,
              sum(n)::int as n
       from (
         select accounts[1 + g % cardinality(ids)] as account_id, ids[1 + g % cardinality(ids)] as endpoint_id,
                ms / 60000 as minute, ${CODE} as code, count(*) as n
         from ${ROWS} group by 1, 2, 3, 4) counted
       cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
       cross join (values ('hour', interval '1 hour'), ('minute', '1 minute')) part (span, length)
       group by 1, 2, 3, 4, 5) coded
     group by 1, 2, 3, 4`,
    values(1, count),
  );
  await bench.pg.query('reset work_mem');
}

function insertRows(client: pg.Client, values: unknown[]): Promise<unknown> {
  return client.query(
    `insert into deliveries (account_id, endpoint_id, event_id, type, status, attempt_count, last_attempt_at,
       last_response_status, last_error_code, delivered_at)
     select accounts[1 + g % cardinality(ids)], ids[1 + g % cardinality(ids)],
            (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(g::text), 1, 19))::uuid,
            case when dice % 1000 = 0 then 'payout.paid' else 'order.created' end,
            case when ${FAILED} then 'failed' else 'delivered' end, 1, to_timestamp(ms::float8 / 1000),
            case when ${FAILED} then 500 else 200 end, case when ${FAILED} then 'response_error' end,
            case when not (${FAILED}) then to_timestamp(ms::float8 / 1000) end
     from ${ROWS}`,
    values,
  );
}

/** Statistics and visibility as autovacuum would leave them, and no checkpoint in the middle of a measurement. */
export async function settleLog(client: pg.Client): Promise<void> {
  await client.query('vacuum (analyze) deliveries, delivery_counts, attempt_counts, webhook_endpoints');
  await client.query('checkpoint');
}

/** Bytes on disk of the log's rows, of their indexes, and of the sums. */
export async function logBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(relid)) + pg_total_relation_size('delivery_counts')
              + pg_total_relation_size('attempt_counts') as bytes
     from pg_partition_tree('deliveries') where isleaf`,
  );
  return Number(rows[0]?.bytes);
}
