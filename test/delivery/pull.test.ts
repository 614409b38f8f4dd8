import { describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/verify.ts';
import { portalAt } from '../access/portal-support.ts';
import { apiOf } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { onSignal } from '../support/signals.ts';
import { acknowledge, type Claimed, claim, consumerOf, letLeasesEnd, pullEndpoint } from './pull-support.ts';
import { recover, untilRecovery } from './recoveries-support.ts';
import { onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h' };

const statusOf = async (stage: Stage, endpoint: Parameters<Stage['log']>[0], event: string) =>
  (await stage.log(endpoint, event)).status;

describe.concurrent('a pull endpoint', () => {
  test('gives a consumer the body, the headers and the signature that a URL would get, and logs who claimed it', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      const consumer = await consumerOf(api, endpoint);
      expect((await api.get(endpoint.path)).body).toMatchObject({
        delivery: 'pull',
        url: null,
        last_claimed_at: null,
      });
      const event = await stage.publish();
      const [claimed, ...others] = await claim(consumer, endpoint, { consumer: 'worker-3' });
      expect(others).toEqual([]);
      expect(claimed).toMatchObject({
        id: event,
        object: 'claimed_event',
        type: 'order.created',
        attempt: 1,
      });
      const verified = await verifyWebhook(claimed.body, claimed.headers, endpoint.secret);
      expect(verified).toMatchObject({ id: event, data: { number: 1 } });
      // nobody else gets it, and nobody sent it
      expect(await claim(api, endpoint)).toEqual([]);
      expect(await stage.log(endpoint, event)).toMatchObject({ status: 'pending', attempt_count: 0 });
      expect(await acknowledge(consumer, endpoint, [claimed])).toEqual(['acknowledged']);
      const log = await stage.log(endpoint, event);
      expect(log).toMatchObject({ status: 'delivered', attempt_count: 1, last_error_code: null });
      expect(log.attempts).toMatchObject([
        {
          status: 'succeeded',
          url: null,
          response_status: null,
          error_code: null,
          claim: { lease_id: claimed.lease_id, claimed_by: endpoint.id, consumer: 'worker-3' },
        },
      ]);
      const { body } = await api.get(endpoint.path);
      expect(body).toMatchObject({ first_failure_at: null, next_attempt_at: null });
      expect(body.last_claimed_at).not.toBeNull();
      expect(body.last_success_at).not.toBeNull();
      expect(await stage.world.query(MISCOUNTS)).toEqual([]);
    }));

  test('gives thin events, and both signatures while a secret is replaced', () =>
    onStage({ settings }, async (stage) => {
      const endpoint = await pullEndpoint(stage, { payload: 'thin' });
      const rotated = await stage.api.post(`${endpoint.path}/rotate-secret`);
      const event = await stage.publish();
      const [claimed] = await claim(stage.api, endpoint);
      expect(JSON.parse(claimed.body)).toMatchObject({ id: event });
      expect(JSON.parse(claimed.body).data).toBeUndefined();
      for (const secret of [endpoint.secret, rotated.body.secret])
        expect(await verifyWebhook(claimed.body, claimed.headers, secret)).toMatchObject({ id: event });
    }));

  test('acknowledges once: a second time is the same, and what another consumer holds stays as it is', () =>
    onStage({ settings }, async (stage) => {
      const { api, world } = stage;
      const endpoint = await pullEndpoint(stage);
      const [one, other] = [await stage.publish(), await stage.publish()];
      const [first, second] = await claim(api, endpoint, { limit: 2 });
      expect([first.id, second.id]).toEqual([one, other]);
      expect(await acknowledge(api, endpoint, [first, first])).toEqual(['acknowledged', 'acknowledged']);
      expect(await acknowledge(api, endpoint, [first])).toEqual(['acknowledged']);
      // another result than before, another lease, and ids of nothing
      const wrong = { id: first.id, lease_id: 'lease_00000000000000000000000000000000' };
      expect(await acknowledge(api, endpoint, [first], { status: 'failed' })).toEqual(['lease_lost']);
      expect(
        await acknowledge(api, endpoint, [wrong, { ...second, lease_id: 'x' }, { ...second, id: 'evt_1' }]),
      ).toEqual(['lease_lost', 'lease_lost', 'lease_lost']);
      const items = ['delivered', 'failed'].map((status) => ({
        id: second.id,
        lease_id: second.lease_id,
        status,
      }));
      const refused = await api.post(`${endpoint.path}/acknowledgements`, { items });
      expect([refused.status, refused.reason]).toEqual([400, 'invalid_body']);
      expect(refused.text).toContain('items[1].status must be delivered');
      // the lease of the second one ends, and somebody else gets it
      await letLeasesEnd(stage, endpoint);
      await stage.passTime(endpoint);
      const [again] = await claim(api, endpoint);
      expect(again).toMatchObject({ id: other, attempt: 2 });
      const versions = async () => (await stage.queue(endpoint)).map(({ version }) => version);
      const before = await versions();
      expect(await acknowledge(api, endpoint, [second])).toEqual(['lease_lost']);
      expect(await acknowledge(api, endpoint, [second], { status: 'cancelled' })).toEqual(['lease_lost']);
      expect(await versions()).toEqual(before);
      expect(await acknowledge(api, endpoint, [again])).toEqual(['acknowledged']);
      expect((await stage.log(endpoint, one)).attempt_count).toBe(1);
      expect((await stage.log(endpoint, other)).attempts).toMatchObject([
        { error_code: 'lease_expired', claim: { lease_id: second.lease_id } },
        { error_code: null, claim: { lease_id: again.lease_id } },
      ]);
      expect(await world.query(MISCOUNTS)).toEqual([]);
    }));

  test('lets an event that failed come again by the schedule, until that is used up, and a cancelled one never', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      const [event, given] = [await stage.publish(), await stage.publish()];
      const [failing, cancelled] = await claim(api, endpoint, { limit: 2 });
      await acknowledge(api, endpoint, [failing], { status: 'failed', error: 'the order is unknown' });
      await acknowledge(api, endpoint, [cancelled], { status: 'cancelled' });
      expect(await claim(api, endpoint)).toEqual([]);
      const log = await stage.log(endpoint, event);
      expect(log).toMatchObject({ status: 'pending', last_error_code: 'consumer_failed' });
      expect(log.attempts).toMatchObject([{ status: 'failed', error_message: 'the order is unknown' }]);
      expect(Date.parse(log.next_attempt_at)).toBeGreaterThan(Date.parse(log.last_attempt_at) + 3_000_000);
      expect(await stage.log(endpoint, given)).toMatchObject({
        status: 'cancelled',
        last_error_code: 'consumer_cancelled',
      });
      await stage.passTime(endpoint);
      const [last] = await claim(api, endpoint);
      expect(last).toMatchObject({ id: event, attempt: 2 });
      expect(await acknowledge(api, endpoint, [last], { status: 'failed' })).toEqual(['acknowledged']);
      expect(await stage.log(endpoint, event)).toMatchObject({ status: 'failed', next_attempt_at: null });
      expect(await stage.state(endpoint)).toMatchObject({ failures: 2, failing: true });
      // a retry by hand
      expect(await stage.retry(endpoint, event)).toBe(200);
      const [retried] = await claim(api, endpoint);
      await acknowledge(api, endpoint, [retried]);
      expect(await stage.log(endpoint, event)).toMatchObject({ status: 'delivered', attempt_count: 3 });
      expect(await stage.state(endpoint)).toMatchObject({ failures: 0, failing: false });
      expect(await stage.world.query(MISCOUNTS)).toEqual([]);
    }));

  test('fails an event that consumers claim and never acknowledge, when the schedule is used up', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      const event = await stage.publish();
      for (const attempt of [1, 2]) {
        expect(await claim(api, endpoint)).toMatchObject([{ id: event, attempt }]);
        await letLeasesEnd(stage, endpoint);
        expect(await claim(api, endpoint)).toEqual([]);
        await stage.passTime(endpoint);
      }
      const log = await stage.log(endpoint, event);
      expect(log).toMatchObject({
        status: 'failed',
        next_attempt_at: null,
        last_error_code: 'lease_expired',
      });
      expect(log.attempts).toMatchObject([{ error_code: 'lease_expired' }, { error_code: 'lease_expired' }]);
      expect(await claim(api, endpoint)).toEqual([]);
      expect(await stage.state(endpoint)).toMatchObject({ failures: 2, failing: true });
    }));

  test('extends a lease, and takes events back without an attempt', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      const [one, other] = [await stage.publish(), await stage.publish()];
      const [first, second] = await claim(api, endpoint, { limit: 2, lease_seconds: 60 });
      const extend = async (events: (typeof first)[], lease_seconds: number) => {
        const items = events.map(({ id, lease_id }) => ({ id, lease_id }));
        const { status, text, body } = await api.post(`${endpoint.path}/extensions`, {
          items,
          lease_seconds,
        });
        expect(status, text).toBe(200);
        return body.items;
      };
      const [extended] = await extend([first], 1800);
      expect(extended).toMatchObject({ id: one, result: 'extended' });
      expect(Date.parse(extended.lease_expires_at)).toBeGreaterThan(
        Date.parse(first.lease_expires_at) + 1_700_000,
      );
      expect(await extend([second], 0)).toMatchObject([
        { id: other, result: 'returned', lease_expires_at: null },
      ]);
      expect(await extend([second], 60)).toMatchObject([{ result: 'lease_lost' }]);
      expect(await acknowledge(api, endpoint, [second])).toEqual(['lease_lost']);
      expect(await stage.log(endpoint, other)).toMatchObject({ status: 'pending', attempt_count: 0 });
      expect(await claim(api, endpoint, { limit: 9 })).toMatchObject([{ id: other, attempt: 1 }]);
    }));

  test('holds the events of an ordering key back until the one before has ended', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage, { ordered: true });
      const publish = async (number: number) => {
        const made = await api.post('/v2/events', {
          type: 'order.created',
          data: { number },
          ordering_key: 'order:7',
        });
        return made.body.id as string;
      };
      const events = [await publish(1), await publish(2), await publish(3)];
      const seen: string[] = [];
      for (const status of ['failed', 'delivered', 'cancelled', 'delivered']) {
        await stage.passTime(endpoint);
        const [next, ...others] = await claim(api, endpoint, { limit: 9 });
        expect(others).toEqual([]);
        expect(await claim(api, endpoint)).toEqual([]);
        seen.push(next.id);
        expect(await acknowledge(api, endpoint, [next], { status })).toEqual(['acknowledged']);
      }
      expect(seen).toEqual([events[0], ...events]);
      expect(await stage.queue(endpoint)).toEqual([]);
    }));

  test('wakes a consumer that waits when an event is published, also through another server', () =>
    onStage({ settings }, async (stage) => {
      const { api, world } = stage;
      const endpoint = await pullEndpoint(stage);
      const second = await world.secondServer();
      for (const at of [api, second.api]) {
        let waits = 0;
        const asking = claim(at, endpoint, { wait_seconds: 20 }).finally(() => {
          waits = 1;
        });
        await onSignal(world, 'awaited', 'the consumer to wait', () => true);
        expect(waits).toBe(0);
        const event = await stage.publish();
        const [claimed] = await asking;
        expect(claimed.id).toBe(event);
        await acknowledge(at, endpoint, [claimed]);
      }
      await second.close();
    }));

  test('takes part in tests, recoveries, discards and limits of age', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const past = await stage.publish();
      const endpoint = await pullEndpoint(stage);
      expect((await api.post(`${endpoint.path}/test`)).status).toBe(201);
      const [tested] = await claim(api, endpoint);
      expect(tested.type).toBe('webhook_endpoint.test');
      await acknowledge(api, endpoint, [tested]);
      await untilRecovery(stage, (await api.post(`${endpoint.path}/recover`, { missing: true })).body);
      const [missing] = await claim(api, endpoint);
      expect(missing.id).toBe(past);
      await acknowledge(api, endpoint, [missing], { status: 'cancelled' });
      await untilRecovery(stage, await recover(stage, endpoint, { status: ['cancelled'] }));
      const [recovered] = await claim(api, endpoint);
      expect(recovered).toMatchObject({ id: past, attempt: 2 });
      await acknowledge(api, endpoint, [recovered]);
      expect(await statusOf(stage, endpoint, past)).toBe('delivered');
      const [held, waiting] = [await stage.publish(), await stage.publish()];
      const [claimed] = await claim(api, endpoint, { limit: 1 });
      await untilRecovery(stage, (await api.post(`${endpoint.path}/discard`, { since: '2020-01-01' })).body);
      expect(await statusOf(stage, endpoint, waiting)).toBe('cancelled');
      // the attempt in flight is the last
      expect(await acknowledge(api, endpoint, [claimed], { status: 'failed' })).toEqual(['acknowledged']);
      expect(await statusOf(stage, endpoint, held)).toBe('cancelled');
      await stage.publish();
      await stage.change(endpoint, { max_age: 1 });
      await stage.world.query('update webhook_endpoints set discarded_until = now() + $1 where id = $2', [
        '1 second',
        endpoint.uuid,
      ]);
      expect(await claim(api, endpoint)).toEqual([]);
      expect(await stage.world.query(MISCOUNTS)).toEqual([]);
    }));

  test('ends what consumers hold when it is discarded: delivered if they acknowledge it, otherwise cancelled, each counted once', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      await stage.publishMany(3);
      const claimed = await claim(api, endpoint, { limit: 3 });
      const discard = await api.post(`${endpoint.path}/discard`, { since: '2020-01-01' });
      const done = await untilRecovery(stage, discard.body);
      expect(done).toMatchObject({ discarded_count: 0, skipped_count: 3 });
      const [delivered, returned, left] = claimed.map(({ id, lease_id }) => ({ id, lease_id }));
      expect(await acknowledge(api, endpoint, [delivered])).toEqual(['acknowledged']);
      const items = [returned];
      await api.post(`${endpoint.path}/extensions`, { items, lease_seconds: 0 });
      await letLeasesEnd(stage, endpoint);
      expect(await statusOf(stage, endpoint, delivered?.id)).toBe('delivered');
      expect(await stage.log(endpoint, returned?.id)).toMatchObject({
        status: 'cancelled',
        attempt_count: 0,
      });
      expect(await stage.log(endpoint, left?.id)).toMatchObject({ status: 'cancelled', attempt_count: 1 });
      await stage.passTime(endpoint);
      expect(await claim(api, endpoint)).toEqual([]);
      expect(await stage.queue(endpoint)).toEqual([]);
      expect(await stage.world.query(MISCOUNTS)).toEqual([]);
    }));

  test('keeps the events of each owner and account apart', () =>
    onStage({ settings }, async (stage) => {
      const { api, world } = stage;
      const ada = await pullEndpoint(stage, { owner: 'ada' });
      const bob = await pullEndpoint(stage, { owner: 'bob' });
      const foreign = await world.otherAccount();
      const publish = (owner: string) =>
        api.post('/v2/events', { type: 'order.created', data: { owner }, owner });
      const { id } = (await publish('ada')).body;
      await publish('bob');
      const consumers = { ada: await consumerOf(api, ada), bob: await consumerOf(api, bob) };
      const [claimed, ...others] = await claim(consumers.ada, ada, { limit: 9 });
      expect([claimed.id, others]).toEqual([id, []]);
      // the token of one endpoint is of no use at another, nor is a lease
      for (const [client, path] of [
        [consumers.ada, bob.path],
        [foreign, ada.path],
      ] as const) {
        const item = { id: claimed.id, lease_id: claimed.lease_id };
        const answers = [
          await client.post(`${path}/claims`),
          await client.post(`${path}/acknowledgements`, { items: [{ ...item, status: 'delivered' }] }),
          await client.post(`${path}/extensions`, { items: [item], lease_seconds: 0 }),
        ];
        expect(answers.map(({ status, reason }) => [status, reason])).toEqual(
          Array(3).fill([404, 'resource_missing']),
        );
      }
      expect(await acknowledge(consumers.bob, bob, [claimed])).toEqual(['lease_lost']);
      expect(await statusOf(stage, ada, claimed.id)).toBe('pending');
      expect(await acknowledge(consumers.ada, ada, [claimed])).toEqual(['acknowledged']);
    }));

  test('has tokens that open nothing else, and end when they are replaced or the endpoint is deleted', () =>
    onStage({ settings }, async (stage) => {
      const { api, world } = stage;
      const endpoint = await pullEndpoint(stage);
      const first = await consumerOf(api, endpoint);
      for (const [method, path] of [
        ['GET', '/v2/me'],
        ['GET', endpoint.path],
        ['GET', '/v2/webhook-endpoints'],
        ['GET', `${endpoint.path}/events`],
        ['GET', `${endpoint.path}/secret`],
        ['POST', `${endpoint.path}/token`],
        ['POST', '/v2/events'],
        ['DELETE', endpoint.path],
      ] as const) {
        const { status, reason } = await first.request(method, path);
        expect([path, status, reason]).toEqual([path, 403, 'not_for_consumers']);
      }
      const second = await consumerOf(api, endpoint, { overlap_seconds: 60 });
      expect(await claim(first, endpoint)).toEqual([]);
      expect(await claim(second, endpoint)).toEqual([]);
      const third = await consumerOf(api, endpoint);
      for (const { key } of [first, second])
        expect((await apiOf(api.url, key).post(`${endpoint.path}/claims`)).status).toBe(401);
      // only hashes are stored
      const rows = await world.query('select row_to_json(e)::text as row from webhook_endpoints e');
      expect(JSON.stringify(rows)).not.toContain(third.key.slice(8));
      expect((await api.delete(endpoint.path)).status).toBe(204);
      expect((await third.post(`${endpoint.path}/claims`)).status).toBe(401);
      expect((await api.post(`${endpoint.path}/claims`)).status).toBe(404);
    }));

  test('belongs to a portal too, which creates it and its token but claims nothing', () =>
    onStage({ settings }, async (stage) => {
      const { api } = stage;
      const seven = await pullEndpoint(stage, { owner: 'shop-7' });
      const portal = await portalAt(api, seven.id, { all_of_owner: true, event_types: null });
      const made = await pullEndpoint(stage, { event_types: ['order.*'] }, portal);
      const consumer = await consumerOf(portal, made);
      const refused = await portal.post(`${made.path}/claims`);
      expect([refused.status, refused.reason]).toEqual([403, 'not_in_portal']);
      const event = await stage.publish();
      expect(await claim(consumer, made)).toMatchObject([{ id: event }]);
    }));

  test('refuses fields of requests, and a push endpoint refuses claims', () =>
    onStage({ delivers: false }, async (stage) => {
      const { api } = stage;
      const endpoint = await pullEndpoint(stage);
      for (const [field, value] of Object.entries({
        url: 'https://shop.example.com/in',
        headers: { 'x-shop': '7' },
        rate_limit: 5,
        batch: { max_events: 50 },
        proxy: 'http://proxy.example.com:3128',
        client_credentials: { token_url: 'https://id.example.com/token', client_id: 'a', client_secret: 'b' },
      })) {
        const answers = [
          await api.post('/v2/webhook-endpoints', { delivery: 'pull', [field]: value }),
          await api.patch(endpoint.path, { [field]: value }),
        ];
        for (const { status, reason, text } of answers) {
          expect([field, status, reason]).toEqual([field, 400, 'invalid_body']);
          expect(text).toContain(`${field} must be left out of a pull endpoint`);
        }
      }
      const missing = await api.post('/v2/webhook-endpoints', { event_types: null });
      expect([missing.status, missing.reason]).toEqual([400, 'invalid_body']);
      expect(missing.text).toContain('url is required');
      const signing = { header: 'x-sign', content: '{url}{body}', encoding: 'hex' };
      const signed = await api.patch(endpoint.path, { signing: 'custom', custom_signing: signing });
      expect([signed.status, signed.reason]).toEqual([400, 'invalid_signing']);
      const fixed = await api.patch(endpoint.path, { delivery: 'push' });
      expect([fixed.status, fixed.reason]).toEqual([400, 'unknown_field']);
      const push = await stage.endpoint('https://shop.example.com/in');
      for (const [path, body] of [
        ['claims', {}],
        ['token', {}],
        ['acknowledgements', { items: [{ id: 'evt_1', lease_id: 'lease_1', status: 'delivered' }] }],
      ] as const) {
        const { status, reason } = await api.post(`${push.path}/${path}`, body);
        expect([path, status, reason]).toEqual([path, 409, 'not_a_pull_endpoint']);
      }
      await stage.change(endpoint, { status: 'disabled' });
      const disabled = await api.post(`${endpoint.path}/claims`);
      expect([disabled.status, disabled.reason]).toEqual([409, 'endpoint_disabled']);
    }));

  longRun.test('is disabled when every attempt has failed for too long', () =>
    onStage({ settings }, async (stage) => {
      const { api, world } = stage;
      const endpoint = await pullEndpoint(stage);
      await stage.publishMany(20);
      const all = await claim(api, endpoint, { limit: 20 });
      await acknowledge(api, endpoint, all, { status: 'failed' });
      await world.query(
        `update endpoint_state set failing_since = add_span(failing_since, interval '-121 hours') where endpoint_id = $1`,
        [endpoint.uuid],
      );
      const seen = () => api.get(endpoint.path).then(({ body }) => body.disabled_reason === 'failing');
      await onSignal(world, 'swept', 'the endpoint to be disabled', seen);
    }),
  );
});

