import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { makeEndpoint } from './latency.ts';
import { load } from './load.ts';
import { alone, duration, type Group, median } from './measure.ts';
import { startBench, startProgram } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';
import { EVENT_FILLER } from './seed.ts';

const RECOVERED_GOAL_S = 5;
const HANGING = 10;
const EACH = 3;
/** The server is killed when this many events have arrived, at full rate. */
const ARRIVED = 5000;
const REPEATED_GOAL = 10;
const POLL_MS = 20;

/** The number of events that the receiver gets twice when the server is killed while it publishes and delivers at full rate. */
async function repeatedAfterKill(): Promise<number> {
  const bench = await startBench(LOOPBACK);
  const sink = await startReceiver();
  await makeEndpoint(bench, sink.url, 'bench.*');
  const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
  const body = () => `{"type":"bench.happened","data":{${EVENT_FILLER}}}`;
  const publishers = load(
    bench.url,
    { path: '/v2/events', headers, body },
    { connections: 32, seconds: 60 },
  ).catch(() => 0); // they end when the server does
  while ((await sink.report()).count < ARRIVED) await delay(POLL_MS);
  await bench.kill();
  await publishers;
  const next = await startProgram(bench.dataDir, LOOPBACK);
  const total = async (path: string) => {
    const { body: answer } = await request(`${next.url}${path}`, { headers });
    return ((await answer.json()) as { pagination: { total: number } }).pagination.total;
  };
  while ((await total('/v2/webhook-events/?status=pending&per_page=1')) > 0) await delay(POLL_MS);
  const repeated = (await sink.report()).count - (await total('/v2/events?per_page=1'));
  await next.stop();
  return repeated;
}

/** The time until the next server has sent all attempts again that were in flight when a server was killed. */
export const recovery: Group = {
  name: 'recovery',
  area: 'After kill -9 of the server',
  async *run({ dearRounds }, note) {
    const times: number[] = [];
    for (let round = 0; round < dearRounds + 1; round += 1) {
      note(`round ${round + 1}`);
      const bench = await startBench(LOOPBACK);
      const sink = await startReceiver();
      for (let index = 0; index < HANGING; index += 1) {
        const type = `hang.type${index}`;
        await makeEndpoint(bench, `${sink.url}/hang${index}`, type);
        for (let event = 0; event < EACH; event += 1) {
          await bench.send('POST', '/v2/events', { type, data: { event } });
        }
      }
      await sink.until(HANGING * EACH);
      await sink.reset();
      const killed = performance.now();
      await bench.kill();
      const next = await startProgram(bench.dataDir, LOOPBACK);
      await sink.until(HANGING * EACH);
      times.push((performance.now() - killed) / 1000);
      await bench.stop();
      await next.stop();
    }
    yield {
      measure: `all ${HANGING * EACH} attempts under way are sent again, the start included`,
      figure: duration(median(times)),
      ...alone,
      goal: `≤ ${RECOVERED_GOAL_S} s`,
      met: median(times) <= RECOVERED_GOAL_S,
      samples: { seconds: times },
    };
    const repeated: number[] = [];
    for (let round = 0; round < dearRounds + 1; round += 1) {
      note(`killed at full rate, round ${round + 1}`);
      repeated.push(await repeatedAfterKill());
    }
    yield {
      measure: `events sent twice, after ${ARRIVED} at full rate`,
      figure: String(median(repeated)),
      ...alone,
      goal: `≤ ${REPEATED_GOAL}`,
      met: median(repeated) <= REPEATED_GOAL,
      samples: { repeated },
    };
  },
};
