import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { makeEndpoint, publishAtRate, waitsAt } from './latency.ts';
import { count, duration, type Group, percentile, type Result } from './measure.ts';
import { type Bench, startBench, startWorker } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { emptyDeliveries } from './seed.ts';

const GOAL = 2;
const RATE = 100;
const ENDPOINTS = 5;
/** The age of the oldest dead row. */
const MINUTES = 10;
const POLL_MS = 20;
const WARM_UP_SECONDS = 6;

/** What keeps PostgreSQL from removing dead rows: statements of a session that stays in its transaction. */
const HOLDERS: Readonly<Record<string, readonly string[]>> = {
  'an idle transaction': ['begin', 'select pg_current_xact_id()'],
  'a report': [
    'begin isolation level repeatable read read only',
    'declare report cursor for select * from webhook_endpoints',
    'fetch 1 from report',
  ],
  'a backup': [
    'begin isolation level repeatable read read only',
    'select count(*) from accounts',
    'lock table accounts, queue in access share mode',
  ],
};

/** The statements of the queue, by a unique part of their text. */
const STATEMENTS = {
  'look for work': '%visited (account_id, endpoint_id, place, may_start_at%',
  claim: '%as f (place int, account_id uuid%skip locked) q%',
  publish: '%insert into events (account_id%',
  settle: '%owned as materialized%',
  'add up counts': '%with gone as (%delivery_count_deltas%',
} as const;
type Statement = keyof typeof STATEMENTS;

/** Fewer calls of these take more rows each, so their cost is counted per delivery. */
const OF_DELIVERIES: readonly Statement[] = ['publish', 'settle', 'add up counts'];

/** The cost of a statement in PostgreSQL, per call or per delivery. */
interface Cost {
  readonly calls: number;
  readonly seconds: number;
  /** Blocks it read. */
  readonly blocks: number;
}

interface Run {
  readonly costs: Readonly<Record<Statement, Cost>>;
  /** Seconds of PostgreSQL for each delivery, all statements. */
  readonly each: number;
  readonly p50: number;
}

const WAYS = { 'one process': 0, 'with a second worker': 1 } as const;
type Way = keyof typeof WAYS;

async function measure(bench: Bench, sink: Receiver, way: Way, seconds: number): Promise<Run> {
  const types = Array.from({ length: ENDPOINTS }, (_, index) => `horizon.type${index}`);
  const workers = Array.from({ length: WAYS[way] }, () => startWorker(bench.dataDir, LOOPBACK));
  while ((await workersOf(bench)) !== 1 + workers.length) await delay(POLL_MS);
  const publish = async (time: number) => {
    await sink.reset();
    await publishAtRate(bench, types, RATE, time);
    await sink.until(Math.round(RATE * time));
  };
  // a starting worker waits for others, and its first claims find the dead rows
  await publish(WARM_UP_SECONDS);
  await bench.pg.query('select pg_stat_statements_reset()');
  await publish(seconds);
  const p50 = percentile(await waitsAt(sink, '/one'), 0.5);
  const rows = await read(bench);
  await Promise.all(workers.map((worker) => worker.stop()));
  return {
    costs: Object.fromEntries(
      (Object.keys(STATEMENTS) as Statement[]).map((name) => [
        name,
        costOf(rows, { name, deliveries: RATE * seconds }),
      ]),
    ) as Run['costs'],
    each: rows.reduce((all, { ms }) => all + ms / 1000, 0) / (RATE * seconds),
    p50,
  };
}

interface Row {
  readonly query: string;
  readonly calls: number;
  readonly ms: number;
  readonly blocks: number;
}

/** What PostgreSQL counted of the program's statements. */
async function read(bench: Bench): Promise<readonly Row[]> {
  const { rows } = await bench.pg.query<Row>(
    `select query, calls::float8, total_exec_time as ms, (shared_blks_hit + shared_blks_read)::float8 as blocks
     from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = $1`,
    [bench.connection.user],
  );
  return rows;
}

function costOf(rows: readonly Row[], { name, deliveries }: { name: Statement; deliveries: number }): Cost {
  const parts = STATEMENTS[name].split('%').map((part) => part.replace(/[()*]/g, '\\$&'));
  const pattern = new RegExp(parts.join('.*'), 's');
  const those = rows.filter(({ query }) => pattern.test(query));
  const sum = (of: 'calls' | 'ms' | 'blocks') => those.reduce((all, row) => all + row[of], 0);
  const calls = sum('calls');
  const times = OF_DELIVERIES.includes(name) ? deliveries : calls;
  return { calls, seconds: sum('ms') / 1000 / times, blocks: sum('blocks') / times };
}

async function workersOf(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from workers');
  return rows[0]?.n ?? 0;
}

