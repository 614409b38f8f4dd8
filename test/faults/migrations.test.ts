import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { FUNCTIONS } from '../../src/db/functions.ts';
import { frozenChecksums, MigrationError, readMigrations } from '../../src/db/migration-files.ts';
import { longRun, someOf } from '../support/depth.ts';
import { emptyDatabase, migratedDatabase, type UnusedDatabase } from './support-start.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RECORD = 'migrations/checksums.json';

describe('the files', () => {
  test('every migration up to the newest frozen one is frozen', () => {
    const frozen = Object.keys(frozenChecksums());
    const newest = frozen.map((name) => Number(name.slice(0, 4))).sort((a, b) => b - a)[0] ?? 0;
    const settled = readMigrations().filter(({ version }) => version <= newest);
    expect(settled.map(({ name }) => name)).toEqual(frozen);
  });

  test('no checksum that was ever committed has changed', ({ skip }) => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
    let commits: string[] = [];
    try {
      commits = git('log', '--format=%H', '--', RECORD).trim().split('\n').filter(Boolean);
    } catch {
      skip('there is no git history here: nothing to compare with');
    }
    const now = frozenChecksums();
    for (const commit of commits) expect(now).toMatchObject(JSON.parse(git('show', `${commit}:${RECORD}`)));
  });

  test.each([
    ['edited', (folder: string) => writeFileSync(join(folder, '0003_refunds.sql'), 'select 1;')],
    ['missing', (folder: string) => rmSync(join(folder, '0003_refunds.sql'))],
  ])('a frozen migration that is %s is refused', (_what, spoil) => {
    const folder = mkdtempSync(join(tmpdir(), 'payhook-migrations-'));
    try {
      cpSync(join(ROOT, 'migrations'), folder, { recursive: true });
      const read = () => readMigrations(pathToFileURL(`${folder}/`));
      const crlf = readFileSync(join(folder, '0003_refunds.sql'), 'utf8').replaceAll('\n', '\r\n');
      writeFileSync(join(folder, '0003_refunds.sql'), crlf);
      expect(read()).toEqual(readMigrations());
      spoil(folder);
      expect(read).toThrow(MigrationError);
      expect(read).toThrow(/migrations\/0003_refunds\.sql is .*reinstall this version of Payhook/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('two migrations with one number are refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-migrations-'));
  try {
    cpSync(join(ROOT, 'migrations'), folder, { recursive: true });
    writeFileSync(join(folder, '0003_twin.sql'), 'select 1;');
    expect(() => readMigrations(pathToFileURL(`${folder}/`))).toThrow(
      /0003_refunds\.sql has the number of another/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a database', () => {
  let database: UnusedDatabase;
  beforeEach(async () => {
    database = await migratedDatabase();
  });
  afterEach(() => database.drop());

  const history = () =>
    database.query('select version, name, checksum from schema_migrations order by version');

  test('has the checksums of its applied migrations', async () => {
    expect(await history()).toEqual(
      readMigrations().map(({ version, name, checksum }) => ({ version, name, checksum })),
    );
  });

  test.each([
    [
      'other content',
      `update schema_migrations set checksum = 'f00' where version = 4`,
      /0004_webhooks .*different content/,
    ],
    [
      'another name',
      `update schema_migrations set name = '0004_hooks' where version = 4`,
      /is 0004_hooks, this program has 0004_webhooks/,
    ],
    [
      'an unknown migration',
      `insert into schema_migrations (version, name) values (0, '0000_before')`,
      /0000_before was applied .* does not have it/,
    ],
    ['a gap', 'delete from schema_migrations where version = 4', /0004_webhooks was never applied/],
  ])('with %s is refused, and nothing changes', async (_what, spoil, message) => {
    await database.query(spoil);
    const before = await history();
    const refused = database.start('second');
    await expect(refused).rejects.toThrow(MigrationError);
    await expect(refused).rejects.toThrow(message);
    expect(await history()).toEqual(before);
  });

  describe('from before checksums were kept', () => {
    beforeEach(() => database.query('alter table schema_migrations drop column checksum'));

    longRun.test('gets those of this program, and keeps an index of the operator', async () => {
      await database.query('create index my_own on commissions (amount)');
      await database.start('second');
      expect(await history()).toEqual(
        readMigrations().map(({ version, name, checksum }) => ({ version, name, checksum })),
      );
      const schemas = await database.query(`select from pg_namespace where nspname like 'payhook%'`);
      expect(schemas).toEqual([]);
    });

    longRun.test('and of an older schema is migrated to the newest', async () => {
      const older = await emptyDatabase();
      try {
        const old = readMigrations().slice(0, 7);
        const names = old.map(({ version, name }) => `(${version}, '${name}')`).join(', ');
        await older.query(
          `set role ${inject('postgres').user}; create table server_settings (key text primary key, value text not null);
           create table schema_migrations (version int primary key, name text not null, applied_at timestamptz(3) default now());
           ${FUNCTIONS}; ${old.map(({ text }) => text).join('\n')}; insert into schema_migrations values ${names}`,
        );
        const { migrations } = await older.start('first');
        expect(migrations.applied).toEqual(
          readMigrations()
            .slice(7)
            .map(({ name }) => name),
        );
        const [row] = await older.query<{ bare: number }>(
          'select count(*)::int as bare from schema_migrations where checksum is null',
        );
        expect(row?.bare).toBe(0);
      } finally {
        await older.drop();
      }
    });

    const EDITS: [string, string, RegExp][] = [
      [
        'a missing column',
        'alter table payouts drop column revision',
        /column payouts\.revision integer.* is missing/,
      ],
      [
        'an additional column',
        'alter table payouts add column colour text not null',
        /column payouts\.colour text not null is too much/,
      ],
      [
        'another rule',
        'alter table api_keys add check (length(name) < 300)',
        /rule .* of api_keys.* is too much/,
      ],
      [
        'no guard of the audit log',
        'drop trigger audit_log_is_append_only on audit_log',
        /trigger .* is missing/,
      ],
    ];
    test.each(someOf(EDITS, 2))(
      'is refused with %s: its migrations were edited later',
      async (_what, edit, message) => {
        await database.query(edit);
        const refused = database.start('second');
        await expect(refused).rejects.toThrow(message);
        await expect(refused).rejects.toThrow('begin with a new database');
      },
    );
  });
});
