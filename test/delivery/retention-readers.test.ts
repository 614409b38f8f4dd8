import { expect, test } from 'vitest';
import { makePartitions } from '../../src/db/partitions.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { until } from '../support/wire.ts';
import { ago, drop, LOG, leftoversOf, logged, NOTHING, past, setClock, weekOf } from './retention-support.ts';
import { onStage, type Stage } from './support.ts';

/* Partitions are created and dropped while others read: nobody waits for either, however long a reader takes. */

const OLD = 120;
const instant = (days: number) => new Date(ago(days)).toISOString();

/** Fails when a statement waits for the lock of a table. */
async function expectNobodyWaits({ world }: Stage): Promise<void> {
  const waiting = await world.query(
    `select l.relation::regclass::text as name, a.query from pg_locks l join pg_stat_activity a using (pid)
     where not l.granted and l.locktype = 'relation' and a.datname = current_database()`,
  );
  expect(waiting).toEqual([]);
}

/** Does what servers do with the log, and creates partitions, as at the turn of a week. */
async function workOn(stage: Stage, path: string, daysAgo: number): Promise<void> {
  const { api, world } = stage;
  await stage.publish();
  expect((await api.get(LOG)).status).toBe(200);
  expect((await api.get(path)).status).toBe(200);
  expect((await api.get('/v2/events?per_page=1')).status).toBe(200);
  await world.db.transaction((tx) => makePartitions(tx, [instant(daysAgo)]));
  await expectNobodyWaits(stage);
}

// Citus has no DETACH CONCURRENTLY
test.skipIf(isOnNode())(
  'a reader of the log for this whole test delays no publishing, no list and no new week; an old week is dropped after that',
  () =>
    onStage({ delivers: false, own: true }, async (stage) => {
      const { world } = stage;
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const [, young] = await past(stage, endpoint, [{ days: OLD }, { days: 1 }]);
      const path = `${endpoint.path}/events/${young}`;
      const reader = await world.connect();
      await reader.query('begin isolation level repeatable read read only');
      for (const table of ['events', 'deliveries', 'attempts'])
        await reader.query(`select count(*) from ${table}`);
      await workOn(stage, path, 400);

      const outcomeOf = (dropping: Promise<void>) =>
        dropping.then(
          () => 'dropped',
          ({ code }) => code as string,
        );
      const first = outcomeOf(drop(stage));
      await until('a table is being detached', async () => {
        return (await world.query('select 1 from pg_inherits where inhdetachpending')).length === 1;
      });
      await workOn(stage, path, 407);
      // the reader is still there: the drop waited its maximum of 10 s, and gave up
      expect(await first).toBe('55P03');
      await workOn(stage, path, 414);

      const second = outcomeOf(drop(stage));
      const finishing = `datname = current_database() and query ~ 'finalize$' and wait_event_type = 'Lock'`;
      const finishes = async () => world.query(`select pid from pg_stat_activity where ${finishing}`);
      await until('it continues where it was', async () => (await finishes()).length === 1);
      await stage.publish();
      expect((await stage.api.get(LOG)).status).toBe(200);
      await world.query(`select pg_cancel_backend(pid) from pg_stat_activity where ${finishing}`);
      expect(await second).toBe('57014');
      // what the reader sees has not changed
      expect((await reader.query('select count(*)::int as n from events')).rows).toEqual([{ n: 2 }]);
      await reader.query('commit');
      await reader.end();

      await drop(stage);
      expect(await leftoversOf(stage, OLD)).toEqual(NOTHING);
      expect((await logged(stage)).total).toBe(5);
    }),
);

test('a server that was off for six months finds tables for today when it starts, and drops what is too old as the clock of retention catches up', () =>
  onStage({ delivers: false, own: true }, async (stage) => {
    const { world } = stage;
    const endpoint = await stage.endpoint('http://127.0.0.1:9/', { status: 'disabled' });
    // the clock of retention is 180 days behind and keeps 90: the oldest of these weeks is kept on every day of the week
    const weeks = Array.from({ length: 11 }, (_, week) => 190 + 7 * week);
    const old = weeks.map((days) => ({ days, status: 'delivered' as const }));
    const [waiting = ''] = await past(stage, endpoint, [{ days: 200, status: 'pending' }, ...old]);
    // no table was created in all that time
    const made = await world.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits
       where inhrelid::regclass::text ~ '_\\d{8}$' and to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') > now() - interval '180 days'`,
    );
    for (const { name } of made) await world.query(`drop table ${name}`);
    await setClock(stage, 180, 180 * 24 * 60);

    const server = await world.secondServer();
    const publish = () => server.api.post('/v2/events', { type: 'order.created', data: {} });
    expect((await publish()).status).toBe(201);
    const weeksAhead = await world.query(
      `select 1 from pg_class where relname ~ '^events_\\d{8}$' and relkind = 'r'
         and to_date(right(relname, 8), 'YYYYMMDD') > current_date`,
    );
    expect(weeksAhead).toHaveLength(4);
    // at first nothing is dropped: the clock may have been set ahead
    await drop(stage);
    expect((await logged(stage)).total).toBe(weeks.length + 2);
    await setClock(stage, 1 / 12, 60);
    const dropping = drop(stage);
    expect((await publish()).status).toBe(201);
    await dropping;
    for (const days of weeks) {
      const isOfWaiting = weekOf(ago(days)) === weekOf(ago(200));
      if (!isOfWaiting) expect(await leftoversOf(stage, days), `${days} days ago`).toEqual(NOTHING);
    }
    const left = await logged(stage);
    expect([left.total, left.ids[0]]).toEqual([3, waiting]);
    await server.close();
  }));
