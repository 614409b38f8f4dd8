import { load } from './load.ts';
import { type Group, interleaved, median } from './measure.ts';
import { startBench } from './program.ts';
import { EVENT_FILLER, emptyDeliveries } from './seed.ts';

const GOAL = 8000;
const MANY = 64;
const FEW = 4;
// Nobody delivers here: the address is never dialled.
const NETWORK = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_WORKER: 'off' };

/** POST /v2/events with one endpoint subscribed, at many connections and at few. */
export const publishing: Group = {
  name: 'publishing',
  async *run({ dearRounds, loadSeconds }, note) {
    const bench = await startBench(NETWORK);
    await bench.send('POST', '/v2/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
      event_types: ['bench.*'],
    });
    const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
    const body = `{"type":"bench.happened","data":{${EVENT_FILLER}}}`;
    const burst = async (connections: number) => {
      note(`${connections} connections`);
      await emptyDeliveries(bench.pg);
      const request = { path: '/v2/events', headers, body: () => body };
      return load(bench.url, request, { connections, seconds: loadSeconds });
    };
    const samples = await interleaved(dearRounds + 1, { many: () => burst(MANY), few: () => burst(FEW) });
    yield {
      measure: `POST /v2/events, ${MANY} connections`,
      figure: `${median(samples.many).toFixed(0)} req/s`,
      against: '–',
      ratio: null,
      goal: `≥ ${GOAL} req/s`,
      met: median(samples.many) >= GOAL,
      samples: { many: samples.many },
    };
    yield {
      measure: `POST /v2/events, ${FEW} connections`,
      figure: `${median(samples.few).toFixed(0)} req/s`,
      against: '–',
      ratio: null,
      goal: '–',
      met: null,
      samples: { few: samples.few },
    };
    await bench.stop();
  },
};
