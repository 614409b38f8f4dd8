import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { untilLockWait } from '../support/held.ts';
import { ARENAS, GAPS_MS, inArena, staggered, tally } from './support.ts';

const ENDPOINTS = '/v2/webhook-endpoints';
const url = 'https://shop.example.com/payhook';

describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('two first puts of an endpoint make one: one answer has its secret, the other its record', () =>
    inArena(arena, async ({ api, racer, race }) => {
      for (const [round, gap] of GAPS_MS.entries()) {
        const put = (by: number) => () =>
          racer(by).put(`${ENDPOINTS}/by-external-id/shop-${round}`, { url, rate_limit: 20 });
        const answers = await race(() => staggered(gap, put(0), put(1)));
        expect(tally(answers)).toEqual({ 201: 1, 200: 1 });
        const [made, found] = [201, 200].map(
          (wanted) => answers.find(({ status }) => status === wanted)?.body,
        );
        const { secret, ...record } = made;
        expect(found).toEqual(record);
        const { body } = await api.get(`${ENDPOINTS}/${record.id}/secret`);
        expect(body.secret).toBe(secret);
        expect((await api.get(`${ENDPOINTS}?external_id=shop-${round}`)).body.data).toEqual([record]);
      }
    }));

  longRun.test('an id that a put, a creation and a change want at once is given once', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const { body: other } = await api.post(ENDPOINTS, { url });
      const answers = await race(() =>
        Promise.all([
          racer(0).put(`${ENDPOINTS}/by-external-id/shop`, { url }),
          racer(1).post(ENDPOINTS, { url, external_id: 'shop' }),
          racer(2).patch(`${ENDPOINTS}/${other.id}`, { external_id: 'shop' }),
        ]),
      );
      // a put that comes later configures the endpoint that got the id
      for (const { status } of answers) expect([200, 201, 409]).toContain(status);
      expect((await api.get(`${ENDPOINTS}?external_id=shop`)).body.pagination.total).toBe(1);
    }),
  );

  test('an owner gets no more endpoints than the account allows, however many are created and given at once', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const owner = 'customer-7';
      await api.patch('/v2/account', { endpoints_per_owner: 2 });
      const { body: free } = await api.post(ENDPOINTS, { url });
      const answers = await race(() =>
        Promise.all([
          racer(0).post(ENDPOINTS, { url, owner }),
          racer(1).post(ENDPOINTS, { url, owner }),
          racer(0).put(`${ENDPOINTS}/by-external-id/shop`, { url, owner }),
          racer(1).patch(`${ENDPOINTS}/${free.id}`, { owner }),
        ]),
      );
      const refused = answers.filter(({ status }) => status === 409);
      expect(refused.map(({ reason }) => reason)).toEqual(['too_many_endpoints', 'too_many_endpoints']);
      expect((await api.get(`${ENDPOINTS}?owner=${owner}`)).body.pagination.total).toBe(2);
    }));
});

longRun.test('a put that waits for an id, and a change of the endpoint that gets it, do not deadlock', () =>
  inArena({ name: 'one server', latencyMs: 0, servers: 1 }, async ({ world, api }) => {
    const { body: made } = await api.post(ENDPOINTS, { url });
    await world.query('begin');
    await world.query('select from accounts for no key update');
    await world.query(`update webhook_endpoints set external_id = 'shop'`);
    const put = api.put(`${ENDPOINTS}/by-external-id/shop`, { url, owner: 'customer-7' });
    await untilLockWait(world, 1);
    const change = api.patch(`${ENDPOINTS}/${made.id}`, { owner: 'customer-7' });
    await untilLockWait(world, 2);
    await world.query('commit');
    for (const { status, text } of await Promise.all([put, change])) expect(status, text).toBe(200);
  }),
);
