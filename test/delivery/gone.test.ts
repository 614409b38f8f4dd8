import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, holdResponses, onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h' };

const statusOf = async ({ api }: Stage, { path }: Endpoint) => (await api.get(path)).body.status;

/** Returns when a worker has claimed after the earlier events: it delivers to another endpoint. */
async function untilClaimedSince(stage: Stage): Promise<void> {
  const other = await stage.endpoint(await stage.receiver(), { event_types: ['later.*'] });
  await stage.untilLog(other, await stage.publish('later.created'), { status: 'delivered' });
}

describe.concurrent('after a 410', () => {
  test('the next event of an ordering key is not sent until someone enables the endpoint', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { ordered: true });
      const publish = async (ordering_key: string) =>
        (await stage.api.post('/v2/events', { type: 'order.created', data: {}, ordering_key })).body.id;
      const [first, second, third] = [await publish('k'), await publish('k'), await publish('k')];
      await hold.until(1);
      hold.release(410);
      await stage.untilLog(endpoint, first, { status: 'failed' });
      // in the same transaction
      expect(await statusOf(stage, endpoint)).toBe('disabled');
      await untilClaimedSince(stage);
      expect(receiver.received).toHaveLength(1);
      expect(await stage.log(endpoint, second)).toMatchObject({ status: 'held', attempt_count: 0 });
      receiver.respond(200);
      await stage.change(endpoint, { status: 'enabled' });
      for (const event of [second, third]) await stage.untilLog(endpoint, event, { status: 'delivered' });
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([first, second, third]);
    }));

  longRun.test('no further batch is sent', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const hold = holdResponses(receiver);
      const endpoint = await stage.endpoint(receiver, { batch: { max_events: 2, max_wait_ms: 60_000 } });
      await stage.publishMany(12);
      await hold.until(4); // as many as the lane allows
      // the request that disables the endpoint waits for this
      const client = await stage.world.connect();
      try {
        await client.query('begin');
        await client.query('select from webhook_endpoints where id = $1 for update', [endpoint.uuid]);
        hold.release(410);
        await untilLockWait(stage.world);
        const other = await stage.receiver();
        await stage.endpoint(other, { event_types: ['later.*'] });
        await stage.publish('later.created');
        await other.until(1);
        expect(receiver.received).toHaveLength(4);
      } finally {
        await client.end();
      }
      await until('the endpoint is disabled', async () => (await statusOf(stage, endpoint)) === 'disabled');
      await untilClaimedSince(stage);
      expect(receiver.received).toHaveLength(4);
      await until('the results are written', async () =>
        (await stage.queue(endpoint)).every(({ leased }) => !leased),
      );
      expect(await stage.queue(endpoint)).toHaveLength(4);
    }),
  );

  test('events that the worker already holds are released, such as one that waits for an access token', () =>
    onStage({ settings }, async (stage) => {
      const [receiver, tokens] = [await stage.receiver(), await stage.receiver()];
      const hold = holdResponses(receiver);
      const token = JSON.stringify({ access_token: 'token', token_type: 'Bearer', expires_in: 1 });
      let give = () => {};
      // each is requested, because the previous one has expired
      tokens.respond((_request, response, count) => {
        const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end(token);
        if (count === 1) answer();
        else give = answer;
      });
      const endpoint = await stage.endpoint(receiver, {
        client_credentials: { token_url: tokens.url, client_id: 'a', client_secret: 'b' },
      });
      const first = await stage.publish();
      await hold.until(1);
      const second = await stage.publish();
      await tokens.until(2);
      hold.release(410);
      await stage.untilLog(endpoint, first, { status: 'failed' });
      give();
      await until('it is released', async () => (await stage.queue(endpoint))[0]?.leased === false);
      expect(await stage.log(endpoint, second)).toMatchObject({ status: 'held', attempt_count: 0 });
      expect(receiver.received).toHaveLength(1);
    }));
});
