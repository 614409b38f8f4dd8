import { connect } from '../src/db/connect.ts';
import type { Database } from '../src/db/database.ts';
import { claim } from '../src/webhooks/engine/claim.ts';
import { AREA, drainQueue, noCost } from './drain.ts';
import { count, duration, type Group, interleaved, median, noGoal, type Result, seconds } from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';
import { emptyDeliveries, seedAccount, seedDeliveries, settleDeliveries } from './seed.ts';

// The promise: an endpoint that hangs changes the figures of healthy ones by at most a quarter.
const GOAL_RATE = 0.8;
const GOAL_CLAIM = 1.25;
const HEALTHY = 197;
const SLOTS = 200; // the most that a worker claims at a time
const LEASE_MS = 30_000;
const WARM_UP_CLAIMS = 10;
const CLAIMS = 30;
const LISTS = 5;

const NOTHING = 'nothing waits';
const DUE = 'due at a dead endpoint';
const HELD = 'held at a disabled one';
const STATES = [NOTHING, DUE, HELD] as const;
type State = (typeof STATES)[number];

/** Samples of each round. */
interface Samples {
  readonly rate: number[];
  readonly claim: number[];
  /** Page 1 and the total of the waiting deliveries. */
  readonly list: number[];
}

/** Seconds of a claim. It is rolled back so that the next one finds the same rows. */
async function claimSeconds(db: Database): Promise<number> {
  const rolledBack = new Error('rolled back');
  const times: number[] = [];
  for (let index = 0; index < WARM_UP_CLAIMS + CLAIMS; index += 1) {
    await db
      .engine(async (tx) => {
        const begin = performance.now();
        const { deliveries } = await claim(tx, { worker: 1, slots: SLOTS, leaseMs: LEASE_MS, from: null });
        times.push((performance.now() - begin) / 1000);
        if (deliveries.length !== SLOTS) throw new Error(`${deliveries.length} were claimed of ${SLOTS}`);
        throw rolledBack;
      })
      .catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
  }
  return median(times.slice(WARM_UP_CLAIMS));
}

async function listSeconds(bench: Bench, dead: string, state: State, waiting: number): Promise<number> {
  await bench.actAs(dead);
  const times: number[] = [];
  for (let index = 0; index < LISTS; index += 1) {
    let answer = '';
    const path = `/v2/webhook-events?per_page=100&status=${state === HELD ? 'held' : 'pending'}`;
    times.push(await seconds(async () => (answer = await bench.send('GET', path))));
    const { total } = (JSON.parse(answer) as { pagination: { total: number } }).pagination;
    if (total !== waiting) throw new Error(`${path} returned ${total} of ${waiting}`);
  }
  await bench.actAs(bench.account);
  return median(times);
}

/** An endpoint of another account that refuses every connection. Returns the account. */
async function makeDead(bench: Bench): Promise<string> {
  const dead = await seedAccount(bench.pg, 'Dead');
  await bench.actAs(dead);
  await bench.send('POST', '/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/' });
  await bench.actAs(bench.account);
  return dead;
}

/** The throughput of 197 healthy endpoints while a dead or a disabled endpoint has a large backlog. */
export const backlog: Group = {
  name: 'backlog',
  area: AREA,
  async *run({ deliveries: total, backlog: waiting, dearRounds }, note) {
    const bench = await startBench({ ...LOOPBACK, DELIVERY_WORKER: 'off' });
    const sink = await startReceiver();
    for (let index = 0; index < HEALTHY; index += 1) {
      await bench.send('POST', '/v2/webhook-endpoints', { url: `${sink.url}/e${index}` });
    }
    const dead = await makeDead(bench);
    const db = connect({
      target: bench.connection,
      poolSize: 1,
      name: 'payhook bench',
      onIdleError: () => undefined,
    });
    const of = () => ({ rate: [], claim: [], list: [] });
    const samples: Record<State, Samples> = { [NOTHING]: of(), [DUE]: of(), [HELD]: of() };

    const run = async (state: State) => {
      note(state === NOTHING ? state : `${count(waiting)} ${state}`);
      await emptyDeliveries(bench.pg);
      await bench.pg.query(
        `update webhook_endpoints set disabled_at = case when $2 then now_ms() end,
           disabled_reason = case when $2 then 'manual' end where account_id = $1`,
        [dead, state === HELD],
      );
      const healthy = { account: bench.account, events: total, fanOut: 1, endpoints: HEALTHY };
      await seedDeliveries(bench.pg, healthy);
      if (state !== NOTHING) {
        await seedDeliveries(bench.pg, { account: dead, events: waiting, fanOut: 1, endpoints: 1 });
      }
      await settleDeliveries(bench.pg);
      const own = samples[state];
      if (state !== NOTHING) own.list.push(await listSeconds(bench, dead, state, waiting));
      own.claim.push(await claimSeconds(db));
      own.rate.push(await drainQueue(bench, sink, total, noCost()));
      return 0;
    };
    await interleaved(dearRounds + 1, Object.fromEntries(STATES.map((state) => [state, () => run(state)])));
    await db.close();
    for (const state of [DUE, HELD] as const) {
      yield* resultsOf(`${count(waiting)} ${state}`, samples[state], samples[NOTHING]);
    }
    await bench.stop();
  },
};

function* resultsOf(what: string, own: Samples, none: Samples): Generator<Result> {
  const [rate, base] = [median(own.rate), median(none.rate)];
  yield {
    measure: `${what}: the ${HEALTHY} others`,
    figure: `${rate.toFixed(0)}/s`,
    against: `${NOTHING} ${base.toFixed(0)}/s`,
    ratio: rate / base,
    goal: `≥ ${GOAL_RATE} ×`,
    met: rate / base >= GOAL_RATE,
    samples: { own: own.rate, none: none.rate },
  };
  const [time, least] = [median(own.claim), median(none.claim)];
  yield {
    measure: `${what}: a claim of ${SLOTS}`,
    figure: duration(time),
    against: `${NOTHING} ${duration(least)}`,
    ratio: time / least,
    goal: `≤ ${GOAL_CLAIM} ×`,
    met: time / least <= GOAL_CLAIM,
    samples: { own: own.claim, none: none.claim },
  };
  yield {
    measure: `${what}: its list`,
    figure: duration(median(own.list)),
    against: '–',
    ratio: null,
    ...noGoal,
    samples: { seconds: own.list },
  };
}
