import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';

const world = useWorld();

test('a payout is created, downloaded, completed, and then cannot be deleted', async () => {
  const { api } = world;
  const { body: affiliate } = await api.post('/v2/affiliates', {
    email: 'ada@example.com',
    name_first: 'Ada',
  });
  for (const [index, amount] of [1050, 250, 99].entries()) {
    const made = await api.post('/v2/affiliates/commissions', {
      external_id: `order-${index}`,
      affiliate_id: affiliate.id,
      amount,
      currency: 'USD',
    });
    expect(made.status).toBe(201);
  }
  const preview = await api.post('/v2/affiliates/payouts/preview');
  expect(preview.status).toBe(200);
  const made = await api.post('/v2/affiliates/payouts');
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    number: 1,
    status: 'unpaid',
    currency: 'usd',
    amount: 1399,
    commission_count: 3,
  });
  expect(preview.body.totals).toEqual(made.body.totals);

  const current = await api.get('/v2/affiliates/payouts/current');
  expect(current.body).toEqual(made.body);
  const csv = await api.get('/v2/affiliates/payouts/current/download');
  expect(csv.text.split('\r\n')).toHaveLength(5);

  const path = `/v2/affiliates/payouts/${made.body.id}`;
  const paid = await api.put(path, { commissions: [{ affiliate_id: affiliate.id, is_paid: true }] });
  expect(paid.status).toBe(200);
  expect(paid.body).toMatchObject({ status: 'paid', unlisted_affiliate_count: 0 });
  const removed = await api.delete(path);
  expect(removed.status).toBe(409);
  expect(removed.reason).toBe('payout_is_paid');
});
