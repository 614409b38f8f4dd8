import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { duration, type Group, interleaved, median, percentile, type Result } from './measure.ts';
import type { Pace } from './pacer.ts';
import { type Bench, startBench, startScript } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';

const GOALS = { p50: 0.01, p99: 0.05 };
const REACHED = 0.97;
const GOAL_HANGING = 1.25;
// The goals apply to the first rate; the second is what one process can handle on a busy machine too.
const RATES = [1000, 200] as const;
const ENDPOINTS = 20;
const RATE_HANGING = 200;
const HEALTHY = 9;
const SETTLE_MS = 500;

const PACER = fileURLToPath(new URL('pacer.ts', import.meta.url));
let pacer: ReturnType<typeof startScript> | null = null;

/** Sends events at a fixed rate from a separate process. Returns the result of `loadAtRate`. */
export async function sendAtRate(pace: Pace): Promise<{ perSecond: number; answer: number }> {
  pacer ??= startScript(PACER, { ready: '/' });
  const { url } = await pacer;
  const { statusCode, body } = await request(url, {
    method: 'POST',
    body: JSON.stringify(pace),
    headersTimeout: 0,
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(text);
  return JSON.parse(text);
}

/**
 * Publishes at a fixed rate, one event after the other, through all types in turn; the sink takes the sending time
 * from each.
 */
export function publishAtRate(bench: Bench, types: readonly string[], perSecond: number, seconds: number) {
  const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
  return sendAtRate({ origin: bench.url, path: '/v2/events', headers, types, perSecond, seconds });
}

export async function makeEndpoint(bench: Bench, url: string, type: string): Promise<string> {
  const made = await bench.send('POST', '/v2/webhook-endpoints', { url, event_types: [type] });
  return (JSON.parse(made) as { id: string }).id;
}

/** Seconds from sending the event to its delivery, at paths with this prefix. */
export async function waitsAt(sink: Receiver, prefix: string): Promise<number[]> {
  const { waits } = await sink.report();
  return Object.entries(waits)
    .flatMap(([path, values]) => (path.startsWith(prefix) ? values : []))
    .map((micros) => micros / 1e6);
}

/** From sending POST /v2/events to the first byte of the delivery at its receiver, worker and server in one process. */
export const latency: Group = {
  name: 'latency',
  area: 'From accepting an event to the first byte at its receiver',
  async *run({ latencySeconds: seconds, dearRounds }, note) {
    const bench = await startBench(LOOPBACK);
    const sink = await startReceiver();
    const types = Array.from({ length: ENDPOINTS }, (_, index) => `bench.type${index}`);
    for (const [index, type] of types.entries()) await makeEndpoint(bench, `${sink.url}/one${index}`, type);

    const ask = async (rate: number, time: number) => {
      await sink.reset();
      const reached = await publishAtRate(bench, types, rate, time);
      await sink.until(Math.round(rate * time));
      return { ...reached, waits: await waitsAt(sink, '/one') };
    };
    note('warming up');
    await ask(RATES[1], 2);
    for (const rate of RATES) {
      note(`${rate} events a second`);
      const samples: Record<'p50' | 'p99' | 'answer' | 'reached', number[]> = {
        p50: [],
        p99: [],
        answer: [],
        reached: [],
      };
      for (let round = 0; round < dearRounds; round += 1) {
        const { waits, answer, perSecond } = await ask(rate, seconds);
        samples.p50.push(percentile(waits, 0.5));
        samples.p99.push(percentile(waits, 0.99));
        samples.answer.push(answer);
        samples.reached.push(perSecond);
        await delay(SETTLE_MS);
      }
      yield resultOf(rate, 'p50', samples);
      yield resultOf(rate, 'p99', samples);
    }
    yield await hanging(bench, sink, { seconds, rounds: dearRounds + 3, note });
    await bench.stop();
  },
};

function resultOf(
  rate: number,
  share: 'p50' | 'p99',
  samples: Record<'p50' | 'p99' | 'answer' | 'reached', number[]>,
): Result {
  const value = median(samples[share]);
  const reached = median(samples.reached);
  const goal = rate === RATES[0] ? GOALS[share] : null;
  const isReached = reached > REACHED * rate;
  return {
    measure: `${rate} events a second, ${share}`,
    figure: isReached ? duration(value) : `${duration(value)}; only ${reached.toFixed(0)}/s taken in`,
    against: `answer of the POST, p50 ${duration(median(samples.answer))}`,
    ratio: null,
    goal: goal === null ? '–' : `< ${duration(goal)}`,
    met: goal === null ? null : isReached && value < goal,
    samples,
  };
}

async function hanging(
  bench: Bench,
  sink: Receiver,
  { seconds, rounds, note }: { seconds: number; rounds: number; note: (text: string) => void },
) {
  const healthy = Array.from({ length: HEALTHY }, (_, index) => `many.type${index}`);
  for (const [index, type] of healthy.entries()) await makeEndpoint(bench, `${sink.url}/many${index}`, type);
  await makeEndpoint(bench, `${sink.url}/tenth`, 'many.answers');
  const hangs = await makeEndpoint(bench, `${sink.url}/hang`, 'many.hangs');
  const path = `/v2/webhook-endpoints/${hangs}`;
  const run = async (tenth: string) => {
    const total = Math.round(RATE_HANGING * seconds);
    const expected = Math.floor((total * HEALTHY) / (HEALTHY + 1));
    await sink.reset();
    await publishAtRate(bench, [...healthy, tenth], RATE_HANGING, seconds);
    let waits = await waitsAt(sink, '/many');
    for (; waits.length < expected; waits = await waitsAt(sink, '/many')) await delay(SETTLE_MS);
    return percentile(waits, 0.99);
  };
  const samples = await interleaved(rounds, {
    answers: () => {
      note('ten endpoints answer');
      return run('many.answers');
    },
    async hangs() {
      note('one of ten endpoints hangs');
      await bench.send('PATCH', path, { status: 'enabled' });
      const p99 = await run('many.hangs');
      await bench.send('PATCH', path, { status: 'disabled' });
      return p99;
    },
  });
  const [one, none] = [median(samples.hangs), median(samples.answers)];
  return {
    measure: `p99 of nine at ${RATE_HANGING}/s while a tenth hangs`,
    figure: duration(one),
    against: `none hangs ${duration(none)}`,
    ratio: one / none,
    goal: `≤ ${GOAL_HANGING} ×`,
    met: one / none <= GOAL_HANGING,
    samples,
  };
}
