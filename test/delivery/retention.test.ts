import { describe, expect, test } from 'vitest';
import { makePartitions } from '../../src/db/partitions.ts';
import { foldCounts } from '../../src/outbox/counts.ts';
import { startMachine } from '../cli/support.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { keepHouse } from '../support/chores.ts';
import { settingsOf } from '../support/database-url.ts';
import { holdBack, untilLockWait } from '../support/held.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { until } from '../support/wire.ts';
import { acknowledge, claim, pullEndpoint } from './pull-support.ts';
import {
  accountOf,
  ago,
  drop,
  LOG,
  leftoversOf,
  logged,
  NOTHING,
  partitionOf,
  past,
  setClock,
  weekOf,
} from './retention-support.ts';
import { onStage, type Stage, uuidOf } from './support.ts';

const quiet = { delivers: false } as const;

describe.concurrent('a week older than the setting', () => {
  test('is dropped with its keys and counts; newer weeks stay', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const [, , ...kept] = await past(stage, endpoint, [
        { days: 110, status: 'delivered' },
        { days: 109, status: 'failed' },
        { days: 90, status: 'failed' },
        { days: 80, status: 'delivered' },
        { days: 1, status: 'delivered' },
      ]);
      await foldCounts(stage.world.db);
      expect((await logged(stage)).total).toBe(5);
      await drop(stage);
      expect(await logged(stage)).toEqual({ ids: kept, total: 3 });
      expect(await logged(stage, `${endpoint.path}/events`)).toEqual({ ids: kept, total: 3 });
      expect((await stage.api.get(`${LOG}?status=failed`)).body.pagination.total).toBe(1);
      expect(await leftoversOf(stage, 110)).toEqual(NOTHING);
      expect(await stage.world.query('select * from dropped_weeks')).toEqual([]);
    }));

  test('takes its events with it: they are not found and cannot be retried, and their external_id is free', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const [old = ''] = await past(stage, endpoint, [{ days: 120 }]);
      await stage.world.query(
        `insert into event_keys (account_id, external_id, event_id, request_hash) values ($1, 'order-1', $2, '')`,
        [await accountOf(stage), uuidOf(old)],
      );
      const at = `${endpoint.path}/events/${old}`;
      expect((await stage.api.get(at)).status).toBe(200);
      await drop(stage);
      expect((await stage.api.get(at)).reason).toBe('resource_missing');
      expect((await stage.api.post(`${at}/retry`)).reason).toBe('resource_missing');
      const publish = () =>
        stage.api.post('/v2/events', { type: 'order.created', data: {}, external_id: 'order-1' });
      const first = await publish();
      const again = await publish();
      expect([first.status, again.status, again.text]).toEqual([201, 200, first.text]);
    }));

  test('whose keys are not yet deleted frees them anyway, for one of many concurrent requests', () =>
    onStage({ ...quiet, databaseLatencyMs: 10 }, async (stage) => {
      await stage.world.query(
        `insert into event_keys (account_id, external_id, event_id, request_hash) values ($1, 'order-1', $2, '')`,
        [await accountOf(stage), eventIdAt(ago(100))],
      );
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          stage.api.post('/v2/events', { type: 'order.created', data: {}, external_id: 'order-1' }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(11).fill(200), 201]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    }));

  test('is kept forever when the setting says so', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const ids = await past(stage, endpoint, [{ days: 200 }, { days: 2 }]);
      await drop(stage, null);
      expect(await logged(stage)).toEqual({ ids, total: 2 });
    }));
});

