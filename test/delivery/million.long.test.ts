import { expect, test } from 'vitest';
import { makePartitions } from '../../src/db/partitions.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { until } from '../support/wire.ts';
import { recover, untilIdle, untilRecovery } from './recoveries-support.ts';
import { accountOf } from './retention-support.ts';
import { type Endpoint, onStage, type Stage } from './support.ts';

/** Events at the first endpoint, how many of them are discarded, and how many of those that are not get to a second one. */
const EVENTS = 1_000_000;
const DISCARDED = EVENTS / 2;
const MISSING = 50_000;
const AT_ONCE = 100_000;
const PATIENCE_MS = 1_200_000;

/** Publishes events as the outbox would: the event, its row in the log with its count, and its row in the queue, which waits. */
async function fill({ world }: Stage, account: string, { uuid }: Endpoint): Promise<void> {
  await world.db.transaction((tx) => makePartitions(tx, [new Date().toISOString()]));
  for (let from = 0; from < EVENTS; from += AT_ONCE)
    await world.query(
      `with numbered as (select n from generate_series($3::int, $3::int + $4::int - 1) n),
       made as materialized (
         select $1::uuid as account_id, $2::uuid as endpoint_id, new_id() as id,
                case when n % 2 = 0 then 'order.discarded' when n < 2 * $5::int then 'order.missing' else 'order.kept' end as type
         from numbered),
       stored as (
         insert into events (account_id, id, type, payload)
         select account_id, id, type, json_build_object('id', public_id('evt', id), 'type', type, 'data', '{}'::json)::text from made),
       logged as (
         insert into deliveries (account_id, endpoint_id, event_id, type, next_attempt_at)
         select account_id, endpoint_id, id, type, now() from made),
       counted as (
         insert into delivery_count_deltas (account_id, endpoint_id, minute, total, delivered, failed)
         select account_id, endpoint_id, date_trunc('minute', id_time(id)), count(*)::int, 0, 0 from made group by 1, 2, 3)
       insert into queue (account_id, endpoint_id, event_id, step, generation, due_at)
       select account_id, endpoint_id, id, 0, 0, now() from made`,
      [account, uuid, from, AT_ONCE, MISSING],
    );
}

const totals = async (stage: Stage, endpoint: Endpoint) => {
  const of = async (query: string) =>
    (await stage.api.get(`${endpoint.path}/events?per_page=1${query}`)).body.pagination.total;
  return {
    all: await of(''),
    held: await of('&status=held'),
    pending: await of('&status=pending'),
    cancelled: await of('&status=cancelled'),
    delivered: await of('&status=delivered'),
  };
};

test(
  'at a million rows the counts of the log stay exact through a discard of half and a backfill that is delivered',
  {
    timeout: PATIENCE_MS,
  },
  () =>
    onStage({ own: true }, async (stage) => {
      const { world } = stage;
      const account = await accountOf(stage);
      const held = await stage.endpoint('http://127.0.0.1:9/', {
        status: 'disabled',
        event_types: ['order.*'],
      });
      await fill(stage, account, held);
      const none = { all: EVENTS, held: EVENTS, pending: 0, cancelled: 0, delivered: 0 };
      expect(await totals(stage, held)).toEqual(none);
      expect(await world.query(MISCOUNTS)).toEqual([]);

      const { body: job } = await stage.api.post(`${held.path}/discard`, {
        since: '2020-01-01',
        types: ['order.discarded'],
      });
      await untilRecovery(stage, job, { status: 'completed', discarded_count: DISCARDED });
      expect(await totals(stage, held)).toEqual({ ...none, held: EVENTS - DISCARDED, cancelled: DISCARDED });
      expect(await world.query(MISCOUNTS)).toEqual([]);

      const receiver = await stage.receiver();
      const late = await stage.endpoint(receiver, { event_types: ['order.missing'] });
      const backfill = await recover(stage, late, { missing: true });
      await untilRecovery(stage, backfill, { status: 'completed', queued_count: MISSING });
      await untilIdle(stage, late);
      await until('the last results to be written', async () => {
        const { delivered } = await totals(stage, late);
        return delivered === MISSING;
      });
      expect(receiver.received).toHaveLength(MISSING);
      expect(await totals(stage, late)).toEqual({
        ...{ all: MISSING, held: 0, pending: 0, cancelled: 0, delivered: MISSING },
      });
      expect(await totals(stage, held)).toEqual({ ...none, held: EVENTS - DISCARDED, cancelled: DISCARDED });
      const stored = await world.query(
        'select status, count(*)::int as count from deliveries where account_id = $1 group by 1 order by 1',
        [account],
      );
      expect(stored).toEqual([
        { status: 'cancelled', count: DISCARDED },
        { status: 'delivered', count: MISSING },
        { status: 'pending', count: EVENTS - DISCARDED },
      ]);
    }),
);
