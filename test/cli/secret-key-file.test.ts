import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServer, useMachine } from './support.ts';

const machine = useMachine();

/** What a start of the server and `doctor` beside it say of the file of the secret key. */
async function said(env: Record<string, string>) {
  const server = await startServer(machine, { env });
  const doctor = await machine.run(['doctor'], { env });
  server.child.kill('SIGTERM');
  const { stderr } = await server.ended;
  const lines = stderr.trim().split('\n').filter(Boolean);
  return {
    log: lines
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ msg }) => msg.startsWith('the secret key:')),
    doctor: doctor.stdout.split('\n').filter((line) => line.includes('secret key file')),
  };
}

test('a secret key that others may read is a warning of the server and of doctor, with the remedy', async () => {
  const given = machine.write('secret', 'a secret key that is long enough for the rule\n');
  const env = { SECRET_KEY_FILE: given };
  for (const [mode, isOpen] of [
    [0o644, true],
    [0o660, true],
    [0o640, false],
    [0o600, false],
  ] as const) {
    chmodSync(given, mode);
    const { log, doctor } = await said(env);
    expect([mode, log.length, doctor.length]).toEqual([mode, Number(isOpen), Number(isOpen)]);
    if (!isOpen) continue;
    const words = `${given} is open to other users (mode 0${mode.toString(8)}): chmod 600 ${given}`;
    expect(log[0]).toMatchObject({ level: 40, msg: `the secret key: ${words}` });
    expect(doctor[0]).toContain(words);
  }
});

test('so is the one that the first start made, once somebody opened it', async () => {
  const dataDir = join(machine.folder, 'made');
  expect(await said({ DATA_DIR: dataDir })).toEqual({ log: [], doctor: [] });
  chmodSync(join(dataDir, 'secret-key'), 0o604);
  const { log, doctor } = await said({ DATA_DIR: dataDir });
  expect(log).toMatchObject([{ level: 40, msg: expect.stringContaining('mode 0604') }]);
  expect(doctor).toHaveLength(1);
});