describe.concurrent('an undelivered event', () => {
  test('is kept, but everything else in its week and later weeks is dropped', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const other = await stage.endpoint('http://127.0.0.1:9/');
      const event = eventIdAt(ago(121));
      // an event that one of two endpoints has, two that both have, one that no endpoint subscribed to, and the week
      // after
      await putIn(stage.world, await accountOf(stage), [
        { event, endpoint: endpoint.uuid, status: 'pending' },
        { event, endpoint: other.uuid, status: 'delivered' },
      ]);
      await past(stage, endpoint, [
        { days: 121, status: 'failed' },
        { days: 121, status: 'delivered' },
        { days: 114 },
      ]);
      await stage.world.query('insert into events (account_id, id, type, payload) values ($1, $2, $3, $4)', [
        await accountOf(stage),
        eventIdAt(ago(121)),
        'nobody.cares',
        '{}',
      ]);
      await stage.world.query(
        `with x as (select account_id, id from events where id >= id_floor(now() - interval '130 days'))
         insert into event_tags select account_id, id, 'order:7' from x`,
      );
      await drop(stage);
      expect(await logged(stage)).toMatchObject({ ids: [`evt_${event.replaceAll('-', '')}`], total: 1 });
      expect(await leftoversOf(stage, 121)).toMatchObject({
        tables: 3,
        events: 1,
        deliveries: 1,
        attempts: 0,
        tags: 1,
      });
      expect(await leftoversOf(stage, 114)).toEqual(NOTHING);
      await drop(stage);
      expect(await logged(stage)).toMatchObject({ total: 1 });
    }));

  test('is sent when its endpoint is enabled, however old it is; its week is dropped after that', () =>
    onStage({}, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { status: 'disabled' });
      const [held = ''] = await past(stage, endpoint, [
        { days: 300, status: 'pending' },
        ...Array.from({ length: 20 }, () => ({ days: 300, status: 'delivered' as const })),
      ]);
      // the worker's own chore may be dropping it at this moment
      await keepHouse(stage.world, 'webhook log');
      expect(await logged(stage, `${endpoint.path}/events`)).toEqual({ ids: [held], total: 1 });
      await stage.change(endpoint, { status: 'enabled' });
      await receiver.until(1);
      await stage.untilLog(endpoint, held, { status: 'delivered' });
      await until('the queue is empty', async () => (await stage.queue(endpoint)).length === 0);
      await keepHouse(stage.world, 'webhook log');
      expect(await leftoversOf(stage, 300)).toEqual(NOTHING);
    }));

  test('is given up once its endpoint has been disabled for as long; an endpoint disabled later keeps its own', () =>
    onStage(quiet, async (stage) => {
      const abandoned = await stage.endpoint('http://127.0.0.1:9/', { status: 'disabled' });
      const late = await stage.endpoint('http://127.0.0.1:9/', { status: 'disabled' });
      const disable = (endpoint: string, days: number) =>
        stage.world.query(
          "update webhook_endpoints set disabled_at = now() - $2 * interval '1 day' where id = $1",
          [endpoint, days],
        );
      await disable(abandoned.uuid, 365);
      await disable(late.uuid, 80);
      const pending = (days: number) => ({ days, status: 'pending' as const });
      const [, , young] = await past(stage, abandoned, [pending(300), pending(300), pending(10)]);
      const [kept] = await past(stage, late, [pending(300)]);
      const held = async () =>
        (await stage.api.get(`${LOG}?status=held`)).body.data.map(({ id }: { id: string }) => id).sort();
      await drop(stage);
      expect(await held()).toEqual([kept, young].sort());
      expect(await logged(stage)).toMatchObject({ total: 2 });
      expect(await leftoversOf(stage, 300)).toMatchObject({ tables: 3, events: 1, deliveries: 1 });
      // no endpoint is left that may need it: the week is dropped, and the queue has nothing of it
      await disable(late.uuid, 91);
      await drop(stage);
      expect(await leftoversOf(stage, 300)).toEqual(NOTHING);
      expect(await held()).toEqual([young]);
      expect(await stage.queue(late)).toEqual([]);
    }));

  test('is given up at a pull endpoint that nobody claimed it from; one that a consumer holds stays', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await pullEndpoint(stage);
      const pending = (days: number) => ({ days, status: 'pending' as const });
      const events = await past(stage, endpoint, [pending(300), pending(300), pending(10)]);
      const [held = '', waiting = '', young = ''] = events;
      const passTime = (event: string) =>
        stage.world.query('update queue set due_at = now() where event_id = $1', [uuidOf(event)]);
      // alone, because events that are due since the same moment are claimed in any order
      await passTime(held);
      const [claimed] = await claim(stage.api, endpoint, { limit: 1, lease_seconds: 3600 });
      expect(claimed?.id).toBe(held);
      await passTime(waiting);
      await passTime(young);
      await drop(stage);
      expect((await logged(stage)).ids.sort()).toEqual([held, young].sort());
      expect((await stage.api.get(`${endpoint.path}/events/${waiting}`)).status).toBe(404);
      expect(await acknowledge(stage.api, endpoint, [claimed])).toEqual(['acknowledged']);
      expect(await claim(stage.api, endpoint, { limit: 10 })).toMatchObject([{ id: young }]);
    }));

  test('is retried just before its week is dropped: the week stays until that is over', () =>
    onStage({ ...quiet, databaseLatencyMs: 0 }, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const [old = ''] = await past(stage, endpoint, [{ days: 120, status: 'failed' }, { days: 120 }]);
      const inserting = holdBack(stage.world, 'insert into queue');
      const retrying = stage.retry(endpoint, old);
      await inserting.reached;
      const dropping = drop(stage);
      await Promise.race([untilLockWait(stage.world), dropping]);
      inserting.goOn();
      expect(await retrying).toBe(200);
      await dropping;
      expect(await logged(stage)).toEqual({ ids: [old], total: 1 });
      expect(await stage.queue(endpoint)).toHaveLength(1);
    }));

  test('cannot be retried while its week is dropped: the retry waits, and finds nothing', () =>
    onStage({ ...quiet, databaseLatencyMs: 0 }, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const [old = ''] = await past(stage, endpoint, [{ days: 120, status: 'failed' }]);
      const dropped = holdBack(stage.world, 'delete from delivery_counts');
      const dropping = drop(stage);
      await dropped.reached;
      const retrying = stage.retry(endpoint, old);
      await Promise.race([untilLockWait(stage.world), retrying]);
      dropped.goOn();
      expect(await retrying).toBe(404);
      await dropping;
      expect(await leftoversOf(stage, 120)).toEqual(NOTHING);
      expect(await stage.queue(endpoint)).toEqual([]);
    }));
});

