import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { request } from 'undici';
import { type Cluster, type Member, startCluster, whyNoCitus } from '../test/support/citus.ts';
import { load } from './load.ts';
import { type Group, interleaved, median, noGoal, type Result } from './measure.ts';
import { MAIN, type Program, start, startProgram, startWorker, temporaryFolder } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import { EVENT_FILLER } from './seed.ts';

const CONNECTIONS = 64;
const TYPE = 'bench.happened';
const SECRET_KEY = 'a secret key for benchmarks, long enough';
const DATABASE = 'payhook';

/** A cell, and a connection to its tables. */
interface Cell {
  readonly number: number;
  readonly pg: pg.Client;
}

type Environment = Readonly<Record<string, string>>;

/** Runs a command of the program; returns what it prints. */
async function payhook(argv: readonly string[], env: Environment): Promise<string> {
  const log = join(temporaryFolder(), 'command.log');
  const child = start([MAIN, ...argv, '--json'], env, log);
  if (child.exitCode === null) await once(child, 'exit');
  const printed = readFileSync(log, 'utf8');
  if (child.exitCode !== 0) throw new Error(`payhook ${argv.join(' ')}: ${printed}`);
  return printed;
}

const urlOf = ({ port }: Member, login: string) => `postgres://${login}@127.0.0.1:${port}/${DATABASE}`;

async function open(member: Member, schema: string): Promise<pg.Client> {
  const client = await member.client(DATABASE);
  await client.query(`set search_path to ${schema}`);
  return client;
}

/** Adds a cell on a node of a cluster, which processes reach through the coordinator, or at the node. */
async function addPlaced(
  { coordinator, nodes: [node], ...cluster }: Cluster,
  env: Environment,
  { number, onNode }: { number: number; onNode: boolean },
): Promise<Cell> {
  const schema = `cell_${number}`;
  await cluster.addCell(DATABASE, schema);
  await payhook(['cells', 'add', urlOf(coordinator, schema)], env);
  if (node && onNode) await payhook(['cells', 'set-url', String(number), urlOf(node, schema)], env);
  return { number, pg: await open(coordinator, schema) };
}

/** Adds a cell on a PostgreSQL without Citus. */
async function addPlain({ coordinator: server }: Cluster, env: Environment, number: number): Promise<Cell> {
  await server.run('postgres', 'create role cell login', `create database ${DATABASE} owner cell`);
  await payhook(['cells', 'add', urlOf(server, 'cell')], env);
  return { number, pg: await open(server, 'public') };
}

/** Adds an account with an endpoint to a cell; returns its key. */
async function addAccount(
  { number }: Cell,
  env: Environment,
  server: Program,
  sink: Receiver,
): Promise<string> {
  const account = `Bench ${number}`;
  await payhook(['accounts', 'create', '--name', account, '--cell', String(number)], env);
  const made = await payhook(['keys', 'create', '--account', account, '--name', 'bench'], env);
  const { key } = JSON.parse(made) as { key: string };
  const { statusCode, body } = await request(`${server.url}/v2/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${sink.url}/cell${number}`, event_types: [TYPE] }),
  });
  if (statusCode !== 201) throw new Error(`the endpoint was refused: ${await body.text()}`);
  await body.dump();
  return key;
}

/** One cell: on PostgreSQL, on a node of Citus and reached there, and on a node and reached through the coordinator. */
export const cells: Group = {
  name: 'cells',
  area: 'One cell: on PostgreSQL 15, and on a node of Citus',
  async *run({ dearRounds, loadSeconds }, note): AsyncGenerator<Result> {
    if (whyNoCitus !== null) return note(`skipped: ${whyNoCitus}`);
    const settings = { fsync: 'on' };
    const plain = await startCluster({ nodes: 0, settings: { ...settings, shared_preload_libraries: '' } });
    const cluster = await startCluster({ nodes: 1, settings });
    try {
      yield* measure(plain, cluster, { rounds: dearRounds + 1, seconds: loadSeconds }, note);
    } finally {
      await cluster.close();
      await plain.close();
    }
  },
};

async function* measure(
  plain: Cluster,
  cluster: Cluster,
  { rounds, seconds }: { rounds: number; seconds: number },
  note: (text: string) => void,
): AsyncGenerator<Result> {
  await cluster.createDatabase(DATABASE, 1);
  await cluster.addCell(DATABASE, 'cell_0');
  const dataDir = join(temporaryFolder(), 'data');
  const env = {
    ...LOOPBACK,
    DATA_DIR: dataDir,
    DATABASE_URL: urlOf(cluster.coordinator, 'cell_0'),
    SECRET_KEY,
  };
  await payhook(['init'], env);
  const ways = {
    'PostgreSQL without Citus': await addPlain(plain, env, 1),
    'Citus, connected to the node': await addPlaced(cluster, env, { number: 2, onNode: true }),
    'Citus, through the coordinator': await addPlaced(cluster, env, { number: 3, onNode: false }),
  };
  const server = await startProgram(dataDir, { ...env, DELIVERY_WORKER: 'off' });
  const sink = await startReceiver();
  const delivered: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  const tasks = [];
  for (const [name, cell] of Object.entries(ways)) {
    const key = await addAccount(cell, env, server, sink);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = () => `{"type":"${TYPE}","data":{${EVENT_FILLER}}}`;
    const measured = async () => {
      note(name);
      const rate = await load(
        server.url,
        { path: '/v2/events', headers, body },
        { connections: CONNECTIONS, seconds },
      );
      delivered[name]?.push(await drain(cell, env, sink));
      return rate;
    };
    tasks.push([name, measured] as const);
  }
  const published = await interleaved<string>(rounds, Object.fromEntries(tasks));
  for (const [what, samples] of [
    [`POST /v2/events, ${CONNECTIONS} connections`, published],
    ['delivering them, one worker', delivered],
  ] as const) {
    const [[first, floor] = ['', []], ...others] = Object.entries(samples);
    for (const [name, own] of others) {
      yield {
        measure: `${what}: ${name}`,
        figure: `${median(own).toFixed(0)}/s`,
        against: `${first}, ${median(floor).toFixed(0)}/s`,
        ratio: median(own) / median(floor),
        ...noGoal,
        samples: { own, other: floor },
      };
    }
  }
  for (const { pg } of Object.values(ways)) await pg.end();
  await server.stop();
}

/** Starts a worker of one cell and waits until its queue is empty. Returns the deliveries per second at the sink. */
async function drain(cell: Cell, env: Environment, sink: Receiver): Promise<number> {
  const { rows } = await cell.pg.query<{ n: number }>('select count(*)::int as n from queue');
  const total = rows[0]?.n ?? 0;
  await sink.reset();
  const worker = startWorker(env.DATA_DIR ?? '', { ...env, CELLS: String(cell.number) });
  const { opening, first, last } = await sink.until(total);
  await worker.stop();
  return ((total - opening) * 1e6) / (last - first);
}
