import { describe, expect, test } from 'vitest';
import { LOCKS, takeLock } from '../../src/db/locks.ts';
import type { AccountId } from '../../src/kernel/ids.ts';
import { portalAt } from '../access/portal-support.ts';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { waitingForLocks } from '../support/held.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { until } from '../support/wire.ts';
import { cancel, haveLooked, type Recovery, read, untilIdle, untilRecovery } from './recoveries-support.ts';
import { accountOf, ago, drop, past } from './retention-support.ts';
import { deliveryCountErrors, type Endpoint, idsOf, onStage, type Stage } from './support.ts';

/** Starts a recovery of what an endpoint never got; returns its record. */
async function recoverMissing(api: Api, endpoint: Endpoint, fields: object = {}): Promise<Recovery> {
  const { status, text, body } = await api.post(`${endpoint.path}/recover`, { missing: true, ...fields });
  expect(status, text).toBe(201);
  return body;
}

async function publish(api: Api, fields: object): Promise<string> {
  const { status, text, body } = await api.post('/v2/events', { type: 'order.created', data: {}, ...fields });
  expect(status, text).toBe(201);
  return body.id;
}

/** The number that a preview says. */
async function countOf(api: Api, endpoint: Endpoint, fields: object = {}): Promise<number> {
  const { status, text, body } = await api.post(`${endpoint.path}/preview-recovery`, {
    missing: true,
    ...fields,
  });
  expect(status, text).toBe(200);
  return body.matching_count;
}

const totalOf = async (api: Api, endpoint: Endpoint, query = ''): Promise<number> =>
  (await api.get(`${endpoint.path}/events?per_page=1${query}`)).body.pagination.total;

