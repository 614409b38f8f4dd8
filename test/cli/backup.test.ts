import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { expect, inject, test } from 'vitest';
import { fingerprintOf } from '../../src/kernel/vault.ts';
import {
  completePayout,
  EVENTS,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
} from '../api/fixtures.ts';
import { settingsOf } from '../support/database-url.ts';
import { isLong, longRun, rounds } from '../support/depth.ts';
import { IMBALANCES, LOOSE_ENDS } from '../support/imbalances.ts';
import { otherPostgres, startOther } from '../support/other-postgres.ts';
import { makeEndpoint } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { emptyDatabase, everything, fill, inEmbedded, structure } from './backup-support.ts';
import { runOn } from './here.ts';
import { startServer, useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const secretKey = () => inject('postgres').secretKey;
const path = (name: string) => join(machine.folder, name);

/** Runs a command that must succeed; returns what it printed as JSON. */
async function done(args: readonly string[], env: Record<string, string>) {
  const ran = await runOn(machine)([...args, '--json'], { env });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.json();
}

test('a backup moves everything from your own PostgreSQL to the embedded one and back, row by row', async () => {
  await fill(world, api);
  const saved = await done(['backup', path('own.payhook')], await settingsOf(world));
  expect(statSync(saved.file).mode & 0o777).toBe(0o600);
  const embedded = { DATA_DIR: path('moved'), SECRET_KEY: secretKey() };
  const restored = await done(['restore', saved.file], embedded);
  expect(restored).toMatchObject({
    rows: saved.rows,
    sums: saved.sums,
    migrated: [],
    secret_key_problem: null,
  });
  const [first, madeThere] = await inEmbedded(
    embedded.DATA_DIR,
    async (client) => [await everything(client), await structure(client)] as const,
  );
  // chores fold sums and repair due times in the world meanwhile; on the way back nothing runs
  const live = await world.connect();
  const source = await everything(live);
  const made = await structure(live);
  await live.end();
  for (const [name, rows] of Object.entries(source)) {
    if (
      !/^(queue$|server_settings$|delivery_count|attempt_counts|affiliate_balance|affiliate_series|commission_series|commission_arr|program_aff)/.test(
        name,
      )
    )
      expect(first[name], name).toEqual(rows);
  }
  expect(madeThere).toEqual(made);

  const back = await done(['backup', path('embedded.payhook')], embedded);
  const own = await emptyDatabase();
  await done(['restore', back.file], { DATABASE_URL: own.url, SECRET_KEY: secretKey() });
  const client = await own.connect();
  expect(await everything(client)).toEqual(first);
  expect(first.commissions).not.toHaveLength(0);
  expect(first.attempts).not.toHaveLength(0);
  expect(await structure(client)).toEqual(made);
  await client.end();
  await own.drop();
});

const other = otherPostgres();
longRun.test.skipIf(other === null)(
  'a backup moves everything to an older PostgreSQL and back to the embedded one (needs one of Debian, 15 or newer, and root)',
  async () => {
    await fill(world, api);
    const saved = await done(['backup', path('to-older.payhook')], await settingsOf(world));
    const older = await startOther(other ?? '');
    try {
      const env = { DATABASE_URL: older.url, SECRET_KEY: secretKey() };
      await done(['restore', saved.file], env);
      const client = await older.client();
      const there = await everything(client);
      await client.end();
      const back = await done(['backup', path('from-older.payhook')], env);
      const embedded = { DATA_DIR: path('from older'), SECRET_KEY: secretKey() };
      await done(['restore', back.file], embedded);
      expect(await inEmbedded(embedded.DATA_DIR, everything)).toEqual(there);
      expect(there.payout_line_totals).not.toHaveLength(0);
    } finally {
      older.close();
    }
  },
);

test('a backup made while payouts are completed and events are published has books that balance', async () => {
  await makeEndpoint(api);
  const env = await settingsOf(world);
  let isOver = false;
  let paid = 0;
  const load = (async () => {
    while (!isOver || paid < 3) {
      const { id } = await makeAffiliate(api);
      await Promise.all([1, 2, 3].map(() => makeCommission(api, id)));
      await completePayout(api, await makePayout(api));
      await Promise.all([1, 2, 3].map(() => api.post(EVENTS, { type: 'order.created', data: {} })));
      paid += 1;
    }
  })();
  const ran = await Promise.all(
    Array.from({ length: rounds(1, 2) }, (_, number) =>
      machine.run(['backup', path(`load-${number}.payhook`), '--json'], { env }),
    ),
  );
  isOver = true;
  await load;
  for (const { json, code, stderr } of ran) {
    expect(code, stderr).toBe(0);
    const own = await emptyDatabase();
    await done(['restore', json().file], { DATABASE_URL: own.url, SECRET_KEY: secretKey() });
    const client = await own.connect();
    expect((await client.query(`${IMBALANCES} union all ${LOOSE_ENDS}`)).rows).toEqual([]);
    await client.end();
    await own.drop();
  }
});

longRun.test('a table of many parts is restored without a warning', async () => {
  // a row longer than a part is a part of its own
  await world.query(
    `insert into idempotency_keys (account_id, credential, key, request_hash, status, headers, body)
     select id, 'test', 'part ' || n, '', 200, '{}', repeat('x', 4500000)
     from accounts, generate_series(1, 15) n where accounts.name = 'Default'`,
  );
  const saved = await done(['backup', path('parts.payhook')], await settingsOf(world));
  await world.query(`delete from idempotency_keys where credential = 'test'`);
  const own = await emptyDatabase();
  const env = { DATABASE_URL: own.url, SECRET_KEY: secretKey() };
  const restored = await runOn(machine)(['restore', saved.file], { env });
  expect(restored).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Warning') });
  const client = await own.connect();
  const bodies = `select count(*)::int as count from idempotency_keys where length(body) = 4500000`;
  expect((await client.query(bodies)).rows).toEqual([{ count: 15 }]);
  await client.end();
  await own.drop();
});

const hasAge = ['age', 'age-keygen'].every((name) => spawnSync(name, ['--version']).status === 0);
test.skipIf(!hasAge)(
  'the age program opens a backup, and a backup it encrypted is restored (needs age, of the Debian package age)',
  async () => {
    const age = (...args: string[]) => {
      const { status, stderr } = spawnSync('age', args, { cwd: machine.folder, encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    };
    expect(spawnSync('age-keygen', ['-o', path('age.key')]).status).toBe(0);
    const recipient = /public key: (age1\w+)/.exec(readFileSync(path('age.key'), 'utf8'))?.[1] ?? '';
    const env = await settingsOf(world);
    const saved = await done(['backup', path('locked.payhook'), '--recipient', recipient], env);
    age('-d', '-i', 'age.key', '-o', 'opened.tar', saved.file);
    const listed = spawnSync('tar', ['-tf', path('opened.tar')], { encoding: 'utf8' });
    expect(listed.stdout).toMatch(/^payhook-backup\.json\n[\s\S]*\nmanifest\.json\nSHA256SUMS\n$/);
    age('-r', recipient, '-o', 'again.payhook', 'opened.tar');
    const own = await emptyDatabase();
    const there = { DATABASE_URL: own.url, SECRET_KEY: secretKey() };
    const restored = await done(
      ['restore', path('again.payhook'), '--identity-file', path('age.key')],
      there,
    );
    expect(restored).toMatchObject({ rows: saved.rows, sums: saved.sums });
    await own.drop();
  },
);

longRun.test(
  'a server continues with an encrypted backup of a running server, restored with the same key',
  async () => {
    const server = await startServer(machine);
    const key = readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim();
    machine.write('pass', 'correct horse battery staple\n');
    const saved = await machine.run(
      ['backup', '.', '--passphrase-file', 'pass', '--with-secret-key', 'the.key'],
      {},
    );
    expect(saved.stdout).toContain('The secret key is in the.key');
    const [name = ''] = machine.files().filter((each) => /^payhook-.*Z\.payhook$/.test(each));
    expect(statSync(path('the.key')).mode & 0o777).toBe(0o600);
    server.child.kill('SIGTERM');
    await server.ended;

    const there = path('restored');
    const dataDir = { DATA_DIR: there };
    const restored = await machine.run(['restore', name, '--passphrase-file', 'pass'], { env: dataDir });
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(restored.stderr).toContain(`the file ${join(there, 'secret-key')} is missing`);
    expect((await machine.run(['accounts', 'list'], { env: dataDir })).stderr).toContain(
      'secret-key is missing',
    );
    const held = { ...dataDir, SECRET_KEY_FILE: path('the.key') };
    const again = await startServer(machine, { env: held });
    const answer = await fetch(`${again.url}/v2/account`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
    const state = await fetch(`${again.url}/v2/system`, { headers: { authorization: `Bearer ${key}` } });
    expect(state.status).toBe(200);
    again.child.kill('SIGTERM');
    await again.ended;
  },
);

test('a backup for a public key is opened by its identity only; a restore needs no secret key, and names the one that the server needs to start', async () => {
  const env = await settingsOf(world);
  const [identity, stranger] = [await generateIdentity(), await generateIdentity()];
  machine.write('identity', `# created: today\n${identity}\n`);
  machine.write('stranger', `${stranger}\n`);
  const file = path('sealed.payhook');
  const saved = await done(['backup', file, '--recipient', await identityToRecipient(identity)], env);
  expect(readFileSync(file, 'latin1')).toMatch(/^age-encryption\.org\/v1\n-> /);
  const into = { DATA_DIR: path('never'), SECRET_KEY: secretKey() };
  const refusal = async (...options: string[]) =>
    (await runOn(machine)(['restore', file, ...options], { env: into })).stderr;
  expect(await refusal()).toContain('is encrypted: name --passphrase-file or --identity-file');
  expect(await refusal('--identity-file', path('stranger'))).toContain(
    'not encrypted for the given identity',
  );
  machine.write('pass', 'a passphrase\n');
  expect(await refusal('--passphrase-file', path('pass'))).toContain(
    'not encrypted for the given passphrase',
  );
  expect(existsSync(into.DATA_DIR)).toBe(false);
  const own = await emptyDatabase();
  const restore = (into: Readonly<Record<string, string>>) =>
    done(['restore', file, '--identity-file', path('identity')], into);
  const restored = await restore({ DATABASE_URL: own.url });
  expect(restored).toMatchObject({ rows: saved.rows, sums: saved.sums });
  expect(restored.secret_key_problem).toContain(
    `set SECRET_KEY to the key with the fingerprint ${fingerprintOf(secretKey()).slice(0, 12)}`,
  );
  const refused = await machine.run(['serve'], { env: { DATABASE_URL: own.url } });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('SECRET_KEY must be set')]);
  await own.drop();
  if (!isLong) return;
  const another = await emptyDatabase();
  const wrong = { DATABASE_URL: another.url, SECRET_KEY: 'another key of 32 characters or more' };
  expect((await restore(wrong)).secret_key_problem).toContain(
    'SECRET_KEY is not the key this database was set up with',
  );
  await another.drop();
});

test('a scheduled backup is made once, every process sees it, and the oldest are deleted', async () => {
  const folder = path('kept');
  const env = { ...(await settingsOf(world)), BACKUP_EVERY: '1h', BACKUP_TO: folder, BACKUP_KEEP: '2' };
  const scheduled = ['backup', '--scheduled', '--json'];
  const run = () => runOn(machine)(scheduled, { env });
  await world.query(`delete from server_settings where key = 'last_backup'`);
  const failed = await run();
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(`${folder} is not a folder`)]);
  const age = (setting: string, hours: number) =>
    world.query(
      `update server_settings set value = replace(value, value::json ->> $2, iso(now() - $3 * interval '1 hour')) where key = $1`,
      [setting, setting === 'last_backup' ? 'made_at' : 'failed_at', hours],
    );
  mkdirSync(folder);
  for (const day of ['19', '20', '21']) machine.write(`kept/payhook-2025-11-${day}T030000Z.payhook`, day);
  machine.write('kept/mine.payhook', 'not named by the time');
  const backups = async () => (await world.api.get('/v2/system')).body.backups;
  expect(await backups()).toMatchObject({ failure: { message: expect.stringContaining('is not a folder') } });
  const doctor = async () =>
    (await runOn(machine)(['doctor', '--json'], { env }))
      .json()
      .checks.find((each: Json) => each.name === 'backups');
  expect(await doctor()).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('is not a folder'),
  });
  // a failure is not retried at once
  expect((await run()).json()).toBeNull();
  await age('last_backup_failure', 1);
  const both = () => machine.run(scheduled, { env });
  const [first, second] = await Promise.all([both(), both()]);
  const made = [first, second].map((ran) => ran.json()).filter((each) => each !== null);
  expect(made, first.stderr + second.stderr).toHaveLength(1);
  expect(made[0].deleted).toEqual([
    'payhook-2025-11-19T030000Z.payhook',
    'payhook-2025-11-20T030000Z.payhook',
  ]);
  expect(readdirSync(folder).sort()).toEqual([
    'mine.payhook',
    'payhook-2025-11-21T030000Z.payhook',
    expect.stringMatching(/^payhook-20.*Z\.payhook$/),
  ]);
  expect((await run()).json()).toBeNull();
  const { file, made_at, size_bytes, duration_ms } = made[0];
  expect(await backups()).toEqual({ last: { made_at, file, size_bytes, duration_ms }, failure: null });
  expect(await doctor()).toMatchObject({ status: 'ok', detail: expect.stringContaining(file) });
  await world.query(`delete from server_settings where key = 'last_backup_failure'`);
  await age('last_backup', 3);
  expect(await doctor()).toMatchObject({ status: 'failed', detail: expect.stringContaining('3 hours old') });
});

test('a server makes the backups that its settings schedule', async () => {
  const folder = path('by itself');
  mkdirSync(folder);
  const own = await emptyDatabase(inject('postgres').templates[0].name);
  const env = { DATABASE_URL: own.url, SECRET_KEY: secretKey(), BACKUP_EVERY: '24h', BACKUP_TO: folder };
  const server = await startServer(machine, { env });
  const client = await own.connect();
  await until('the backup to be recorded', async () => {
    const { rows } = await client.query(`select from server_settings where key = 'last_backup'`);
    return rows.length === 1;
  });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^payhook-.*Z\.payhook$/)]);
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
  await client.end();
  await own.drop();
});
