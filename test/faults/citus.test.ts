import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Member } from '../support/citus.ts';
import { whyNoCitus } from '../support/citus.ts';
import { rounds } from '../support/depth.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type Installation, type Shop, startInstallation } from './support-citus.ts';

// Citus sends the tables of each cell to each node, one after the other, which takes most of the time
const CELLS = rounds(2, 4);
/** How many events each cell accepts after each change of the cluster. */
const EVENTS = rounds(5, 200);

/** A shop whose events are published one after the other until it is stopped. */
interface Publisher extends Shop {
  readonly receiver: Receiver;
  /** Ids of the events that were answered with a 201. */
  readonly accepted: string[];
  /** The statuses and reasons of the other answers. */
  readonly refused: string[];
  longestMs: number;
  stop(): Promise<void>;
}

async function startPublisher(shop: Shop): Promise<Publisher> {
  const receiver = await startReceiver();
  const made = await shop.api.post('/v2/webhook-endpoints', {
    url: receiver.url,
    event_types: ['order.created'],
  });
  expect(made.status).toBe(201);
  let isOver = false;
  const publisher: Publisher = {
    ...shop,
    receiver,
    accepted: [],
    refused: [],
    longestMs: 0,
    async stop() {
      isOver = true;
      await publishing;
      await receiver.close();
    },
  };
  const publish = async () => {
    while (!isOver) {
      const begunAt = performance.now();
      const answer = await shop.api.post('/v2/events', { type: 'order.created', data: {} });
      publisher.longestMs = Math.max(publisher.longestMs, performance.now() - begunAt);
      if (answer.status === 201) publisher.accepted.push(answer.body.id);
      else publisher.refused.push(`${answer.status} ${answer.reason}`);
      // as a client does; an attempt each 100 ms is a load, and nothing waits for it
      await delay(Number(answer.headers.get('retry-after')) * 1000 || 100);
    }
  };
  const publishing = publish();
  return publisher;
}

describe.skipIf(!process.env.TEST_CITUS || whyNoCitus !== null)(
  'cells on the nodes of a Citus cluster',
  () => {
    let installation: Installation;
    let nodes: readonly [Member, Member];
    const shops: Publisher[] = [];

    const on = async (node: Member) => {
      const places = await installation.places();
      return shops.filter(({ schema }) => places.get(schema) === node.port);
    };
    /** Waits until each of these shops has published more events. */
    const untilAccepting = async (some: readonly Publisher[]) => {
      const before = new Map(some.map((shop) => [shop, shop.accepted.length]));
      await until('each cell to accept events', () =>
        some.every((shop) => shop.accepted.length >= (before.get(shop) ?? 0) + EVENTS),
      );
    };
    const arrivedAt = ({ receiver }: Publisher) =>
      receiver.received.map(({ headers }) => String(headers['webhook-id']));
    /** Waits until everything that was accepted so far has arrived. */
    const untilArrived = async () => {
      for (const shop of shops) {
        const accepted = [...shop.accepted];
        await until('everything that was accepted to arrive', () => {
          const arrived = new Set(arrivedAt(shop));
          return accepted.every((id) => arrived.has(id));
        });
      }
    };
    /** Lets Citus use the second node too, and waits until each node has cells. */
    const useBothNodes = async () => {
      const { ask } = installation;
      if ((await on(nodes[1])).length > 0) return;
      await ask(`select citus_add_node('127.0.0.1', ${nodes[1].port})`);
      await ask('select citus_rebalance_start()');
      await ask('select citus_rebalance_wait()');
    };
    const duplicates = () =>
      shops.reduce((sum, shop) => sum + arrivedAt(shop).length - new Set(arrivedAt(shop)).size, 0);
    const forget = () => {
      for (const shop of shops) {
        shop.refused.length = 0;
        shop.longestMs = 0;
      }
    };
    const print = (what: string) => {
      const longest = Math.max(...shops.map(({ longestMs }) => longestMs));
      const accepted = shops.reduce((sum, shop) => sum + shop.accepted.length, 0);
      process.stderr.write(
        `${what}: accepted ${accepted}, duplicates ${duplicates()}, longest ${Math.round(longest)} ms\n`,
      );
    };

    beforeAll(async () => {
      installation = await startInstallation();
      nodes = installation.cluster.nodes as [Member, Member];
      for (let left = CELLS; left > 0; left--) shops.push(await startPublisher(await installation.addCell()));
    });
    afterAll(async () => {
      for (const shop of shops) await shop.stop();
      await installation.close();
    });

    test('a rebalance that is cancelled, and one that completes, refuse no request and lose no event', async () => {
      const { ask } = installation;
      await untilAccepting(shops);
      forget();
      await ask(`select citus_add_node('127.0.0.1', ${nodes[1].port})`);
      await ask('select citus_rebalance_start()');
      await ask('select citus_rebalance_stop()');
      await untilAccepting(shops);
      await useBothNodes();
      await untilAccepting(shops);
      const places = await installation.places();
      expect(new Set(places.values())).toEqual(new Set(nodes.map(({ port }) => port)));
      expect(shops.flatMap(({ refused }) => refused)).toEqual([]);
      await untilArrived();
      print('rebalance');
    });

    test('when a node dies its cells answer 503, the others write again once it is marked as inactive, and everything is delivered when it returns', async () => {
      const { ask } = installation;
      const [, { port }] = nodes;
      await useBothNodes();
      const lost = await on(nodes[1]);
      const others = shops.filter((shop) => !lost.includes(shop));
      forget();
      await nodes[1].kill();
      // Citus sends the rows of a step to all active nodes, so the others cannot write either
      await until('all cells to refuse events', () => shops.every(({ refused }) => refused.length > 0));
      await ask(`update pg_dist_node set isactive = false where nodeport = ${port}`);
      await untilAccepting(others);
      const refusedBefore = others.flatMap(({ refused }) => refused).length;
      const acceptedBefore = lost.flatMap(({ accepted }) => accepted).length;
      await untilAccepting(others);
      expect(others.flatMap(({ refused }) => refused)).toHaveLength(refusedBefore);
      expect(lost.flatMap(({ accepted }) => accepted)).toHaveLength(acceptedBefore);
      await nodes[1].start();
      await ask(`select citus_activate_node('127.0.0.1', ${port})`);
      await untilAccepting(shops);
      expect(new Set(shops.flatMap(({ refused }) => refused))).toEqual(new Set(['503 cell_unavailable']));
      await untilArrived();
      print('node died');
    });

    test('when the coordinator dies, requests are refused until it is back, and everything is delivered', async () => {
      const { coordinator } = installation.cluster;
      forget();
      await coordinator.kill();
      await until('requests to be refused', () => shops.every(({ refused }) => refused.length > 0));
      await coordinator.start();
      await untilAccepting(shops);
      await untilArrived();
      expect(new Set(shops.flatMap(({ refused }) => refused))).toEqual(new Set(['503 cell_unavailable']));
      print('coordinator died');
    });
  },
);