test.concurrent('consumers at several servers share the events of a pull endpoint, each exactly once', () =>
  onStage({ databaseLatencyMs: 3, poolSize: 8 }, async (stage) => {
    const { api, world } = stage;
    const endpoint = await pullEndpoint(stage);
    const COUNT = 120;
    await stage.backlog(COUNT);
    const second = await world.secondServer();
    const leased = new Map<string, number>();
    const consume = async (client: typeof api) => {
      for (;;) {
        const events = await claim(client, endpoint, { limit: 7 });
        if (events.length === 0) return;
        for (const { id } of events) leased.set(id, (leased.get(id) ?? 0) + 1);
        // twice at once: both answers say the same
        const answers = await Promise.all([
          acknowledge(client, endpoint, events),
          acknowledge(client, endpoint, events),
        ]);
        for (const results of answers) expect(new Set(results)).toEqual(new Set(['acknowledged']));
      }
    };
    await Promise.all([api, second.api, api, second.api].map(consume));
    await second.close();
    expect([...leased.values()]).toEqual(Array(COUNT).fill(1));
    const { body } = await api.get(`${endpoint.path}/events?status=delivered&per_page=1`);
    expect(body.pagination.total).toBe(COUNT);
    expect(
      await world.query('select count(*)::int as count from attempts where endpoint_id = $1', [
        endpoint.uuid,
      ]),
    ).toEqual([{ count: COUNT }]);
    expect(await world.query(MISCOUNTS)).toEqual([]);
  }));

