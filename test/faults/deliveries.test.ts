import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun, rounds } from '../support/depth.ts';
import { LOOSE_ENDS } from '../support/imbalances.ts';
import { TEST_PATIENCE_MS } from '../support/patience.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { BATCH, expectBatches, idsIn } from './support-batches.ts';
import { type DataFolder, dataFolder } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

// leases of a second: deliveries in flight at a killed worker are due again soon
const settings = {
  DELIVERY_TIMEOUT_MS: '500',
  DELIVERY_SCHEDULE: ['0s', ...Array(50).fill('1s')].join(' '),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
};
/** The number of kills; the counts of accepted, delivered and repeated events are reported as a note of the test. */
const ROUNDS = rounds(2, 50);
const PATIENCE_MS = TEST_PATIENCE_MS * Math.max(1, ROUNDS / 6);
const PUBLISHERS = 4;
const ENDPOINTS = '/v2/webhook-endpoints';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Publishes events, at most a few hundred a second, at whatever server is running. */
function publishing() {
  const accepted = new Set<string>();
  let target: Api | undefined;
  let stopped = false;
  const publish = async () => {
    while (!stopped) {
      const api = target;
      const answer = await api?.post('/v2/events', { type: 'order.created', data: {} }).catch(() => null);
      if (answer?.status === 201) {
        accepted.add(answer.body.id);
        await delay(10);
      } else await until('a server is running', () => stopped || target !== api || target);
    }
  };
  const all = Promise.all(Array.from({ length: PUBLISHERS }, publish));
  return {
    accepted,
    at(api: Api | undefined) {
      target = api;
    },
    async stop() {
      stopped = true;
      await all;
    },
  };
}

/** Three endpoints, and what they received. */
interface Listeners {
  /** One accepts everything, one refuses every tenth request, and one does that with batches. */
  readonly endpoints: readonly object[];
  /** The bodies of each endpoint for an event, by its id. */
  readonly taken: readonly ReadonlyMap<string, ReadonlySet<string>>[];
  /** All requests to the one with batches, including refused ones. */
  readonly batches: readonly Received[];
  /** How many events they accepted, including repeated ones. */
  count(): number;
}

async function startListeners(): Promise<Listeners> {
  const receivers = [await startReceiver(), await startReceiver(), await startReceiver()] as const;
  cleanups.push(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });
  const [steady, moody, batching] = receivers;
  const taken = receivers.map(() => new Map<string, Set<string>>());
  let good = 0;
  const take = (index: number, id: string, body: string) => {
    taken[index]?.set(id, (taken[index]?.get(id) ?? new Set()).add(body));
    good += 1;
  };
  steady.respond(({ headers, body }, response) => {
    take(0, String(headers['webhook-id']), body);
    setTimeout(() => response.end(), Math.random() * 30);
  });
  moody.respond(({ headers, body }, response, count) => {
    if (count % 10 === 0) return void response.writeHead(500).end();
    take(1, String(headers['webhook-id']), body);
    response.end();
  });
  batching.respond(({ body }, response, count) => {
    if (count % 10 === 0) return void response.writeHead(500).end();
    for (const event of JSON.parse(body)) take(2, event.id, JSON.stringify(event));
    setTimeout(() => response.end(), Math.random() * 60);
  });
  return {
    endpoints: [{ url: steady.url }, { url: moody.url }, { url: batching.url, batch: BATCH }],
    taken,
    batches: batching.received,
    count: () => good,
  };
}

interface Load {
  readonly folder: DataFolder;
  readonly accepted: ReadonlySet<string>;
  /** The server that the publishers call from now on; undefined = none. */
  at(api: Api | undefined): void;
  /** Creates the endpoints. */
  listen(api: Api): Promise<void>;
  /** Waits until the endpoints have accepted this many more events. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
  /**
   * Waits until nothing is in flight, and proves that nothing was lost; returns how many were delivered more than once.
   */
  expectAll(): Promise<string>;
}

async function underLoad(folder: DataFolder): Promise<Load> {
  cleanups.push(() => folder.remove());
  const { endpoints, taken, batches, count } = await startListeners();
  const publisher = publishing();
  cleanups.push(publisher.stop);

  return {
    folder,
    accepted: publisher.accepted,
    at: publisher.at,
    stop: publisher.stop,
    async listen(api) {
      for (const endpoint of endpoints) {
        const made = await api.post(ENDPOINTS, { event_types: ['order.*'], ...endpoint });
        expect(made.status, made.text).toBe(201);
      }
    },
    async more(further) {
      const before = count();
      await until(`${further} more deliveries`, () => count() >= before + further);
    },
    async expectAll() {
      // however many there are: only a queue that does not shrink is a defect
      for (let left = Number.POSITIVE_INFINITY; left > 0; ) {
        const before = left;
        await until('fewer deliveries to wait', async () => {
          left = (await folder.query<{ n: number }>('select count(*)::int as n from queue'))[0]?.n ?? before;
          return left < before;
        });
      }
      const stored = await folder.query<{ id: string }>(`select public_id('evt', id) as id from events`);
      const ids = new Set(stored.map(({ id }) => id));
      const lost = [...publisher.accepted].filter(
        (id) => !ids.has(id) || taken.some((bodies) => !bodies.has(id)),
      );
      expect(lost, 'accepted minus delivered').toEqual([]);
      for (const bodies of taken) {
        expect([...bodies.keys()].filter((id) => !ids.has(id))).toEqual([]);
        // repeated deliveries had the same id and the same bytes
        expect([...bodies.values()].filter((each) => each.size !== 1)).toEqual([]);
      }
      expect(await folder.query(LOOSE_ENDS)).toEqual([]);
      expect(await folder.query(`select 1 from deliveries where status <> 'delivered'`)).toEqual([]);
      const figures = await expectBatches(folder, batches, (id) => [...(taken[0]?.get(id) ?? [])][0]);
      const distinct = taken.reduce((sum, bodies) => sum + bodies.size, 0);
      return `${figures}; ${publisher.accepted.size} accepted, ${count()} taken, ${count() - distinct} of them again`;
    },
  };
}

