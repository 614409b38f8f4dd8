import { expect, test } from 'vitest';
import { onStage } from './support.ts';

const HOUR_MS = 3_600_000;

test('an endpoint that requested a wait shows until when, and none of its events shows an earlier next attempt', () =>
  onStage({ settings: { DELIVERY_SCHEDULE: '0s 1s' } }, async (stage) => {
    const receiver = await stage.receiver();
    receiver.respond((_request, response) => response.writeHead(503, { 'retry-after': '3600' }).end());
    const endpoint = await stage.endpoint(receiver);
    const record = async () => (await stage.api.get(endpoint.path)).body;
    const pausedUntil = async () => (await record()).paused_until;
    expect(await pausedUntil()).toBeNull();

    const before = Date.now();
    const events = [await stage.publish()];
    await stage.untilLog(endpoint, events[0] ?? '', { attempt_count: 1 });
    const after = Date.now();
    // by the schedule it would be due at once
    events.push(await stage.publish());
    const until = await pausedUntil();
    expect(Date.parse(until)).toBeGreaterThanOrEqual(before + HOUR_MS - 1000);
    expect(Date.parse(until)).toBeLessThanOrEqual(after + HOUR_MS + 1000);
    const { body: list } = await stage.api.get(`${endpoint.path}/events`);
    const records = [...list.data, ...(await Promise.all(events.map((event) => stage.log(endpoint, event))))];
    expect(records).toHaveLength(4);
    for (const { next_attempt_at } of records) {
      expect(Date.parse(next_attempt_at)).toBeGreaterThanOrEqual(Date.parse(until));
      expect(Date.parse(next_attempt_at)).toBeLessThan(Date.parse(until) + 10_000);
    }
    expect((await record()).next_attempt_at).toBe(until);
    expect(receiver.received).toHaveLength(1);

    // a disabled endpoint waits only to be enabled
    await stage.change(endpoint, { status: 'disabled' });
    expect(await record()).toMatchObject({ paused_until: null, next_attempt_at: null });
    await stage.change(endpoint, { status: 'enabled' });

    receiver.respond(200);
    expect(await stage.retry(endpoint, events[0] ?? '')).toBe(200);
    for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
    expect(await record()).toMatchObject({ paused_until: null, next_attempt_at: null });
  }));

test('an endpoint shows when its first waiting delivery is due', () =>
  onStage({ settings: { DELIVERY_SCHEDULE: '0s 2h 3h' } }, async (stage) => {
    const receiver = await stage.receiver();
    receiver.respond(500);
    const endpoint = await stage.endpoint(receiver);
    const next = async () => (await stage.api.get(endpoint.path)).body.next_attempt_at;
    expect(await next()).toBeNull();
    const first = await stage.publish();
    const { next_attempt_at: due } = await stage.untilLog(endpoint, first, { attempt_count: 1 });
    expect(due).not.toBeNull();
    expect(await next()).toBe(due);
    const second = await stage.publish();
    const { next_attempt_at: other } = await stage.untilLog(endpoint, second, { attempt_count: 1 });
    // each delay has its own random part, so either may be the earlier
    expect(await next()).toBe([due, other].sort()[0]);
    receiver.respond(200);
    expect(await stage.retry(endpoint, first)).toBe(200);
    await stage.untilLog(endpoint, first, { status: 'delivered' });
    expect(await next()).toBe((await stage.log(endpoint, second)).next_attempt_at);
  }));

test('an attempt under way is not repeated when its endpoint is disabled and enabled meanwhile', () =>
  onStage({ settings: { DELIVERY_SCHEDULE: '0s 24h' } }, async (stage) => {
    const receiver = await stage.receiver();
    receiver.respond(500);
    const endpoint = await stage.endpoint(receiver);
    const failed = await stage.publish();
    await stage.untilLog(endpoint, failed, { attempt_count: 1 });
    let answer = () => {};
    receiver.respond((_request, response) => {
      answer = () => response.writeHead(200).end();
    });
    const slow = await stage.publish();
    await receiver.until(2);
    receiver.respond(200);
    // what waits is due again at once, which a claim finds
    await stage.change(endpoint, { status: 'disabled' });
    await stage.change(endpoint, { status: 'enabled' });
    await stage.untilLog(endpoint, failed, { status: 'delivered' });
    answer();
    await stage.untilLog(endpoint, slow, { status: 'delivered', attempt_count: 1 });
    expect(receiver.received).toHaveLength(3);
  }));
