import { afterAll, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { LOOSE_ENDS, MISCOUNTS } from '../support/imbalances.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

const ROUNDS = rounds(1, 6);
/** More than are acknowledged before the last kill: an acknowledgement whose response is lost is not counted. */
const EVENTS = 60 + 60 * ROUNDS;

const folder = dataFolder({ settings: { DELIVERY_SCHEDULE: '0s,1s,1s,1s,1s,1s,1s,1s,1s,1s' } });
afterAll(() => folder.remove());

test('a server that is killed between claims and acknowledgements loses no event, and the log has each attempt once', async () => {
  let server = await folder.start();
  const made = await server.api.post('/v2/webhook-endpoints', { delivery: 'pull', event_types: ['order.*'] });
  expect(made.status, made.text).toBe(201);
  const path = `/v2/webhook-endpoints/${made.body.id}`;
  const events = Array.from({ length: EVENTS }, (_, index) => ({ type: 'order.created', data: { index } }));
  expect((await server.api.post('/v2/events/batch', { events })).status).toBe(200);

  /** The leases that a consumer had when its server was killed, and what it has certainly acknowledged. */
  const acknowledged = new Set<string>();
  const consume = async (api: Api): Promise<void> => {
    for (;;) {
      const claimed: Answer | null = await api
        .post(`${path}/claims`, { limit: 5, lease_seconds: 2, wait_seconds: 1 })
        .catch(() => null);
      if (claimed?.status !== 200) return;
      const items = claimed.body.items.map(({ id, lease_id }: Record<string, string>) => ({
        id,
        lease_id,
        status: 'delivered',
      }));
      if (items.length === 0) return;
      const answer = await api.post(`${path}/acknowledgements`, { items }).catch(() => null);
      if (answer?.status !== 200) return;
      for (const { id, result } of answer.body.items) if (result === 'acknowledged') acknowledged.add(id);
    }
  };
  for (let round = 0; round < ROUNDS; round++) {
    const { api } = server;
    const consuming = Promise.all([consume(api), consume(api), consume(api)]);
    const wanted = acknowledged.size + 10 + Math.round(Math.random() * 20);
    await until('some are acknowledged', () => acknowledged.size >= Math.min(wanted, EVENTS));
    await server.kill(round % 2 === 0);
    await consuming;
    server = await folder.start();
  }
  const total = async (query = '') =>
    (await server.api.get(`${path}/events?per_page=1${query}`)).body.pagination.total;
  await until('every event to be acknowledged', async () => {
    await consume(server.api);
    return (await total('&status=delivered')) === EVENTS;
  });
  expect(await total()).toBe(EVENTS);
  const attempts = await folder.query<{ id: string; good: number; leases: boolean }>(
    `select public_id('evt', event_id) as id, count(*) filter (where error_code is null)::int as good,
            count(*) = count(distinct claim ->> 'lease_id') as leases
     from attempts where error_code is null or error_code = 'lease_expired' group by event_id`,
  );
  expect(attempts.filter(({ good, leases }) => good !== 1 || !leases)).toEqual([]);
  expect(attempts.length).toBe(EVENTS);
  const known = new Set(attempts.map(({ id }) => id));
  expect([...acknowledged].filter((id) => !known.has(id))).toEqual([]);
  expect(await folder.query(LOOSE_ENDS)).toEqual([]);
  expect(await folder.query(MISCOUNTS)).toEqual([]);
  expect((await server.signal('SIGTERM')).code).toBe(0);
});