/** A database that is dropped after the test. */
async function shared() {
  const database = await sharedDatabase();
  cleanups.push(database.drop);
  return database;
}

const between = (from: number, to: number) => Math.round(from + Math.random() * (to - from));

describe('kill -9 under load, in a loop, loses no accepted event', () => {
  test('of the server, and of PostgreSQL with it every other time', { timeout: PATIENCE_MS }, async ({
    annotate,
  }) => {
    const load = await underLoad(dataFolder({ settings }));
    let server = await load.folder.start();
    await load.listen(server.api);
    for (let round = 0; round < ROUNDS; round++) {
      load.at(server.api);
      await load.more(between(30, 180));
      await server.kill(round % 2 === 1);
      load.at(undefined);
      server = await load.folder.start();
    }
    load.at(server.api);
    await load.more(75);
    await load.stop();
    const figures = await load.expectAll();
    await annotate(figures);
    expect(load.accepted.size, figures).toBeGreaterThan(ROUNDS * 5);
    expect((await server.signal('SIGTERM')).code, figures).toBe(0);
  });

  longRun.test('of one of two workers', { timeout: PATIENCE_MS }, async ({ annotate }) => {
    const load = await underLoad(dataFolder({ settings, database: await shared() }));
    const server = await load.folder.start({ DELIVERY_WORKER: 'off' });
    await load.listen(server.api);
    const workers = [await load.folder.startWorker(), await load.folder.startWorker()];
    load.at(server.api);
    for (let round = 0; round < ROUNDS; round++) {
      await load.more(between(30, 180));
      await workers.shift()?.kill();
      workers.push(await load.folder.startWorker());
    }
    await load.more(75);
    await load.stop();
    const figures = await load.expectAll();
    await annotate(figures);
    expect(load.accepted.size, figures).toBeGreaterThan(ROUNDS * 5);
    const exits = await Promise.all([server, ...workers].map((process) => process.signal('SIGTERM')));
    expect(
      exits.map(({ code }) => code),
      figures,
    ).toEqual([0, 0, 0]);
  });
});

longRun.describe('SIGTERM under load', () => {
  test('makes a server and a worker exit 0; no lease is left, and nothing is lost or sent twice', async () => {
    // no response may be too late here: that would rightly be a second attempt
    const patient = { ...settings, DELIVERY_TIMEOUT_MS: '10000' };
    const load = await underLoad(dataFolder({ settings: patient, database: await shared() }));
    const first = await load.folder.start();
    await load.listen(first.api);
    const worker = await load.folder.startWorker();
    load.at(first.api);
    await load.more(150);
    const exits = await Promise.all([first.signal('SIGTERM'), worker.signal('SIGTERM')]);
    load.at(undefined);
    expect(exits.map(({ code }) => code)).toEqual([0, 0]);
    expect(await load.folder.query('select * from queue where lease_token is not null')).toEqual([]);
    expect(await load.folder.query(LOOSE_ENDS)).toEqual([]);
    const second = await load.folder.start();
    load.at(second.api);
    await load.more(75);
    await load.stop();
    expect(await load.expectAll()).toMatch(/, 0 of them again$/);
    expect((await second.signal('SIGTERM')).code).toBe(0);
  });
});

longRun.describe('deliveries in flight at a killed process', () => {
  test('are sent again by the next one long before its leases expire', async () => {
    // leases of two minutes
    const folder = dataFolder({
      settings: { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_TIMEOUT_MS: '60000' },
    });
    cleanups.push(() => folder.remove());
    const [receiver, batching] = [await startReceiver(), await startReceiver()];
    for (const each of [receiver, batching]) {
      cleanups.push(() => each.close());
      each.respond(() => undefined); // receives everything and answers nothing
    }
    const server = await folder.start();
    // nothing is sent to the second because of its waiting time
    for (const fields of [
      { url: receiver.url },
      { url: batching.url, batch: { max_events: 3, max_wait_ms: 60_000 } },
    ]) {
      const made = await server.api.post(ENDPOINTS, { event_types: ['order.*'], ...fields });
      expect(made.status, made.text).toBe(201);
    }
    const publish = () => server.api.post('/v2/events', { type: 'order.created', data: {} });
    expect((await Promise.all([publish(), publish(), publish()])).map(({ status }) => status)).toEqual([
      201, 201, 201,
    ]);
    await Promise.all([receiver.until(3), batching.until(1)]);
    const [before] = await folder.query<{ end: string }>('select min(due_at)::text as end from queue');
    await server.kill(false);
    for (const each of [receiver, batching]) each.respond(200);
    const next = await folder.start();
    await Promise.all([receiver.until(6), batching.until(2)]);
    const [after] = await folder.query<{ early: boolean }>(
      `select clock_timestamp() < '${before?.end}'::timestamptz as early`,
    );
    expect(after?.early).toBe(true);
    await until('nothing waits', async () => (await folder.query('select from queue')).length === 0);
    expect(
      await folder.query('select error_code from attempts order by endpoint_id, event_id, number'),
    ).toEqual(
      Array(6)
        .fill([{ error_code: 'lost' }, { error_code: null }])
        .flat(),
    );
    // the same events are sent together again, as another batch
    const [first, second] = batching.received;
    expect(idsIn(first!)).toHaveLength(3);
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
    expect(batching.received).toHaveLength(2);
    expect((await next.signal('SIGTERM')).code).toBe(0);
  });
});
