import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { count, type Group, interleaved, median, type Result } from './measure.ts';
import {
  type Bench,
  postgresSeconds,
  processorSeconds,
  start,
  startBench,
  startWorker,
  temporaryFolder,
} from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { emptyDeliveries, seedDeliveries, settleDeliveries } from './seed.ts';
import type { Report } from './sink.ts';

/** The heading of the figures of a full queue. */
export const AREA = 'Delivering what waits in the queue (µs: processor time a delivery, worker + PostgreSQL)';
const GOAL = 0.6;
const GOAL_IN_BATCHES = 1;
const BATCH = { max_events: 100 };
const ONE_EACH = 'to a single endpoint';
const IN_BATCHES = `${ONE_EACH} in batches of ${BATCH.max_events}`;
const ENDPOINTS = 200;
const CONNECTIONS = 64; // as many as the worker opens to one origin
const POLL_MS = 20;
const BARE_SENDER = fileURLToPath(new URL('bare-sender.ts', import.meta.url));

const perSecond = ({ count, opening, first, last }: Report) => ((count - opening) * 1e6) / (last - first);

/** Microseconds of processor time for each delivery. */
interface Cost {
  readonly worker: number[];
  readonly postgres: number[];
  readonly sink: number[];
}

export const noCost = (): Cost => ({ worker: [], postgres: [], sink: [] });

/**
 * Starts a worker on a full queue and waits until nothing of the bench's account is left in it. Returns the
 * deliveries per second at the sink, which must be all of this account's, delivered at the first attempt.
 */
export async function drainQueue(bench: Bench, sink: Receiver, total: number, cost: Cost): Promise<number> {
  await settleDeliveries(bench.pg);
  await sink.reset();
  const worker = startWorker(bench.dataDir, LOOPBACK);
  const spent = () => [
    processorSeconds(worker.pid),
    postgresSeconds(bench.dataDir),
    processorSeconds(sink.pid),
  ];
  const begun = await sink.until(1); // its start is not counted
  const before = spent();
  const report = await sink.until(total);
  while ((await waiting(bench)) > 0) await delay(POLL_MS);
  const after = spent();
  await worker.stop();
  await check(bench, total);
  for (const [index, values] of [cost.worker, cost.postgres, cost.sink].entries()) {
    const seconds = (after[index] ?? Number.NaN) - (before[index] ?? Number.NaN);
    values.push((seconds * 1e6) / (total - begun.count));
  }
  return perSecond(report);
}

async function waiting(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>(
    'select count(*)::int as n from queue where account_id = $1',
    [bench.account],
  );
  return rows[0]?.n ?? 0;
}

async function check(bench: Bench, total: number): Promise<void> {
  const { rows } = await bench.pg.query<{ delivered: number; attempts: number }>(
    `select (select count(*)::int from deliveries where account_id = $1 and status = 'delivered') as delivered,
            (select count(*)::int from attempts where account_id = $1) as attempts`,
    [bench.account],
  );
  const { delivered, attempts } = rows[0] ?? {};
  if (delivered !== total || attempts !== total) {
    throw new Error(`${delivered} were delivered of ${total}, in ${attempts} attempts`);
  }
}

/** Writes the payloads of the seeded events to a file, one a line. */
async function writePayloads(bench: Bench): Promise<string> {
  const file = join(temporaryFolder(), 'payloads');
  const { rows } = await bench.pg.query<{ payload: string }>('select payload from events order by id');
  writeFileSync(file, rows.map(({ payload }) => `${payload}\n`).join(''));
  return file;
}

async function sendBare(sink: Receiver, file: string): Promise<number> {
  await sink.reset();
  const settings = { file, url: sink.url, endpoints: ENDPOINTS, connections: CONNECTIONS };
  const log = join(temporaryFolder(), 'bare-sender.log');
  const child = start(['--import', 'tsx', BARE_SENDER], { BARE: JSON.stringify(settings) }, log);
  await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error(`the bare sender failed: see ${log}`);
  return perSecond(await sink.reset());
}

/** One worker delivers a full queue, against a process that signs and sends the same payloads. */
export const drain: Group = {
  name: 'drain',
  area: AREA,
  async *run({ deliveries: total, dearRounds }, note) {
    const bench = await startBench({ ...LOOPBACK, DELIVERY_WORKER: 'off' });
    const sink = await startReceiver();
    note('making endpoints');
    const ids: string[] = [];
    for (let index = 0; index < ENDPOINTS; index += 1) {
      const made = await bench.send('POST', '/v2/webhook-endpoints', { url: `${sink.url}/e${index}` });
      ids.push((JSON.parse(made) as { id: string }).id);
    }
    // the one that is seeded when there is only one
    const [single] = ids.sort();
    await seedDeliveries(bench.pg, {
      account: bench.account,
      events: total,
      fanOut: 1,
      endpoints: ENDPOINTS,
    });
    const file = await writePayloads(bench);

    const ways = [
      { name: 'fan-out 1', fanOut: 1, endpoints: ENDPOINTS, batch: null },
      { name: 'fan-out 5', fanOut: 5, endpoints: ENDPOINTS, batch: null },
      { name: ONE_EACH, fanOut: 1, endpoints: 1, batch: null },
      { name: IN_BATCHES, fanOut: 1, endpoints: 1, batch: BATCH },
    ];
    const costs = ways.map(noCost);
    const own = ways.map(({ name, fanOut, endpoints, batch }, index) => {
      const run = async () => {
        note(name);
        const events = total / fanOut;
        await bench.send('PATCH', `/v2/webhook-endpoints/${single}`, { batch });
        await emptyDeliveries(bench.pg);
        await seedDeliveries(bench.pg, { account: bench.account, events, fanOut, endpoints });
        return drainQueue(bench, sink, total, costs[index] as Cost);
      };
      return [name, run] as const;
    });
    const bare = () => {
      note('bare sender');
      return sendBare(sink, file);
    };
    const samples = await interleaved<string>(dearRounds + 1, { bare, ...Object.fromEntries(own) });
    const bareSender = { name: 'bare sender', samples: samples.bare ?? [], goal: GOAL };
    const oneEach = { name: 'one in each request', samples: samples[ONE_EACH] ?? [], goal: GOAL_IN_BATCHES };
    for (const [index, { name }] of ways.entries()) {
      yield resultOf(`${count(total)} deliveries, ${name}`, {
        own: samples[name] ?? [],
        against: name === IN_BATCHES ? oneEach : bareSender,
        cost: costs[index] as Cost,
      });
    }
    await bench.stop();
  },
};

/** What deliveries are compared with. */
interface Other {
  readonly name: string;
  readonly samples: number[];
  /** The least that ours may be of it. */
  readonly goal: number;
}

function resultOf(
  measure: string,
  { own, against, cost }: { own: number[]; against: Other; cost: Cost },
): Result {
  const ratio = median(own) / median(against.samples);
  const { worker, postgres, sink } = cost;
  return {
    measure,
    figure: `${median(own).toFixed(0)}/s; ${median(worker).toFixed(0)} + ${median(postgres).toFixed(0)} µs`,
    against: `${against.name} ${median(against.samples).toFixed(0)}/s`,
    ratio,
    goal: `≥ ${against.goal} ×`,
    met: ratio >= against.goal,
    samples: { own, other: against.samples, worker_us: worker, postgres_us: postgres, sink_us: sink },
  };
}
