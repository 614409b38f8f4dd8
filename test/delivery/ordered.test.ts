import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, holdResponses, idsOf, type Log, metering, onStage, type Stage } from './support.ts';

/** One attempt at once, one by the clock of the test, and no more. */
const settings = { DELIVERY_SCHEDULE: '0s 1h' };

/** Publishes an event under a key; returns its id. */
async function publishUnder(stage: Stage, key: string, fields: object = {}, of = stage.api): Promise<string> {
  const { status, text, body } = await of.post('/v2/events', {
    type: 'order.created',
    data: { key },
    ordering_key: key,
    ...fields,
  });
  expect(status, text).toBe(201);
  return body.id;
}

/** Publishes this many under a key, one after the other. */
async function several(stage: Stage, key: string, count: number): Promise<string[]> {
  const events: string[] = [];
  for (let each = 0; each < count; each += 1) events.push(await publishUnder(stage, key));
  return events;
}

const delivered = async (stage: Stage, endpoint: Endpoint, events: readonly string[]) => {
  for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
};

/** Runs `work` while another transaction has published under each busy key, and stays open. */
async function whileHanging({ world }: Stage, work: () => Promise<void>): Promise<void> {
  const client = await world.connect();
  try {
    await client.query('begin');
    await client.query('select from queue_keys for update');
    await work();
  } finally {
    await client.end();
  }
}

const busyKeys = ({ world }: Stage) => world.query('select ordering_key, last_place from queue_keys');

