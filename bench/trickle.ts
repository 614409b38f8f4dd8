import { setTimeout as delay } from 'node:timers/promises';
import { makeEndpoint, publishAtRate, waitsAt } from './latency.ts';
import { load } from './load.ts';
import { alone, duration, type Group, interleaved, median, percentile } from './measure.ts';
import { type Bench, postgresSeconds, processorSeconds, startBench } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { EVENT_FILLER } from './seed.ts';

const RATE = 100;
const GOALS = { cores: 0.25, p50: 0.0008, p99: 0.0024, besideFlood: 2 };
const FLOOD_CONNECTIONS = 16;
const TRICKLE = 'trickle.happened';
const FLOOD = 'flood.happened';

interface Drop {
  readonly p50: number;
  readonly p99: number;
  /** Processor seconds a second, of the server and of PostgreSQL. */
  readonly cores: number;
}

async function trickleFor(bench: Bench, sink: Receiver, seconds: number): Promise<Drop> {
  await sink.reset();
  const spent = () => processorSeconds(bench.pid) + postgresSeconds(bench.dataDir);
  const [before, begun] = [spent(), performance.now()];
  await publishAtRate(bench, [TRICKLE], RATE, seconds);
  let waits = await waitsAt(sink, '/trickle');
  for (; waits.length < RATE * seconds; waits = await waitsAt(sink, '/trickle')) await delay(20);
  const took = (performance.now() - begun) / 1000;
  return { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99), cores: (spent() - before) / took };
}

/** What a few events cost and how long they take, alone and beside a flood at another endpoint. */
export const trickle: Group = {
  name: 'trickle',
  area: `${RATE} events a second`,
  async *run({ latencySeconds: seconds, dearRounds }, note) {
    const bench = await startBench(LOOPBACK);
    const sink = await startReceiver();
    await makeEndpoint(bench, `${sink.url}/trickle`, TRICKLE);
    await makeEndpoint(bench, `${sink.url}/flood`, FLOOD);
    await trickleFor(bench, sink, 1);
    const drops: Record<'quiet' | 'flooded', Drop[]> = { quiet: [], flooded: [] };
    const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
    const body = () => `{"type":"${FLOOD}","data":{${EVENT_FILLER}}}`;
    const samples = await interleaved(dearRounds + 1, {
      async quiet() {
        note('alone');
        const drop = await trickleFor(bench, sink, seconds);
        drops.quiet.push(drop);
        return drop.p99;
      },
      async flooded() {
        note('beside a flood');
        const flood = load(
          bench.url,
          { path: '/v2/events', headers, body },
          { connections: FLOOD_CONNECTIONS, seconds },
        );
        const drop = await trickleFor(bench, sink, seconds);
        await flood;
        drops.flooded.push(drop);
        await untilEmpty(bench);
        return drop.p99;
      },
    });
    const of = (which: keyof Drop) => median(drops.quiet.map((drop) => drop[which]));
    yield {
      measure: 'processor time, server and PostgreSQL',
      figure: `${of('cores').toFixed(2)} cores`,
      ...alone,
      goal: `≤ ${GOALS.cores}`,
      met: of('cores') <= GOALS.cores,
      samples: { cores: drops.quiet.map(({ cores }) => cores) },
    };
    for (const share of ['p50', 'p99'] as const) {
      yield {
        measure: `from sending the POST to the first byte, ${share}`,
        figure: duration(of(share)),
        ...alone,
        goal: `≤ ${duration(GOALS[share])}`,
        met: of(share) <= GOALS[share],
        samples: { seconds: drops.quiet.map((drop) => drop[share]) },
      };
    }
    const [quiet, flooded] = [median(samples.quiet), median(samples.flooded)];
    yield {
      measure: 'p99 beside a flood at another endpoint',
      figure: duration(flooded),
      against: `alone ${duration(quiet)}`,
      ratio: flooded / quiet,
      goal: `≤ ${GOALS.besideFlood} ×`,
      met: flooded / quiet <= GOALS.besideFlood,
      samples,
    };
    await bench.stop();
  },
};

async function untilEmpty(bench: Bench): Promise<void> {
  const waiting = async () => {
    const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from queue');
    return rows[0]?.n ?? 0;
  };
  while ((await waiting()) > 0) await delay(50);
}
