import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { serve } from '../../src/app/serve.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { type Api, apiOf } from '../support/api.ts';
import { type Cluster, startCluster, whyNoCitus } from '../support/citus.ts';
import { rounds } from '../support/depth.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';

const CELLS = 4;
/** How many events each cell accepts after each change of the cluster. */
const EVENTS = rounds(20, 200);
const DATABASE = 'payhook';

/** A schema of the cluster with a server of its own, which publishes and delivers. */
interface Cell {
  readonly schema: string;
  readonly api: Api;
  readonly receiver: Receiver;
  /** Ids of the events that were answered with a 201. */
  readonly accepted: string[];
  /** The statuses of the other answers. */
  readonly refused: number[];
  longestMs: number;
  stop(): Promise<void>;
}

/** Starts a server on an empty schema, distributes the schema, and publishes events one after the other until it is stopped. */
async function startCell(cluster: Cluster, number: number): Promise<Cell> {
  const schema = `cell_${number}`;
  await cluster.addCell(DATABASE, schema);
  const folder = mkdtempSync(join(tmpdir(), 'payhook-cell-'));
  const receiver = await startReceiver();
  const config = readConfig({
    DATA_DIR: folder,
    SECRET_KEY: 'a secret key for tests, long enough for the rule',
    LOG_LEVEL: 'silent',
    DATABASE_POOL_SIZE: '4',
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    DELIVERY_SCHEDULE: '0s 1s 1s 1s 1s 1s 1s 1s 1s 1s',
  });
  const target = { host: '127.0.0.1', port: cluster.coordinator.port, user: schema, database: DATABASE };
  const platform = await openPlatform(config, { purpose: 'command', target, log: pino({ level: 'silent' }) });
  await cluster.distribute(DATABASE, schema);
  const listen = { host: '127.0.0.1', port: 0 };
  const server = await serve(platform, { listen, delivers: true, keepsHouse: false });
  const api = apiOf(server.address, platform.firstKey?.secret ?? '');
  const made = await api.post('/v2/webhook-endpoints', { url: receiver.url, event_types: ['order.created'] });
  expect(made.status).toBe(201);
  let isOver = false;
  const cell: Cell = {
    schema,
    api,
    receiver,
    accepted: [],
    refused: [],
    longestMs: 0,
    async stop() {
      isOver = true;
      await publishing;
      await server.close();
      await platform.close();
      await receiver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const publish = async () => {
    while (!isOver) {
      const begunAt = performance.now();
      const { status, body } = await api.post('/v2/events', { type: 'order.created', data: {} });
      cell.longestMs = Math.max(cell.longestMs, performance.now() - begunAt);
      if (status === 201) cell.accepted.push(body.id);
      else cell.refused.push(status);
    }
  };
  const publishing = publish();
  return cell;
}

describe.skipIf(!process.env.TEST_CITUS || whyNoCitus !== null)(
  'cells on the nodes of a Citus cluster',
  () => {
    let cluster: Cluster;
    let cells: Cell[];

    const ask = async <Row>(statement: string): Promise<Row[]> => {
      const client = await cluster.coordinator.client(DATABASE);
      try {
        return (await client.query(statement)).rows as Row[];
      } finally {
        await client.end();
      }
    };
    /** The port of the node that each schema lies on. */
    const places = async () => {
      const rows = await ask<{ schema: string; port: number }>(`
      select distinct t.relnamespace::regnamespace::text as schema, s.nodeport as port
      from citus_shards s join pg_class t on t.oid = s.table_name`);
      return new Map(rows.map(({ schema, port }) => [schema, port]));
    };
    const on = async (port: number) => {
      const found = await places();
      return cells.filter(({ schema }) => found.get(schema) === port);
    };
    /** Waits until each of these cells has accepted more events. */
    const untilAccepting = async (some: readonly Cell[]) => {
      const before = new Map(some.map((cell) => [cell, cell.accepted.length]));
      await until('each cell to accept events', () =>
        some.every((cell) => cell.accepted.length >= (before.get(cell) ?? 0) + EVENTS),
      );
    };
    const arrivedAt = ({ receiver }: Cell) =>
      receiver.received.map(({ headers }) => String(headers['webhook-id']));
    /** Waits until everything that was accepted has arrived. */
    const untilArrived = (some: readonly Cell[]) =>
      until('everything that was accepted to arrive', () =>
        some.every((cell) => {
          const arrived = new Set(arrivedAt(cell));
          return cell.accepted.every((id) => arrived.has(id));
        }),
      );
    const duplicates = () =>
      cells.reduce((sum, cell) => sum + arrivedAt(cell).length - new Set(arrivedAt(cell)).size, 0);
    const forget = () => {
      for (const cell of cells) {
        cell.refused.length = 0;
        cell.longestMs = 0;
      }
    };
    const rebalance = async (how: string) => ask(how);
    const print = (what: string) => {
      const longest = Math.max(...cells.map(({ longestMs }) => longestMs));
      const accepted = cells.reduce((sum, cell) => sum + cell.accepted.length, 0);
      process.stderr.write(
        `${what}: accepted ${accepted}, duplicates ${duplicates()}, longest ${Math.round(longest)} ms\n`,
      );
    };

    beforeAll(async () => {
      cluster = await startCluster({ nodes: 2 });
      await cluster.createDatabase(DATABASE, 1);
      cells = [];
      for (let number = 1; number <= CELLS; number++) cells.push(await startCell(cluster, number));
    });
    afterAll(async () => {
      for (const cell of cells) await cell.stop();
      await cluster.close();
    });

    test('a rebalance that is cancelled, and one that completes, refuse no request and lose no event', async () => {
      const [first, second] = cluster.nodes;
      await untilAccepting(cells);
      forget();
      await rebalance(`select citus_add_node('127.0.0.1', ${second?.port})`);
      await rebalance('select citus_rebalance_start()');
      await rebalance('select citus_rebalance_stop()');
      await untilAccepting(cells);
      await rebalance('select citus_rebalance_start()');
      await rebalance('select citus_rebalance_wait()');
      await untilAccepting(cells);
      const found = await places();
      expect(new Set(found.values())).toEqual(new Set([first?.port, second?.port]));
      expect(cells.flatMap(({ refused }) => refused)).toEqual([]);
      await untilArrived(cells);
      print('rebalance');
    });

    test('when a node dies, the other cells continue, and everything is delivered when it returns', async () => {
      const [, second] = cluster.nodes as [unknown, (typeof cluster.nodes)[number]];
      const lost = await on(second.port);
      const others = cells.filter((cell) => !lost.includes(cell));
      forget();
      await second.kill();
      await until('the cells of the node to refuse requests', () =>
        lost.every(({ refused }) => refused.length > 0),
      );
      await untilAccepting(others);
      expect(others.flatMap(({ refused }) => refused)).toEqual([]);
      await second.start();
      await untilAccepting(cells);
      expect(new Set(lost.flatMap(({ refused }) => refused))).toEqual(new Set([500]));
      await untilArrived(cells);
      print('node died');
    });

    test('when the coordinator restarts, requests are refused until it is back, and everything is delivered', async () => {
      forget();
      await cluster.coordinator.kill();
      await until('requests to be refused', () => cells.every(({ refused }) => refused.length > 0));
      await cluster.coordinator.start();
      await untilAccepting(cells);
      await untilArrived(cells);
      expect(new Set(cells.flatMap(({ refused }) => refused))).toEqual(new Set([500]));
      print('coordinator restarted');
    });
  },
);
