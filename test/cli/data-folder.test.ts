import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { putDataFolder } from '../support/data-folder.ts';
import { isLong, someOf } from '../support/depth.ts';
import { programHere, runHere, runOn } from './here.ts';
import { type Machine, startMachine, startServer } from './support.ts';

let machine: Machine;
beforeEach(() => {
  machine = startMachine();
});
afterEach(() => machine.close());

/** Nobody named a data folder: commands look in the working folder. */
const HERE = { env: { DATA_DIR: '' } };

/** Commands that run without data, or create it. */
const NEEDS_NONE =
  /^(serve|init|demo|restore|doctor|config|completion|listen|help|events types|service install|service uninstall)\b/;

/** Every command with arguments that are valid as far as the table shows. */
function commandLines(command: Command, path: readonly string[] = []): string[][] {
  const below = command.commands.flatMap((child) => commandLines(child, [...path, child.name()]));
  if (below.length > 0) return below;
  const values = command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => VALUES[argument.name()] ?? 'x');
  const options = command.options.flatMap((option) => {
    if (option.long === '--yes') return ['--yes'];
    return option.mandatory
      ? [option.long ?? '', option.argChoices?.[0] ?? VALUES[option.long ?? ''] ?? 'x']
      : [];
  });
  return [[...path, ...values, ...options]];
}

const VALUES: Readonly<Record<string, string>> = {
  file: 'file.csv',
  affiliate: '1',
  program: '1',
  '--year': '2026',
  '--amount': '1.00',
};

const program = await programHere();

describe('without data', () => {
  const lines = commandLines(program).filter((line) => !NEEDS_NONE.test(line.join(' ')));

  test('the table has all the commands', () => {
    expect(lines.length).toBeGreaterThan(60);
  });

  test('no command creates data, and none succeeds', async () => {
    machine.write(
      'file.csv',
      'external_id,affiliate_external_id,amount,currency,email\nc1,a1,1.00,USD,a@example.com\n',
    );
    const unclear: string[] = [];
    let clear = 0;
    const tried = someOf(lines, 40);
    for (const line of tried) {
      const { code, stdout, stderr } = await runHere(line, {
        ...HERE,
        cwd: machine.folder,
      });
      expect({ line, code, stdout }).toEqual({
        line,
        code: expect.toSatisfy((n) => n === 1 || n === 2),
        stdout: '',
      });
      expect(machine.files(), line.join(' ')).toEqual(['file.csv']);
      const isClear = stderr.includes(
        `there is no Payhook data in ${join(machine.folder, 'data')}: name another folder`,
      );
      if (isClear && code === 1) clear += 1;
      else unclear.push(`${line.join(' ')}: ${stderr}`);
    }
    // The others are refused for their arguments, which proves nothing here.
    expect(
      unclear.filter(
        (each) => !/payhook: .*(--|must|say|give|name the|choose|needed|is not JSON|no server of)/.test(each),
      ),
    ).toEqual([]);
    expect(clear).toBeGreaterThan(tried.length * 0.8);
  });

  test.each([
    [['doctor'], 'does not exist yet'],
    [['config'], 'DATA_DIR'],
  ])('%j looks, says where, and creates nothing', async (args, message) => {
    const ran = await runOn(machine)(args, HERE);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining(message) });
    expect(ran.stdout + ran.stderr).toContain(join(machine.folder, 'data'));
    expect(machine.files()).toEqual([]);
  });

  test('doctor only looks at an empty database of your own', async () => {
    const { env: own, drop } = await emptyOwnDatabase();
    const env = { ...HERE.env, ...own };
    try {
      for (const args of [['accounts', 'list'], ['migrate'], ['payouts', 'list']]) {
        const ran = await runOn(machine)(args, { env });
        expect(ran).toMatchObject({
          code: 1,
          stdout: '',
          stderr: expect.stringContaining('this database was not set up for Payhook'),
        });
      }
      const { checks } = (await runOn(machine)(['doctor', '--json'], { env })).json();
      // The PostgreSQL of the tests runs without fsync, and doctor reports that.
      const failed = checks.filter((each: { status: string }) => each.status === 'failed');
      expect(failed.filter((each: { name: string }) => each.name !== 'fsync')).toEqual([]);
      expect(machine.files()).toEqual([]);
      expect(await runOn(machine)(['init'], { env })).toMatchObject({ code: 0 });
      expect((await runOn(machine)(['accounts', 'list'], { env })).stdout).toContain('Default');
    } finally {
      await drop();
    }
  });

  test('doctor names harmful settings of a server and their right values', async () => {
    const { env: own, drop } = await emptyOwnDatabase();
    const env = { ...HERE.env, ...own };
    const settings = async () => {
      const { checks } = (await runOn(machine)(['doctor', '--json'], { env })).json();
      return checks.find(({ name }: { name: string }) => name === 'server settings');
    };
    const url = new URL(own.DATABASE_URL);
    const database = url.pathname.slice(1);
    const { host, port, user, password } = inject('postgres');
    const client = new pg.Client({ host, port, user, password, database });
    try {
      expect(await settings()).toMatchObject({
        status: 'ok',
        detail: expect.stringContaining('none is harmful'),
      });
      await client.connect();
      for (const set of [`jit = on`, `synchronous_commit = off`, `transaction_timeout = '90s'`])
        await client.query(`alter database ${database} set ${set}`);
      expect(await settings()).toEqual({
        name: 'server settings',
        status: 'warning',
        detail:
          'synchronous_commit = off: a crash of PostgreSQL loses acknowledged changes: set it on; ' +
          'transaction_timeout = 90000: cuts off long imports and downloads: leave it 0 for the role of Payhook; ' +
          'jit is on, which Payhook turns off for its own sessions',
      });
    } finally {
      await client.end();
      await drop();
    }
  });
});