describe.concurrent('a recovery of what an endpoint never got', () => {
  test('sends what its types, filter and owner match now, once and oldest first, and counts it in the log', () =>
    onStage({}, async (stage) => {
      const { api, world } = stage;
      const first = await stage.endpoint(await stage.receiver(), { event_types: null });
      const wanted: string[] = [];
      for (let number = 0; number < 6; number += 1)
        wanted.push(
          await publish(api, { type: number % 2 ? 'order.paid' : 'order.created', data: { number } }),
        );
      const toAda = await publish(api, { data: { number: 9 }, owner: 'ada' });
      await publish(api, { data: { number: 9 }, owner: 'bob' });
      await publish(api, { data: { number: -1 } });
      await publish(api, { data: { number: 'text' } });
      await publish(api, { type: 'invoice.created', data: { number: 9 } });
      // the data of an event looks like a test
      const like = await publish(api, { data: { x: ',"is_test":true,"data":', number: 9, is_test: true } });
      const changes = { added: {}, updated: { x: ',"data":' }, removed: {} };
      for (const fields of [{}, { changes }])
        expect(
          (await api.post(`${first.path}/test`, { type: 'order.created', data: { number: 9 }, ...fields }))
            .status,
        ).toBe(201);
      const receiver = await stage.receiver();
      const filter = { 'data.number': { $gte: 0 } };
      const endpoint = await stage.endpoint(receiver, { owner: 'ada', filter });
      const expected = [...wanted, toAda, like].toSorted();
      expect(await countOf(api, endpoint)).toBe(expected.length);
      expect(await countOf(api, endpoint, { types: ['order.paid'] })).toBe(3);
      expect(await countOf(api, endpoint, { since: '2020-01-01', until: '2020-02-01' })).toBe(0);
      const recovery = await recoverMissing(api, endpoint);
      const done = await untilRecovery(stage, recovery);
      expect(done).toMatchObject({ queued_count: expected.length, skipped_count: 0, action: 'recover' });
      // it begins with the oldest event
      expect(done.filters.since).toBe((await stage.log(endpoint, expected[0] ?? '')).created_at);
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, expected)).toEqual({});
      expect(await totalOf(api, endpoint)).toBe(expected.length);
      expect(await totalOf(api, endpoint, '&status=delivered')).toBe(expected.length);
      expect(await countOf(api, endpoint)).toBe(0);
      expect(await world.query(MISCOUNTS)).toEqual([]);
      // a change of the endpoint makes others match
      await stage.change(endpoint, { event_types: ['invoice.*'], filter: null });
      const second = await untilRecovery(stage, await recoverMissing(api, endpoint));
      expect(second).toMatchObject({ queued_count: 1 });
      await untilIdle(stage, endpoint);
      expect(await totalOf(api, endpoint)).toBe(expected.length + 1);
      expect(await world.query(MISCOUNTS)).toEqual([]);
    }));

  test('reaches no event for another owner or of another account', () =>
    onStage({}, async (stage) => {
      const { api, world } = stage;
      const other = await world.otherAccount();
      const events: Record<string, string> = {};
      for (const owner of ['ada', 'bob', undefined]) events[String(owner)] = await publish(api, { owner });
      await publish(other, { owner: 'ada' });
      await publish(other, {});
      for (const owner of ['ada', 'bob', null]) {
        const receiver = await stage.receiver();
        const endpoint = await stage.endpoint(receiver, { owner, event_types: null });
        const own = owner === null ? [] : [events[owner] ?? ''];
        const expected = [...own, events.undefined ?? ''];
        expect(await countOf(api, endpoint, { types: ['order.*'] })).toBe(expected.length);
        await untilRecovery(stage, await recoverMissing(api, endpoint, { types: ['order.*'] }), {
          status: 'completed',
          queued_count: expected.length,
        });
        await untilIdle(stage, endpoint);
        expect(idsOf(receiver.received).toSorted(), String(owner)).toEqual(expected.toSorted());
      }
    }));

  test('in a portal reaches what its link allows: never an event for another owner, beyond its filter, or of another account', () =>
    onStage({}, async (stage) => {
      const { api, world } = stage;
      const other = await world.otherAccount();
      const receiver = await stage.receiver();
      const filter = { 'data.shop': 'ada' };
      const own = await stage.endpoint(receiver, { owner: 'ada', event_types: ['order.*'], filter });
      const bobs = await stage.endpoint(await stage.receiver(), { owner: 'bob' });
      const theirs = await stage.endpoint(await stage.receiver(), { owner: 'ada' }, other);
      await stage.change(own, { event_types: ['order.paid'] });
      const data = { shop: 'ada' };
      const expected = [await publish(api, { data, owner: 'ada' }), await publish(api, { data })];
      await publish(api, { data, owner: 'bob' });
      await publish(api, { data: { shop: 'bob' }, owner: 'ada' });
      await publish(api, { data, type: 'invoice.created', owner: 'ada' });
      await publish(other, { data, owner: 'ada' });
      const portal = await portalAt(api, own.id, { all_of_owner: true, event_types: ['order.*'] });
      for (const beyond of [bobs, theirs])
        for (const refused of [
          await portal.post(`${beyond.path}/preview-recovery`, { missing: true }),
          await portal.post(`${beyond.path}/recover`, { missing: true }),
          await portal.get(`${beyond.path}/recoveries`),
        ])
          expect([refused.status, refused.reason]).toEqual([404, 'resource_missing']);
      const widened = await portal.patch(own.path, { event_types: ['order.*'] });
      expect(widened.status, widened.text).toBe(200);
      expect((await portal.patch(own.path, { event_types: ['order.*', 'invoice.*'] })).status).toBe(400);
      expect(await countOf(portal, own)).toBe(expected.length);
      const done = await untilRecovery(stage, await recoverMissing(portal, own));
      expect(done).toMatchObject({ queued_count: expected.length });
      expect((await portal.get(`${own.path}/recoveries/${done.id}`)).body).toEqual(done);
      await untilIdle(stage, own);
      expect(deliveryCountErrors(receiver.received, expected)).toEqual({});
      const closed = await portalAt(api, own.id, { read_only: true });
      for (const path of ['/preview-recovery', '/recover'])
        expect((await closed.post(`${own.path}${path}`, { missing: true })).reason).toBe('role_too_low');
    }));

  test('sends the notice that an endpoint was disabled to the others only', () =>
    onStage({}, async (stage) => {
      const fallen = await stage.endpoint(await stage.receiver(), { event_types: ['webhook_endpoint.*'] });
      await stage.change(fallen, { status: 'disabled' });
      await stage.change(fallen, { status: 'enabled' });
      const later = await stage.endpoint(await stage.receiver(), { event_types: ['webhook_endpoint.*'] });
      expect([await countOf(stage.api, fallen), await countOf(stage.api, later)]).toEqual([0, 1]);
      const ofAda = await stage.endpoint('https://ada.example.com/', { owner: 'ada' });
      await stage.change(ofAda, { status: 'disabled' });
      const types = { event_types: ['webhook_endpoint.*'] };
      const counts: number[] = [];
      for (const owner of ['ada', 'bob', null])
        counts.push(
          await countOf(stage.api, await stage.endpoint('https://x.example.com/', { owner, ...types })),
        );
      expect(counts).toEqual([1, 0, 2]);
    }));

  longRun.test('whose first attempt fails continues with the schedule', () =>
    onStage({ settings: { DELIVERY_SCHEDULE: '0s 24h' } }, async (stage) => {
      const event = await stage.publish();
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver);
      await untilRecovery(stage, await recoverMissing(stage.api, endpoint));
      const log = await stage.untilLog(endpoint, event, { status: 'pending', attempt_count: 2 });
      expect(log.attempts.map(({ trigger }: { trigger: string }) => trigger)).toEqual([
        'recovery',
        'scheduled',
      ]);
      receiver.respond(200);
      await stage.passTime(endpoint);
      await stage.untilLog(endpoint, event, { status: 'delivered', attempt_count: 3 });
    }),
  );

  test('is counted for one request of an account at a time', () =>
    onStage({ delivers: false }, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const other = await stage.world.otherAccount();
      const elsewhere = await stage.endpoint('http://127.0.0.1:9/', {}, other);
      const account = (await accountOf(stage)) as AccountId;
      await stage.world.db.transaction(async (tx) => {
        await takeLock(tx, LOCKS.missing(account));
        const refused = await stage.api.post(`${endpoint.path}/preview-recovery`, { missing: true });
        expect([refused.status, refused.reason]).toEqual([429, 'rate_limited']);
        expect(await countOf(other, elsewhere)).toBe(0);
      });
      expect(await countOf(stage.api, endpoint)).toBe(0);
    }));

  test('can be cancelled: what it queued is sent, and the next one sends the rest', () =>
    onStage({}, async (stage) => {
      const events = await stage.publishMany(40);
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { rate_limit: 2 });
      const recovery = await recoverMissing(stage.api, endpoint);
      await untilRecovery(stage, recovery, { status: 'running' });
      const second = await stage.api.post(`${endpoint.path}/recover`, { missing: true });
      expect([second.status, second.reason]).toEqual([409, 'recovery_in_progress']);
      expect(await cancel(stage, recovery)).toBe(204);
      const { queued_count: queued } = await read(stage, recovery);
      expect(queued).toBeGreaterThan(0);
      expect(queued).toBeLessThan(40);
      await stage.change(endpoint, { rate_limit: null });
      expect(await countOf(stage.api, endpoint)).toBe(40 - queued);
      const rest = await untilRecovery(stage, await recoverMissing(stage.api, endpoint));
      expect(rest.queued_count).toBe(40 - queued);
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
    }));
});

