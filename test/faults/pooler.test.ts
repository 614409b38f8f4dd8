import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sql from 'sql-template-tag';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { connect } from '../../src/db/connect.ts';
import { PoolerError } from '../../src/db/session.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { runHere } from '../cli/here.ts';
import { settingsOf } from '../support/database-url.ts';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';

const SETTINGS = ['TimeZone', 'transaction_read_only', 'statement_timeout', 'enable_seqscan', 'jit'];
const shown = SETTINGS.map((name) => `current_setting('${name}') as "${name}"`).join(', ');

/** How PgBouncer treats settings that a client sends when it connects: the second drops them silently. */
const STARTUP_OPTIONS = [
  ['refuses startup options', {}],
  ['drops startup options', { ignore_startup_parameters: 'options' }],
] as const;

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode (needs pgbouncer)', () => {
  describe.each(STARTUP_OPTIONS)('that %s', (_, startup) => {
    let pooler: PgBouncer;
    let world: World;
    const folder = mkdtempSync(join(tmpdir(), 'payhook-pooler-'));
    beforeAll(async () => {
      // one session of PostgreSQL for everyone: settings left there would reach the others
      pooler = await startPgBouncer(inject('postgres'), { default_pool_size: '1', ...startup });
      world = await borrowWorld({ pooler });
    });
    afterAll(async () => {
      await world?.close();
      await pooler?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test('a reader cannot write, and the next user of the same session can', async () => {
      const { db } = world;
      const write = sql`create table if not exists written (at int)`;
      await expect(db.reader.rows(write)).rejects.toMatchObject({ code: '25006' });
      const inSnapshot = db.snapshot((snapshot) => snapshot.rows(write));
      await expect(inSnapshot).rejects.toMatchObject({ code: '25006' });
      await db.transaction((tx) => tx.rows(write));
      await db.transaction((tx) => tx.rows(sql`drop table written`));
    });

    test('every transaction has the settings of its purpose, and only those', async () => {
      const { db } = world;
      const query = () => sql([`select ${shown}`]);
      const READER = ['UTC', 'on', '5min', 'on', 'off'];
      const WRITER = ['UTC', 'off', '5min', 'on', 'off'];
      const LONG = ['UTC', 'off', '1d', 'on', 'off'];
      const ENGINE = ['UTC', 'off', '5min', 'off', 'off'];
      const SNAPSHOT = ['UTC', 'on', '1d', 'on', 'off'];
      for (let round = 0; round < 2; round++) {
        const seen = [
          await db.reader.rows<object>(query()),
          await db.transaction((tx) => tx.rows<object>(query())),
          await db.transaction((tx) => tx.rows<object>(query()), { takesLong: true }),
          await db.engine((tx) => tx.rows<object>(query()), { single: true }),
          await db.transaction((tx) => tx.rows<object>(query()), { single: true }),
          await db.snapshot((snapshot) => snapshot.rows<object>(query())),
          await db.engine((tx) => tx.rows<object>(query())),
        ];
        const values = seen.map(([row]) => Object.values(row ?? {}));
        expect(values).toEqual([READER, WRITER, LONG, ENGINE, WRITER, SNAPSHOT, ENGINE]);
      }
    });

    test('statements are not prepared by name: another session would not know them', async () => {
      const { db } = world;
      const query = sql`select name from pg_prepared_statements`;
      await db.reader.rows(sql`select 1`, 'one');
      await db.engine((tx) => tx.rows(sql`select 1`, 'one'), { single: true });
      expect(await db.transaction((tx) => tx.rows(query))).toEqual([]);
    });

    test('work that needs its own session connects to PostgreSQL directly', async () => {
      const { db } = world;
      let heard = 0;
      const end = db.listen('pooler_test', () => {
        heard += 1;
      });
      await expect.poll(() => heard).toBe(1);
      await db.reader.rows(sql`select pg_notify('pooler_test', '')`);
      await expect.poll(() => heard).toBe(2);
      await end();
      await db.outsideTransaction(sql`vacuum server_settings`);
    });

    test('work that needs its own session is refused without DATABASE_LISTEN_URL', async () => {
      const { user, password } = inject('postgres');
      const [row] = await world.query<{ database: string }>('select current_database() as database');
      const errors: Error[] = [];
      const db = connect({
        target: { host: pooler.host, port: pooler.port, user, password, database: row?.database ?? '' },
        poolSize: 1,
        name: 'payhook',
        onIdleError: (error) => void errors.push(error),
      });
      await expect(db.outsideTransaction(sql`select`)).rejects.toThrow(PoolerError);
      const heard: string[] = [];
      const end = db.listen('pooler_test', () => void heard.push('heard'));
      await expect.poll(() => errors[0]).toBeInstanceOf(PoolerError);
      expect(heard).toEqual([]);
      await end();
      await db.close();
    });

    test('a server without DATABASE_LISTEN_URL does not start and names the missing setting', async () => {
      const { DATABASE_LISTEN_URL: _, ...settings } = await settingsOf(world, pooler);
      const config = readConfig({ ...settings, DATA_DIR: folder, LOG_LEVEL: 'silent' });
      await expect(openPlatform(config, { purpose: 'serve' })).rejects.toThrow('set DATABASE_LISTEN_URL');
      await (await openPlatform(config, { purpose: 'command' })).close();
    });

    test('doctor names the pooler, and finds that a reader cannot write', async () => {
      const { DATABASE_LISTEN_URL = '', ...settings } = await settingsOf(world, pooler);
      // Vitest sets a BASE_URL of its own
      const env = { ...settings, DATA_DIR: folder, BASE_URL: '' };
      const checksWith = async (more: Readonly<Record<string, string>>) => {
        const { checks } = (await runHere(['doctor', '--json'], { env: { ...env, ...more } })).json();
        return checks.filter(({ name }: { name: string }) => ['connections', 'readers'].includes(name));
      };
      const readers = expect.objectContaining({ name: 'readers', status: 'ok' });
      const connections = (status: string, detail: string) =>
        expect.objectContaining({ name: 'connections', status, detail: expect.stringContaining(detail) });
      expect(await checksWith({ DATABASE_LISTEN_URL })).toEqual([
        connections('ok', 'through a pooler'),
        readers,
      ]);
      expect(await checksWith({})).toEqual([connections('failed', 'set DATABASE_LISTEN_URL'), readers]);
      const DATABASE_URL = DATABASE_LISTEN_URL;
      expect(await checksWith({ DATABASE_URL })).toEqual([connections('ok', 'PostgreSQL directly'), readers]);
    });
  });
});
