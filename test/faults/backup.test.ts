import { spawnSync } from 'node:child_process';
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, expect, inject, test } from 'vitest';
import { checkArchive, createArchive } from '../../src/app/backup/archive.ts';
import type { Key, Lock } from '../../src/app/backup/encryption.ts';
import type { Manifest } from '../../src/app/backup/manifest.ts';
import { saveBackup } from '../../src/app/backup/save.ts';
import { connect } from '../../src/db/connect.ts';
import { applyMigrations, lockStarts } from '../../src/db/migrate.ts';
import { readMigrations } from '../../src/db/migration-files.ts';
import { emptyDatabase, everything, fill, structure } from '../cli/backup-support.ts';
import { runOn } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { someOf } from '../support/depth.ts';
import { plainEnvironment } from '../support/environment.ts';
import { until } from '../support/wire.ts';
import { useAccount, useWorld } from '../support/world.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const folder = mkdtempSync(join(tmpdir(), 'payhook-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const place = (name: string) => join(folder, name);
const run = (args: readonly string[], env: Record<string, string>) => runOn(machine)(args, { env });
const save = (name: string, lock = {}) => {
  // of a failed attempt
  rmSync(place(name), { force: true });
  return saveBackup({ db: world.db, target: place(name), lock });
};

/** Restores a file of these bytes; returns why it is refused. */
async function refusalOf(bytes: Buffer, key = {}): Promise<string> {
  const file = place('altered.payhook');
  writeFileSync(file, bytes);
  try {
    await checkArchive(file, key);
    return 'it is taken';
  } catch (error) {
    expect((error as Error).name, String((error as Error).stack)).toBe('BackupError');
    return (error as Error).message;
  }
}

/** A key of age, whose passphrases take a second each on purpose. */
async function newKey(): Promise<{ readonly lock: Lock; readonly key: Key }> {
  const identity = await generateIdentity();
  return { lock: { recipient: await identityToRecipient(identity) }, key: { identity } };
}

/** Some of the places in the entries of a file: each entry has one of its places, every kind of place is there. */
const someIn = <Place>(places: readonly Place[]) => someOf(places, Math.ceil(places.length / 4));

/** Where the entries of a tar file begin and end. */
function entriesOf(bytes: Buffer): { name: string; begin: number; end: number }[] {
  const found: { name: string; begin: number; end: number }[] = [];
  for (let at = 0; bytes[at] !== 0; ) {
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8);
    const name = bytes.toString('latin1', at, at + 100).replace(/\0.*/s, '');
    found.push({ name, begin: at, end: at + 512 + size });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}

test('a file cut off anywhere is refused, encrypted or not', async () => {
  await fill(world, api);
  const { file } = await save('whole.payhook');
  const whole = readFileSync(file);
  const entries = entriesOf(whole);
  const last = entries.at(-1)?.end ?? 0;
  const cuts = entries.flatMap(({ begin, end }) => [begin, begin + 1, begin + 512, begin + 600, end - 1]);
  for (const cut of someIn(cuts.filter((each) => each > 0 && each < last)))
    expect(await refusalOf(whole.subarray(0, cut)), `cut at ${cut}`).toMatch(/cut off|is not a backup/);
  expect(await refusalOf(Buffer.alloc(0))).toContain('is empty');
  expect(await refusalOf(Buffer.from('a text that somebody took for a backup\n'))).toContain(
    'is not a backup',
  );

  const { lock, key } = await newKey();
  const sealed = readFileSync((await save('sealed.payhook', lock)).file);
  for (const cut of [30, 120, 200, 70_000, sealed.length - 1].filter((each) => each < sealed.length))
    expect(await refusalOf(sealed.subarray(0, cut), key), `cut at ${cut}`).toMatch(/cut off/);
});

test('a file with one bit flipped is refused, in every entry and in what is between them', async () => {
  const { file } = await save('flipped.payhook');
  const whole = readFileSync(file);
  const places = entriesOf(whole).flatMap(({ name, begin, end }) =>
    [begin + 3, begin + 130, begin + 512, Math.floor((begin + 512 + end) / 2), end - 1].map((at) => ({
      name,
      begin,
      at,
    })),
  );
  for (const { name, begin, at } of someIn(places)) {
    const altered = Buffer.from(whole);
    altered[at] = (altered[at] ?? 0) ^ 4;
    expect(await refusalOf(altered), `${name} at ${at - begin}`).toMatch(
      /use another backup|is not a backup/,
    );
  }
  const { lock, key } = await newKey();
  const sealed = readFileSync((await save('sealed-2.payhook', lock)).file);
  for (const at of [30, 100, 200, 5000, sealed.length - 1]) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 4;
    expect(await refusalOf(altered, key), `sealed, at ${at}`).toMatch(/use another backup|not encrypted for/);
  }
});

