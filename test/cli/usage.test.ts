import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOn } from './here.ts';
import { useMachine } from './support.ts';

const machine = useMachine();
const run = runOn(machine);

test.each([
  [['pay'], "unknown command 'pay'"],
  [['payouts', 'create', '--filtre', 'x'], "unknown option '--filtre'"],
  [['affiliates', 'import'], "missing required argument 'file'"],
  [['keys', 'create'], "required option '--name <name>' not specified"],
  [['payouts', 'create', '--filter', 'usd'], '--filter must be key=value'],
  [['payouts', 'create', '--filters', '{'], '--filters is not JSON'],
  [['payouts', 'complete', '1', '--yes'], 'name who was paid'],
  [['payouts', 'complete', '1', '--yes', '--all-paid', '--paid', '1'], 'give --all-paid or --paid, not both'],
  [['payouts', 'complete', '1', '--yes', '--paid', '1,x'], '--paid must be affiliate ids'],
  [['payouts', 'complete', '1', '--yes', '--paid', '1', '--unpaid', '1'], 'affiliate 1 is named twice'],
  [['payouts', 'complete', '1', '--all-paid'], 'add --yes'],
  [['accounts', 'create', '--name', ' '], '--name must not be empty'],
])('%j is a usage error: exit code 2, a message, and no data folder is made', async (args, message) => {
  const ran = await run(args);
  expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect(existsSync(machine.dataDir)).toBe(false);
});

test('with --json an error is one JSON document on standard error', async () => {
  const usage = await machine.run(['payouts', 'create', '--wrong', '--json']);
  expect(usage).toMatchObject({ code: 2, stdout: '' });
  expect(JSON.parse(usage.stderr)).toEqual({
    error: { code: 'usage', message: "unknown option '--wrong'", reason: null },
  });
  const missing = await run(['commissions', 'import', 'none.csv', '--json']);
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stderr).error.message).toBe('none.csv: there is no such file');
});

test('every command prints help, with an example where it takes an argument', async () => {
  const main = await machine.run(['--help']);
  expect(main.code).toBe(0);
  for (const command of [
    'serve',
    'migrate',
    'doctor',
    'config',
    'accounts',
    'keys',
    'affiliates',
    'payouts',
    'events',
    'webhooks',
    'listen',
  ]) {
    expect(main.stdout).toContain(`\n  ${command} `);
  }
  const complete = await machine.run(['payouts', 'complete', '--help']);
  expect(complete.stdout).toContain('$ payhook payouts complete current --all-paid');
  expect(complete.stdout).toContain('--json');
});

test('all wrong settings are named at once with exit code 2, also by serve', async () => {
  const env = { PORT: '99999', LOG_LEVEL: 'loud', BASE_URL: 'example.com' };
  const ran = await machine.run(['serve'], { env });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  for (const name of Object.keys(env)) expect(ran.stderr).toContain(`${name} must be`);
});

test('a missing file of a setting is named with the reason', async () => {
  const ran = await run(['config'], { env: { SECRET_KEY_FILE: '/no/such.key' } });
  expect(ran).toMatchObject({ code: 2 });
  expect(ran.stderr).toContain('SECRET_KEY_FILE: /no/such.key: there is no such file');
});

test('config shows every setting with its source and never a secret', async () => {
  const secretFile = machine.write('secret', 'file-secret-0123456789-0123456789-0123456789');
  const env = {
    DATABASE_URL: 'postgres://payhook:database-secret@db.example.com/payhook',
    SECRET_KEY_FILE: secretFile,
    PAYHOOK_URL: 'https://pay.example.com',
    PAYHOOK_API_KEY: 'ph_api-secret',
    HOST: '0.0.0.0',
  };
  const table = await run(['config'], { env });
  const json = await run(['config', '--json'], { env });
  expect([table.code, json.code]).toEqual([0, 0]);
  for (const { stdout, stderr } of [table, json]) expect(stdout + stderr).not.toMatch(/-secret/);
  expect(json.json()).toContainEqual(
    expect.objectContaining({ name: 'HOST', value: '0.0.0.0', source: 'environment' }),
  );
  expect(json.json()).toContainEqual(
    expect.objectContaining({ name: 'SECRET_KEY', value: '(set, not shown)', source: 'SECRET_KEY_FILE' }),
  );
  expect(table.stdout).toMatch(/^PORT +0 +environment +port of the HTTP server/m);
});

test('an unreachable database is one clear message, without its password', async () => {
  const env = {
    DATABASE_URL: 'postgres://payhook:hunter2@127.0.0.1:1/payhook',
    SECRET_KEY: 'a secret key that is long enough for the rule',
  };
  // the server waits for its database instead
  const ran = await run(['payouts', 'list'], { env });
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).toMatch(/^payhook: the database cannot be reached: .*ECONNREFUSED.*\n$/);
  const doctor = await run(['doctor'], { env });
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/^✓ {2}settings/m);
  expect(doctor.stdout).toMatch(/^✗ {2}database .*ECONNREFUSED/m);
  expect(doctor.stdout).not.toContain('hunter2');
});

test('doctor on a fresh machine creates nothing and finds nothing wrong', async () => {
  const env = { DATA_DIR: join(machine.folder, 'fresh') };
  const ran = await run(['doctor', '--json'], { env });
  expect(ran.code).toBe(0);
  expect(ran.json()).toMatchObject({ ok: true, checks: [{ name: 'settings', status: 'ok' }, {}, {}] });
  expect(existsSync(env.DATA_DIR)).toBe(false);
});