describe.concurrent('an aborted drop', () => {
  const OLD = 120;

  /** Creates a log with an old week; returns the path of an event of it. */
  async function beginning(stage: Stage): Promise<string> {
    const endpoint = await stage.endpoint('http://127.0.0.1:9/');
    const [old] = await past(stage, endpoint, [{ days: OLD }, { days: OLD, status: 'failed' }, { days: 1 }]);
    return `${endpoint.path}/events/${old}`;
  }

  test.each([
    ['before its first partition goes', []],
    ['when one table is detached', ['detach']],
    ['when one table is dropped', ['detach', 'drop']],
  ])('%s is completed by the next process; nobody sees the rest of the week meanwhile', (_, steps) =>
    onStage(quiet, async (stage) => {
      const old = await beginning(stage);
      await stage.world.query('insert into dropped_weeks values ($1)', [weekOf(ago(OLD))]);
      await stage.world.query('delete from delivery_count_deltas where minute < $1', [new Date(ago(60))]);
      const name = partitionOf('attempts', OLD);
      if (steps.includes('detach')) await stage.world.query(`alter table attempts detach partition ${name}`);
      if (steps.includes('drop')) await stage.world.query(`drop table ${name}`);
      for (const query of ['', '?type=order.created', '?status=delivered']) {
        expect((await stage.api.get(`${LOG}${query}`)).body.pagination.total).toBe(1);
      }
      expect([(await stage.api.get(old)).status, (await stage.api.post(`${old}/retry`)).status]).toEqual([
        404, 404,
      ]);
      await drop(stage);
      expect(await leftoversOf(stage, OLD)).toEqual(NOTHING);
      expect(await logged(stage)).toMatchObject({ total: 1 });
    }),
  );

  // Citus has no DETACH CONCURRENTLY
  test.skipIf(isOnNode())(
    'while PostgreSQL detached a table is completed too, and events are published all the while',
    () =>
      onStage(quiet, async (stage) => {
        await beginning(stage);
        // a long reader of the log: detaching waits, and is cancelled as by a kill
        const reader = await stage.world.connect();
        await reader.query('begin; select from attempts limit 1');
        const dropping = drop(stage).then(
          () => 'done',
          () => 'cancelled',
        );
        const pending = () => stage.world.query('select 1 from pg_inherits where inhdetachpending');
        await until('a table is being detached', async () => (await pending()).length === 1);
        await stage.world.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and query ~ 'concurrently$'`,
        );
        expect(await dropping).toBe('cancelled');
        expect(await logged(stage)).toMatchObject({ total: 1 });
        await stage.publish();
        await stage.world.db.transaction((tx) => makePartitions(tx, [new Date(ago(400)).toISOString()]));
        await reader.end();
        expect(await pending()).toHaveLength(1);
        await drop(stage);
        expect(await leftoversOf(stage, OLD)).toEqual(NOTHING);
        expect(await logged(stage)).toMatchObject({ total: 2 });
      }),
  );

  test('is completed once by two processes at once', () =>
    onStage(quiet, async (stage) => {
      await beginning(stage);
      await Promise.all([drop(stage), drop(stage), drop(stage)]);
      await drop(stage);
      expect(await leftoversOf(stage, OLD)).toEqual(NOTHING);
      const logged = stage.world.log.filter(({ msg }) => msg === 'a week of the webhook log was dropped');
      expect(logged.map(({ week }) => week).filter((week) => week === weekOf(ago(OLD)))).toHaveLength(1);
    }));
});

describe.concurrent('the clock of retention', () => {
  const behindHours = async (stage: Stage) => {
    const [row] = await stage.world.query<{ hours: number }>(
      `select round(extract(epoch from now() - (value::json ->> 'time')::timestamptz) / 3600)::int as hours
       from server_settings where key = 'slow_clock'`,
    );
    return row?.hours;
  };

  test('gains four hours an hour, so that a database set a year ahead drops nothing at once', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const ids = await past(stage, endpoint, [{ days: 150 }, { days: 100 }, { days: 1 }]);
      // as if the clock had been right, a year ago, until just now
      await setClock(stage, 365, 365 * 24 * 60);
      for (const behind of [365 * 24 - 4, 365 * 24 - 4]) {
        await drop(stage);
        expect(await behindHours(stage)).toBe(behind);
        expect(await logged(stage)).toEqual({ ids, total: 3 });
      }
      await setClock(stage, 1 / 24, 60);
      await drop(stage);
      expect(await behindHours(stage)).toBe(0);
      expect(await logged(stage)).toEqual({ ids: ids.slice(-1), total: 1 });
    }));

  test('follows at once when the database is set back', () =>
    onStage(quiet, async (stage) => {
      await setClock(stage, -100, -100 * 24 * 60);
      await drop(stage);
      expect(await behindHours(stage)).toBe(0);
      await drop(stage);
      expect(await behindHours(stage)).toBe(0);
    }));
});

describe.concurrent('payhook doctor', () => {
  test('shows how far the log goes back, and warns about a log that is too old and a clock that ran ahead', () =>
    onStage({ ...quiet, cell: 0 }, async (stage) => {
      const env = { ...(await settingsOf(stage.world)), WEBHOOK_RETENTION_DAYS: '30' };
      const machine = startMachine();
      const ask = async () => {
        const { checks } = (await machine.run(['doctor', '--json'], { env })).json();
        return (checks as { name: string; status: string; detail: string }[])
          .filter(({ name }) => /webhook log|retention|partitions/.test(name))
          .map(({ name, status, detail }) => `${name}, ${status}: ${detail}`);
      };
      const week = (days: number) => weekOf(ago(days)).slice(0, 10);
      expect(await ask()).toEqual(['partitions, ok: made ahead', 'webhook log, ok: empty; kept for 30 days']);
      const endpoint = await stage.endpoint('http://127.0.0.1:9/', { status: 'disabled' });
      await past(stage, endpoint, [{ days: 20 }]);
      await drop(stage, 30);
      expect((await ask())[1]).toBe(
        `webhook log, ok: goes back to the week of ${week(20)}; kept for 30 days`,
      );
      await past(stage, endpoint, [{ days: 80, status: 'pending' }]);
      await setClock(stage, 10, 1);
      const [, log, clock] = await ask();
      expect(log).toMatch(
        `webhook log, warning: goes back to the week of ${week(80)}; kept for 30 days: older events were not delivered yet`,
      );
      expect(clock).toMatch('retention clock, warning: 10 days behind the database');
      await machine.close();
    }));
});

describe.concurrent('a recovery', () => {
  test('is deleted once it ended before everything left in the log', () =>
    onStage(quiet, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const recover = async (days: number): Promise<string> => {
        const { body } = await stage.api.post(`${endpoint.path}/recover`, { since: '2020-01-01' });
        await stage.api.delete(`${endpoint.path}/recoveries/${body.id}`);
        await stage.world.query(
          "update webhook_recoveries set cancelled_at = now() - $2 * interval '1 day' where id = $1",
          [uuidOf(body.id), days],
        );
        return body.id;
      };
      await recover(91);
      const young = await recover(89);
      await drop(stage);
      const { body } = await stage.api.get(`${endpoint.path}/recoveries`);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual([young]);
    }));
});

describe.concurrent('a deleted endpoint', () => {
  test('is removed when nothing of its log is left, and not before', () =>
    onStage(quiet, async (stage) => {
      const [old, logged_, late] = await Promise.all(
        [0, 1, 2].map(() => stage.endpoint('http://127.0.0.1:9/')),
      );
      if (!old || !logged_ || !late) throw new Error('no endpoint');
      await past(stage, old, [{ days: 120 }]);
      await past(stage, logged_, [{ days: 80 }]);
      for (const { path } of [old, logged_, late]) await stage.api.delete(path);
      await stage.world.query(
        `update webhook_endpoints set deleted_at = now() - interval '100 days' where id = any($1)`,
        [[old.uuid, logged_.uuid]],
      );
      await drop(stage);
      const statuses = await Promise.all(
        [old, logged_, late].map(async ({ path }) => (await stage.api.get(`${path}/events`)).status),
      );
      expect(statuses).toEqual([404, 200, 200]);
      expect(
        await stage.world.query('select 1 from endpoint_state where endpoint_id = $1', [old.uuid]),
      ).toEqual([]);
    }));
});
