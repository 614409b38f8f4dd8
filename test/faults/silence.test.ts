import { describe, expect, test } from 'vitest';
import { onStage } from '../delivery/support.ts';
import type { Answer } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

/** An allowed response: the requested one, or that the database is unavailable and when to retry. */
function expectClear(answer: Answer, good: number): void {
  if (answer.status === good) return;
  expect([answer.status, answer.reason], answer.text).toEqual([500, 'database_unavailable']);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}

/** Waits until PostgreSQL has released the locks of connections that were given up: no transaction is left open there. */
const noTransactionLeft = (world: World) =>
  until('no transaction to be left open', async () => {
    const [row] = await world.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'
         and state_change < clock_timestamp() - interval '2 seconds'`,
    );
    return row?.n === 0;
  });

describe.concurrent('connections to PostgreSQL that fall silent', () => {
  test('are given up and replaced: requests are answered, deliveries continue, nothing is lost', () =>
    onStage({ databaseLatencyMs: 0, poolSize: 3 }, async ({ api, world, ...stage }) => {
      world.expectErrors();
      const receiver = await stage.receiver();
      await stage.endpoint(receiver);
      const taken = [await stage.publish(), await stage.publish()];
      await receiver.until(2);

      world.latency?.silence();
      const answers = await Promise.all([
        api.post('/v2/events', { type: 'order.created', data: {} }),
        api.get('/v2/affiliates'),
        api.post('/v2/affiliates/payouts', {}),
      ]);
      for (const [index, good] of [201, 200, 409].entries()) expectClear(answers[index] as Answer, good);
      await until('an event to be accepted again', async () => {
        const { status, body } = await api.post('/v2/events', { type: 'order.created', data: {} });
        if (status === 201) taken.push(body.id);
        return status === 201;
      });
      await receiver.until((all) => {
        const came = new Set(all.map(({ headers }) => headers['webhook-id']));
        return taken.every((id) => came.has(id));
      });
      await noTransactionLeft(world);
      expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
    }));

  longRun.test(
    'all of them, including new ones: /readyz says so, and everything continues when they respond again',
    () =>
      onStage({ databaseLatencyMs: 0, poolSize: 3 }, async ({ api, world, ...stage }) => {
        world.expectErrors();
        const receiver = await stage.receiver();
        await stage.endpoint(receiver);
        await stage.publish();
        await receiver.until(1);
        const { latency } = world;
        if (!latency) throw new Error('no proxy');

        latency.silent = true;
        const answers = [
          api.post('/v2/events', { type: 'order.created', data: {} }),
          api.get('/v2/affiliates'),
        ];
        const ready = await fetch(`${world.url}/readyz`);
        expect(ready.status).toBe(503);
        expect(await ready.json()).toEqual({
          status: 'unavailable',
          reason: 'database',
          message: 'PostgreSQL does not answer within 5 s',
        });
        for (const answer of await Promise.all(answers)) expectClear(answer, 0);

        latency.silent = false;
        latency.silence();
        await until(
          'the server to be ready',
          async () => (await fetch(`${world.url}/readyz`)).status === 200,
        );
        const event = await stage.publish();
        await receiver.until((all) => all.some(({ headers }) => headers['webhook-id'] === event));
        // nobody could ask PostgreSQL to end the transactions: it does so after a minute
        await noTransactionLeft(world);
      }),
  );
});

test('/readyz reports due work that no worker takes', () =>
  onStage({ delivers: false }, async ({ api, world, ...stage }) => {
    const receiver = await stage.receiver();
    await stage.endpoint(receiver);
    await stage.publish();
    const ready = async () => {
      const answer = await fetch(`${world.url}/readyz`);
      return [answer.status, ((await answer.json()) as { reason?: string }).reason];
    };
    expect(await ready()).toEqual([200, undefined]);
    await world.query(`update queue set due_at = due_at - interval '40 seconds'`);
    await world.query(`update webhook_endpoints set updated_at = updated_at - interval '40 seconds'`);
    await until('it reports that nobody delivers', async () => (await ready())[1] === 'delivery');
    const worker = await world.startWorker();
    await receiver.until(1);
    await until('it is ready', async () => (await ready())[0] === 200);
    await worker.close();
  }));

test('/readyz reports a database that takes no writes', () =>
  onStage({ delivers: false }, async ({ world }) => {
    world.expectErrors();
    await world.query(`alter table server_settings rename to server_settings_away`);
    await world.query(`create view server_settings as select * from server_settings_away where false union all
      select * from server_settings_away`);
    // a good result of a moment ago is still reported for half a second
    const answer = await until('it is not ready', async () => {
      const ready = await fetch(`${world.url}/readyz`);
      return ready.status === 503 ? ready : undefined;
    });
    expect(await answer.json()).toMatchObject({ reason: 'writing' });
    await world.query('drop view server_settings');
    await world.query('alter table server_settings_away rename to server_settings');
    await until('it is ready', async () => (await fetch(`${world.url}/readyz`)).status === 200);
  }));
