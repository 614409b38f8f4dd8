import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { openPlatform, type Platform } from '../../src/app/platform.ts';
import { type RunningServer, serve, work } from '../../src/app/serve.ts';
import { fillQuietly } from '../../src/cli/demo/fill.ts';
import type { Database } from '../../src/db/database.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { OWN_PREFIXES } from '../../src/webhooks/types/types.ts';
import { type Api, apiOf } from './api.ts';
import { cellOfFile, type TestCell, tablesOf } from './cell-of-file.ts';
import { onMembers } from './citus.ts';
import { checkAgainstCatalogue } from './description.ts';
import { type LatencyProxy, latencyProxy } from './latency.ts';
import { disorder, imbalances, inspectorOf, schemaOf, stillQueued } from './left-behind.ts';
import { borrowWorld, countWorld } from './pool.ts';
import { countOfProcesses } from './processes.ts';
import { slateOf, wipe } from './slate.ts';
import { until } from './wire.ts';

/**
 * The connections of a server of the tests. Every new connection reads the catalogue and plans its statements, which is a
 * quarter of what PostgreSQL does in the tests; a test in which many requests overlap asks for more.
 */
const POOL_SIZE = 4;

/** A server on a database of its own. */
export interface World {
  /** The first account's client. */
  readonly api: Api;
  readonly url: string;
  /** The address of the metrics, in a world with METRICS_PORT. */
  readonly metricsUrl: string;
  readonly platform: Platform;
  /** The database of the cell that holds its accounts. */
  readonly db: Database;
  readonly latency: LatencyProxy | undefined;
  /** The program's log, a JSON object a line. */
  readonly log: Record<string, unknown>[];
  /** Creates another account with a key; returns its client. */
  otherAccount(name?: string): Promise<Api>;
  /** A query as superuser on the tables of its cell, to inspect stored rows. One with a name is planned once. */
  query<Row>(text: string, values?: unknown[], name?: string): Promise<Row[]>;
  /** Starts a second server on the same database, as another process would. */
  secondServer(): Promise<{ api: Api; close(): Promise<void> }>;
  /**
   * Starts a `payhook worker` on the same database, with its own settings; the world closes it if the test does not.
   */
  startWorker(settings?: Readonly<Record<string, string>>): Promise<{ close(): Promise<void> }>;
  /** Another connection to the tables of its cell, as superuser; the test ends it. */
  connect(): Promise<pg.Client>;
  /** Allows errors in the log that the test provokes. */
  expectErrors(): void;
  /** Stops everything; throws when an imbalance is found or an error was logged. */
  close(): Promise<void>;
}

/** A connection to a cell in a database of the tests as superuser, not yet opened. */
export function clientOf(database: string, cell: TestCell = 0): pg.Client {
  const { host, port, superuser, superuserPassword } = inject('postgres');
  const login = superuserPassword ? { password: superuserPassword } : {};
  const client = new pg.Client({ host, port, user: superuser, database, ...login, ...tablesOf(cell) });
  // a failed test leaves its connection, which dropping the database ends
  client.on('error', () => undefined);
  return client;
}

/** Runs a statement as superuser outside the databases of the tests; on a Citus cluster, on every member. */
export async function asAdmin(statement: string): Promise<void> {
  const { cluster } = inject('postgres');
  if (cluster) return onMembers(cluster, statement);
  const admin = clientOf('postgres');
  await admin.connect();
  await admin.query(statement);
  await admin.end();
}

export interface WorldOptions {
  /** Delays every message to PostgreSQL, which race tests need. */
  readonly databaseLatencyMs?: number;
  readonly poolSize?: number;
  /** The program connects to this pooler in front of PostgreSQL. */
  readonly pooler?: { readonly host: string; readonly port: number };
  /** Whether the server also delivers webhooks. */
  readonly delivers?: boolean;
  /**
   * How many processes deliver, if the statement of a test is about a certain number of them: 1 = only this one; default: as many as the
   * run has (countOfProcesses).
   */
  readonly processes?: number;
  /** Settings besides those of every world, by their names in the environment. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Not from the pool: for a test that changes the schema, or counts what a process did since it started. */
  readonly own?: boolean;
  /** The cell of its accounts; default: that of the test file (cellOfFile). */
  readonly cell?: TestCell;
  /** The database that its own is a copy of, in a world that is not from the pool; default: the template of its cell. */
  readonly copyOf?: string;
}