describe.concurrent('while events are published', () => {
  test('each gets one row: from its publishing, or from the recovery', () =>
    onStage({ databaseLatencyMs: 5 }, async (stage) => {
      const { api, world } = stage;
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { event_types: ['nothing.*'] });
      const events: string[] = [];
      const publishers = Array.from({ length: 4 }, async () => {
        for (let index = 0; index < 25; index += 1) events.push(await stage.publish());
      });
      await until('some are published', () => events.length >= 20);
      // from here on publishing finds the endpoint; transactions that have begun do not
      await stage.change(endpoint, { event_types: ['order.*'] });
      const during = await untilRecovery(stage, await recoverMissing(api, endpoint));
      await Promise.all(publishers);
      expect(during.queued_count).toBeGreaterThanOrEqual(20);
      expect(await countOf(api, endpoint)).toBe(0);
      await untilIdle(stage, endpoint);
      expect(await totalOf(api, endpoint)).toBe(events.length);
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
      expect(await world.query(MISCOUNTS)).toEqual([]);
    }));

  test('it waits for one that is still to be committed', () =>
    onStage({}, async (stage) => {
      const { api, world } = stage;
      const account = await accountOf(stage);
      const holder = await world.connect();
      await holder.query('begin');
      await holder.query(
        `insert into event_keys (account_id, external_id, event_id, request_hash) values ($1, 'held', new_id(), '')`,
        [account],
      );
      const publishing = api.post('/v2/events/batch', {
        events: [{ type: 'order.created', data: {}, external_id: 'held' }],
      });
      await until('the older event to wait', async () =>
        (await waitingForLocks(world)).some((statement) => statement.includes('event_keys')),
      );
      const younger = await stage.publish();
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const recovery = await recoverMissing(api, endpoint);
      await untilRecovery(stage, recovery, { status: 'running' });
      await haveLooked(stage);
      expect(await read(stage, recovery)).toMatchObject({ status: 'running', queued_count: 0 });
      await holder.query('rollback');
      await holder.end();
      const older = (await publishing).body.items[0].event.id;
      const done = await untilRecovery(stage, recovery);
      await untilIdle(stage, endpoint);
      expect(deliveryCountErrors(receiver.received, [older, younger])).toEqual({});
      // the older one was stored after the endpoint was created
      expect(done.queued_count).toBe(1);
    }));
});