/**
 * Leaves dead rows as deliveries do that were published, leased and settled in the last minutes: half of them at an
 * endpoint without new events. Three statements, because PostgreSQL removes rows that one transaction writes and deletes.
 */
async function leaveDead(bench: Bench, tuples: number): Promise<void> {
  const deliveries = tuples / 2;
  await bench.pg.query('update webhook_endpoints set disabled_at = now(), disabled_reason = $1', ['manual']);
  await bench.pg.query(
    `insert into queue (account_id, endpoint_id, event_id, generation, due_at)
     select $1, case when g % 2 = 0 then ids[1] else ids[2 + g / 2 % $3] end, new_id(), 0,
            now() - interval '1 minute' * $4 * (1 - g / $2::float8)
     from generate_series(1, $2::int) g
     cross join (select array_agg(id order by event_types[1]) as ids from webhook_endpoints where account_id = $1) e
     order by g`,
    [bench.account, deliveries, ENDPOINTS, MINUTES],
  );
  await bench.pg.query(`update queue set due_at = due_at + interval '20 seconds', lease_token = new_id()`);
  await bench.pg.query('delete from queue');
  await bench.pg.query('update webhook_endpoints set disabled_at = null, disabled_reason = null');
}

async function deadTuples(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>(
    `select n_dead_tup::float8 as n from pg_stat_user_tables where relname = 'queue'`,
  );
  return rows[0]?.n ?? 0;
}

/** The cost of the queue at a steady rate while a session keeps dead rows in it. */
export const horizon: Group = {
  name: 'horizon',
  area: `${RATE} events a second while an old snapshot keeps dead rows in the queue`,
  async *run({ dead, latencySeconds: seconds }, note) {
    const bench = await startBench(LOOPBACK, { preload: 'pg_stat_statements' });
    const sink = await startReceiver();
    // the first type gets no new events
    await makeEndpoint(bench, `${sink.url}/gone`, 'horizon.gone');
    for (let index = 0; index < ENDPOINTS; index += 1)
      await makeEndpoint(bench, `${sink.url}/one${index}`, `horizon.type${index}`);
    const all = async () => {
      const runs = {} as Record<Way, Run>;
      for (const way of Object.keys(WAYS) as Way[]) runs[way] = await measure(bench, sink, way, seconds);
      return runs;
    };
    await measure(bench, sink, 'one process', 1);
    note('nothing is dead');
    const none = await all();
    for (const [what, statements] of Object.entries(HOLDERS)) {
      await emptyDeliveries(bench.pg);
      await bench.pg.query('vacuum (analyze)');
      const holder = await hold(bench, statements);
      await leaveDead(bench, dead);
      note(`${what} holds ${count(await deadTuples(bench))} dead rows`);
      const held = await all();
      await holder.end();
      for (const way of Object.keys(WAYS) as Way[]) yield* resultsOf(`${what}, ${way}`, held[way], none[way]);
    }
    await bench.stop();
  },
};

async function hold(bench: Bench, statements: readonly string[]): Promise<pg.Client> {
  const client = await bench.connect();
  for (const statement of statements) await client.query(statement);
  return client;
}

function* resultsOf(what: string, held: Run, none: Run): Generator<Result> {
  for (const name of Object.keys(STATEMENTS) as Statement[]) {
    const [cost, least] = [held.costs[name], none.costs[name]];
    if (!cost.calls || !least.calls) continue;
    const ratio = cost.blocks / least.blocks;
    yield {
      measure: `${what}: ${name}, blocks a ${OF_DELIVERIES.includes(name) ? 'delivery' : 'call'}`,
      figure: `${cost.blocks.toFixed(0)}; ${duration(cost.seconds)}`,
      against: `nothing is dead ${least.blocks.toFixed(0)}; ${duration(least.seconds)}`,
      ratio,
      goal: `≤ ${GOAL} ×`,
      met: ratio <= GOAL,
      samples: {
        blocks: [cost.blocks],
        none: [least.blocks],
        seconds: [cost.seconds],
        noneSeconds: [least.seconds],
        calls: [cost.calls, least.calls],
      },
    };
  }
  for (const [measure, of] of [
    ['PostgreSQL for a delivery', ({ each }: Run) => each],
    ['from the POST to the first byte, p50', ({ p50 }: Run) => p50],
  ] as const) {
    const ratio = of(held) / of(none);
    yield {
      measure: `${what}: ${measure}`,
      figure: duration(of(held)),
      against: `nothing is dead ${duration(of(none))}`,
      ratio,
      goal: `≤ ${GOAL} ×`,
      met: ratio <= GOAL,
      samples: { held: [of(held)], none: [of(none)] },
    };
  }
}
