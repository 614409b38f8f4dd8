import { expect, test } from 'vitest';
import { choresOf } from '../../src/app/chores.ts';
import { CHORES, type ChoreName } from '../../src/db/chores.ts';
import { KEEPING_SETTINGS, TABLES } from '../../src/db/tables.ts';
import { readConfig } from '../../src/kernel/config.ts';
import type { Threads } from '../../src/threads/pool.ts';
import { LARGE } from '../support/migration-locks.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const removing = Object.entries(CHORES).flatMap(([name, work]) => (work === 'removes rows' ? [name] : []));

test('every table is listed with the reason for its size, and nothing else is', async () => {
  const found = await world.query<{ name: string; isPartitioned: boolean }>(
    `select relname as name, relkind = 'p' as "isPartitioned" from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  const listed = Object.entries(TABLES).map(([name, { isPartitioned = false }]) => ({ name, isPartitioned }));
  expect(listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(found);
});

test('every chore that deletes rows is named by a table, and every chore that a table names deletes rows', () => {
  const named = Object.values(TABLES).flatMap((table) => ('chore' in table ? [table.chore] : []));
  expect([...new Set<string>(named)].sort()).toEqual(removing.sort());
});

test('the list of chores has every chore that a server can run', () => {
  const { config, db } = world.platform;
  const settings = {
    ...world.platform,
    threads: {} as Threads,
    embedded: {} as typeof world.platform.embedded,
    config: {
      ...config,
      mail: readConfig({ SMTP_URL: 'smtp://localhost', SMTP_FROM: 'pay@example.com' }).mail,
      retention: { auditDays: 365, importUndoDays: 365 },
      backup: { ...config.backup, everyMs: 1, folder: '/' },
    },
  };
  const all = [db, { ...db, cell: 1 }].flatMap((cell) => choresOf({ ...settings, db: cell }));
  expect([...new Set(all.map(({ name }) => name))].sort()).toEqual(
    (Object.keys(CHORES) as ChoreName[]).sort(),
  );
  // a chore named "forget" deletes rows
  expect(all.filter((chore) => 'forget' in chore && !removing.includes(chore.name))).toEqual([]);
});

test('the retention days that settings name are those of the settings', () => {
  const { delivery, retention } = readConfig({ PORT: '0' });
  expect(KEEPING_SETTINGS).toEqual({
    WEBHOOK_RETENTION_DAYS: delivery.retentionDays,
    AUDIT_RETENTION_DAYS: retention.auditDays,
    IMPORT_UNDO_DAYS: retention.importUndoDays,
  });
});

test('no trigger runs for each row that is inserted into a large table, so that a restore is a plain COPY', async () => {
  const found = await world.query<{ name: string }>(
    `select distinct c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where not t.tgisinternal and t.tgtype & 1 = 1 and t.tgtype & 4 = 4 and not c.relispartition`,
  );
  expect(found.filter(({ name }) => LARGE.includes(name))).toEqual([]);
});
