import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { count, type Group, noGoal, type Result } from './measure.ts';
import { type Bench, postgresSeconds, processorSeconds, residentBytes, startBench } from './program.ts';
import { LOOPBACK } from './receiver.ts';

const GOAL = 2;
const PROBE_EVERY_MS = 5000;
const ENDPOINTS = 10_000;
const MINUTE_S = 60;
/** The time for the first run of all chores. */
const SETTLE_MS = 15_000;

/** The cost of an idle server. */
interface Minute {
  /** Processor seconds a minute, of the server and of PostgreSQL. */
  readonly server: number;
  readonly postgres: number;
  /** Statements, and rows that they read, a minute. */
  readonly statements: number;
  readonly rows: number;
  readonly memory: number;
  /** The statements that took most of the time of PostgreSQL. */
  readonly worst: string;
}

const MEASURES = {
  server: { measure: 'processor time of the server', shown: (value: number) => `${value.toFixed(2)} s` },
  postgres: { measure: 'processor time of PostgreSQL', shown: (value: number) => `${value.toFixed(2)} s` },
  statements: { measure: 'statements', shown: (value: number) => value.toFixed(0) },
  rows: { measure: 'rows that are read', shown: (value: number) => value.toFixed(0) },
  memory: { measure: 'memory of the server', shown: (value: number) => `${(value / 1e6).toFixed(0)} MB` },
} as const;

/** Makes accounts with an affiliate each, and endpoints distributed over them. */
async function seed(bench: Bench, accounts: number): Promise<void> {
  const endpoints = accounts === 1 ? 1 : ENDPOINTS;
  await bench.pg.query(
    `with made as (insert into accounts (name) select 'Idle ' || g from generate_series(2, $1::int) g returning id)
     insert into payout_books (account_id) select id from made`,
    [accounts],
  );
  await bench.pg.query(
    `with numbered as (select id, row_number() over (order by id) as n, count(*) over () as all_accounts from accounts),
     made as (
       insert into webhook_endpoints (account_id, url, secret)
       select a.id, 'https://idle.example.com/' || g, 'x'
       from generate_series(1, $1::int) g join numbered a on a.n = 1 + g % a.all_accounts
       returning account_id, id)
     insert into endpoint_state (account_id, endpoint_id) select account_id, id from made`,
    [endpoints],
  );
  await bench.pg.query(
    `insert into affiliates (account_id, external_id, email, payout_method)
     select id, 'aff', 'idle@example.com', 'other' from accounts on conflict do nothing`,
  );
  await bench.pg.query('vacuum (analyze)');
}

async function rowsRead(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>(
    `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 as n from pg_stat_user_tables`,
  );
  return rows[0]?.n ?? 0;
}

/** Waits while only a load balancer and Prometheus send requests. */
async function idle(bench: Bench, metrics: string, seconds: number): Promise<Minute> {
  await bench.pg.query('select pg_stat_statements_reset()');
  const before = {
    server: processorSeconds(bench.pid),
    postgres: postgresSeconds(bench.dataDir),
    rows: await rowsRead(bench),
    at: performance.now(),
  };
  const end = before.at + seconds * 1000;
  for (let next = before.at; next < end; next += PROBE_EVERY_MS) {
    for (const address of [`${bench.url}/readyz`, metrics]) await (await request(address)).body.dump();
    await delay(Math.max(0, Math.min(end, next + PROBE_EVERY_MS) - performance.now()));
  }
  const share = MINUTE_S / ((performance.now() - before.at) / 1000);
  const server = (processorSeconds(bench.pid) - before.server) * share;
  const postgres = (postgresSeconds(bench.dataDir) - before.postgres) * share;
  const { rows } = await bench.pg.query<{ calls: number; ms: number; query: string }>(
    `select calls::float8, total_exec_time as ms, query
     from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = $1 order by 2 desc`,
    [bench.connection.user],
  );
  return {
    server,
    postgres,
    statements: rows.reduce((sum, { calls }) => sum + calls, 0) * share,
    rows: ((await rowsRead(bench)) - before.rows) * share,
    memory: residentBytes(bench.pid),
    worst: rows
      .slice(0, 8)
      .map(
        ({ calls, ms, query }) =>
          `${(ms * share).toFixed(0)} ms, ${calls}: ${query.replace(/\s+/g, ' ').slice(0, 110)}`,
      )
      .join('\n  '),
  };
}

/** The cost of an idle platform. */
export const idlePlatforms: Group = {
  name: 'idle',
  area: 'A minute in which nothing happens, probed by a load balancer and by Prometheus',
  async *run({ platforms, idleSeconds }, note) {
    const minutes = new Map<number, Minute>();
    for (const accounts of [1, ...platforms]) {
      const bench = await startBench(
        { ...LOOPBACK, METRICS_PORT: '9464' },
        { preload: 'pg_stat_statements' },
      );
      await seed(bench, accounts);
      await delay(SETTLE_MS);
      const minute = await idle(bench, 'http://127.0.0.1:9464/metrics', idleSeconds);
      note(`${count(accounts)} accounts:\n  ${minute.worst}`);
      minutes.set(accounts, minute);
      await bench.stop();
    }
    const [least] = minutes.values();
    if (least === undefined) return;
    for (const accounts of platforms) {
      const minute = minutes.get(accounts);
      if (minute !== undefined) yield* resultsOf(accounts, minute, least);
    }
  },
};

function* resultsOf(accounts: number, minute: Minute, least: Minute): Generator<Result> {
  for (const [of, { measure, shown }] of Object.entries(MEASURES) as [
    keyof typeof MEASURES,
    (typeof MEASURES)['rows'],
  ][]) {
    const ratio = minute[of] / least[of];
    yield {
      measure: `${count(accounts)} accounts, ${count(ENDPOINTS)} endpoints: ${measure}`,
      figure: shown(minute[of]),
      against: `one account, one endpoint ${shown(least[of])}`,
      ratio,
      // the metrics count the endpoints
      ...(of === 'rows' ? noGoal : { goal: `≤ ${GOAL} ×`, met: ratio <= GOAL }),
      samples: { own: [minute[of]], one: [least[of]] },
    };
  }
}