/** A file of another program: whole, but with another manifest. */
async function madeBy(name: string, change: (manifest: Manifest) => unknown, format = 1): Promise<string> {
  const { manifest } = await save(`of-${name}`);
  const archive = createArchive({ format: format as 1, program: '9.0.0' });
  const written = pipeline(archive.bytes, createWriteStream(place(name)));
  await archive.finish({ ...manifest, tables: [], ...(change(manifest) as Partial<Manifest>) });
  await written;
  return place(name);
}

test('a backup of a newer program, of another history or without its tables is refused, and the database stays empty', async () => {
  const own = await emptyDatabase();
  const env = { DATABASE_URL: own.url, SECRET_KEY: inject('postgres').secretKey };
  const refused = async (file: string) => {
    const ran = await run(['restore', file], env);
    expect(ran.code, ran.stderr).toBe(1);
    const client = await own.connect();
    const left = await client.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
    await client.end();
    expect(left.rowCount).toBe(0);
    return ran.stderr;
  };
  expect(await refused(await madeBy('format.payhook', () => ({}), 2))).toContain(
    'has format 2, which Payhook 9.0.0',
  );
  const migrations = ({ migrations: all }: Manifest) => all;
  const newer = await madeBy('newer.payhook', (manifest) => ({
    migrations: [...migrations(manifest), { version: 9999, name: '9999_later', checksum: 'a' }],
  }));
  expect(await refused(newer)).toContain('has schema 9999');
  const foreign = await madeBy('foreign.payhook', (manifest) => ({
    migrations: migrations(manifest).map((each) => ({ ...each, checksum: 'a' })),
  }));
  expect(await refused(foreign)).toContain('was made with migration 0001_accounts');
  expect(await refused(await madeBy('few.payhook', () => ({})))).toContain(
    'has a table account_cells that differs',
  );
  const odd = await madeBy('odd.payhook', () => ({
    sequences: [{ name: 'x; drop', last_value: '1', is_called: true }],
  }));
  expect(await refused(odd)).toContain('/sequences/0/name');
  const wrong = await save('wrong.payhook');
  expect(wrong.manifest.tables.length).toBeGreaterThan(30);
  await own.drop();
});

test('a backup of an earlier schema is restored and migrated to this one', async () => {
  const { host, port, user, password } = inject('postgres');
  const [old, own] = [await emptyDatabase(), await emptyDatabase()];
  const database = new URL(old.url).pathname.slice(1);
  const db = connect({
    target: { host, port, user, password, database },
    poolSize: 2,
    name: 'test',
    onIdleError: () => undefined,
  });
  const before = readMigrations().filter(({ version }) => version <= 20);
  await db.transaction(async (tx) => {
    await lockStarts(tx);
    await applyMigrations(tx, 20);
  });
  const client = await old.connect();
  await client.query(`
    insert into accounts (name) values ('Old');
    insert into affiliates (account_id, email) select id, 'old@example.com' from accounts;
    insert into commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount, occurred_at,
      available_at) select account_id, 'c-1', id, 'sale', 'usd', 1234, 1234, now(), now() from affiliates`);
  await client.end();
  await saveBackup({ db, target: place('old.payhook'), lock: {} });
  await db.close();
  const env = { DATABASE_URL: own.url, SECRET_KEY: inject('postgres').secretKey };
  const ran = await run(['restore', place('old.payhook'), '--json'], env);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(ran.json()).toMatchObject({
    schema_version: 20,
    migrated: readMigrations()
      .slice(before.length)
      .map(({ name }) => name),
    sums: [{ of: 'commissions', currency: 'usd', amount: '1234' }],
  });
  const restored = await own.connect();
  const { rows } = await restored.query(
    `select c.amount::int, c.import_id, s.amount::int as earned from commissions c
     join commission_series s on s.account_id = c.account_id and s.span = 'day' and s.program_id = 0`,
  );
  expect(rows).toEqual([{ amount: 1234, import_id: null, earned: 1234 }]);
  await restored.end();
  const { data } = (await run(['accounts', 'list', '--json'], env)).json();
  expect(data).toMatchObject([{ name: 'Old' }]);
  await old.drop();
  await own.drop();
});

