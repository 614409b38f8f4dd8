import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { longRun, rounds } from '../support/depth.ts';
import { plainEnvironment } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { countOfProcesses, isRunning, untilGone } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let folder: DataFolder | undefined;
afterEach(async () => {
  await folder?.remove();
  folder = undefined;
});

/** The processes that serve: the children of the server, apart from PostgreSQL. */
function childrenOf({ pid }: ServerProcess): number[] {
  const all = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return all.map(Number).filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js');
    } catch {
      return false; // it has just ended
    }
  });
}

/** The messages in the log. Fails if a line is not JSON: lines of processes must not be mixed. */
const messagesIn = (server: ServerProcess) =>
  server
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{') || line.includes('"level"'))
    .map((line) => JSON.parse(line) as { msg: string; process?: number; code?: number | null });

const listening = (server: ServerProcess) =>
  messagesIn(server).filter(({ msg }) => msg.startsWith('Server listening')).length;

/** Requests that each open a connection, until `stop`, which returns the failures. */
function load({ url, api }: ServerProcess) {
  const failures: string[] = [];
  let isOver = false;
  let answered = 0;
  const headers = {
    authorization: `Bearer ${api.key}`,
    'content-type': 'application/json',
    connection: 'close',
  };
  const call = async () => {
    while (!isOver) {
      try {
        const body = '{"type":"order.created","data":{}}';
        const response = await fetch(`${url}/v2/events`, { method: 'POST', headers, body });
        if (response.status !== 201) failures.push(`${response.status} ${await response.text()}`);
        await response.arrayBuffer().catch(() => undefined);
        answered += 1;
      } catch (error) {
        failures.push(String((error as Error).cause ?? error));
      }
      // the processes need the processor to start
      await delay(10);
    }
  };
  const callers = Array.from({ length: 4 }, call);
  return {
    answered: () => answered,
    async stop() {
      isOver = true;
      await Promise.all(callers);
      return failures;
    },
  };
}

const COUNT = rounds(2, 3);
describe('a server of several processes', () => {
  test('replaces one that dies; and all of them on request, under load, without a refused connection', async () => {
    folder = dataFolder({ settings: { PROCESSES: String(COUNT) } });
    const server = await folder.start();
    await until('all processes to listen', () => listening(server) === COUNT);
    const first = childrenOf(server);
    expect(first).toHaveLength(COUNT);

    process.kill(first[1] as number, 'SIGKILL');
    await until('the dead one to be started again', () => listening(server) === COUNT + 1);
    expect(messagesIn(server).find(({ msg }) => msg.includes('ended by itself'))).toMatchObject({
      process: 2,
      signal: 'SIGKILL',
    });

    const before = childrenOf(server);
    const requests = load(server);
    await until('requests to be answered', () => requests.answered() > 10);
    const { code, text } = await folder.command('reload');
    expect([code, text]).toEqual([0, 'All processes of the server were replaced.\n']);
    expect(await requests.stop()).toEqual([]);
    const after = childrenOf(server);
    expect(after).toHaveLength(COUNT);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);

    await server.kill(); // resolves when the log is closed, which all processes share
    expect(after.filter(isRunning)).toEqual([]);
    await untilGone(server.postmaster);
  });

  longRun.test('replaces all of them when all die', async () => {
    folder = dataFolder({ settings: { PROCESSES: '3' } });
    const server = await folder.start();
    await until('three processes to listen', () => listening(server) === 3);
    for (const pid of childrenOf(server)) process.kill(pid, 'SIGKILL');
    await until('all of them to be started again', () => listening(server) === 6);
    // with PORT=0 it may be another port
    const { address } = JSON.parse(readFileSync(join(folder.path, 'data', 'run', 'server.json'), 'utf8'));
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });

  longRun.test('ends with its parent also while it starts', async () => {
    folder = dataFolder({ settings: { PROCESSES: '3' } });
    const server = await folder.start();
    const { query } = folder;
    // the first one answers before its parent starts the others
    await until('all of them to be started', async () => childrenOf(server).length === 3);
    // a parent that does not answer keeps the second and the third from listening
    process.kill(server.pid, 'SIGSTOP');
    await until('all of them to be connected', async () => {
      const [found] = await query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'payhook listener'`,
      );
      return found?.n === 3;
    });
    const children = childrenOf(server);
    expect(children).toHaveLength(3);
    process.kill(server.pid, 'SIGKILL');
    for (const child of children) await untilGone(child);
    await untilGone(server.postmaster);
  });

  test('ends at a signal also while its first process waits for PostgreSQL', async () => {
    folder = dataFolder();
    const child = spawn(process.execPath, [PROGRAM, 'serve'], {
      env: {
        ...plainEnvironment(),
        PROCESSES: '3',
        PORT: '0',
        DATA_DIR: join(folder.path, 'data'),
        DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
        SECRET_KEY: 'a secret key for tests, long enough for the rule',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (bytes) => {
      log += bytes;
    });
    const closed = once(child, 'close'); // when no process writes to the log any more
    await until('it waits', () => log.includes('PostgreSQL cannot be reached'));
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
  });

  longRun.test('keeps serving while one dies in a loop, and refuses to be reloaded meanwhile', async () => {
    folder = dataFolder();
    const setting = join(folder.path, 'timeout');
    writeFileSync(setting, '1000');
    const server = await folder.start({ PROCESSES: '3', DELIVERY_TIMEOUT_MS_FILE: setting });
    await until('three processes to listen', () => listening(server) === 3);
    writeFileSync(setting, 'wrong');
    const reload = await folder.command('reload');
    expect([reload.code, reload.error]).toEqual([
      1,
      expect.stringContaining('payhook: the processes were not replaced: the settings are wrong:'),
    ]);
    process.kill(childrenOf(server)[0] as number, 'SIGKILL');
    const ends = () => messagesIn(server).filter(({ msg }) => msg.includes('ended by itself'));
    await until('it to end three times', () => ends().length >= 3);
    expect(ends()[1]).toMatchObject({ process: 1, code: 2, pause_ms: 400 });
    expect((await server.api.get('/v2/me')).status).toBe(200);
    writeFileSync(setting, '1000');
    await until('it to be started again', () => listening(server) === 4);
    expect((await server.signal('SIGTERM')).code).toBe(0);
    await untilGone(server.postmaster);
  });
});

longRun.test(
  'a server of several processes does not start when its port is in use, and says so once',
  async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    folder = dataFolder();
    const found = await folder.command('serve', { PROCESSES: '2', PORT: String(port) });
    expect(found.code).toBe(1);
    expect(found.error.match(/payhook: .*/g)).toEqual([
      `payhook: port ${port} on 127.0.0.1 is in use: stop the program that listens there, or set PORT`,
    ]);
    other.close();
  },
);

// with TEST_PROCESSES, the PostgreSQL of the tests accepts enough
const withFewConnections = test.skipIf(countOfProcesses() > 1);

describe('a server of two processes on an external PostgreSQL', () => {
  let server: ServerProcess;
  let shared: DataFolder;
  let metricsPort: number;
  beforeAll(async () => {
    metricsPort = await freePort();
    const settings = { PROCESSES: '2', RATE_LIMIT_KEY: '4', METRICS_PORT: String(metricsPort) };
    shared = dataFolder({ isShared: true, settings: { ...settings, DATABASE_POOL_SIZE: '500' } });
    server = await shared.start();
    await until('two processes to listen', () => listening(server) === 2);
  });
  afterAll(() => shared?.remove());

  withFewConnections('names at the start that it needs more connections than that accepts', () => {
    expect(messagesIn(server).map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(
        /^2 processes open up to 1520 connections, and PostgreSQL accepts \d+: set PROCESSES/,
      ),
    );
  });

  test('has limits for all processes together, and its metrics show each of them', async () => {
    const from = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(`${server.url}/v2/me`, {
          headers: { authorization: `Bearer ${server.api.key}`, connection: 'close' },
        }),
      ),
    );
    const refilled = Math.ceil(((performance.now() - from) * 4) / 60_000);
    const admitted = answers.filter(({ status }) => status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(4);
    expect(admitted).toBeLessThanOrEqual(4 + refilled);
    expect(answers.find(({ status }) => status === 429)?.headers.get('payhook-reason')).toBe('rate_limited');
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const counts = metrics.match(/http_server_request_duration_seconds_count\{process="\d",.*\} \d+/g) ?? [];
    expect(new Set(counts.map((line) => /process="(\d)"/.exec(line)?.[1]))).toEqual(new Set(['1', '2']));
    expect(metrics.match(/# TYPE payhook_workers gauge/g)).toHaveLength(1);
  });
});
