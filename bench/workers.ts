import { setTimeout as delay } from 'node:timers/promises';
import { count, type Group, interleaved, median, noGoal } from './measure.ts';
import { type Bench, startBench, startWorker } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { emptyDeliveries, seedDeliveries } from './seed.ts';

const ENDPOINTS = 200;
const NUMBERS = [1, 2, 4, 8];
const RECEIVERS = [
  { name: 'receivers answer after 250 ms', path: '/slow' },
  { name: 'receivers answer at once', path: '' },
] as const;
const POLL_MS = 50;

/** Waits until that many workers are registered. */
export async function untilAtWork({ pg }: Bench, number: number): Promise<void> {
  for (;;) {
    const { rows } = await pg.query<{ n: number }>('select count(*)::int as n from workers');
    if (rows[0]?.n === number) return;
    await delay(POLL_MS);
  }
}

/** Deliveries per second from the first to the last, of workers that started before the first one was due. */
async function drainBy(
  bench: Bench,
  sink: Receiver,
  { workers, deliveries }: { workers: number; deliveries: number },
): Promise<number> {
  await emptyDeliveries(bench.pg);
  await bench.pg.query('delete from workers');
  const started = Array.from({ length: workers }, () => startWorker(bench.dataDir, LOOPBACK));
  await untilAtWork(bench, workers);
  await sink.reset();
  // all rows are due at the commit
  await bench.pg.query('begin');
  const { account } = bench;
  await seedDeliveries(bench.pg, { account, events: deliveries, fanOut: 1, endpoints: ENDPOINTS });
  await bench.pg.query('analyze queue, events, deliveries');
  await bench.pg.query('commit');
  const { first, last } = await sink.until(deliveries);
  await Promise.all(started.map((worker) => worker.stop()));
  return ((deliveries - 1) * 1e6) / (last - first);
}

/** The same queue by one worker and by several, on one PostgreSQL. */
export const workers: Group = {
  name: 'workers',
  area: 'Several workers on one PostgreSQL',
  async *run({ deliveries, dearRounds }, note) {
    for (const { name, path } of RECEIVERS) {
      const bench = await startBench({ ...LOOPBACK, DELIVERY_WORKER: 'off' });
      const sink = await startReceiver();
      for (let index = 0; index < ENDPOINTS; index += 1)
        await bench.send('POST', '/v2/webhook-endpoints', { url: `${sink.url}${path}/e${index}` });
      const tasks = NUMBERS.map((number) => {
        const run = () => {
          note(`${number}, ${name}`);
          return drainBy(bench, sink, { workers: number, deliveries });
        };
        return [String(number), run] as const;
      });
      const samples = await interleaved<string>(dearRounds, Object.fromEntries(tasks));
      const one = median(samples['1'] ?? []);
      for (const number of NUMBERS) {
        const own = samples[number] ?? [];
        yield {
          measure: `${count(deliveries)} deliveries by ${number}, ${name}`,
          figure: `${median(own).toFixed(0)}/s`,
          against: `one, ${one.toFixed(0)}/s`,
          ratio: median(own) / one,
          ...noGoal,
          samples: { own },
        };
      }
      await bench.stop();
    }
  },
};
