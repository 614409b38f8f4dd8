import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { pino } from 'pino';
import { openPlatform } from '../../src/app/platform.ts';
import { serve, work } from '../../src/app/serve.ts';
import { addCells } from '../../src/cells/manage.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { type Api, apiOf } from '../support/api.ts';
import { type Cluster, startCluster } from '../support/citus.ts';

const DATABASE = 'payhook';

/** Cell 0 of an installation, on the coordinator of a cluster with two nodes, the first of which Citus uses. */
export interface CitusDatabase {
  readonly cluster: Cluster;
  /** The settings with which a process uses it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Adds the login and the empty schema of a cell; returns its URL. */
  addLogin(schema: string): Promise<string>;
  /** Connects the coordinator as superuser, with the tables of a cell. */
  connect(schema: string): Promise<pg.Client>;
  /** Runs a statement on the coordinator as superuser. */
  ask<Row>(statement: string): Promise<Row[]>;
  /** The port of the node that each schema is on. */
  places(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** Starts a cluster with the schema of cell 0, which is empty. */
export async function startCitusDatabase(): Promise<CitusDatabase> {
  const cluster = await startCluster({ nodes: 2 });
  const { coordinator } = cluster;
  const folder = mkdtempSync(join(tmpdir(), 'payhook-cells-'));
  await cluster.createDatabase(DATABASE, 1);
  const addLogin = async (schema: string) => {
    await cluster.addCell(DATABASE, schema);
    return `postgres://${schema}@127.0.0.1:${coordinator.port}/${DATABASE}`;
  };
  const connect = async (schema: string) => {
    const client = await coordinator.client(DATABASE);
    await client.query(`set search_path to ${schema}`);
    return client;
  };
  const ask = async <Row>(statement: string): Promise<Row[]> => {
    const client = await coordinator.client(DATABASE);
    try {
      return (await client.query(statement)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  return {
    cluster,
    environment: {
      DATA_DIR: folder,
      DATABASE_URL: await addLogin('cell_0'),
      SECRET_KEY: 'a secret key for tests, long enough for the rule',
      LOG_LEVEL: 'silent',
      DATABASE_POOL_SIZE: '4',
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      DELIVERY_SCHEDULE: '0s 1s 1s 1s 1s 1s 1s 1s 1s 1s',
    },
    addLogin,
    connect,
    ask,
    async places() {
      const rows = await ask<{ schema: string; port: number }>(
        `select distinct t.relnamespace::regnamespace::text as schema, s.nodeport as port
         from citus_shards s join pg_class t on t.oid = s.table_name`,
      );
      return new Map(rows.map(({ schema, port }) => [schema, port]));
    },
    async close() {
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An account in a cell on a node. */
export interface Shop {
  readonly schema: string;
  readonly api: Api;
}

/** A server and a worker. */
export interface Installation extends CitusDatabase {
  /** Adds a cell with an account. */
  addCell(): Promise<Shop>;
}

/** Starts an installation on the coordinator of a cluster. */
export async function startInstallation(): Promise<Installation> {
  const database = await startCitusDatabase();
  const open = (purpose: 'serve' | 'worker') =>
    openPlatform(readConfig(database.environment), { purpose, log: pino({ level: 'silent' }) });
  const platform = await open('serve');
  const second = await open('worker');
  const worker = work(second);
  const listen = { host: '127.0.0.1', port: 0 };
  const server = await serve(platform, { listen, delivers: true, keepsHouse: false });
  return {
    ...database,
    async addCell() {
      const schema = `cell_${platform.cells.list().length}`;
      const url = await database.addLogin(schema);
      const [cell = 0] = await addCells(platform, { url, listenUrl: null, schema: null, count: null });
      const { id } = await platform.accounts.create(`Shop ${cell}`, cell);
      const db = await platform.accounts.databaseOf(id);
      const { secret } = await db.transaction((tx) => createKey(tx, id, { name: 'key', createdBy: 'test' }));
      return { schema, api: apiOf(server.address, secret) };
    },
    async close() {
      await worker.close();
      await server.close();
      await second.close();
      await platform.close();
      await database.close();
    },
  };
}
