import { fileURLToPath } from 'node:url';
import { load } from './load.ts';
import { type Group, interleaved, median } from './measure.ts';
import { type Bench, startBench, startScript } from './program.ts';
import { EVENT_FILLER, emptyDeliveries } from './seed.ts';

const GOAL = 8000;
/** An owner may cost nothing that is larger than the noise of a run. */
const OWNED_GOAL = 0.95;
const MANY = 64;
const FEW = 4;
const PATH = '/v2/events';
const ONE_BY_ONE = fileURLToPath(new URL('one-by-one.ts', import.meta.url));
// Nothing is delivered here: the address is never connected to.
const NETWORK = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_WORKER: 'off' };

/** Starts the server with the route that shares no transaction, on the same database. Returns its address. */
async function startOneByOne({ dataDir }: Bench): Promise<string> {
  const { url } = await startScript(ONE_BY_ONE, {
    env: { ...NETWORK, DATA_DIR: dataDir, HOST: '127.0.0.1' },
  });
  return url;
}

/** Throws unless every answered event is stored, with its delivery. */
async function check(bench: Bench, answered: number): Promise<void> {
  const { rows } = await bench.pg.query<{ events: number; deliveries: number; queued: number }>(
    `select (select count(*)::int from events) as events, (select count(*)::int from deliveries) as deliveries,
            (select count(*)::int from queue) as queued`,
  );
  const { events = 0, deliveries, queued } = rows[0] ?? {};
  if (events < answered || deliveries !== events || queued !== events) {
    throw new Error(
      `${answered} events were answered, ${events} stored, with ${deliveries} deliveries, ${queued} queued`,
    );
  }
}

/** POST /v2/events with one endpoint subscribed, at many connections and at few, and the same one by one. */
export const publishing: Group = {
  name: 'publishing',
  area: 'Publishing',
  async *run({ dearRounds, loadSeconds }, note) {
    const bench = await startBench(NETWORK);
    await bench.send('POST', '/v2/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
      event_types: ['bench.*'],
      owner: 'customer-7',
    });
    const other = await startOneByOne(bench);
    const headers = { authorization: `Bearer ${bench.key}`, 'content-type': 'application/json' };
    const bodyWith = (more: string) => `{"type":"bench.happened",${more}"data":{${EVENT_FILLER}}}`;
    const plain = bodyWith('');
    const owned = bodyWith('"owner":"customer-7",');
    const burst = async (url: string, path: string, connections: number, body = plain) => {
      note(`${path}, ${connections} connections`);
      await emptyDeliveries(bench.pg);
      await bench.pg.query('checkpoint');
      const rate = await load(
        url,
        { path, headers, body: () => body },
        { connections, seconds: loadSeconds },
      );
      await check(bench, Math.floor(rate * loadSeconds));
      return rate;
    };
    // With few connections both sides are routes of one process, so that only the transaction differs.
    const samples = await interleaved(dearRounds + 2, {
      many: () => burst(bench.url, PATH, MANY),
      manyOwned: () => burst(bench.url, PATH, MANY, owned),
      manyOneByOne: () => burst(other, `${PATH}/one-by-one`, MANY),
      few: () => burst(other, PATH, FEW),
      fewOneByOne: () => burst(other, `${PATH}/one-by-one`, FEW),
    });
    const many = median(samples.many);
    const [few, one] = [median(samples.few), median(samples.fewOneByOne)];
    yield {
      measure: `POST /v2/events, ${MANY} connections`,
      figure: `${many.toFixed(0)} req/s`,
      against: `one by one ${median(samples.manyOneByOne).toFixed(0)} req/s`,
      ratio: many / median(samples.manyOneByOne),
      goal: `≥ ${GOAL} req/s`,
      met: many >= GOAL,
      samples: { many: samples.many, one_by_one: samples.manyOneByOne },
    };
    const manyOwned = median(samples.manyOwned);
    yield {
      measure: `POST /v2/events with owner, ${MANY} connections`,
      figure: `${manyOwned.toFixed(0)} req/s`,
      against: `without ${many.toFixed(0)} req/s`,
      ratio: manyOwned / many,
      goal: `≥ ${OWNED_GOAL} ×`,
      met: manyOwned >= OWNED_GOAL * many,
      samples: { owned: samples.manyOwned },
    };
    yield {
      measure: `POST /v2/events, ${FEW} connections`,
      figure: `${few.toFixed(0)} req/s`,
      against: `one by one ${one.toFixed(0)} req/s`,
      ratio: few / one,
      goal: '≥ 1 ×',
      met: few >= one,
      samples: { few: samples.few, one_by_one: samples.fewOneByOne },
    };
    await bench.stop();
  },
};
