import { makeEndpoint, waitsAt } from './latency.ts';
import { load } from './load.ts';
import { alone, duration, type Group, median, noGoal, percentile } from './measure.ts';
import { startBench } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';
import { EVENT_FILLER } from './seed.ts';

const CONNECTIONS = 32;
const COPIES = 5;
const TYPE = 'fanout.happened';
/** Seconds from sending the POST to the first byte. */
const GOAL = 0.05;

/** How long receivers wait when each event goes to several endpoints and publishers never pause. */
export const fanout: Group = {
  name: 'fanout',
  area: `Each event to ${COPIES} endpoints, ${CONNECTIONS} connections that publish`,
  async *run({ loadSeconds: seconds, dearRounds }, note) {
    const bench = await startBench(LOOPBACK);
    const sink = await startReceiver();
    for (let copy = 0; copy < COPIES; copy += 1) await makeEndpoint(bench, `${sink.url}/copy${copy}`, TYPE);
    const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
    const rates: number[] = [];
    const middles: number[] = [];
    const ends: number[] = [];
    for (let round = 0; round <= dearRounds; round += 1) {
      note(round === 0 ? 'warming up' : 'publishing');
      await sink.reset();
      let sent = 0;
      const body = () => {
        sent += 1;
        const at = process.hrtime.bigint() / 1000n;
        return `{"type":"${TYPE}","data":{"sent_at":${at},${EVENT_FILLER}}}`;
      };
      await load(bench.url, { path: '/v2/events', headers, body }, { connections: CONNECTIONS, seconds });
      const { count, first, last } = await sink.until(sent * COPIES);
      if (round === 0) continue;
      const waits = await waitsAt(sink, '/copy');
      rates.push(((count - 1) * 1e6) / (last - first));
      middles.push(percentile(waits, 0.5));
      ends.push(percentile(waits, 0.99));
    }
    const rate = median(rates);
    yield { measure: 'deliveries', figure: `${rate.toFixed(0)}/s`, ...alone, ...noGoal, samples: { rates } };
    yield {
      measure: 'from sending the POST to the first byte, p50',
      figure: duration(median(middles)),
      ...alone,
      goal: `≤ ${duration(GOAL)}`,
      met: median(middles) <= GOAL,
      samples: { middles },
    };
    const end = duration(median(ends));
    yield { measure: 'the same, p99', figure: end, ...alone, ...noGoal, samples: { ends } };
    await bench.stop();
  },
};
