import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { load } from './load.ts';
import { type Group, interleaved, median, noGoal } from './measure.ts';
import { type Bench, childrenOf, startBench } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { EVENT_FILLER, emptyDeliveries } from './seed.ts';
import { untilAtWork } from './workers.ts';

const NUMBERS = [1, 2, 4];
const CONNECTIONS = 32;

/**
 * Keeps the processes of the server on the first cores, and PostgreSQL, the generator and the receiver on the others. Does nothing
 * without a core for the others: then all share all cores.
 */
function pin(bench: Bench, sink: Receiver, number: number): string {
  const cores = cpus().length;
  if (cores <= 2 || number >= cores) return `all share ${cores} cores`;
  const on = (pids: readonly number[], from: number, to: number) => {
    for (const pid of pids) execFileSync('taskset', ['-a', '-c', '-p', `${from}-${to}`, String(pid)]);
  };
  const postmaster = Number.parseInt(
    readFileSync(join(bench.dataDir, 'postgres', 'postmaster.pid'), 'utf8'),
    10,
  );
  const all = childrenOf(bench.pid).filter((pid) => pid !== postmaster);
  on([bench.pid, ...all], 0, number - 1);
  on([postmaster, ...childrenOf(postmaster), sink.pid, process.pid], number, cores - 1);
  return `server on ${number} of ${cores} cores`;
}

/** Publishes over many connections. Returns the deliveries per second at the receiver. */
async function publishAndDeliver(bench: Bench, sink: Receiver, seconds: number): Promise<number> {
  await emptyDeliveries(bench.pg);
  await sink.reset();
  const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
  const body = () => `{"type":"bench.happened","data":{${EVENT_FILLER}}}`;
  await load(bench.url, { path: '/v2/events', headers, body }, { connections: CONNECTIONS, seconds });
  const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from events');
  const { count, opening, first, last } = await sink.until(rows[0]?.n ?? 0);
  return ((count - opening) * 1e6) / (last - first);
}

/** Publishing and delivering by one process and by several. */
export const cores: Group = {
  name: 'cores',
  area: 'Several processes',
  async *run({ dearRounds, loadSeconds }, note) {
    let where = '';
    const tasks = NUMBERS.map((number) => {
      const run = async () => {
        note(`PROCESSES=${number}`);
        const bench = await startBench({ ...LOOPBACK, PROCESSES: String(number) });
        const sink = await startReceiver();
        await bench.send('POST', '/v2/webhook-endpoints', { url: sink.url, event_types: ['bench.*'] });
        await untilAtWork(bench, number);
        where = pin(bench, sink, number);
        const rate = await publishAndDeliver(bench, sink, loadSeconds);
        await bench.stop();
        return rate;
      };
      return [String(number), run] as const;
    });
    const samples = await interleaved<string>(dearRounds, Object.fromEntries(tasks));
    const one = median(samples['1'] ?? []);
    for (const number of NUMBERS) {
      const own = samples[number] ?? [];
      yield {
        measure: `published over ${CONNECTIONS} connections and delivered by ${number}, ${where}`,
        figure: `${median(own).toFixed(0)}/s`,
        against: `one, ${one.toFixed(0)}/s`,
        ratio: median(own) / one,
        ...noGoal,
        samples: { own },
      };
    }
  },
};
