import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { runOn } from './here.ts';
import { type RunOptions, startServer, useMachine } from './support.ts';

const machine = useMachine();
beforeAll(() => machine.init());

/** What a starting server, and then `doctor`, say about the secret key file with each of these modes. */
async function warnings(
  path: string,
  [first = 0, ...others]: readonly number[],
  options: Pick<RunOptions, 'env'> = {},
) {
  chmodSync(path, first);
  const server = await startServer(machine, options);
  const doctor: string[] = [];
  for (const mode of [first, ...others]) {
    chmodSync(path, mode);
    const { stdout } = await runOn(machine)(['doctor'], options);
    doctor.push(stdout.split('\n').find((line) => line.includes('secret key file')) ?? '');
  }
  server.child.kill('SIGTERM');
  const { stderr } = await server.ended;
  const log = stderr
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ msg }) => msg.startsWith('the secret key:'));
  return { log, doctor };
}

const wordsOf = (path: string, mode: string) =>
  `${path} is open to other users (mode ${mode}): chmod 600 ${path}`;

test('the server and doctor warn about a secret key that others can read, and name the remedy', async () => {
  const key = readFileSync(join(machine.dataDir, 'secret-key'), 'utf8');
  const given = machine.write('secret', key);
  const options = { env: { SECRET_KEY_FILE: given } };
  const open = await warnings(given, [0o644, 0o660, 0o640], options);
  expect(open.log).toMatchObject([{ level: 40, msg: `the secret key: ${wordsOf(given, '0644')}` }]);
  expect(open.doctor).toEqual([
    expect.stringContaining(wordsOf(given, '0644')),
    expect.stringContaining(wordsOf(given, '0660')),
    '',
  ]);
});

longRun.test('the server says nothing about a key that only its group can read', async () => {
  const given = machine.write('group', readFileSync(join(machine.dataDir, 'secret-key'), 'utf8'));
  const options = { env: { SECRET_KEY_FILE: given } };
  expect(await warnings(given, [0o640], options)).toEqual({ log: [], doctor: [''] });
});

longRun.test('they also warn about the key of the first start, once its mode was widened', async () => {
  const made = join(machine.dataDir, 'secret-key');
  expect(statSync(made).mode & 0o777).toBe(0o600);
  expect(await warnings(made, [0o600])).toEqual({ log: [], doctor: [''] });
  const { log, doctor } = await warnings(made, [0o604]);
  expect(log).toMatchObject([{ level: 40, msg: expect.stringContaining('mode 0604') }]);
  expect(doctor).toEqual([expect.stringContaining('mode 0604')]);
});
