import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { load } from './load.ts';
import { alone, type Group, interleaved, median, noGoal, type Result } from './measure.ts';
import { type Bench, postgresSeconds, processorSeconds, startBench, startScript } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { EVENT_FILLER, emptyDeliveries } from './seed.ts';

const BARE_PUBLISHER = fileURLToPath(new URL('bare-publisher.ts', import.meta.url));
const BARE_CONNECTIONS = 64;
const POLL_MS = 20;
const COUNTED_SECONDS = 2;

interface Way {
  readonly name: string;
  readonly connections: number;
  /** Endpoints that get the events in turn. */
  readonly endpoints: number;
  /** Endpoints that each event goes to. */
  readonly fanOut: number;
}

const WAYS: readonly Way[] = [
  { name: '1 connection', connections: 1, endpoints: 1, fanOut: 1 },
  { name: '8 connections', connections: 8, endpoints: 1, fanOut: 1 },
  { name: '32 connections', connections: 32, endpoints: 1, fanOut: 1 },
  { name: '128 connections', connections: 128, endpoints: 1, fanOut: 1 },
  { name: '32 connections, ten endpoints', connections: 32, endpoints: 10, fanOut: 1 },
  { name: '32 connections, fan-out 5', connections: 32, endpoints: 1, fanOut: 5 },
];

/** Of one burst: deliveries a second from the first to the last, and processor microseconds for each. */
interface Burst {
  readonly rate: number;
  readonly server: number;
  readonly postgres: number;
  /** The load generator and the receiver together. */
  readonly tools: number;
}

const ownSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Endpoints for every way; each way has types of its own. */
export async function makeEndpoints(bench: Bench, sink: Receiver, ways: readonly Way[]): Promise<void> {
  for (const [place, { endpoints, fanOut }] of ways.entries()) {
    for (let index = 0; index < endpoints; index += 1) {
      for (let copy = 0; copy < fanOut; copy += 1) {
        await bench.send('POST', '/v2/webhook-endpoints', {
          url: `${sink.url}/way${place}/${index}/${copy}`,
          event_types: [`way${place}.type${index}`],
        });
      }
    }
  }
}

/** Publishes for some seconds, one request after the other on each connection, and waits until all is delivered. */
export async function burst(
  bench: Bench,
  sink: Receiver,
  { way, place, seconds }: { way: Way; place: number; seconds: number },
): Promise<Burst> {
  await emptyDeliveries(bench.pg);
  await bench.pg.query('checkpoint');
  await sink.reset();
  let sent = 0;
  const body = () => {
    sent += 1;
    return `{"type":"way${place}.type${sent % way.endpoints}","data":{${EVENT_FILLER}}}`;
  };
  const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
  const spent = () => [
    processorSeconds(bench.pid),
    postgresSeconds(bench.dataDir),
    ownSeconds() + processorSeconds(sink.pid),
  ];
  const before = spent();
  await load(bench.url, { path: '/v2/events', headers, body }, { connections: way.connections, seconds });
  const { count, first, last } = await sink.until(sent * way.fanOut);
  while ((await waiting(bench)) > 0) await delay(POLL_MS);
  const after = spent();
  if (count !== sent * way.fanOut) throw new Error(`${count} deliveries of ${sent * way.fanOut}`);
  const [server = 0, postgres = 0, tools = 0] = after.map(
    (value, index) => ((value - (before[index] ?? 0)) * 1e6) / count,
  );
  return { rate: ((count - 1) * 1e6) / (last - first), server, postgres, tools };
}

async function waiting(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from queue');
  return rows[0]?.n ?? 0;
}

/** The floor as a separate process: one INSERT and one request for each POST. */
export function startBare(bench: Bench, sink: Receiver): Promise<{ url: string; pid: number }> {
  const settings = { connection: bench.connection, url: sink.url, connections: BARE_CONNECTIONS };
  return startScript(BARE_PUBLISHER, { env: { BARE: JSON.stringify(settings) } });
}