test('init creates data once, and prints no secret unless to a terminal', async () => {
  const made = await runOn(machine)(['init'], HERE);
  const key = readFileSync(join(machine.folder, 'data/first-api-key'), 'utf8').trim();
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain(`First API key   in ${join(machine.folder, 'data/first-api-key')}\n`);
  expect(made.stdout).not.toMatch(/ph_\w{20}|token=/);
  const again = await runOn(machine)(['init', '--json'], HERE);
  expect(again.json()).toEqual({
    data_dir: join(machine.folder, 'data'),
    created: false,
    first_api_key_file: join(machine.folder, 'data/first-api-key'),
  });
  expect(readFileSync(join(machine.folder, 'data/first-api-key'), 'utf8').trim()).toBe(key);
});

test('the folder is the one of --data-dir, of --env-file, or of the server that was started here', async () => {
  const elsewhere = join(machine.folder, 'elsewhere');
  await putDataFolder(elsewhere);
  const server = await startServer(machine, { env: { DATA_DIR: elsewhere } });
  const here = await runOn(machine)(['accounts', 'list'], HERE);
  expect(here).toMatchObject({ code: 0, stdout: expect.stringContaining('Default') });
  expect(here.stderr).toBe(`Using ${elsewhere}, the data folder of the running server\n`);
  mkdirSync(join(machine.folder, 'below'));
  const below = machine.startOther(
    'sh',
    ['-c', `DATA_DIR= ${machine.command} accounts list`],
    join(machine.folder, 'below'),
  );
  expect(await below.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Default') });
  expect((await runOn(machine)(['migrate'], HERE)).code).toBe(0);
  expect(machine.files()).toEqual(['below', 'elsewhere']);

  const named = await runOn(machine)(['accounts', 'list', '--data-dir', 'nowhere'], HERE);
  expect(named).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`no Payhook data in ${join(machine.folder, 'nowhere')}:`),
  });
  server.child.kill('SIGTERM');
  await server.ended;
  expect((await runOn(machine)(['accounts', 'list'], HERE)).code).toBe(1);

  machine.write('payhook.env', `# a comment\nDATA_DIR="${elsewhere}"\nLOG_LEVEL=warn\n`);
  if (isLong) {
    const listed = await machine.run(['--env-file', 'payhook.env', 'accounts', 'list'], HERE);
    expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Default') });
  }
  const config = await machine.run(['--env-file', 'payhook.env', 'config', '--json'], {
    env: { ...HERE.env, LOG_LEVEL: 'error' },
  });
  expect(config.json()).toContainEqual(
    expect.objectContaining({
      name: 'DATA_DIR',
      value: elsewhere,
      source: expect.stringMatching(/^(payhook\.env|environment)$/),
    }),
  );
  expect(config.json()).toContainEqual(
    expect.objectContaining({ name: 'LOG_LEVEL', value: 'error', source: 'environment' }),
  );
  // Node 20 reads this option itself, with the same effect except the exit code.
  const missing = await machine.run(['--env-file', 'none.env', 'accounts', 'list'], HERE);
  expect(missing).toMatchObject({ stdout: '', stderr: expect.stringContaining('none.env') });
  expect([2, 9]).toContain(missing.code);
  expect(statSync(elsewhere).mode & 0o777).toBe(0o700);
});

/** An empty database of its own on the PostgreSQL of the run, as settings. */
async function emptyOwnDatabase() {
  const { host, port, superuser, superuserPassword, user, password, secretKey } = inject('postgres');
  const name = `payhook_init_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client({
    host,
    port,
    user: superuser,
    password: superuserPassword,
    database: 'postgres',
  });
  await admin.connect();
  await admin.query(`create database ${name} owner ${user} template template0 encoding 'UTF8'`);
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  return {
    env: {
      DATABASE_URL: `postgres://${credentials}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
      SECRET_KEY: secretKey,
    },
    async drop() {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
