import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { startMachine } from '../cli/support.ts';
import { onStage } from '../delivery/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { scrape, value } from './support.ts';

const MEASURED = { METRICS_PORT: '0' };
const AGE = 'payhook_oldest_snapshot_age_transactions';

/** A session of the program's own role that stays in a transaction with a snapshot. */
async function holdSnapshot(world: World, statement: string): Promise<pg.Client> {
  const { host, port, user, password } = inject('postgres');
  const [{ database } = { database: '' }] = await world.query<{ database: string }>(
    'select current_database() as database',
  );
  const client = new pg.Client({ host, port, user, password, database, application_name: 'nightly report' });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin isolation level repeatable read read only');
  await client.query(statement);
  return client;
}

const doctor = async (world: World) => {
  const { checks } = (
    await startMachine().run(['doctor', '--json'], { env: await settingsOf(world) })
  ).json();
  return (checks as { name: string; status: string; detail: string }[])
    .filter(({ name }) => /old snapshots|dead rows/.test(name))
    .map(({ name, status, detail }) => `${name}, ${status}: ${detail}`);
};

describe.concurrent('a session that keeps dead rows', () => {
  test('is measured by its age in transactions and in seconds', () =>
    onStage({ settings: MEASURED, delivers: false, own: true }, async ({ world }) => {
      const holder = await holdSnapshot(world, 'select 1');
      // each takes a transaction id
      for (let left = 20; left > 0; left -= 1) await world.query('select pg_current_xact_id()');
      const text = await scrape(world);
      expect(value(text, AGE)).toBeGreaterThanOrEqual(20);
      expect(value(text, 'payhook_oldest_snapshot_age_seconds')).toBeGreaterThan(0);
      expect(value(text, 'payhook_queue_rows{state="dead"}')).toBeGreaterThanOrEqual(0);
      expect(value(text, 'payhook_queue_rows{state="live"}')).toBeGreaterThanOrEqual(0);
      await holder.end();
    }));

  test('is named by doctor with the first words of its query, and without anything that may be data', () =>
    onStage({ delivers: false }, async ({ world }) => {
      const holder = await holdSnapshot(world, `select count(*)\n from accounts where name = 'secret'`);
      const [snapshots, dead] = await doctor(world);
      expect(snapshots).toMatch(
        /^old snapshots, ok: none is older than ten minutes; session \d+ \(\w+, nightly report, idle in transaction, select count\(\*\) from accounts where name = \) keeps dead rows since \d{4}-/,
      );
      expect(snapshots).not.toContain('secret');
      expect(dead).toMatch(/^dead rows, ok: the queue has about \d+ rows? and \d+ dead ones?$/);
      await holder.end();
    }));

  test('of another role hides its query, and doctor says so', () =>
    onStage({ settings: MEASURED, delivers: false }, async ({ world }) => {
      const holder = await world.connect();
      await holder.query('begin isolation level repeatable read read only');
      await holder.query('select 1');
      expect((await doctor(world))[0]).toMatch(
        /^old snapshots, warning: \d+ sessions? of other roles may keep dead rows, .*: grant pg_read_all_stats to \w+$/,
      );
      expect(value(await scrape(world), 'payhook_oldest_snapshot_age_seconds')).toBeUndefined();
      await holder.end();
      await until('the session to end', async () => {
        const [snapshots = ''] = await doctor(world);
        return snapshots.includes('hides') ? null : snapshots;
      });
    }));
});
