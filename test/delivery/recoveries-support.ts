import { expect } from 'vitest';
import { until } from '../support/wire.ts';
import type { Endpoint, Stage } from './support.ts';

/** Machines are shared, and a recovery is long. */

export const LONG_AGO = '2020-01-01T00:00:00.000Z';

/** A recovery as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Recovery = any;

/** Starts a recovery of everything that failed, or with these fields; returns its record. */
export async function recover(stage: Stage, endpoint: Endpoint, fields: object = {}): Promise<Recovery> {
  const { status, text, body } = await stage.api.post(`${endpoint.path}/recover`, {
    since: LONG_AGO,
    ...fields,
  });
  expect(status, text).toBe(201);
  return body;
}

const pathOf = (recovery: Recovery) =>
  `/v2/webhook-endpoints/${recovery.webhook_endpoint_id}/recoveries/${recovery.id}`;

export async function read(stage: Stage, recovery: Recovery): Promise<Recovery> {
  const { status, text, body } = await stage.api.get(pathOf(recovery));
  expect(status, text).toBe(200);
  return body;
}

/** Cancels a recovery; returns the status of the response. */
export async function cancel(stage: Stage, recovery: Recovery): Promise<number> {
  return (await stage.api.delete(pathOf(recovery))).status;
}

/** Waits until the record of a recovery has these values; returns it. */
export async function untilRecovery(
  stage: Stage,
  recovery: Recovery,
  what: object = { status: 'completed' },
): Promise<Recovery> {
  let seen: Recovery;
  const holds = async () => {
    seen = await read(stage, recovery);
    return Object.entries(what).every(([field, value]) => seen[field] === value);
  };
  await until(`the recovery to say ${JSON.stringify(what)}`, holds).catch((error: Error) => {
    throw new Error(`${error.message}; it says ${JSON.stringify(seen)}`);
  });
  return seen;
}

/** Waits until the queue of an endpoint is empty. */
export async function untilIdle(stage: Stage, endpoint: Endpoint): Promise<void> {
  const waiting = () =>
    stage.world.query('select 1 from queue where endpoint_id = $1 limit 1', [endpoint.uuid]);
  await until('nothing waits', async () => (await waiting()).length === 0);
}

/** Publishes this many events at one moment and waits until all are delivered; returns their ids, oldest first. */
export async function delivered(stage: Stage, endpoint: Endpoint, count: number): Promise<string[]> {
  await stage.backlog(count);
  await untilIdle(stage, endpoint);
  const all = await stage.world.query<{ id: string; status: string }>(
    `select public_id('evt', event_id) as id, status from deliveries where endpoint_id = $1 order by event_id`,
    [endpoint.uuid],
  );
  expect(all.map(({ status }) => status)).toEqual(Array(count).fill('delivered'));
  return all.map(({ id }) => id);
}

/** How many attempts of which trigger and outcome the events of an endpoint have had. */
export function attemptsOf(
  stage: Stage,
  endpoint: Endpoint,
): Promise<{ trigger: string; outcome: string; events: number; attempts: number }[]> {
  return stage.world.query(
    `select trigger, coalesce(error_code, 'ok') as outcome, count(distinct event_id)::int as events,
            count(*)::int as attempts
     from attempts where endpoint_id = $1 group by 1, 2 order by 1, 2`,
    [endpoint.uuid],
  );
}

/** Waits until the workers have looked at all recoveries: that of another endpoint has begun and ended. */
export async function haveLooked(stage: Stage): Promise<void> {
  const other = await stage.endpoint(await stage.receiver());
  await untilRecovery(stage, await recover(stage, other));
}