/** Deliveries per second of the floor: one INSERT and one request each. */
async function bareBurst(url: string, sink: Receiver, connections: number, seconds: number): Promise<number> {
  await sink.reset();
  let sent = 0;
  const body = () => {
    sent += 1;
    return `{"type":"way.bare","data":{${EVENT_FILLER}}}`;
  };
  const headers = { 'content-type': 'application/json' };
  await load(url, { path: '/', headers, body }, { connections, seconds });
  const { count, first, last } = await sink.until(sent);
  return ((count - 1) * 1e6) / (last - first);
}

/** Statements and commits for each delivery, at 1 and at 32 connections, counted by PostgreSQL itself. */
async function* counted(note: (text: string) => void): AsyncGenerator<Result> {
  const bench = await startBench(LOOPBACK, { preload: 'pg_stat_statements' });
  const sink = await startReceiver();
  const ways = WAYS.filter(({ endpoints, fanOut }) => endpoints === 1 && fanOut === 1);
  await makeEndpoints(bench, sink, ways);
  for (const [place, way] of ways.entries()) {
    note(`counting statements, ${way.name}`);
    await burst(bench, sink, { way, place, seconds: 1 });
    await bench.pg.query('select pg_stat_statements_reset()');
    await burst(bench, sink, { way, place, seconds: COUNTED_SECONDS });
    const { count } = await sink.report();
    const { rows } = await bench.pg.query<{ calls: number; commits: number; query: string }>(
      `select sum(calls)::float8 as calls, sum(calls) filter (where query = 'commit')::float8 as commits
       from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = $1`,
      [bench.connection.user],
    );
    const [{ calls = 0, commits = 0 } = {}] = rows;
    yield {
      measure: `statements a delivery, ${way.name}`,
      figure: `${(calls / count).toFixed(2)}; ${(commits / count).toFixed(2)} of them commits`,
      ...alone,
      ...noGoal,
      samples: { calls: [calls], commits: [commits], deliveries: [count] },
    };
  }
  await bench.stop();
}

/** Publishing and delivering at the same time, server and worker in one process. */
export const mixed: Group = {
  name: 'mixed',
  area: 'Publishing and delivering at once (µs: processor time a delivery, server + PostgreSQL)',
  async *run({ dearRounds, loadSeconds }, note) {
    const bench = await startBench(LOOPBACK);
    const sink = await startReceiver();
    const bare = await startBare(bench, sink);
    await makeEndpoints(bench, sink, WAYS);
    const bursts = WAYS.map((): Burst[] => []);
    const own = WAYS.map((way, place) => {
      const run = async () => {
        note(way.name);
        const result = await burst(bench, sink, { way, place, seconds: loadSeconds });
        bursts[place]?.push(result);
        return result.rate;
      };
      return [way.name, run] as const;
    });
    const floors = [1, 32].map((connections) => {
      const run = () => {
        note(`bare sender and one INSERT, ${connections} connections`);
        return bareBurst(bare.url, sink, connections, loadSeconds);
      };
      return [`bare ${connections}`, run] as const;
    });
    const samples = await interleaved<string>(dearRounds + 1, Object.fromEntries([...own, ...floors]));
    for (const [place, { name, connections, fanOut }] of WAYS.entries()) {
      const floor = fanOut === 1 ? samples[`bare ${connections}`] : undefined;
      const cost = (of: keyof Burst) => median((bursts[place] ?? []).map((each) => each[of]));
      const rate = median(samples[name] ?? []);
      yield {
        measure: `deliveries a second, ${name}`,
        figure: `${rate.toFixed(0)}/s; ${cost('server').toFixed(0)} + ${cost('postgres').toFixed(0)} µs (load and receiver ${cost('tools').toFixed(0)})`,
        against: floor ? `bare sender and one INSERT ${median(floor).toFixed(0)}/s` : '–',
        ratio: floor ? rate / median(floor) : null,
        ...noGoal,
        samples: {
          rate: samples[name] ?? [],
          server_us: (bursts[place] ?? []).map(({ server }) => server),
          postgres_us: (bursts[place] ?? []).map(({ postgres }) => postgres),
          ...(floor ? { bare: floor } : {}),
        },
      };
    }
    await bench.stop();
    yield* counted(note);
  },
};