describe.concurrent('the oldest weeks', () => {
  /** A week past the retention of which one event is left, because one of two endpoints still waits for it. */
  async function partialWeek(stage: Stage) {
    const waiting = await stage.endpoint('http://127.0.0.1:9/', { status: 'disabled' });
    const other = await stage.endpoint(await stage.receiver());
    const event = eventIdAt(ago(121));
    await putIn(stage.world, await accountOf(stage), [
      { event, endpoint: waiting.uuid, status: 'pending' },
      { event, endpoint: other.uuid, status: 'delivered' },
    ]);
    return other;
  }

  longRun.test(
    'are not taken once retention has begun to delete their rows, even if it is longer later',
    () =>
      onStage({ delivers: false }, async (stage) => {
        const other = await partialWeek(stage);
        const [kept = ''] = await past(stage, await stage.endpoint('http://127.0.0.1:9/'), [{ days: 3 }]);
        expect(await countOf(stage.api, other)).toBe(1);
        await drop(stage);
        await drop(stage, null);
        expect(await countOf(stage.api, other)).toBe(1);
        await stage.world.startWorker();
        const recovery = await recoverMissing(stage.api, other);
        await untilRecovery(stage, recovery, { status: 'completed', queued_count: 1 });
        await stage.untilLog(other, kept, { status: 'delivered' });
        expect(await totalOf(stage.api, other)).toBe(1);
        await stage.world.query(`delete from server_settings where key = 'log_complete_from'`);
      }),
  );

  test('are not taken while they are dropped', () =>
    onStage({}, async (stage) => {
      await stage.publish();
      const endpoint = await stage.endpoint(await stage.receiver());
      await stage.world.query(
        `insert into dropped_weeks select date_trunc('week', id_time(id) at time zone 'UTC') at time zone 'UTC'
         from events limit 1`,
      );
      expect(await countOf(stage.api, endpoint)).toBe(0);
      const recovery = await recoverMissing(stage.api, endpoint);
      await untilRecovery(stage, recovery, { status: 'completed', queued_count: 0 });
      await stage.world.query('delete from dropped_weeks');
      expect(await countOf(stage.api, endpoint)).toBe(1);
    }));
});
