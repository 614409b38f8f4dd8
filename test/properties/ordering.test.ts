import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectProperty } from '../support/properties.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type ProcessAct, processAct, useProcesses } from './processes.ts';

/*
 * A server that delivers and two workers are killed, stopped and continued while events of a few keys are published,
 * some at once, retried by hand and recovered. The schedule is never used up.
 */
const SETTINGS = {
  DELIVERY_TIMEOUT_MS: '30000',
  DELIVERY_SCHEDULE: ['0s', ...Array(60).fill('1s')].join(' '),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
};
const KEYS = ['order:1', 'order:2', 'order:3'] as const;

type Act =
  | ProcessAct
  /** One after the other, each time one event of every key. */
  | { readonly kind: 'publish'; readonly rounds: number }
  /** At once: this many of one key. */
  | { readonly kind: 'burst'; readonly key: number; readonly count: number }
  | { readonly kind: 'retry'; readonly nth: number }
  | { readonly kind: 'recover' }
  | { readonly kind: 'switch'; readonly status: 'enabled' | 'disabled' };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), rounds: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      key: fc.nat({ max: KEYS.length - 1 }),
      count: fc.integer({ min: 2, max: 6 }),
    }),
  },
  { weight: 4, arbitrary: processAct },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('retry' as const), nth: fc.nat({ max: 100 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recover' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('switch' as const),
      status: fc.constantFrom('enabled', 'disabled'),
    }),
  },
);

const processes = useProcesses(SETTINGS);
const { server } = processes;

async function endpoint({ url }: Receiver): Promise<string> {
  const { api } = await server();
  const { status, text, body } = await api.post('/v2/webhook-endpoints', { url, ordered: true });
  expect(status, text).toBe(201);
  return `/v2/webhook-endpoints/${body.id}`;
}

async function publish(key: string): Promise<string> {
  const { api } = await server();
  const { status, text, body } = await api.post('/v2/events', {
    type: 'order.created',
    data: {},
    ordering_key: key,
  });
  expect(status, text).toBe(201);
  return body.id;
}

/** Records the first request of each event, and the first accepted one, in that order. */
function watching(receiver: Receiver, isRefused: (count: number) => boolean) {
  const seen = { came: new Map<string, number>(), taken: new Map<string, number>() };
  receiver.respond(({ headers }, response, count) => {
    const event = String(headers['webhook-id']);
    if (!seen.came.has(event)) seen.came.set(event, count);
    if (isRefused(count)) {
      response.writeHead(500).end();
      return;
    }
    if (!seen.taken.has(event)) seen.taken.set(event, count);
    response.writeHead(200).end();
  });
  return seen;
}

async function play(acts: readonly Act[]): Promise<void> {
  const receivers = await Promise.all([startReceiver(), startReceiver()]);
  const [steady, failing] = receivers as [Receiver, Receiver];
  try {
    // the server is alone at first, so that events begin leased to it
    await processes.killWorkers();
    const seen = [watching(steady, () => false), watching(failing, (count) => count % 3 === 0)] as const;
    const paths = [await endpoint(steady), await endpoint(failing)] as const;
    await until(
      'the server is alone',
      async () => (await processes.query('select from workers')).length === 1,
    );
    /** The events of each key: those of one group at once, groups one after the other. */
    const groups = new Map<string, string[][]>(KEYS.map((key) => [key, []]));
    const add = async (key: string, count: number) =>
      groups.get(key)?.push(await Promise.all(Array.from({ length: count }, () => publish(key))));
    const play: { [Kind in Act['kind']]: (act: Extract<Act, { kind: Kind }>) => Promise<unknown> } = {
      start: processes.act,
      kill: processes.act,
      stop: processes.act,
      async publish({ rounds }) {
        for (let round = 0; round < rounds; round += 1) await Promise.all(KEYS.map((key) => add(key, 1)));
      },
      burst: ({ key, count }) => add(KEYS[key] as string, count),
      async retry({ nth }) {
        const all = [...groups.values()].flat(2);
        const { api } = await server();
        if (all.length > 0) await api.post(`${paths[nth % 2]}/events/${all[nth % all.length]}/retry`);
      },
      async recover() {
        const { api } = await server();
        const { status, text } = await api.post(`${paths[0]}/recover`, {
          since: '2020-01-01T00:00:00Z',
          status: ['delivered', 'pending'],
        });
        expect([201, 409], text).toContain(status);
      },
      async switch({ status }) {
        const { api } = await server();
        expect((await api.patch(paths[1], { status })).status).toBe(200);
      },
    };
    await play.publish({ kind: 'publish', rounds: 3 });
    await processes.startWorkers();
    for (const act of acts) await play[act.kind](act as never);
    await processes.goOnAll();
    const { api } = await server();
    expect((await api.patch(paths[1], { status: 'enabled' })).status).toBe(200);
    const all = [...groups.values()].flat(2);
    for (const { taken } of seen)
      await until('all events arrived', () => all.every((event) => taken.has(event)));
    await until('nothing waits', async () => (await processes.query('select from queue')).length === 0);
    expect(await processes.query('select * from queue_keys')).toEqual([]);

    for (const published of groups.values()) {
      const place = new Map(
        published.flatMap((group, index) => group.map((event) => [event, index] as const)),
      );
      const orders = seen.map(({ came, taken }) => {
        const order = [...came.keys()].filter((event) => place.has(event));
        const places = order.map((event) => place.get(event) as number);
        expect(places).toEqual(places.toSorted((a, b) => a - b));
        // each arrived after the previous one was accepted
        for (const [index, event] of order.slice(1).entries())
          expect(came.get(event)).toBeGreaterThan(taken.get(order[index] as string) as number);
        return order;
      });
      // concurrent events have an order too, which is the same everywhere
      expect(orders[1]).toEqual(orders[0]);
    }
    for (const path of paths) expect((await api.delete(path)).status).toBe(204);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
  }
}

test('each endpoint first gets the events of a key in the order of publishing, over three processes that are killed, stopped and continued', () =>
  expectProperty({
    ...{ name: 'ordering keys', cases: 1, shrinks: false, check: play },
    arbitrary: fc.array(act, { minLength: 5, maxLength: 12 }),
  }));
