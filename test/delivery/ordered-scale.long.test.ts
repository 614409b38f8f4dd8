import sql from 'sql-template-tag';
import { expect, test } from 'vitest';
import { oneRow, rows, type Tx } from '../../src/db/database.ts';
import type { AccountId, EndpointId } from '../../src/kernel/ids.ts';
import { holdKeys, type Key, letNextGo, releaseUnordered, tendKeys } from '../../src/outbox/keys.ts';
import { publishForeign } from '../../src/outbox/queue.ts';
import { claim } from '../../src/webhooks/engine/claim.ts';
import type { WorldOptions } from '../support/world.ts';
import { type Endpoint, onStage, type Stage } from './support.ts';

/*
 * Many keys wait, each with a delivery in front that is not due and one behind it. The engine's frequent steps must not
 * read them all. PostgreSQL counts the rows and index entries that a transaction reads.
 */
const KEYS = 20_000;

/** Rows and index entries of the queue and its keys that the session has read. */
const readSoFar = (tx: Tx) =>
  oneRow<{ read: number }>(
    tx,
    sql`select coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid)), 0)::int as read
        from pg_class c left join pg_index i on i.indexrelid = c.oid
        where coalesce(i.indrelid, c.oid) in ('queue'::regclass, 'queue_keys'::regclass)`,
  );

/** How many `work` reads after `prepare`, on a connection of the engine or of requests. Both are rolled back. */
async function readBy(
  { world }: Stage,
  work: (tx: Tx) => Promise<unknown>,
  prepare?: (tx: Tx) => Promise<unknown>,
  by: 'engine' | 'transaction' = 'engine',
): Promise<number> {
  let read = 0;
  const undone = new Error('undone');
  const doing = world.db[by](async (tx) => {
    await prepare?.(tx);
    const before = await readSoFar(tx);
    await work(tx);
    read = (await readSoFar(tx)).read - before.read;
    throw undone;
  });
  await expect(doing).rejects.toBe(undone);
  return read;
}

/**
 * Fills the queue: each key has one delivery whose next attempt is due in an hour, and one behind it. A first attempt
 * that far ahead would be treated as written by a wrong clock, and corrected.
 */
async function fill({ world }: Stage, { uuid }: Endpoint): Promise<void> {
  await world.query(
    `with e as (select account_id, id, resumptions from webhook_endpoints where id = $1),
          key as (select 'order:' || n as ordering_key from generate_series(1, ${KEYS}) n),
          busy as (insert into queue_keys select account_id, id, ordering_key, 2 from e cross join key)
     insert into queue (account_id, endpoint_id, event_id, step, generation, due_at, ordering_key, place)
     select account_id, id, new_id(), case place when 1 then 1 else 0 end, case place when 1 then resumptions else 2147483647 end,
            now() + case place when 1 then interval '1 hour' else interval '0' end, ordering_key, place
     from e cross join key cross join generate_series(1, 2) place`,
    [uuid],
  );
}

/** Runs a test on a stage whose filled queue is emptied at the end: checking what is left of so much takes minutes. */
const onLongQueue = (options: WorldOptions, work: (stage: Stage) => Promise<void>) =>
  onStage(options, (stage) =>
    work(stage).finally(async () => {
      // of no event; the worker may have released some from their keys
      await stage.world.query(
        'delete from queue q where not exists (select from events e where e.id = q.event_id)',
      );
      await stage.world.query('delete from queue_keys');
    }),
  );

const keysOf = ({ uuid }: Endpoint, count: number): Key[] =>
  Array.from({ length: count }, (_, index) => ({
    endpoint: uuid as EndpointId,
    orderingKey: `order:${1 + index * 7}`,
  }));

/** Ends the deliveries in front of keys, as a settle does. */
const endFront = (tx: Tx, keys: readonly Key[]) =>
  rows(
    tx,
    sql`delete from queue where endpoint_id = ${keys[0]?.endpoint} and place = 1
        and ordering_key = any(${keys.map(({ orderingKey }) => orderingKey)}::text[])`,
  );

test('a claim reads none of many waiting keys, and releasing the next deliveries reads only those', () =>
  onLongQueue({ delivers: false }, async (stage) => {
    const none = { event_types: ['other.*'], ordered: true };
    const waiting = await stage.endpoint('http://127.0.0.1:9/waiting', none);
    const released = await stage.endpoint('http://127.0.0.1:9/released', none);
    const busy = await stage.endpoint('http://127.0.0.1:9/busy');
    for (const endpoint of [waiting, released]) await fill(stage, endpoint);
    await stage.world.query('update webhook_endpoints set ordered = false where id = $1', [released.uuid]);
    await stage.publishMany(3);

    let claimed: readonly string[] = [];
    const byClaim = await readBy(stage, async (tx) => {
      const { deliveries } = await claim(tx, { worker: 1, slots: 100, leaseMs: 1000, from: null });
      claimed = deliveries.map(({ endpoint }) => endpoint);
    });
    expect(claimed).toEqual([busy.uuid, busy.uuid, busy.uuid]);
    expect(byClaim).toBeLessThan(100);

    const keys = keysOf(waiting, 100);
    const byNext = await readBy(
      stage,
      async (tx) => letNextGo(tx, await holdKeys(tx, keys)),
      (tx) => endFront(tx, keys),
    );
    expect(byNext).toBeLessThan(keys.length * 20);

    const bySweep = await readBy(
      stage,
      (tx) => tendKeys(tx, null),
      (tx) => endFront(tx, keys),
    );
    // a batch is a thousand keys
    expect(bySweep).toBeLessThan(10_000);
    let freed = 0;
    const byRelease = await readBy(stage, async (tx) => {
      freed = await releaseUnordered(tx);
    });
    expect(freed).toBe(1000);
    expect(byRelease).toBeLessThan(10_000);
  }));

test('publishing with a lease at once reads nothing that is due later or behind', () =>
  onLongQueue({}, async (stage) => {
    const { world } = stage;
    const endpoint = await stage.endpoint('http://127.0.0.1:9/later', { event_types: ['order.*'] });
    await fill(stage, endpoint);
    await world.query('analyze queue');
    const [{ account } = { account: '' }] = await world.query<{ account: AccountId }>(
      'select account_id as account from webhook_endpoints where id = $1',
      [endpoint.uuid],
    );
    const event = {
      type: 'order.created',
      id: null,
      body: '{"data":{}}',
      orderingKey: null,
      owner: null,
      tags: [],
      trace: null,
      at: '',
    };
    const read = await readBy(
      stage,
      (tx) => publishForeign(tx, [{ account: account as AccountId, ...event }]),
      undefined,
      'transaction',
    );
    expect(read).toBeLessThan(100);
  }));
