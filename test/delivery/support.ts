import type { ServerResponse } from 'node:http';
import sql from 'sql-template-tag';
import { expect } from 'vitest';
import { channelOf } from '../../src/db/listen.ts';
import type { AccountId } from '../../src/kernel/ids.ts';
import type { EventType } from '../../src/outbox/event-types.ts';
import { publishEach } from '../../src/outbox/queue.ts';
import { CHANNEL } from '../../src/webhooks/engine/wake.ts';
import type { Api } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { onSignal } from '../support/signals.ts';
import { until } from '../support/wire.ts';
import type { World, WorldOptions } from '../support/world.ts';

const ENDPOINTS = '/v2/webhook-endpoints';

/** A webhook endpoint that a test created. */
export interface Endpoint {
  readonly id: string;
  readonly uuid: string;
  readonly secret: string;
  /** `/v2/webhook-endpoints/we_…` */
  readonly path: string;
}

/** A delivery with its attempts, as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Log = any;

/** The stored row of a queued delivery. */
export interface Queued {
  readonly event_id: string;
  readonly trigger: string;
  readonly step: number;
  readonly generation: number;
  readonly due_in: number;
  readonly leased: boolean;
  /** A new one after every write. */
  readonly version: string;
}

/** A world with receivers, and the vocabulary of the delivery tests. */
export interface Stage {
  readonly world: World;
  readonly api: Api;
  receiver(): Promise<Receiver>;
  /** Creates an endpoint, in the account of the stage or in that of another client. */
  endpoint(receiver: Receiver | string, fields?: object, of?: Api): Promise<Endpoint>;
  change(endpoint: Endpoint, fields: object): Promise<void>;
  /** Publishes an event of the platform's own, `order.created` by default; returns its id. */
  publish(type?: string): Promise<string>;
  publishMany(count: number, type?: string): Promise<string[]>;
  /** Publishes this many in each account, in one transaction: a backlog exists at one moment. */
  backlog(count: number, type?: string): Promise<void>;
  log(endpoint: Endpoint, event: string): Promise<Log>;
  /** Waits until the log of an event has these values; returns it. */
  untilLog(endpoint: Endpoint, event: string, what: object): Promise<Log>;
  retry(endpoint: Endpoint, event: string): Promise<number>;
  queue(endpoint: Endpoint): Promise<Queued[]>;
  /** Makes everything that waits for its time due, as if that time had passed. */
  passTime(endpoint: Endpoint): Promise<void>;
  /** Wakes the workers to look for work. */
  nudge(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows of every shape
  state(endpoint: Endpoint): Promise<any>;
}

export const uuidOf = (id: string): string =>
  id.replace(/^[a-z]+_/, '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Runs a test in a world whose server delivers unless the options say otherwise. */
export async function onStage(options: WorldOptions, work: (stage: Stage) => Promise<void>): Promise<void> {
  const world = await borrowWorld({ delivers: true, ...options });
  const receivers: Receiver[] = [];
  let failure: unknown;
  try {
    await work(stageOf(world, receivers));
  } catch (error) {
    failure = error;
  }
  // cuts hanging requests, so that the worker has nothing to wait for
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await world.close().catch((error: unknown) => {
    failure ??= error;
  });
  if (failure) throw failure;
}

function stageOf(world: World, receivers: Receiver[]): Stage {
  const { api } = world;
  const stage: Stage = {
    world,
    api,
    async receiver() {
      const receiver = await startReceiver();
      receivers.push(receiver);
      return receiver;
    },
    async endpoint(receiver, fields = {}, of = api) {
      const url = typeof receiver === 'string' ? receiver : receiver.url;
      const { status, text, body } = await of.post(ENDPOINTS, { url, event_types: ['order.*'], ...fields });
      expect(status, text).toBe(201);
      return { id: body.id, uuid: uuidOf(body.id), secret: body.secret, path: `${ENDPOINTS}/${body.id}` };
    },
    async change(endpoint, fields) {
      const { status, text } = await api.patch(endpoint.path, fields);
      expect(status, text).toBe(200);
    },
    async publish(type = 'order.created') {
      const { status, text, body } = await api.post('/v2/events', { type, data: { number: 1 } });
      expect(status, text).toBe(201);
      return body.id;
    },
    publishMany: (count, type) => Promise.all(Array.from({ length: count }, () => stage.publish(type))),
    async backlog(count, type = 'order.created') {
      const accounts = await world.query<{ id: AccountId }>('select id from accounts');
      const records = sql`select '{"number":1}' as data from generate_series(1, ${count}::int)`;
      await world.db.transaction(async (tx) => {
        for (const { id } of accounts)
          await publishEach(tx, { account: id, type: type as EventType, records });
      });
    },
    async log(endpoint, event) {
      const { status, text, body } = await api.get(`${endpoint.path}/events/${event}`);
      expect(status, text).toBe(200);
      return body;
    },
    async untilLog(endpoint, event, what) {
      let seen: Log;
      const holds = async () => {
        seen = await stage.log(endpoint, event);
        return Object.entries(what).every(([field, value]) => seen[field] === value);
      };
      await onSignal(world, 'settled', `the log to say ${JSON.stringify(what)}`, holds).catch(
        (error: Error) => {
          throw new Error(`${error.message}; it says ${JSON.stringify(seen)}`);
        },
      );
      return seen;
    },
    async retry(endpoint, event) {
      return (await api.post(`${endpoint.path}/events/${event}/retry`)).status;
    },
    queue: (endpoint) =>
      world.query(
        `select event_id, trigger, step, generation, extract(epoch from due_at - now())::float8 as due_in,
                lease_token is not null as leased, xmin::text as version
         from queue where endpoint_id = $1 order by event_id`,
        [endpoint.uuid],
      ),
    async passTime(endpoint) {
      await world.query(
        'update queue set due_at = now() where endpoint_id = $1 and lease_token is null and due_at > now()',
        [endpoint.uuid],
      );
      await stage.nudge();
    },
    async nudge() {
      await world.query(`notify ${channelOf(CHANNEL, world.db.cell)}`);
    },
    async state(endpoint) {
      const [row] = await world.query(
        `select lane, failures, failing_since is not null as failing, last_success_at is not null as succeeded,
                greatest(0, extract(epoch from greatest(may_start_at, now()) - now()))::float8 as waits
         from endpoint_state where endpoint_id = $1`,
        [endpoint.uuid],
      );
      return row;
    },
  };
  return stage;
}

interface Held {
  readonly request: Received;
  readonly response: ServerResponse;
}

/** Makes a receiver answer only when `release` is called. */
export function holdResponses(receiver: Receiver): {
  readonly held: Held[];
  /** Waits until this many are held. */
  until(count: number): Promise<Held[]>;
  /** Answers all held requests, and later ones. */
  release(status?: number): void;
} {
  const held: Held[] = [];
  receiver.respond((request, response) => void held.push({ request, response }));
  return {
    held,
    async until(count) {
      await until(`${count} requests to be held`, () => held.length >= count);
      return held;
    },
    release(status = 200) {
      receiver.respond(status);
      for (const { response } of held.splice(0)) response.writeHead(status).end();
    },
  };
}

/** Counts how many requests a receiver has at once, in total and of one event; each is answered after a while. */
export function metering(
  receiver: Receiver,
  { answerMs = 0, status = 200 } = {},
): { most: number; mostOfOneEvent: number } {
  const meter = { most: 0, mostOfOneEvent: 0 };
  const now = new Map<string, number>();
  let all = 0;
  receiver.respond(({ headers }, response) => {
    const event = String(headers['webhook-id']);
    const same = (now.get(event) ?? 0) + 1;
    now.set(event, same);
    all += 1;
    meter.most = Math.max(meter.most, all);
    meter.mostOfOneEvent = Math.max(meter.mostOfOneEvent, same);
    response.once('close', () => {
      all -= 1;
      now.set(event, (now.get(event) ?? 1) - 1);
    });
    setTimeout(() => response.writeHead(status).end(), answerMs);
  });
  return meter;
}

export const idsOf = (received: readonly Received[]): string[] =>
  received.map(({ headers }) => String(headers['webhook-id']));

/** How often each id arrived, as counts of those that did not arrive exactly once. */
export function deliveryCountErrors(
  received: readonly Received[],
  expected: readonly string[],
): Record<string, number> {
  const counts = new Map(expected.map((id) => [id, 0]));
  for (const id of idsOf(received)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return Object.fromEntries([...counts].filter(([, count]) => count !== 1));
}
