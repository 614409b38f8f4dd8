import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.ts';
import { otherPostgres } from './other-postgres.ts';
import { until } from './wire.ts';

/** One PostgreSQL of a cluster, on 127.0.0.1. */
export interface Member {
  readonly port: number;
  /** Connects as superuser. */
  client(database: string): Promise<pg.Client>;
  /** Runs statements as superuser. */
  run(database: string, ...statements: string[]): Promise<void>;
  /** Ends it at once (SIGKILL), or in order; `start` starts it again on the same data. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A Citus cluster: a coordinator that holds no rows, and nodes that do. */
export interface Cluster {
  readonly coordinator: Member;
  readonly nodes: readonly Member[];
  /** Creates a database on every member, with the first of the nodes in the catalogue of the coordinator. */
  createDatabase(name: string, nodes: number): Promise<void>;
  /** Adds an empty schema, and a role of the same name that PostgreSQL keeps to it. */
  addCell(database: string, schema: string): Promise<void>;
  /** Moves the tables of a schema to a node. */
  distribute(database: string, schema: string): Promise<void>;
  /** Ends all connections to a database; from then on it can only be copied. */
  freeze(database: string): Promise<void>;
  close(): Promise<void>;
}

const SUPERUSER = 'postgres';
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_connections: '500',
  max_worker_processes: '120',
  max_prepared_transactions: '500',
  max_wal_senders: '20',
  max_replication_slots: '20',
  fsync: 'off',
  'citus.enable_unsafe_triggers': 'on',
  // nothing leaves this machine
  'citus.enable_statistics_collection': 'off',
  'citus.node_conninfo': 'sslmode=disable',
};

const binaries = otherPostgres();

/** Why a cluster cannot be started here, or null. */
export const whyNoCitus: string | null =
  binaries === null
    ? 'a cluster needs root and PostgreSQL of Debian'
    : existsSync(
          join(
            spawnSync(join(binaries, 'pg_config'), ['--sharedir'], { encoding: 'utf8' }).stdout?.trim() ?? '',
            'extension/citus.control',
          ),
        )
      ? null
      : 'the extension Citus is not installed';

/** Starts a cluster, with further settings of PostgreSQL. The caller closes it; its data does not outlive it. */
export async function startCluster({
  nodes: count,
  settings = {},
}: {
  nodes: number;
  settings?: Readonly<Record<string, string>>;
}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-citus-'));
  const members: Member[] = [];
  for (let number = 0; number <= count; number++)
    members.push(await startMember(folder, number, { ...SETTINGS, ...settings }));
  const [coordinator, ...nodes] = members as [Member, ...Member[]];
  const onEach = async (work: (member: Member) => Promise<void>) =>
    void (await Promise.all(members.map((member) => work(member))));
  const setUp = (role: string, schema: string) =>
    [
      `search_path = ${schema}`,
      "timezone = 'UTC'",
      // Payhook turns it off in its own sessions, not in those of the coordinator on a node
      'jit = off',
      'citus.propagate_set_commands = local',
      // triggers read other tables of the cell
      'citus.allow_nested_distributed_execution = on',
    ].map((setting) => `alter role ${role} set ${setting}`);
  return {
    coordinator,
    nodes,
    async createDatabase(name, count) {
      await onEach(async (member) => {
        await member.run('postgres', `create database ${name} template template0 encoding 'UTF8'`);
        await member.run(name, 'create extension citus');
      });
      await coordinator.run(
        name,
        `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
        ...nodes.slice(0, count).map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
        `select citus_set_node_property('127.0.0.1', ${coordinator.port}, 'shouldhaveshards', false)`,
      );
    },
    async addCell(database, schema) {
      await onEach((member) =>
        member.run(
          'postgres',
          `create role ${schema} login`,
          ...setUp(schema, schema),
          ...setUp(SUPERUSER, `${schema}, public`),
        ),
      );
      await coordinator.run(database, `create schema ${schema} authorization ${schema}`);
    },
    distribute: (database, schema) =>
      coordinator.run(database, `select citus_schema_distribute('${schema}')`),
    freeze: (database) =>
      onEach((member) =>
        member.run(
          'postgres',
          `alter database ${database} allow_connections false`,
          `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${database}'`,
        ),
      ),
    async close() {
      await onEach((member) => member.stop());
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Runs a statement as superuser in the database `postgres` of every member. */
export async function onMembers(ports: readonly number[], statement: string): Promise<void> {
  await Promise.all(
    ports.map(async (port) => {
      const client = new pg.Client({ host: '127.0.0.1', port, user: SUPERUSER, database: 'postgres' });
      await client.connect();
      await client.query(statement);
      await client.end();
    }),
  );
}

async function startMember(
  parent: string,
  number: number,
  ofServer: Readonly<Record<string, string>>,
): Promise<Member> {
  const bin = (name: string) => join(binaries ?? '', name);
  const [uid = 0, gid = 0] = ['-u', '-g'].map((what) =>
    Number(execFileSync('id', [what, SUPERUSER], { encoding: 'utf8' })),
  );
  chownSync(parent, uid, gid);
  const data = join(parent, String(number));
  const port = await freePort();
  const options = { uid, gid, cwd: parent, stdio: 'ignore' } as const;
  const ofCluster = ['-A', 'trust', '-U', SUPERUSER, '-N', '--encoding=UTF8', '--locale=C.UTF-8'];
  execFileSync(bin('initdb'), ['-D', data, ...ofCluster], options);
  const settings = Object.entries({ ...ofServer, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  let server: ChildProcess;
  // a run that is interrupted does not close its cluster
  const quit = () => server.kill('SIGQUIT');
  const client = async (database: string) => {
    const made = new pg.Client({ host: '127.0.0.1', port, user: SUPERUSER, database });
    made.on('error', () => undefined);
    await made.connect();
    return made;
  };
  const end = async (signal: 'SIGKILL' | 'SIGINT') => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  const member: Member = {
    port,
    client,
    async run(database, ...statements) {
      const made = await client(database);
      try {
        for (const statement of statements) await made.query(statement);
      } finally {
        await made.end();
      }
    },
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGINT');
      process.off('exit', quit);
    },
    async start() {
      const launch = () => spawn(bin('postgres'), ['-D', data, ...settings], options);
      server = launch();
      await until('a member of the cluster to answer', () => {
        // after a SIGKILL the processes of the last one may still hold its memory
        if (server.exitCode !== null) server = launch();
        return member.run('postgres', 'select 1').then(
          () => true,
          () => false,
        );
      });
    },
  };
  process.once('exit', quit);
  await member.start();
  return member;
}
