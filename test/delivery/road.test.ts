import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { borrowWorld } from '../support/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { makeAffiliates, salesFor } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

let world: World;
let receiver: Receiver;
beforeEach(async () => {
  world = await borrowWorld({ delivers: true });
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  await world.close();
});

const ENDPOINTS = '/v2/webhook-endpoints';

test('a completed payout arrives as payout.paid, verifies, and is in the log with its attempt', async () => {
  const { api } = world;
  const made = await api.post(ENDPOINTS, { url: `${receiver.url}/hook`, event_types: ['payout.*'] });
  expect(made.status, made.text).toBe(201);
  const affiliates = await makeAffiliates(api, 2);
  for (const sale of salesFor(affiliates, 4, 'sale')) await api.post('/v2/affiliates/commissions', sale);
  const payout = (await api.post('/v2/affiliates/payouts')).body;
  const commissions = affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: true }));
  expect((await api.put(`/v2/affiliates/payouts/${payout.id}`, { commissions })).status).toBe(200);

  const received = await receiver.until(2);
  const events = received.map(({ body, headers }) =>
    new Webhook(made.body.secret).verify(body, headers as Record<string, string>),
  ) as { id: string; type: string; data: { id: string } }[];
  expect(events.map(({ type }) => type)).toEqual(['payout.created', 'payout.paid']);
  const paid = events[1];
  expect(paid?.data.id).toBe(payout.id);

  const log = `${ENDPOINTS}/${made.body.id}/events`;
  await until(
    'both are delivered',
    async () => (await api.get(`${log}?status=delivered`)).body.pagination.total === 2,
  );
  const one = await api.get(`${log}/${paid?.id}`);
  expect(one.body).toMatchObject({
    status: 'delivered',
    attempt_count: 1,
    type: 'payout.paid',
    last_response_status: 200,
  });
  expect(one.body.payload).toEqual(paid);
  expect(one.body.attempts).toMatchObject([
    { number: 1, trigger: 'scheduled', status: 'succeeded', response_status: 200, error_code: null },
  ]);
});
