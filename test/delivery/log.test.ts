import { describe, expect, test } from 'vitest';
import { serve } from '../../src/app/serve.ts';
import { foldCounts } from '../../src/outbox/counts.ts';
import { rounds } from '../support/depth.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { MISCOUNTS } from '../support/imbalances.ts';
import { onSignal } from '../support/signals.ts';
import { until } from '../support/wire.ts';
import { onStage, type Stage, uuidOf } from './support.ts';

const LOG = '/v2/webhook-events/';
const STATUSES = ['pending', 'held', 'delivered', 'failed'];

/** Each publishes eleven events. */
const ROUNDS = rounds(5, 30);

interface PageRequest {
  readonly status?: string;
  readonly sort: string;
  readonly page: number;
}

/** Requests a page; throws when it does not agree with its total. Returns the total. */
async function agreeing({ api }: Stage, path: string, { status, sort, page }: PageRequest): Promise<number> {
  const perPage = 20;
  const query = new URLSearchParams({ sort, page: String(page), per_page: String(perPage) });
  if (status) query.set('status', status);
  const { body, text } = await api.get(`${path}?${query}`);
  const { total } = body.pagination;
  const rest = Math.max(0, total - (page - 1) * perPage);
  expect({ [`${path}?${query}`]: body.data.length }, text).toEqual({
    [`${path}?${query}`]: Math.min(rest, perPage),
  });
  const keys = body.data.map((row: Record<string, unknown>) => `${row.id} ${row.webhook_endpoint_id}`);
  const sorted = keys.toSorted();
  expect(keys).toEqual(sort.startsWith('-') ? sorted.reverse() : sorted);
  expect(new Set(keys).size).toBe(keys.length);
  if (status) for (const row of body.data) expect(row.status).toBe(status);
  return total;
}

describe('while events are published, delivered, retried and deleted, and the counts are added up continuously', () => {
  test('every response agrees with its own total, and finally every total is right', () =>
    onStage(
      { databaseLatencyMs: 2, poolSize: 12, settings: { DELIVERY_SCHEDULE: '0s 1s' } },
      async (stage) => {
        const { world } = stage;
        const [steady, moody, doomed] = await Promise.all([1, 2, 3].map(() => stage.receiver()));
        if (!steady || !moody || !doomed) throw new Error('no receiver');
        for (const receiver of [moody, doomed]) {
          receiver.respond((_, response, count) => void response.writeHead(count % 2 ? 500 : 200).end());
        }
        const endpoints = await Promise.all(
          [steady, moody, doomed].map((receiver) => stage.endpoint(receiver)),
        );
        const off = await stage.endpoint(steady, { status: 'disabled' });
        await world.startWorker();
        let busy = true;
        const repeat = async (work: () => Promise<unknown>) => {
          while (busy) await work();
        };
        let queries = 0;
        const ask = async () => {
          queries += 1;
          const status = [undefined, ...STATUSES][queries % 5];
          const path = queries % 3 === 0 ? `${endpoints[queries % 2]?.path}/events` : LOG;
          const sort = queries % 2 ? '-id' : 'created_at';
          const total = await agreeing(stage, path, { ...(status ? { status } : {}), sort, page: 1 });
          await agreeing(stage, path, {
            ...(status ? { status } : {}),
            sort,
            page: 1 + Math.floor(((queries % 7) / 6) * (total / 20)),
          });
        };
        const retry = async () => {
          const { body } = await stage.api.get(`${LOG}?status=failed&per_page=5`);
          for (const { id, webhook_endpoint_id } of body.data) {
            await stage.api.post(`/v2/webhook-endpoints/${webhook_endpoint_id}/events/${id}/retry`);
          }
        };
        const publishing = async () => {
          for (let round = 0; round < ROUNDS; round += 1)
            await Promise.all([stage.publish(), stage.backlog(10)]);
        };
        const meanwhile = [retry, ask, ask, () => foldCounts(world.db)].map(repeat);
        const published = publishing();
        await doomed.until(ROUNDS);
        const [, , gone] = endpoints;
        if (gone) await stage.api.delete(gone.path);
        await published;
        await stage.change(off, { status: 'enabled' });
        const waiting = () => world.query('select 1 from queue limit 1');
        await until('all were sent', () => steady.received.length >= 2 * 11 * ROUNDS);
        busy = false;
        await Promise.all(meanwhile);
        await until('nothing waits', async () => (await waiting()).length === 0);
        expect(queries).toBeGreaterThan(2 * ROUNDS);
        const counted = await world.query<{ status: string; n: number }>(
          'select status, count(*)::int as n from deliveries group by 1',
        );
        for (const { status, n } of counted) {
          expect(await agreeing(stage, LOG, { status, sort: 'id', page: 1 })).toBe(n);
        }
        expect(await world.query(MISCOUNTS)).toEqual([]);
      },
    ));
});

describe('the counts', () => {
  test('added up by several processes at once are added up once, completely', () =>
    onStage({ delivers: false }, async (stage) => {
      const { db } = stage.world;
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      for (let round = 0; round < 5; round += 1) {
        await stage.backlog(10);
        await Promise.all([foldCounts(db), foldCounts(db), foldCounts(db)]);
        await foldCounts(db);
        expect(await stage.world.query('select * from delivery_count_deltas')).toEqual([]);
        expect((await stage.api.get(`${endpoint.path}/events`)).body.pagination.total).toBe(10 * (round + 1));
      }
    }));

  test('are added up by every server by itself', () =>
    onStage({ delivers: false }, async (stage) => {
      const { world } = stage;
      await stage.endpoint('http://127.0.0.1:9/');
      await stage.backlog(10);
      const server = await serve(world.platform, { listen: { host: '127.0.0.1', port: 0 } });
      await onSignal(
        world,
        'folded',
        'they are added up',
        async () => (await world.query('select 1 from delivery_count_deltas')).length === 0,
      );
      await server.close();
      expect(await stage.world.query(`select total from delivery_counts where span = 'week'`)).toEqual([
        { total: 10 },
        { total: 10 },
      ]);
    }));

  test('of a log of weeks have one row a minute, not one an event', () =>
    onStage({ delivers: false }, async (stage) => {
      const endpoint = await stage.endpoint('http://127.0.0.1:9/');
      const { body } = await stage.api.get('/v2/account');
      const start = Date.now() - 3 * 7 * 86_400_000;
      const minute = start - (start % 60_000);
      await putIn(
        stage.world,
        uuidOf(body.id),
        Array.from({ length: 500 }, (_, index) => ({
          event: eventIdAt(minute + (index % 2) * 60_000 + index),
          endpoint: endpoint.uuid,
        })),
      );
      await foldCounts(stage.world.db);
      const rows = await stage.world.query(
        `select span, count(*)::int as rows, sum(total)::int as total from delivery_counts
         where scope_id = $1 group by 1 order by 1`,
        [endpoint.uuid],
      );
      expect(rows).toMatchObject([
        { span: 'hour', total: 500 },
        { span: 'minute', rows: 2, total: 500 },
        { span: 'week', total: 500 },
      ]);
    }));
});