test.concurrent('consumers hold at most 1,000 events of a pull endpoint, until they acknowledge some', () =>
  onStage({ settings }, async (stage) => {
    const { api } = stage;
    const endpoint = await pullEndpoint(stage);
    await stage.backlog(1010);
    const held: Claimed[] = [];
    for (let round = 0; round < 10; round++)
      held.push(...(await claim(api, endpoint, { limit: 100, lease_seconds: 600 })));
    expect(new Set(held.map(({ id }) => id)).size).toBe(1000);
    expect(await claim(api, endpoint, { limit: 100 })).toEqual([]);
    await acknowledge(api, endpoint, held.slice(0, 3));
    expect(await claim(api, endpoint, { limit: 100 })).toHaveLength(3);
  }));

test.concurrent('an acknowledgement and the end of its lease at once write one attempt', () =>
  onStage({ databaseLatencyMs: 2, poolSize: 12 }, async (stage) => {
    const { api, world } = stage;
    const endpoint = await pullEndpoint(stage);
    await stage.backlog(24);
    const events = await claim(api, endpoint, { limit: 24 });
    await world.query('update queue set due_at = now() where endpoint_id = $1', [endpoint.uuid]);
    const worker = await world.startWorker();
    const results = await Promise.all(events.map((event) => acknowledge(api, endpoint, [event])));
    await onSignal(world, 'settled', 'every lease to end', async () => {
      const held = await world.query('select from queue where endpoint_id = $1 and claim is not null', [
        endpoint.uuid,
      ]);
      return held.length === 0;
    });
    await worker.close();
    const written = await world.query<{ event: string; code: string | null; count: number }>(
      `select public_id('evt', event_id) as event, min(error_code) as code, count(*)::int as count
       from attempts where endpoint_id = $1 group by 1 order by 1`,
      [endpoint.uuid],
    );
    const expected = events.map(({ id }, index) => ({
      event: id,
      code: results[index]?.[0] === 'acknowledged' ? null : 'lease_expired',
      count: 1,
    }));
    expect(written).toEqual(expected.toSorted((one, other) => (one.event < other.event ? -1 : 1)));
    expect(await world.query(MISCOUNTS)).toEqual([]);
  }));
