import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openPlatform, type Platform } from '../../src/app/platform.ts';
import { addCells } from '../../src/cells/manage.ts';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { startCluster } from './citus.ts';
import { fastestFolder } from './fastest-folder.ts';
import { startPgBouncer } from './pgbouncer.ts';
import { countOfProcesses } from './processes.ts';
import { startPair } from './replica.ts';

/** How tests reach the one PostgreSQL of the run. */
export interface TestPostgres {
  readonly host: string;
  readonly port: number;
  /** Creates and drops databases. */
  readonly superuser: string;
  readonly superuserPassword: string | undefined;
  /** The role the program connects as. */
  readonly user: string;
  readonly password: string | undefined;
  /** A migrated database to clone, for the worlds of each cell. */
  readonly templates: readonly [Template, Template];
  readonly secretKey: string;
  /** For files that the tests of a run share; removed at its end. */
  readonly folder: string;
  /** A pooler in front of it, which the program connects to (TEST_POOLER). */
  readonly pooler: { readonly host: string; readonly port: number } | undefined;
  /** A replica of it, which the program reads from (TEST_REPLICA). */
  readonly replica: { readonly host: string; readonly port: number } | undefined;
  /** The ports of a Citus cluster that holds each database as a cell on a node (TEST_CITUS), the coordinator's first. */
  readonly cluster: readonly number[] | undefined;
}

/** A database with a first account in cell 0. That of cell 1 has a second schema, with a first account in cell 1. */
interface Template {
  readonly name: string;
  /** The key of the first account of its cell. */
  readonly key: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestPostgres;
  }
}

const SECRET_KEY = 'a secret key for tests, long enough for the rule';

/** The schema and the role of the database when it is a cell of a Citus cluster. */
const CELL = 'cell';

async function openServer(folder: string) {
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    const url = new URL(given);
    const user = decodeURIComponent(url.username);
    const password = decodeURIComponent(url.password) || undefined;
    const where = { host: url.searchParams.get('host') ?? url.hostname, port: Number(url.port || 5432) };
    const as = { superuser: user, superuserPassword: password, user, password };
    return { ...where, ...as, replica: undefined, cluster: undefined, close: async () => {} };
  }
  if (process.env.TEST_CITUS) {
    process.stderr.write('test/cells is skipped: on a Citus cluster a cell needs a login of its own\n');
    const cluster = await startCluster({ nodes: 1 });
    const port = cluster.coordinator.port;
    const as = { superuser: 'postgres', superuserPassword: undefined, user: CELL, password: undefined };
    return { host: '127.0.0.1', port, ...as, replica: undefined, cluster, close: () => cluster.close() };
  }
  // No data outlives the run; the fault tests start their own servers, with fsync.
  const settings = {
    fsync: 'off',
    wal_compression: 'off',
    max_wal_size: '1GB',
    max_connections: String(1000 * countOfProcesses()),
  };
  const pair = process.env.TEST_REPLICA ? await startPair({ synchronous: false, settings }) : undefined;
  const server =
    pair?.primary ?? (await openEmbedded({ dataDir: join(folder, 'data'), purpose: 'serve', settings }));
  const { host, port, user, password } = server.connection;
  return {
    host,
    port,
    superuser: server.superuser.user,
    superuserPassword: server.superuser.password,
    user,
    password,
    replica: pair && { host: pair.replica.connection.host, port: pair.replica.connection.port },
    cluster: undefined,
    close: () => (pair ?? server).close(),
  };
}

/** Creates the first account of a cell; returns its key. */
export async function firstKeyIn(platform: Platform, cell: number): Promise<string> {
  const { id } = await platform.accounts.create('Default', cell);
  const db = await platform.accounts.databaseOf(id);
  const { secret } = await db.transaction((tx) =>
    createKey(tx, id, { name: 'first key', createdBy: 'setup' }),
  );
  return secret;
}

/** Starts PostgreSQL once for the run and creates the template of every test's database. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // where tmpdir() of this process, the tests and their programs looks
  const temporary = mkdtempSync(join(fastestFolder(), 'payhook-'));
  chmodSync(temporary, 0o1777); // as /tmp: programs run as other users in some tests
  process.env.TMPDIR = temporary;
  const folder = mkdtempSync(join(temporary, 'run-'));
  const { close, cluster, ...server } = await openServer(folder);
  const template = `payhook_template_${process.pid}`;
  const admin = new pg.Client({
    host: server.host,
    port: server.port,
    user: server.superuser,
    ...(server.superuserPassword ? { password: server.superuserPassword } : {}),
    database: 'postgres',
  });
  await admin.connect();
  if (cluster) {
    await cluster.createDatabase(template, 1);
    await cluster.addCell(template, CELL);
  } else
    await admin.query(`create database ${template} owner ${server.user} template template0 encoding 'UTF8'`);
  const config = readConfig({ DATA_DIR: join(folder, 'program'), SECRET_KEY, LOG_LEVEL: 'error' });
  const open = (database: string) =>
    openPlatform(config, { purpose: 'command', target: { ...server, database } });
  const platform = await open(template);
  const first = { name: template, key: platform.firstKey?.secret ?? '' };
  await platform.close();
  const second = { name: `${template}_cells`, key: '' };
  if (cluster) {
    await cluster.distribute(template, CELL);
    await cluster.freeze(template);
  } else {
    await admin.query(`create database ${second.name} template ${template} owner ${server.user}`);
    const both = await open(second.name);
    await addCells(both, { url: null, listenUrl: null, schema: 'cell_', count: 1 });
    second.key = await firstKeyIn(both, 1);
    await both.close();
  }
  const pooler = process.env.TEST_POOLER ? await startPgBouncer(server) : undefined;
  project.provide('postgres', {
    ...server,
    templates: [first, second],
    secretKey: SECRET_KEY,
    folder,
    cluster: cluster && [cluster.coordinator.port, ...cluster.nodes.map(({ port }) => port)],
    pooler: pooler && { host: pooler.host, port: pooler.port },
  });
  return async () => {
    await pooler?.close();
    // the last one is made by test/cells/support.ts
    for (const name of [first.name, second.name, `${template}_two`])
      await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
    await close();
    rmSync(temporary, { recursive: true, force: true });
  };
}
