import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { isRunning, untilGone } from '../support/processes.ts';
import { until } from '../support/wire.ts';
import { type Machine, postgresPid, ROOT, startMachine, startServer } from './support.ts';

let machine: Machine;
beforeAll(() => {
  machine = startMachine();
});
afterAll(() => machine.close());

test('the first start prints the address, the key file and a working curl command; SIGTERM stops everything with exit code 0', async () => {
  const server = await startServer(machine);
  const keyFile = join(machine.dataDir, 'first-api-key');
  await server.printed(new RegExp(`First API key +in ${keyFile}\n`));
  const key = readFileSync(keyFile, 'utf8').trim();
  const [, command = ''] = await server.printed(/^ {2}(curl .*)$/m);
  const pasted = machine.startOther('sh', ['-c', `${command} -s`], machine.folder);
  expect((await pasted.ended).json()).toMatchObject({ data: [], pagination: { total: 0 } });

  // a command prints links to where the server listens, whatever the settings of the command say
  const link = await machine.run(['users', 'setup-link', '--json'], { env: { PORT: '1234' } });
  expect(link.json().url).toMatch(new RegExp(`^${server.url}/set-up\\?token=`));

  const postgres = postgresPid(machine.dataDir);
  server.child.kill('SIGTERM');
  const { code, stdout, stderr } = await server.ended;
  expect(code).toBe(0);
  expect(isRunning(postgres)).toBe(false);
  // Journals and pipes are stored, so neither the key nor the set-up link is printed to one.
  expect(stdout).not.toMatch(/ph_\w{20}|token=/);
  expect(stdout).toContain('payhook users setup-link prints a link');
  for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');
  expect(stderr).not.toContain(key);
});

test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'on a terminal the first start shows the key and the link',
  async () => {
    const fresh = startMachine();
    const serve = `'${process.execPath}' '${ROOT}dist/cli/main.js' serve`;
    const server = fresh.startOther('script', ['-qec', serve, '/dev/null'], fresh.folder);
    const [, key] = await server.printed(/First API key +(ph_\w+)/);
    expect(readFileSync(join(fresh.dataDir, 'first-api-key'), 'utf8').trim()).toBe(key);
    await server.printed(/^ {2}http\S+\/set-up\?token=\S+\r?$/m);
    await server.printed(/Ctrl-C stops it/);
    const postgres = postgresPid(fresh.dataDir);
    server.child.kill('SIGTERM');
    await server.ended;
    await untilGone(postgres);
    await fresh.close();
  },
);

test('a second server on the same data, or on a port in use, is refused with one clear line; Ctrl-C, which reaches the whole process group, stops everything at once with exit code 0', async () => {
  const server = await startServer(machine, { env: { SHUTDOWN_DELAY_MS: '600000' } });
  const postgres = postgresPid(machine.dataDir);
  const second = await machine.run(['serve']);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(second.stderr).toMatch(
    new RegExp(`^payhook: A Payhook server \\(process ${server.child.pid}\\) already runs on .*\n$`),
  );
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  process.kill(-(server.child.pid ?? 0), 'SIGINT');
  const { code, stdout } = await server.ended;
  expect([code, isRunning(postgres)]).toEqual([0, false]);
  // the key is not shown again
  expect(stdout).not.toMatch(/ph_\w{20}/);

  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const refused = await machine.run(['serve'], { env: { PORT: String(port), LOG_LEVEL: 'warn' } });
  other.close();
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `payhook: port ${port} on 127.0.0.1 is in use: stop the program that listens there, or set PORT\n`,
  });
});

test('a request in progress is answered before the server stops; a second signal ends it at once with exit code 1', async () => {
  const server = await startServer(machine);
  const postgres = postgresPid(machine.dataDir);
  const key = readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim();
  const begin = async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    // Expect: 100-continue shows that the server has begun the request.
    socket.write(
      `POST /v2/affiliates/programs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n` +
        'Content-Type: application/json\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    return { socket, answer: () => answer };
  };
  const slow = await begin();
  const stuck = await begin();
  server.child.kill('SIGTERM');
  await refusesConnections(server.url);
  const closed = new Promise((resolve) => slow.socket.once('close', resolve));
  slow.socket.write('{"name":"slow"}');
  await closed;
  expect(slow.answer()).toContain('HTTP/1.1 201');
  expect(isRunning(postgres)).toBe(true);

  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(1);
  await untilGone(postgres);
  stuck.socket.destroy();
});

/** Returns when the server accepts no more connections. */
async function refusesConnections(url: string): Promise<void> {
  await until('the server to refuse connections', () =>
    fetch(`${url}/healthz`, { headers: { connection: 'close' } }).then(
      () => false,
      () => true,
    ),
  );
}

test('an interrupted command exits with 1 and leaves no temporary file and no PostgreSQL', async () => {
  const command = machine.start(['affiliates', 'import', '-'], { input: null }); // waits for its file
  // it has begun when its temporary folder exists
  await until('the command to begin', () => machine.leftovers().length > 0);
  const file = join(machine.dataDir, 'postgres', 'postmaster.pid');
  const postgres = existsSync(file) ? postgresPid(machine.dataDir) : null; // it may start after the file exists
  command.child.kill('SIGINT');
  expect(await command.ended).toMatchObject({ code: 1, stdout: '', stderr: 'payhook: interrupted\n' });
  expect(machine.leftovers()).toEqual([]);
  if (postgres !== null) await untilGone(postgres);
  expect(existsSync(file)).toBe(false);
});

test('the server exits with 1 and says so when PostgreSQL ends unexpectedly; with --json it announces itself as JSON', async () => {
  const server = machine.start(['serve', '--json']);
  const [document = ''] = await server.printed(/^\{.*\}\n/);
  expect(JSON.parse(document)).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    data_dir: machine.dataDir,
    first_api_key_file: join(machine.dataDir, 'first-api-key'),
  });
  process.kill(postgresPid(machine.dataDir), 'SIGKILL');
  const { code, stderr } = await server.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('PostgreSQL stopped unexpectedly');
});

longRun.test('SIGTERM to npm start stops the server and PostgreSQL', async () => {
  const npm = machine.startOther('npm', ['start', '--silent'], ROOT);
  await npm.printed(/stops it/);
  const postgres = postgresPid(machine.dataDir);
  npm.child.kill('SIGTERM');
  await npm.ended;
  await untilGone(postgres);
});