test('nothing is overwritten, and an unwritable target is reported', async () => {
  const env = await settingsOf(world);
  const file = machine.write('there.payhook', 'mine');
  const refused = async (target: string) => (await run(['backup', target], env)).stderr;
  expect(await refused(file)).toContain('there.payhook exists: backups never overwrite a file');
  expect(readFileSync(file, 'utf8')).toBe('mine');
  expect(await refused(join(folder, 'no', 'folder.payhook'))).toContain('no is not a folder');
  expect(await refused('/proc/backup.payhook')).toMatch(/\/proc is not a folder|no permission|is not/);
  const restored = await run(['restore', place('nothing.payhook')], env);
  expect([restored.code, restored.stderr]).toEqual([1, expect.stringContaining('there is no file')]);
});

test('a full disk leaves no file, and is reported', async () => {
  const env = await settingsOf(world);
  const target = join(machine.folder, 'small');
  mkdirSync(target);
  // files are limited to 4 KB here: as on a full disk, writing fails in the middle
  const ran = spawnSync(
    'bash',
    ['-c', `trap '' XFSZ; ulimit -f 4; exec ${machine.command} backup '${target}'`],
    {
      env: { ...plainEnvironment(), ...env, DATA_DIR: machine.dataDir },
      encoding: 'utf8',
    },
  );
  expect([ran.status, ran.stderr]).toEqual([1, expect.stringContaining(`the disk of ${target} is full`)]);
  expect(readdirSync(target)).toEqual([]);
});

test('a killed backup leaves no file that looks complete; an interrupted one leaves none', async () => {
  const env = await settingsOf(world);
  const target = join(machine.folder, 'killed');
  mkdirSync(target);
  const partial = /^\.payhook-.*\.part$/;
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    // it waits here, after the header of the file
    const held = await world.connect();
    await held.query('begin; lock table refunds in access exclusive mode');
    const started = machine.start(['backup', target], { env });
    await until('the file to begin', async () => readdirSync(target).some((name) => partial.test(name)));
    started.child.kill(signal);
    await started.ended;
    await held.query('rollback');
    await held.end();
    const left = readdirSync(target);
    expect(left.filter((name) => !partial.test(name))).toEqual([]);
    expect(left).toHaveLength(signal === 'SIGKILL' ? 1 : 0);
    for (const name of left) rmSync(join(target, name));
  }
  const made = await run(['backup', target], env);
  expect(made, made.stderr).toMatchObject({ code: 0 });
});

test('a killed restore leaves an empty database, and the next one succeeds; one into a database that has anything is refused and changes nothing in it', async () => {
  await save('to-kill.payhook');
  const own = await emptyDatabase();
  const env = { DATABASE_URL: own.url, SECRET_KEY: inject('postgres').secretKey };
  const held = await own.connect();
  // the lock of partitions: the tables exist, and their rows follow
  await held.query('begin; select pg_advisory_xact_lock(7246813906)');
  const started = machine.start(['restore', place('to-kill.payhook')], { env });
  await until('the restore to wait', async () => {
    const { rowCount } = await held.query(`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`);
    return rowCount === 1;
  });
  started.child.kill('SIGKILL');
  await started.ended;
  await held.query('rollback');
  await until('the database to be empty', async () => {
    const { rowCount } = await held.query(`select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    return rowCount === 0;
  });
  const left = await held.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
  expect(left.rowCount).toBe(0);
  const restore = () => run(['restore', place('to-kill.payhook')], env);
  const expectRefused = async (what: string) => {
    const ran = await restore();
    expect([ran.code, ran.stderr]).toEqual([
      1,
      expect.stringContaining(`the database is not empty, it has ${what}`),
    ]);
  };
  // a table of another program is enough
  await held.query(`create table theirs as select 1 as kept`);
  await expectRefused('theirs');
  expect(await everything(held)).toEqual({ theirs: ['(1)'] });
  await held.query('drop table theirs');
  const ran = await restore();
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  // without a server, whose chores would write meanwhile
  const before = [await everything(held), await structure(held)];
  await expectRefused('accounts');
  expect([await everything(held), await structure(held)]).toEqual(before);
  await held.end();
  await own.drop();
});
