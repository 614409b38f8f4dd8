import { describe, expect, test } from 'vitest';
import { someOf } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import {
  cancel,
  delivered,
  haveLooked,
  type Recovery,
  read,
  recover,
  untilIdle,
  untilRecovery,
} from './recoveries-support.ts';
import { deliveryCountErrors, type Endpoint, onStage, type Stage, uuidOf } from './support.ts';

test('a recovery that cannot continue blocks no other, and continues when it can', () =>
  onStage({ delivers: false }, async (stage) => {
    const receiver = await stage.receiver();
    const stuck = await recover(stage, await stage.endpoint(receiver));
    await stage.world.query(
      `alter table webhook_recoveries
       add constraint stuck check (id <> '${uuidOf(stuck.id)}' or started_at is null)`,
    );
    await stage.world.startWorker();
    await haveLooked(stage);
    expect((await read(stage, stuck)).status).toBe('pending');
    await stage.world.query('alter table webhook_recoveries drop constraint stuck');
    await untilRecovery(stage, stuck);
  }));

describe.concurrent('a slice about to begin', () => {
  const ENDS: [string, (stage: Stage, endpoint: Endpoint, recovery: Recovery) => Promise<unknown>][] = [
    ['cancelled', (stage, _, recovery) => cancel(stage, recovery)],
    ['paused', (stage, endpoint) => stage.change(endpoint, { status: 'disabled' })],
  ];
  test.each(someOf(ENDS, 1))('does not begin when the recovery is %s first', (status, end) =>
    onStage({ delivers: false, databaseLatencyMs: 0 }, async (stage) => {
      const { latency } = stage.world;
      if (!latency) throw new Error('the world has latency');
      const endpoint = await stage.endpoint(await stage.receiver());
      const worker = await stage.world.startWorker();
      await delivered(stage, endpoint, 100);
      await worker.close();
      // more than a slice
      await stage.world.query('update endpoint_state set lane = 4 where endpoint_id = $1', [endpoint.uuid]);
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      let begin: (() => void) | undefined;
      latency.before = (message) => {
        if (!message.includes('lock_recovery\0')) return undefined;
        latency.before = undefined;
        return new Promise((resolve) => {
          begin = resolve;
        });
      };
      await stage.world.startWorker();
      await until('a worker is about to begin', () => begin);
      await end(stage, endpoint, recovery);
      begin?.();
      await haveLooked(stage);
      expect(await stage.queue(endpoint)).toEqual([]);
      expect(await read(stage, recovery)).toMatchObject({ status, queued_count: 0, started_at: null });
    }),
  );
});

describe.concurrent('a slice that is aborted', () => {
  const MOMENTS = [
    ['right after it was committed', 'deaf'],
    ['before its counts are written', 'cut'],
  ] as const;
  test.each(someOf(MOMENTS, 1))('%s is repeated once', (_, how) =>
    onStage({ delivers: false, databaseLatencyMs: 0 }, async (stage) => {
      const { latency, log, query } = stage.world;
      if (!latency) throw new Error('the world has latency');
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const worker = await stage.world.startWorker();
      const events = await delivered(stage, endpoint, 100);
      await worker.close();
      // room for all of them in one slice, and nothing is claimed meanwhile
      await query(
        `update endpoint_state set lane = 64, may_start_at = now() + interval '1 hour' where endpoint_id = $1`,
        [endpoint.uuid],
      );
      receiver.received.length = 0;
      const recovery = await recover(stage, endpoint, { status: 'delivered' });
      let broken = 0;
      let moving: object | undefined;
      latency.before = (message, connection) => {
        if (message.includes('move_recovery\0')) {
          broken += 1;
          moving = connection;
        }
        if (how === 'cut' && message.includes('move_recovery\0') && broken <= 3) latency.cut();
        if (how === 'deaf' && broken === 1 && moving === connection && message.includes('commit')) {
          latency.deaf = true;
        }
        return undefined;
      };
      await stage.world.startWorker();
      const failures = () =>
        log.filter(({ msg }) => String(msg).startsWith('continuing a recovery failed')).length;
      if (how === 'cut') {
        await until('it was aborted three times', () => failures() >= 3);
      } else {
        const begun = () => query('select 1 from webhook_recoveries where started_at is not null');
        await until('the slice is committed', async () => (await begun()).length === 1);
        latency.before = undefined;
        latency.cut();
        await until('the worker has noticed', () => failures() >= 1);
      }
      const ended = () => query('select 1 from webhook_recoveries where completed_at is not null');
      await until('it has ended', async () => (await ended()).length === 1);
      expect(await stage.queue(endpoint)).toHaveLength(100);
      latency.before = undefined;
      await query('update endpoint_state set may_start_at = now() where endpoint_id = $1', [endpoint.uuid]);
      await stage.nudge();
      await untilIdle(stage, endpoint);
      expect(await read(stage, recovery)).toMatchObject({ queued_count: 100, skipped_count: 0 });
      expect(deliveryCountErrors(receiver.received, events)).toEqual({});
    }),
  );
});
