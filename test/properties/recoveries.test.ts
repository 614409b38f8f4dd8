import fc from 'fast-check';
import { expect, test } from 'vitest';
import { read, recover } from '../delivery/recoveries-support.ts';
import { type Endpoint, idsOf, onStage, type Stage, uuidOf } from '../delivery/support.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';

const STATUSES = ['failed', 'pending', 'delivered'] as const;
const TYPES = ['a', 'b', 'b_c', 'bxc'] as const;
type Status = (typeof STATUSES)[number];

/** An event of the log before the recovery, and the earlier response of its receiver. */
interface Past {
  readonly status: Status;
  readonly type: (typeof TYPES)[number];
  /** It was retried by hand just before: it is due. */
  readonly byHand: boolean;
  readonly fails: boolean;
}

interface RecoveryRequest {
  readonly status: readonly Status[];
  readonly types: readonly string[] | null;
  /** Positions in the log, in per cent: none = omitted. */
  readonly from: number;
  readonly to: number | null;
}

const past: fc.Arbitrary<Past> = fc.record({
  status: fc.constantFrom(...STATUSES),
  type: fc.constantFrom(...TYPES),
  byHand: fc.boolean(),
  fails: fc.boolean(),
});
const request: fc.Arbitrary<RecoveryRequest> = fc.record({
  status: fc.subarray([...STATUSES], { minLength: 1 }),
  types: fc.option(fc.subarray(['a', 'b', 'b_c', '*'], { minLength: 1 })),
  from: fc.integer({ min: 0, max: 60 }),
  to: fc.option(fc.integer({ min: 61, max: 100 })),
});

const answering = (receiver: Receiver, fails: (event: string) => boolean) =>
  receiver.respond(({ headers }: Received, response) => {
    response.writeHead(fails(String(headers['webhook-id'])) ? 500 : 200).end();
  });

/** Waits until every row of the queue of an endpoint waits for its time. */
async function quiet(stage: Stage, endpoint: Endpoint): Promise<void> {
  await until('nothing is in flight or due', async () => {
    const queue = await stage.queue(endpoint);
    return queue.every(({ leased, due_in }) => !leased && due_in > 3600);
  });
}

/** Publishes the events and waits for all their described attempts; returns their ids in the order of the log. */
async function live(stage: Stage, endpoint: Endpoint, receiver: Receiver, log: readonly Past[]) {
  const events: string[] = [];
  for (const { type } of log) events.push(await stage.publish(`${endpoint.id}.${type}`));
  const fates = new Map(events.map((event, index) => [event, log[index]?.status]));
  answering(receiver, (event) => fates.get(event) !== 'delivered');
  const worker = await stage.world.startWorker();
  await quiet(stage, endpoint);
  const failed = events.filter((event) => fates.get(event) === 'failed');
  await stage.world.query('update queue set due_at = now() where event_id = any($1)', [failed.map(uuidOf)]);
  await stage.nudge();
  await quiet(stage, endpoint);
  await worker.close();
  for (const [index, event] of events.entries()) {
    if (log[index]?.byHand) expect(await stage.retry(endpoint, event)).toBe(200);
  }
  // due deliveries stay due until the recovery has looked at them
  await stage.world.query(
    `update endpoint_state set lane = 64, may_start_at = now() + interval '1 hour' where endpoint_id = $1`,
    [endpoint.uuid],
  );
  return events;
}

test('every matching event is sent exactly once, by the recovery or by the due attempt; the counts agree', () =>
  onStage({ delivers: false, settings: { DELIVERY_SCHEDULE: '0s 24h' } }, (stage) =>
    expectProperty({
      ...{ name: 'recoveries', cases: rounds(2, 5) },
      arbitrary: fc.record({
        log: fc.array(past, { minLength: 1, maxLength: 40 }),
        request,
        workers: fc.integer({ min: 1, max: 2 }),
      }),
      async check({ log, request: { from, to, ...wanted }, workers }) {
        const receiver = await stage.receiver();
        const endpoint = await stage.endpoint(receiver, { event_types: null });
        const events = await live(stage, endpoint, receiver, log);
        const before = await Promise.all(events.map((event) => stage.log(endpoint, event)));
        expect(before.map(({ status }) => status)).toEqual(log.map(({ status }) => status));
        const timeAt = (percent: number) =>
          before[Math.floor((percent * (before.length - 1)) / 100)].created_at;
        const since = timeAt(from);
        const end = to === null ? undefined : timeAt(to);
        receiver.received.length = 0;
        const fails = new Map(events.map((event, index) => [event, log[index]?.fails === true]));
        answering(receiver, (event) => fails.get(event) === true);

        const types = wanted.types?.map((type) => `${endpoint.id}.${type}`) ?? null;
        // a span that begins at an instant cannot end there
        if (end !== undefined && end <= since) return void (await stage.api.delete(endpoint.path));
        const fields = {
          since,
          ...(end === undefined ? {} : { until: end }),
          status: wanted.status,
          types,
        };
        const recovery = await recover(stage, endpoint, fields);
        const running = await Promise.all(Array.from({ length: workers }, () => stage.world.startWorker()));
        await until('it has ended', async () => (await read(stage, recovery)).status === 'completed');
        await stage.world.query('update endpoint_state set may_start_at = now() where endpoint_id = $1', [
          endpoint.uuid,
        ]);
        await stage.nudge();
        await quiet(stage, endpoint);
        await Promise.all(running.map((worker) => worker.close()));

        const matches = ({ status, type }: Past, index: number) =>
          wanted.status.includes(status) &&
          (wanted.types === null || wanted.types.includes('*') || wanted.types.includes(type)) &&
          before[index].created_at >= since &&
          (end === undefined || before[index].created_at < end);
        const matching = log.filter(matches);
        const skipped = matching.filter(({ byHand }) => byHand).length;
        expect(await read(stage, recovery)).toMatchObject({
          queued_count: matching.length - skipped,
          skipped_count: skipped,
        });
        const sent = events.filter((_, index) => log[index]?.byHand || matches(log[index] as Past, index));
        expect(idsOf(receiver.received).toSorted()).toEqual(sent.toSorted());
        for (const [index, event] of events.entries()) {
          const { status, byHand, fails: failed } = log[index] as Past;
          const after = await stage.log(endpoint, event);
          const isSent = sent.includes(event);
          expect(after.status).toBe(isSent && !failed ? 'delivered' : status);
          const made = after.attempts.slice(before[index].attempt_count);
          expect(made.map(({ trigger }: { trigger: string }) => trigger)).toEqual(
            isSent ? [byHand ? 'manual' : 'recovery'] : [],
          );
        }
        expect((await stage.api.delete(endpoint.path)).status).toBe(204);
      },
    }),
  ));