/** A running world, with what only the pool may do to it. */
export interface OwnWorld extends World {
  /** In a world that delivers, starts its worker and the chores of the database; `stop` stops both. */
  begin(): Promise<void>;
  stop(): Promise<void>;
  /** Waits until the worker has made all due attempts; fails when it does not. */
  settle(): Promise<void>;
  /**
   * Fails with all that a test left behind: a lease, books that do not balance, an error in the log; and in a world
   * that returns to the pool an open transaction, a setting or a changed schema.
   */
  check(isReturned: boolean): Promise<void>;
  /** Removes everything a test wrote, which restores the database of the world. */
  reset(): Promise<void>;
}

/** Creates a world whose worker has not started. */
export async function makeWorld(options: WorldOptions): Promise<OwnWorld> {
  countWorld();
  const postgres = inject('postgres');
  const cell = options.cell ?? cellOfFile();
  const template = postgres.templates[cell];
  const database = `${template.name}_${randomBytes(6).toString('hex')}`;
  // copied as files: through the log each page is written twice
  await asAdmin(
    `create database ${database} template ${options.copyOf ?? template.name} owner ${postgres.user} strategy file_copy`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'payhook-world-'));
  const pooler = options.pooler ?? postgres.pooler;
  const front = pooler ?? { host: postgres.host, port: postgres.port };
  const latency =
    options.databaseLatencyMs === undefined
      ? undefined
      : await latencyProxy(front, options.databaseLatencyMs);
  const targetAt = ({ host, port }: { host: string; port: number }) => ({
    host,
    port,
    user: postgres.user,
    ...(postgres.password ? { password: postgres.password } : {}),
    database,
  });
  const target = targetAt(latency ? { host: '127.0.0.1', port: latency.port } : front);
  const direct = pooler && targetAt(postgres);
  const replica = postgres.replica && targetAt(postgres.replica);
  const configOf = (settings?: Readonly<Record<string, string>>) =>
    readConfig({
      PORT: '0',
      DATA_DIR: folder,
      SECRET_KEY: postgres.secretKey,
      LOG_LEVEL: 'info',
      DATABASE_POOL_SIZE: String(options.poolSize ?? POOL_SIZE),
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      ...options.settings,
      ...settings,
    });
  const log: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'info', base: null },
    { write: (line: string) => void log.push(JSON.parse(line)) },
  );
  const listen = { host: '127.0.0.1', port: 0 };
  const open = async (delivers: boolean): Promise<{ platform: Platform; server: RunningServer }> => {
    const platform = await openPlatform(configOf(), {
      purpose: 'command',
      target,
      direct,
      replica,
      log: logger,
    });
    if (replica) await until('the replica to be used', () => platform.db.replica?.state().problem === null);
    return {
      platform,
      server: await serve(platform, { listen, delivers, keepsHouse: false, fillDemo: fillQuietly }),
    };
  };
  const { platform, server } = await open(false);
  const db = platform.cells.of(cell);
  if (db === null) throw new Error(`there is no cell ${cell}`);
  const inspector = await inspectorOf(database, cell);
  let writer: pg.Client | undefined;
  let errorsExpected = false;
  const workers = new Set<{ close(): Promise<void> }>();
  // one connection, so that a test may lock with it: one statement after the other
  let turn: Promise<unknown> = Promise.resolve();
  const query = async <Row>(text: string, values: unknown[] = [], name?: string) => {
    const result = turn.then(() => inspector.client.query({ text, values, ...(name ? { name } : {}) }));
    turn = result.catch(() => undefined);
    return (await result).rows as Row[];
  };
  // one of a test's own is closed, not returned
  const found = options.own
    ? undefined
    : { slate: await slateOf(inspector.client), schema: await schemaOf(inspector) };
  let stops: (() => unknown)[] = [];

  const world: OwnWorld = {
    api: apiOf(server.address, template.key),
    url: server.address,
    metricsUrl: server.metricsAddress ?? '',
    platform,
    db,
    latency,
    log,
    query,
    async otherAccount(name = 'Other') {
      const { id } = await platform.accounts.create(name, cell);
      const { secret } = await db.transaction((tx) => createKey(tx, id, { name: 'key', createdBy: 'test' }));
      return apiOf(server.address, secret);
    },
    async secondServer() {
      const second = await open(options.delivers ?? false);
      return {
        api: apiOf(second.server.address, template.key),
        async close() {
          await second.server.close();
          await second.platform.close();
        },
      };
    },
    async startWorker(settings) {
      const own = await openPlatform(configOf(settings), { purpose: 'command', target, direct, log: logger });
      const working = work(own);
      const worker = {
        async close() {
          if (!workers.delete(worker)) return;
          await working.close();
          await own.close();
        },
      };
      workers.add(worker);
      return worker;
    },
    async connect() {
      const client = clientOf(database, cell);
      await client.connect();
      return client;
    },
    expectErrors() {
      errorsExpected = true;
    },
    async begin() {
      // without a worker nothing runs besides the requests of a test, which runs the chores it needs
      // (support/chores.ts)
      if (!options.delivers) return;
      stops = [work(platform).close];
      for (let count = 1; count < (options.processes ?? countOfProcesses()); count += 1)
        await world.startWorker();
    },
    async stop() {
      await Promise.all([
        ...stops.splice(0).map((stop) => stop()),
        ...[...workers].map((each) => each.close()),
      ]);
    },
    async settle() {
      const queued = options.delivers ? await stillQueued(inspector) : [];
      if (queued.length > 0) throw new Error(queued.join('; '));
    },
    async check(isReturned) {
      const wrong = [
        ...(isReturned && found ? await disorder(inspector, found.schema) : []),
        ...(await imbalances(inspector)),
      ];
      const events = await query<{ type: string; payload: string }>('select type, payload from events');
      for (const { type, payload } of events) {
        if (OWN_PREFIXES.some((prefix) => type.startsWith(prefix))) checkAgainstCatalogue(payload);
      }
      const errors = errorsExpected ? [] : log.filter((line) => Number(line.level) >= 50);
      if (errors.length > 0) wrong.push(`errors were logged: ${JSON.stringify(errors)}`);
      if (wrong.length > 0) throw new Error(`the world was not left as it was found: ${wrong.join('; ')}`);
    },
    async reset() {
      latency?.restore();
      if (found) {
        writer ??= await world.connect();
        await wipe(inspector.client, writer, found.slate);
      }
      errorsExpected = false;
      log.length = 0;
    },
    async close() {
      await world.stop();
      await server.close();
      const left = await world.check(false).catch((error: unknown) => error);
      await inspector.client.end();
      await writer?.end();
      await platform.close();
      await latency?.close();
      await asAdmin(`drop database ${database} with (force)`);
      rmSync(folder, { recursive: true, force: true });
      if (left) throw left;
    },
  };
  return world;
}

/** A value that a hook creates later, so that a test file declares it in one line. */
export function standIn<Thing extends object>(
  made: () => Thing,
  parts: { readonly [Name in keyof Thing]?: Thing[Name] } = {},
): Thing {
  return new Proxy({} as Thing, {
    get: (_, name) => (name in parts ? Reflect.get(parts, name) : Reflect.get(made(), name)),
  });
}

/** A world for the tests of a file, or of a `describe`: borrowed before the first, returned after the last. */
export function useWorld(options?: WorldOptions): World {
  let world: World;
  beforeAll(async () => {
    world = await borrowWorld(options);
  });
  afterAll(() => world.close());
  return standIn(() => world, { api: standIn(() => world.api) });
}

/** A new account before each test; its client. */
export function useAccount(world: World, name?: string): Api {
  let api: Api;
  beforeEach(async () => {
    api = await world.otherAccount(name);
  });
  return standIn(() => api);
}
