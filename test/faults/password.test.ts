import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { thisHost } from '../../src/db/embedded/host.ts';
import { openEmbedded, openEmbeddedOn } from '../../src/db/embedded/open.ts';
import { someOf } from '../support/depth.ts';
import {
  cleanUp,
  existingDataAt,
  hostWith,
  postmasterPid,
  query,
  temporaryFolder,
} from './support-embedded.ts';

const NOBODY = 65534;

afterAll(cleanUp);

const accessRules = (dataDir: string) =>
  readFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
const passwordFile = (dataDir: string) => join(dataDir, 'postgres-password');
const newData = () => existingDataAt(join(temporaryFolder(), 'data'));

test('the database requires a password that only the owner of the data folder can read', async () => {
  const dataDir = await newData();
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  expect(accessRules(dataDir)).toEqual(['local all all scram-sha-256']);
  expect(statSync(passwordFile(dataDir)).mode & 0o777).toBe(0o600);
  for (const connection of [database.connection, database.superuser]) {
    for (const password of ['', 'wrong'])
      await expect(query({ ...connection, password }, 'select 1')).rejects.toThrow(/password/);
    expect(await query(connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  }
  const password = readFileSync(passwordFile(dataDir), 'utf8').trim();
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).not.toContain(password);
  await database.close();
});

const SPOILT = [
  [
    'trusted everybody',
    (dataDir: string) => {
      writeFileSync(
        join(dataDir, 'postgres', 'pg_hba.conf'),
        'local all all trust\nhost all all 127.0.0.1/32 trust\n',
      );
      rmSync(passwordFile(dataDir));
    },
  ],
  ['lost its password', (dataDir: string) => rmSync(passwordFile(dataDir))],
  [
    'was given a password halfway',
    (dataDir: string) => writeFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), ''),
  ],
] as const;
test.each(someOf(SPOILT, 1))(
  'a data folder that %s gets a new password at the next start, and keeps its data',
  async (_what, spoil) => {
    const dataDir = await newData();
    const before = await openEmbedded({ dataDir, purpose: 'serve' });
    await query(before.connection, 'create table kept as select 42 as answer');
    await before.close();
    spoil(dataDir);
    const after = await openEmbedded({ dataDir, purpose: 'serve' });
    expect(await query(after.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(after.superuser.password).not.toBe(before.superuser.password);
    expect(accessRules(dataDir)).toEqual(['local all all scram-sha-256']);
    await expect(query({ ...after.superuser, password: '' }, 'select 1')).rejects.toThrow(/password/);
    await after.close();
  },
);

const rootOnly = test.skipIf(process.platform !== 'linux' || thisHost().uid !== 0);

// Requests a session of the superuser and prints what PostgreSQL demands: 0 = nothing, 10 = a password (SASL).
const KNOCK = `
  const text = Buffer.from('user\\0postgres\\0database\\0postgres\\0\\0');
  const hello = Buffer.alloc(8);
  hello.writeUInt32BE(8 + text.length, 0);
  hello.writeUInt32BE(196608, 4);
  const socket = require('net').connect(process.argv[1], () => socket.write(Buffer.concat([hello, text])));
  socket.once('data', (answer) => { console.log(String.fromCharCode(answer[0]) + answer.readUInt32BE(5)); socket.destroy(); });
  socket.once('error', (error) => console.log(error.code));
`;

rootOnly('where PostgreSQL runs as nobody, another process of nobody is asked for the password', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const database = await openEmbeddedOn(hostWith('setpriv'), { dataDir, purpose: 'serve' });
  const socket = `/proc/${postmasterPid(dataDir)}/cwd/.s.PGSQL.5432`;
  expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(NOBODY);
  expect(existsSync(socket)).toBe(true);
  const { stdout } = spawnSync(process.execPath, ['-e', KNOCK, socket], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    encoding: 'utf8',
  });
  expect(stdout).toBe('R10\n');
  const stolen = spawnSync('cat', [passwordFile(dataDir)], { uid: NOBODY, gid: NOBODY, encoding: 'utf8' });
  expect(stolen.status).not.toBe(0);
  await database.close();
});
