import { makeEndpoint } from './latency.ts';
import { alone, duration, type Group, median } from './measure.ts';
import { startBench, startProgram } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';

const RECOVERED_GOAL_S = 5;
const HANGING = 10;
const EACH = 3;

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
  },
};
