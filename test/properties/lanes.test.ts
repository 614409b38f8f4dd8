import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import { LEASE_TIMEOUT_MS, mostLeasesInASecond, NOTE_LEASES } from '../support/leases.ts';
import { expectProperty } from '../support/properties.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type ProcessAct, processAct, useProcesses } from './processes.ts';

/*
 * A server that delivers and two workers are killed, stopped and continued while events are published. PostgreSQL's
 * clock dates each lease, so that a busy machine fails nothing. Lanes keep their given width.
 */
const SETTINGS = {
  DELIVERY_TIMEOUT_MS: String(LEASE_TIMEOUT_MS),
  DELIVERY_SCHEDULE: ['0s', ...Array(30).fill('1s')].join(' '),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
};
const INSTRUMENTS = [
  ...NOTE_LEASES,
  `create function keep_lane() returns trigger language plpgsql as $$
    begin new.lane := old.lane; return new; end $$`,
  'create trigger keep_lane before update on endpoint_state for each row execute function keep_lane()',
];
/** The statements of a change that no trigger sees. */
const unseen = (statement: string) => [
  'begin',
  'set local session_replication_role = replica',
  statement,
  'commit',
];

type Act = ProcessAct | { readonly kind: 'publish'; readonly count: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('publish' as const), count: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 4, arbitrary: processAct },
);
interface Example {
  readonly lanes: { readonly hanging: number; readonly failing: number };
  readonly perSecond: number;
  readonly acts: readonly Act[];
}

const example: fc.Arbitrary<Example> = fc.record({
  lanes: fc.record({ hanging: fc.integer({ min: 1, max: 5 }), failing: fc.integer({ min: 1, max: 5 }) }),
  perSecond: fc.integer({ min: 5, max: 40 }),
  acts: fc.array(act, { minLength: 4, maxLength: 9 }),
});

/** Counts the requests a receiver has at once; `answer` gets each. */
function counting(receiver: Receiver, answer: (response: ServerResponse, count: number) => void) {
  const seen = { most: 0, now: 0 };
  receiver.respond((_, response, count) => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    response.once('close', () => {
      seen.now -= 1;
    });
    answer(response, count);
  });
  return seen;
}

const processes = useProcesses(SETTINGS);
const { server } = processes;
const queryAll = async (statements: readonly string[]) => {
  for (const statement of statements) await processes.query(statement);
};
beforeAll(() => queryAll(INSTRUMENTS));

async function endpoint({ url }: Receiver, fields: object, lane: number) {
  const { api } = await server();
  const { status, text, body } = await api.post('/v2/webhook-endpoints', { url, ...fields });
  expect(status, text).toBe(201);
  const uuid = uuidOf(body.id);
  await queryAll(unseen(`update endpoint_state set lane = ${lane} where endpoint_id = '${uuid}'`));
  return { uuid, path: `/v2/webhook-endpoints/${body.id}` };
}

async function publish(count: number): Promise<string[]> {
  const { api } = await server();
  const answers = await Promise.all(
    Array.from({ length: count }, () => api.post('/v2/events', { type: 'order.created', data: {} })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  return answers.map(({ body }) => body.id);
}

const came = ({ received }: Receiver) =>
  new Set(received.map(({ headers }) => String(headers['webhook-id'])));
const hasAll = (receiver: Receiver, events: readonly string[]) => {
  const ids = came(receiver);
  return events.every((event) => ids.has(event));
};

/** The most leases of an endpoint that were given within any second. */
async function mostInASecond(uuid: string): Promise<number> {
  const [row] = await processes.query<{ most: number }>(mostLeasesInASecond(uuid));
  return row?.most ?? 0;
}

async function play({ lanes, perSecond, acts }: Example): Promise<void> {
  const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
  const [hanging, failing, limited] = receivers as [Receiver, Receiver, Receiver];
  try {
    // the server is alone at first, so that events begin leased to it
    await processes.killWorkers();
    const held: ServerResponse[] = [];
    const hang = counting(hanging, (response) => void held.push(response));
    const fail = counting(
      failing,
      (response, count) => void response.writeHead(count % 3 === 0 ? 500 : 200).end(),
    );
    const endpoints = [
      await endpoint(limited, { rate_limit: perSecond }, 64),
      await endpoint(hanging, {}, lanes.hanging),
      await endpoint(failing, {}, lanes.failing),
    ] as const;
    await until(
      'the server is alone',
      async () => (await processes.query('select from workers')).length === 1,
    );
    const events: string[] = [];
    for (let each = 0; each < 8; each += 1) events.push(...(await publish(1)));
    await processes.startWorkers();
    for (const act of acts) {
      if (act.kind === 'publish') events.push(...(await publish(act.count)));
      else await processes.act(act);
    }
    await processes.goOnAll();
    const { api } = await server();

    // while one hangs with a full lane, the others get everything
    for (const receiver of [failing, limited])
      await until('all events arrived', () => hasAll(receiver, events));
    hanging.respond(200);
    for (const response of held) response.end();
    await until('the one that hung gets everything too', () => hasAll(hanging, events));
    await until('nothing waits', async () => (await processes.query('select from queue')).length === 0);

    expect(hang.most).toBeLessThanOrEqual(lanes.hanging);
    expect(fail.most).toBeLessThanOrEqual(lanes.failing);
    // a claim takes a tenth of a second's worth at once
    const burst = Math.max(1, Math.floor(perSecond / 10));
    expect(await mostInASecond(endpoints[0].uuid)).toBeLessThan(perSecond + burst);
    const statuses = await processes.query('select distinct status from deliveries');
    expect(statuses).toEqual([{ status: 'delivered' }]);
    for (const { path } of endpoints) expect((await api.delete(path)).status).toBe(204);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
  }
}

test('lanes and rate limits hold over three processes that are killed, stopped and continued; every event arrives, and none waits for a hanging receiver', () =>
  expectProperty({ name: 'lanes', arbitrary: example, cases: 1, shrinks: false, check: play }));