describe.concurrent('an ordered endpoint', () => {
  test('gets the events of a key one after the other, in the order of publishing, and those of other keys meanwhile', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const first = await several(stage, 'order:1', 3);
      const other = await publishUnder(stage, 'order:2');
      const free = await stage.publish();
      await hold.until(3);
      expect(idsOf(hold.held.map(({ request }) => request)).sort()).toEqual([first[0], other, free].sort());
      expect(await stage.log(endpoint, first[0] as string)).toMatchObject({ waits_for: null });
      for (const event of first.slice(1)) {
        expect(await stage.log(endpoint, event)).toMatchObject({ status: 'pending', waits_for: first[0] });
      }
      const meter = metering(receiver);
      for (const { response } of hold.held.splice(0)) response.writeHead(200).end();
      await delivered(stage, endpoint, [...first, other, free]);
      expect(idsOf(receiver.received).filter((id) => first.includes(id))).toEqual(first);
      expect(meter.most).toBe(1);
      await until('no key is busy', async () => (await busyKeys(stage)).length === 0);
    }));

  test('gets the events of a batch in the order of its list, whatever their ids and external_ids', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const earlier = await publishUnder(stage, 'order:1');
      const events = Array.from({ length: 12 }, (_, index) => ({
        type: 'order.created',
        data: { index },
        ordering_key: `order:${index % 2}`,
        // some ids are taken with the external_id, in another order, before those of the others
        ...(index % 3 ? { external_id: `${20 - index}` } : {}),
      }));
      const { status, text, body } = await stage.api.post('/v2/events/batch', { events });
      expect(status, text).toBe(200);
      const ids: string[] = body.items.map((item: Log) => item.event.id);
      await delivered(stage, endpoint, [earlier, ...ids]);
      const received = idsOf(receiver.received);
      const ofKey = (key: number) => ids.filter((_, index) => index % 2 === key);
      expect(received.filter((id) => ofKey(0).includes(id))).toEqual(ofKey(0));
      expect(received.filter((id) => id === earlier || ofKey(1).includes(id))).toEqual([
        earlier,
        ...ofKey(1),
      ]);
      await until('no key is busy', async () => (await busyKeys(stage)).length === 0);
    }));

  test('waits in one key for a failing event until its last attempt; then the next one is sent', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(({ body }, response) => {
        response.writeHead(body.includes('"bad":true') ? 500 : 200).end();
      });
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const head = await publishUnder(stage, 'order:1', { data: { bad: true } });
      const next = await publishUnder(stage, 'order:1');
      const other = await publishUnder(stage, 'order:2');
      await delivered(stage, endpoint, [other]);
      await stage.untilLog(endpoint, head, { attempt_count: 1, status: 'pending' });
      expect(await stage.log(endpoint, next)).toMatchObject({
        status: 'pending',
        attempt_count: 0,
        waits_for: head,
      });
      // by hand it does not overtake
      expect(await stage.retry(endpoint, next)).toBe(200);
      expect(await stage.retry(endpoint, head)).toBe(200);
      await stage.untilLog(endpoint, head, { attempt_count: 2, status: 'pending' });
      expect(await stage.log(endpoint, next)).toMatchObject({ attempt_count: 0, waits_for: head });
      await stage.passTime(endpoint);
      await stage.untilLog(endpoint, head, { attempt_count: 3, status: 'failed' });
      const log = await stage.untilLog(endpoint, next, { status: 'delivered' });
      expect(log).toMatchObject({ attempt_count: 1, waits_for: null });
      // sent again later, it waits for nothing and blocks nothing
      expect(await stage.retry(endpoint, head)).toBe(200);
      await stage.untilLog(endpoint, head, { attempt_count: 4 });
      await until('no key is busy', async () => (await busyKeys(stage)).length === 0);
    }));

  test('keeps the order of events held while it was disabled', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { ordered: true, status: 'disabled' });
      const events = await several(stage, 'order:1', 6);
      const meter = metering(receiver, { answerMs: 20 });
      await stage.change(endpoint, { status: 'enabled' });
      await delivered(stage, endpoint, events);
      expect(idsOf(receiver.received)).toEqual(events);
      expect(meter.most).toBe(1);
    }));

  test('that is deleted fails the waiting events too, and switching off the order releases them', () =>
    onStage({ settings }, async (stage) => {
      const [leaving, staying] = [await stage.receiver(), await stage.receiver()];
      const holds = [holdResponses(leaving), holdResponses(staying)];
      const deleted = await stage.endpoint(leaving, { ordered: true });
      const changed = await stage.endpoint(staying, { ordered: true });
      const events = await several(stage, 'order:1', 4);
      for (const hold of holds) await hold.until(1);
      await stage.api.delete(deleted.path);
      await stage.change(changed, { ordered: false });
      await holds[1]?.until(4);
      expect((await stage.log(changed, events[3] as string)).waits_for).toBe(null);
      for (const hold of holds) hold.release();
      await delivered(stage, changed, events);
      expect(leaving.received).toHaveLength(1);
      await until('nothing waits', async () => (await stage.world.query('select from queue')).length === 0);
    }));

  longRun.test(
    'that is switched off and on again while events are published and delivered gets each of them once',
    () =>
      onStage({ settings }, async (stage) => {
        const receiver = await stage.receiver();
        metering(receiver, { answerMs: 5 });
        const endpoint = await stage.endpoint(receiver, { ordered: true });
        const keys = Array.from({ length: 12 }, (_, index) => `order:${index}`);
        const publishing = Promise.all(keys.map((key) => several(stage, key, 6)));
        for (const ordered of [false, true, false, true, false, true])
          await stage.change(endpoint, { ordered });
        const events = (await publishing).flat();
        await delivered(stage, endpoint, events);
        expect(idsOf(receiver.received).sort()).toEqual(events.sort());
        await until('no key is busy', async () => (await busyKeys(stage)).length === 0);
      }),
  );

  test('orders events published after it was switched on, and an unordered endpoint orders nothing', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver);
      const before = await several(stage, 'order:1', 2);
      await hold.until(2);
      await stage.change(endpoint, { ordered: true });
      const after = await several(stage, 'order:1', 2);
      await hold.until(3);
      expect(await stage.log(endpoint, after[1] as string)).toMatchObject({ waits_for: after[0] });
      hold.release();
      await delivered(stage, endpoint, [...before, ...after]);
    }));

  test('continues during another transaction under the same key, and waits for that only with its last event', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const [head, next] = (await several(stage, 'order:1', 2)) as [string, string];
      await hold.until(1);
      await whileHanging(stage, async () => {
        hold.release();
        await delivered(stage, endpoint, [head]);
        await until('the next one came', () => idsOf(receiver.received).includes(next));
        const other = await publishUnder(stage, 'order:2');
        await delivered(stage, endpoint, [other]);
        expect(idsOf(receiver.received)).toEqual([head, next, other]);
        // an event that must come after it may be in progress, and the last one is held until that is known
        expect(await stage.log(endpoint, next)).toMatchObject({ status: 'pending', attempt_count: 0 });
      });
      await delivered(stage, endpoint, [next]);
      expect(receiver.received).toHaveLength(3);
      await until('no key is busy', async () => (await busyKeys(stage)).length === 0);
    }));

  test('gets other events while a transaction under a key hangs, and others wait to publish under it', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const head = await publishUnder(stage, 'order:1');
      await hold.until(1);
      const published: string[] = [head];
      const stuck: Promise<string>[] = [];
      await whileHanging(stage, async () => {
        for (let each = 0; each < 2; each += 1) stuck.push(publishUnder(stage, 'order:1'));
        await untilLockWait(stage.world, 2);
        published.push(await stage.publish(), await publishUnder(stage, 'order:2'));
        await hold.until(3);
        expect(idsOf(receiver.received).sort()).toEqual(published.toSorted());
      });
      hold.release();
      await delivered(stage, endpoint, [...published, ...(await Promise.all(stuck))]);
    }));

  test('waits for no event of another account under the same key, and neither account reads or orders the other', () =>
    onStage({ settings }, async (stage) => {
      const [mine, theirs] = [await stage.receiver(), await stage.receiver()];
      const holds = [holdResponses(mine), holdResponses(theirs)] as const;
      const other = await stage.world.otherAccount();
      const here = await stage.endpoint(mine, { ordered: true });
      const there = await stage.endpoint(theirs, { ordered: true }, other);
      const foreign = await publishUnder(stage, 'order:1', {}, other);
      const foreignNext = await publishUnder(stage, 'order:1', {}, other);
      const [head, next] = (await several(stage, 'order:1', 2)) as [string, string];
      for (const hold of holds) await hold.until(1);
      expect(await stage.log(here, next)).toMatchObject({ waits_for: head, next_attempt_at: null });
      const seen = await other.get(`${there.path}/events/${foreignNext}`);
      expect(seen.body).toMatchObject({ waits_for: foreign });
      for (const [api, endpoint, event] of [
        [stage.api, there, foreignNext],
        [other, here, next],
      ] as const) {
        expect((await api.get(`${endpoint.path}/events/${event}`)).status).toBe(404);
        expect((await api.get(`/v2/events/${event}`)).status).toBe(404);
        const refused = await api.patch(endpoint.path, { ordered: false });
        expect([refused.status, refused.reason]).toEqual([404, 'resource_missing']);
      }
      holds[0].release();
      await delivered(stage, here, [head, next]);
      expect(theirs.received).toHaveLength(1);
      holds[1].release();
      await until('nothing waits', async () => (await stage.world.query('select from queue')).length === 0);
      expect([idsOf(mine.received), idsOf(theirs.received)]).toEqual([
        [head, next],
        [foreign, foreignNext],
      ]);
    }));

  test('restarts a key whose front delivery left without releasing the next', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      receiver.respond(500);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const [head, next] = await several(stage, 'order:1', 2);
      await stage.untilLog(endpoint, head as string, { attempt_count: 1 });
      receiver.respond(200);
      await stage.world.query(
        'update queue set ordering_key = null, place = null where endpoint_id = $1 and generation < 2147483647',
        [endpoint.uuid],
      );
      await delivered(stage, endpoint, [next as string]);
    }));
});

test('an ordering key has at most 255 characters, and is part of the content of an external_id', () =>
  onStage({ delivers: false }, async ({ api }) => {
    const event = { type: 'order.created', data: {}, external_id: 'e1' };
    for (const key of ['', 'x'.repeat(256), 'x'.repeat(10_000), 7]) {
      const { status, body } = await api.post('/v2/events', { ...event, ordering_key: key });
      expect([status, body.error.reason ?? body.error.code]).toEqual([400, expect.anything()]);
      expect(body.error.message).toContain('ordering_key');
    }
    const { body, status } = await api.post('/v2/events', { ...event, ordering_key: 'é'.repeat(255) });
    expect(status).toBe(201);
    expect((await api.get(`/v2/events/${body.id}`)).body.ordering_key).toBe('é'.repeat(255));
    expect((await api.post('/v2/events', { ...event, ordering_key: 'other' })).status).toBe(409);
    expect((await api.post('/v2/events', { ...event, ordering_key: 'é'.repeat(255) })).status).toBe(200);
  }));
