import { setTimeout as delay } from 'node:timers/promises';
import { makeEndpoint, sendAtRate, waitsAt } from './latency.ts';
import { load } from './load.ts';
import { duration, type Group, interleaved, median, percentile } from './measure.ts';
import { startBare } from './mixed.ts';
import type { Pace } from './pacer.ts';
import { type Bench, postgresSeconds, processorSeconds, startBench } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { EVENT_FILLER } from './seed.ts';

const RATE = 100;
const BESIDE_FLOOD = 2;
const FLOOD_CONNECTIONS = 16;
const TRICKLE = 'trickle.happened';
const FLOOD = 'flood.happened';

interface Drop {
  readonly p50: number;
  readonly p99: number;
  /** Processor seconds a second, of the server and of PostgreSQL. */
  readonly cores: number;
}

const MEASURES: Readonly<
  Record<keyof Drop, { measure: string; shown(value: number): string; goal: number }>
> = {
  cores: {
    measure: 'processor time, server and PostgreSQL',
    shown: (value) => `${value.toFixed(2)} cores`,
    goal: 0.25,
  },
  p50: { measure: 'from sending the POST to the first byte, p50', shown: duration, goal: 0.0008 },
  p99: { measure: 'from sending the POST to the first byte, p99', shown: duration, goal: 0.0024 },
};

/** The program, or the bare sender with one INSERT. */
interface Subject {
  readonly bench: Bench;
  readonly sink: Receiver;
  readonly pid: number;
  /** Where events are sent to. */
  readonly to: Pick<Pace, 'origin' | 'path' | 'headers'>;
  /** The path at the sink for events of the trickle. */
  readonly arrivesAt: string;
}

async function trickleFor({ bench, sink, pid, to, arrivesAt }: Subject, seconds: number): Promise<Drop> {
  await sink.reset();
  const spent = () => processorSeconds(pid) + postgresSeconds(bench.dataDir);
  const [before, begun] = [spent(), performance.now()];
  await sendAtRate({ ...to, types: [TRICKLE], perSecond: RATE, seconds });
  let waits = await waitsAt(sink, arrivesAt);
  for (; waits.length < RATE * seconds; waits = await waitsAt(sink, arrivesAt)) await delay(20);
  const took = (performance.now() - begun) / 1000;
  return { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99), cores: (spent() - before) / took };
}

/** The same during a flood at another endpoint. */
async function besideFlood(subject: Subject, seconds: number): Promise<Drop> {
  const { origin, path, headers } = subject.to;
  const body = () => `{"type":"${FLOOD}","data":{${EVENT_FILLER}}}`;
  const flood = load(origin, { path, headers, body }, { connections: FLOOD_CONNECTIONS, seconds });
  const drop = await trickleFor(subject, seconds);
  await flood;
  await untilEmpty(subject.bench);
  return drop;
}

/** Cost and latency of a few events, alone and during a flood at another endpoint. */
export const trickle: Group = {
  name: 'trickle',
  area: `${RATE} events a second`,
  async *run({ latencySeconds: seconds, dearRounds }, note) {
    const bench = await startBench(LOOPBACK);
    const sink = await startReceiver();
    await makeEndpoint(bench, `${sink.url}/trickle`, TRICKLE);
    await makeEndpoint(bench, `${sink.url}/flood`, FLOOD);
    const floor = await startBare(bench, sink);
    const json = { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${bench.key}`, ...json };
    const ours: Subject = {
      bench,
      sink,
      pid: bench.pid,
      to: { origin: bench.url, path: '/v2/events', headers },
      arrivesAt: '/trickle',
    };
    const to = { origin: floor.url, path: '/', headers: json };
    const bare: Subject = { bench, sink, pid: floor.pid, to, arrivesAt: '/one0' };
    const drops: Record<'ours' | 'bare' | 'oursFlooded' | 'bareFlooded', Drop[]> = {
      ours: [],
      bare: [],
      oursFlooded: [],
      bareFlooded: [],
    };
    const measured = (name: keyof typeof drops, text: string, ask: () => Promise<Drop>) => async () => {
      note(text);
      const drop = await ask();
      drops[name].push(drop);
      return drop.p99;
    };
    for (const subject of [ours, bare]) await trickleFor(subject, 2);
    await interleaved(dearRounds + 1, {
      ours: measured('ours', 'alone', () => trickleFor(ours, seconds)),
      bare: measured('bare', 'bare sender and one INSERT', () => trickleFor(bare, seconds)),
      oursFlooded: measured('oursFlooded', 'during a flood', () => besideFlood(ours, seconds)),
      bareFlooded: measured('bareFlooded', 'bare, during a flood', () => besideFlood(bare, seconds)),
    });
    const of = (name: keyof typeof drops, which: keyof Drop) =>
      median(drops[name].map((drop) => drop[which]));
    for (const which of ['cores', 'p50', 'p99'] as const) {
      const { measure, shown, goal } = MEASURES[which];
      const [figure, least] = [of('ours', which), of('bare', which)];
      yield {
        measure,
        figure: shown(figure),
        against: `bare sender and one INSERT ${shown(least)}`,
        ratio: figure / least,
        goal: `≤ ${shown(goal)}`,
        met: figure <= goal,
        samples: {
          ours: drops.ours.map((drop) => drop[which]),
          bare: drops.bare.map((drop) => drop[which]),
        },
      };
    }
    const [quiet, flooded] = [of('ours', 'p99'), of('oursFlooded', 'p99')];
    const times = of('bareFlooded', 'p99') / of('bare', 'p99');
    yield {
      measure: 'p99 during a flood at another endpoint',
      figure: duration(flooded),
      against: `alone ${duration(quiet)}; bare ${duration(of('bareFlooded', 'p99'))}, ${times.toFixed(2)} times alone`,
      ratio: flooded / quiet,
      goal: `≤ ${BESIDE_FLOOD} ×`,
      met: flooded / quiet <= BESIDE_FLOOD,
      samples: {
        ours: drops.oursFlooded.map(({ p99 }) => p99),
        bare: drops.bareFlooded.map(({ p99 }) => p99),
      },
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
