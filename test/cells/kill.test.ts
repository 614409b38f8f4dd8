import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DataFolder, dataFolder, type ServerProcess } from '../faults/support-server.ts';
import { sharedDatabase } from '../faults/support-shared.ts';
import { plainEnvironment } from '../support/environment.ts';
import { until } from '../support/wire.ts';
import { command, PROGRAM } from './support.ts';

const NEW = 'the new secret key, long enough for the rule';

let folder: DataFolder;
let server: ServerProcess;
let database: Awaited<ReturnType<typeof sharedDatabase>>;
/** Where the commands find the database. */
let settings: Readonly<Record<string, string>>;
beforeAll(async () => {
  database = await sharedDatabase({ cell: 0 });
  settings = { DATABASE_URL: database.url, SECRET_KEY: database.secretKey };
  folder = dataFolder({ database });
  server = await folder.start();
});
afterAll(async () => {
  await folder?.remove();
  await database?.drop();
});

const run = (...args: string[]) => command({ path: folder.path, settings }, ...args);

test('a command that adds cells and is killed can be repeated; the running server then serves them', async () => {
  const adding = spawn(
    process.execPath,
    [PROGRAM, 'cells', 'add', '--schema', 'cell_', '--count', '4', '--data-dir', `${folder.path}/data`],
    { env: { ...plainEnvironment(), ...settings }, stdio: 'ignore' },
  );
  const isBegun = async () => {
    const [row] = await folder.query<{ n: number }>(
      `select count(*)::int as n from pg_namespace where nspname in ('cell_2', 'cell_3')`,
    );
    return (row?.n ?? 0) > 0;
  };
  await until('the second cell to be made', isBegun);
  adding.kill('SIGKILL');
  await once(adding, 'close');

  const output = await run('cells', 'add', '--schema', 'cell_', '--count', '1', '--json');
  const numbers = (JSON.parse(output) as { data: { number: number }[] }).data.map(({ number }) => number);
  // what was entered before the kill stays; no number is left out
  const listed = await folder.query<{ number: number }>('select number from cells order by number');
  expect(listed.map(({ number }) => number)).toEqual(
    Array.from({ length: numbers.at(-1) ?? 0 }, (_, index) => index + 1),
  );

  await run('accounts', 'create', '--name', 'Shop', '--cell', '1');
  const key = await run('keys', 'create', '--account', 'Shop', '--name', 'till', '--json');
  const authorization = `Bearer ${(JSON.parse(key) as { key: string }).key}`;
  await until('the running server to serve the cell', async () => {
    const answer = await fetch(`${server.url}/v2/account`, { headers: { authorization } });
    return answer.status === 200;
  });
});

test('a rotation of the secret key that is killed between two cells is finished by the next run', async () => {
  const made: { shop: string; id: string }[] = [];
  for (const cell of [1, 2]) {
    const shop = `Sealed ${cell}`;
    await run('accounts', 'create', '--name', shop, '--cell', String(cell));
    const args = ['--account', shop, 'webhooks', 'create', 'https://example.com/hook', '--json'];
    made.push({ shop, id: (JSON.parse(await run(...args)) as { id: string }).id });
  }
  const keyIn = async (schema: string) => {
    const [row] = await folder.query<{ value: string }>(
      `select value from ${schema}.server_settings where key = 'secret_key_fingerprint'`,
    );
    return row?.value;
  };
  const before = await keyIn('cell_1');
  const lock = await folder.superuser();
  await lock.query('begin');
  await lock.query('select from cell_2.webhook_endpoints for update');
  // it would have to be restarted with both keys first
  expect((await server.signal('SIGTERM')).code).toBe(0);
  const keys = { ...settings, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: database.secretKey };
  const rotated = (...args: string[]) => command({ path: folder.path, settings: keys }, ...args);
  const rotating = spawn(
    process.execPath,
    [PROGRAM, 'secret-key', 'rotate', '--data-dir', `${folder.path}/data`],
    { env: { ...plainEnvironment(), ...keys }, stdio: 'ignore' },
  );
  await until('cell 1 to have the new key', async () => (await keyIn('cell_1')) !== before);
  rotating.kill('SIGKILL');
  await once(rotating, 'close');
  expect([await keyIn('public'), await keyIn('cell_2')]).toEqual([before, before]);
  await lock.query('rollback');

  const again = JSON.parse(await rotated('secret-key', 'rotate', '--json'));
  expect(again.changed).toBe(true);
  const found = await Promise.all(['public', 'cell_1', 'cell_2'].map(keyIn));
  expect(found).toEqual([again.fingerprint, again.fingerprint, again.fingerprint]);
  expect(again.fingerprint).not.toBe(before);
  for (const { shop, id } of made) await rotated('--account', shop, 'webhooks', 'secret', id);
});
