import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await borrowWorld();
});
afterEach(() => world.close());

let made = 0;

async function affiliate(): Promise<number> {
  made += 1;
  const { body } = await world.api.post('/v2/affiliates', { email: `a${made}@example.com` });
  return body.id;
}

async function commission(affiliateId: number, fields: object = {}): Promise<string> {
  made += 1;
  const input = {
    external_id: `c${made}`,
    affiliate_id: affiliateId,
    amount: 1000,
    currency: 'usd',
    ...fields,
  };
  const answer = await world.api.post('/v2/affiliates/commissions', input);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function payAll(): Promise<Answer> {
  const { body } = await world.api.post('/v2/affiliates/payouts');
  const commissions = body.affiliates.map((line: { affiliate_id: number }) => ({
    affiliate_id: line.affiliate_id,
    is_paid: true,
  }));
  return world.api.put(`/v2/affiliates/payouts/${body.id}`, { commissions, require_all: true });
}

const refund = (id: string, body: object) => world.api.post(`/v2/affiliates/commissions/${id}/refund`, body);
const read = async (id: string) => (await world.api.get(`/v2/affiliates/commissions/${id}`)).body;
const eventTypes = async () =>
  (await world.query<{ type: string }>('select type from events order by id')).map((event) => event.type);

test('a refund of all of an unpaid commission voids it, a part reduces it', async () => {
  const ada = await affiliate();
  const whole = await commission(ada);
  const part = await commission(ada);
  const first = await refund(whole, { external_id: 'r1', reason: 'sent back' });
  expect(first.status).toBe(201);
  expect(first.body).toMatchObject({ object: 'affiliate_refund', amount: 1000, clawback: null });
  expect(first.body.commission).toMatchObject({
    status: 'voided',
    void_reason: 'sent back',
    refunded_amount: 1000,
  });
  const second = await refund(part, { external_id: 'r2', amount: 300 });
  expect(second.body.commission).toMatchObject({
    status: 'unpaid',
    amount: 700,
    refunded_amount: 300,
    original_amount: 1000,
  });
  expect(await eventTypes()).toEqual(expect.arrayContaining(['commission.voided', 'commission.updated']));
});

test('a refund with sale_amount takes the commission pro rata, half away from zero', async () => {
  const id = await commission(await affiliate(), { amount: 25, sale_amount: 100 });
  const { body } = await refund(id, { external_id: 'r', sale_amount: 50 });
  expect(body.amount).toBe(13);
});

test('a refund is idempotent by its external_id, and another one with that id is refused', async () => {
  const id = await commission(await affiliate());
  const first = await refund(id, { external_id: 'r', amount: 300 });
  const again = await refund(id, { external_id: 'r', amount: 300 });
  expect(again.status).toBe(200);
  expect(again.text).toBe(first.text);
  const other = await refund(id, { external_id: 'r', amount: 301 });
  expect(other).toMatchObject({ status: 409, reason: 'duplicate_external_id' });
  expect(await read(id)).toMatchObject({ amount: 700 });
});

test('a refund of more than the rest is refused and changes nothing', async () => {
  const id = await commission(await affiliate());
  await refund(id, { external_id: 'r1', amount: 900 });
  const before = await read(id);
  const answer = await refund(id, { external_id: 'r2', amount: 101 });
  expect(answer).toMatchObject({ status: 400, reason: 'refund_exceeds_rest' });
  expect(answer.body.error.message).toContain('100');
  expect(await read(id)).toEqual(before);
});

test('a refund in the unpaid payout changes its sums and raises its revision', async () => {
  const ada = await affiliate();
  const id = await commission(ada);
  await commission(ada, { amount: 500 });
  const payout = (await world.api.post('/v2/affiliates/payouts')).body;
  await refund(id, { external_id: 'r', amount: 400 });
  const after = (await world.api.get(`/v2/affiliates/payouts/${payout.id}`)).body;
  expect(after).toMatchObject({ revision: 2, amount: 1100, commission_count: 2 });
  expect(after.affiliates[0].totals).toMatchObject([{ currency: 'usd', amount: 1100, commission_count: 2 }]);
  const stale = await world.api.put(
    `/v2/affiliates/payouts/${payout.id}`,
    { commissions: [{ affiliate_id: ada, is_paid: true }] },
    { 'if-match': '"1"' },
  );
  expect(stale).toMatchObject({ status: 409, reason: 'payout_changed' });
  expect(stale.headers.get('etag')).toBe('"2"');
  expect(stale.body.error.message).toContain('pays 11.00 USD to 1 affiliate');
});

test('a group that a refund reduces to zero or below leaves the payout whole and is listed as excluded', async () => {
  const [ada, bob] = [await affiliate(), await affiliate()];
  await commission(bob);
  const id = await commission(ada);
  const other = await commission(ada, { amount: 100 });
  await world.api.post(`/v2/affiliates/${ada}/adjustments`, {
    external_id: 'debit',
    amount: -200,
    currency: 'usd',
  });
  const payout = (await world.api.post('/v2/affiliates/payouts')).body;
  expect(payout.amount).toBe(1900);
  await refund(id, { external_id: 'r' });
  const after = (await world.api.get('/v2/affiliates/payouts/current')).body;
  expect(after).toMatchObject({ revision: 2, amount: 1000, affiliate_count: 1 });
  expect(after.excluded).toEqual([
    {
      reason: 'negative_balance',
      affiliate_count: 1,
      totals: [{ currency: 'usd', amount: -100, commission_count: 2, affiliate_count: 1 }],
    },
  ]);
  expect(await read(other)).toMatchObject({ payout_id: null, status: 'unpaid' });
});

test('a payout that a refund empties is deleted, with an event', async () => {
  const id = await commission(await affiliate());
  const payout = (await world.api.post('/v2/affiliates/payouts')).body;
  await refund(id, { external_id: 'r' });
  expect((await world.api.get(`/v2/affiliates/payouts/${payout.id}`)).status).toBe(404);
  expect(await eventTypes()).toContain('payout.deleted');
});

test('a refund after payment keeps what was paid and creates a clawback that the next payout settles', async () => {
  const ada = await affiliate();
  const id = await commission(ada);
  const paid = await payAll();
  const answer = await refund(id, { external_id: 'r', amount: 600 });
  expect(answer.status).toBe(201);
  expect(answer.body.commission).toMatchObject({ status: 'paid', amount: 1000, refunded_amount: 600 });
  expect(answer.body.clawback).toMatchObject({
    type: 'clawback',
    amount: -600,
    reverses_commission_id: id,
    status: 'unpaid',
  });
  expect((await world.api.get(`/v2/affiliates/payouts/${paid.body.id}`)).body.totals).toEqual(
    paid.body.totals,
  );
  expect((await refund(id, { external_id: 'r2', amount: 401 })).reason).toBe('refund_exceeds_rest');
  expect((await refund(answer.body.clawback.id, { external_id: 'r3' })).reason).toBe('wrong_commission_type');

  await commission(ada, { amount: 650, occurred_at: '2026-01-01T00:00:00Z' });
  const next = await world.api.post('/v2/affiliates/payouts', {
    filters: { occurred_at: { lt: '2026-02-01' } },
  });
  expect(next.body, 'a date filter does not exclude the debt').toMatchObject({
    amount: 50,
    commission_count: 2,
  });
});

test('an affiliate who owes more than they earned is carried over, in that currency only', async () => {
  const ada = await affiliate();
  const id = await commission(ada);
  await payAll();
  await refund(id, { external_id: 'r' });
  await commission(ada, { amount: 400 });
  await commission(ada, { amount: 900, currency: 'eur' });
  const payout = (await world.api.post('/v2/affiliates/payouts')).body;
  expect(payout).toMatchObject({ currency: 'eur', amount: 900 });
  expect(payout.excluded[0]).toMatchObject({
    reason: 'negative_balance',
    totals: [{ currency: 'usd', amount: -600 }],
  });
});

test('a refund by order takes every commission of it, and refuses an amount that could belong to several', async () => {
  const [ada, bob] = [await affiliate(), await affiliate()];
  const first = await commission(ada, { order_id: 'o1', order_line_id: 'l', sale_amount: 5000 });
  const second = await commission(bob, {
    order_id: 'o1',
    order_line_id: 'l',
    sale_amount: 5000,
    amount: 500,
  });
  const doubt = await world.api.post('/v2/affiliates/refunds', {
    order_id: 'o1',
    external_id: 'r',
    amount: 10,
  });
  expect(doubt).toMatchObject({ status: 400, reason: 'invalid_amount' });
  const part = await world.api.post('/v2/affiliates/refunds', {
    order_id: 'o1',
    external_id: 'r',
    sale_amount: 2500,
  });
  expect(part.status).toBe(201);
  expect(part.body.refunds.map((each: { amount: number }) => each.amount)).toEqual([500, 250]);
  const again = await world.api.post('/v2/affiliates/refunds', {
    order_id: 'o1',
    external_id: 'r',
    sale_amount: 2500,
  });
  expect(again.status).toBe(200);
  expect(again.text).toBe(part.text);
  await world.api.post('/v2/affiliates/refunds', { order_id: 'o1', external_id: 'rest' });
  expect(await read(first)).toMatchObject({ status: 'voided' });
  expect(await read(second)).toMatchObject({ status: 'voided' });
});

test('a refund by order of two commissions of one group in the unpaid payout empties it without a trace', async () => {
  const ada = await affiliate();
  await commission(ada, { order_id: 'o1' });
  await commission(ada, { order_id: 'o1', amount: 300 });
  await world.api.post(`/v2/affiliates/${ada}/adjustments`, {
    external_id: 'debit',
    amount: -400,
    currency: 'usd',
  });
  await world.api.post('/v2/affiliates/payouts');
  const answer = await world.api.post('/v2/affiliates/refunds', { order_id: 'o1', external_id: 'r' });
  expect(answer.status).toBe(201);
  expect((await world.api.get('/v2/affiliates/payouts/current')).status).toBe(404);
});

test('a void removes a commission, even from the unpaid payout; that of a paid one is refused', async () => {
  const ada = await affiliate();
  const id = await commission(ada);
  await commission(ada, { amount: 250 });
  await world.api.post('/v2/affiliates/payouts');
  const voided = await world.api.post(`/v2/affiliates/commissions/${id}/void`, { reason: 'fraud' });
  expect(voided.body).toMatchObject({ status: 'voided', void_reason: 'fraud', payout_id: null });
  expect((await world.api.get('/v2/affiliates/payouts/current')).body).toMatchObject({
    amount: 250,
    revision: 2,
  });
  expect((await world.api.post(`/v2/affiliates/commissions/${id}/void`)).reason).toBe('commission_is_voided');
  expect((await refund(id, { external_id: 'r' })).reason).toBe('commission_is_voided');
  await world.api.delete(
    `/v2/affiliates/payouts/${(await world.api.get('/v2/affiliates/payouts/current')).body.id}`,
  );
  const paid = await commission(ada);
  await payAll();
  expect((await world.api.post(`/v2/affiliates/commissions/${paid}/void`)).reason).toBe('commission_is_paid');
});

test('a held commission is pending, leaves the unpaid payout, and returns with unhold', async () => {
  const ada = await affiliate();
  const id = await commission(ada);
  await commission(ada, { amount: 250 });
  await world.api.post('/v2/affiliates/payouts');
  const held = await world.api.post(`/v2/affiliates/commissions/${id}/hold`);
  expect(held.body).toMatchObject({ status: 'pending', available_at: null, payout_id: null });
  expect((await world.api.post(`/v2/affiliates/commissions/${id}/hold`)).reason).toBe('commission_is_held');
  expect((await world.api.get('/v2/affiliates/payouts/current')).body).toMatchObject({
    amount: 250,
    revision: 2,
  });
  const pending = await world.api.get('/v2/affiliates/commissions?status=pending');
  expect(pending.body.data.map((each: { id: string }) => each.id)).toEqual([id]);
  const back = await world.api.post(`/v2/affiliates/commissions/${id}/unhold`);
  expect(back.body).toMatchObject({ status: 'unpaid' });
  expect(back.body.available_at).toBe(back.body.occurred_at);
  expect((await world.api.post(`/v2/affiliates/commissions/${id}/unhold`)).reason).toBe(
    'commission_not_held',
  );
});

test('returned money is owed again once, whatever the minimum, and the balance includes it', async () => {
  const ada = await affiliate();
  await commission(ada);
  const paid = await payAll();
  await world.api.patch('/v2/account', { minimum_payout: { USD: 5000 } });
  const path = `/v2/affiliates/payouts/${paid.body.id}/affiliates/${ada}/returned`;
  const line = await world.api.post(path, { reason: 'account closed', reference: 'PP-1' });
  expect(line.status).toBe(200);
  expect(line.body).toMatchObject({ is_paid: true, returned_amount: 1000 });
  expect((await world.api.post(path, { reason: 'again' })).reason).toBe('already_returned');
  const balance = (await world.api.get(`/v2/affiliates/${ada}`)).body.balance;
  expect(balance).toEqual([{ currency: 'usd', pending: 0, unpaid: 1000, in_payout: 0, paid: 0 }]);
  const again = await payAll();
  expect(again.body).toMatchObject({ status: 'paid', amount: 1000 });
  expect((await world.api.get(`/v2/affiliates/${ada}`)).body.balance[0]).toMatchObject({
    paid: 1000,
    unpaid: 0,
  });
});

test('returned money is refused for an unpaid line and for an affiliate outside the payout', async () => {
  const [ada, bob] = [await affiliate(), await affiliate()];
  await commission(ada);
  await commission(bob);
  const payout = (await world.api.post('/v2/affiliates/payouts')).body;
  const path = (id: number) => `/v2/affiliates/payouts/${payout.id}/affiliates/${id}/returned`;
  expect((await world.api.post(path(ada), { reason: 'x' })).reason).toBe('line_not_paid');
  await world.api.put(`/v2/affiliates/payouts/${payout.id}`, {
    commissions: [{ affiliate_id: ada, is_paid: true }],
  });
  expect((await world.api.post(path(bob), { reason: 'x' })).reason).toBe('line_not_paid');
  expect((await world.api.post(path(999_999), { reason: 'x' })).reason).toBe('resource_missing');
  expect((await world.api.post(path(ada), {})).reason).toBe('invalid_body');
});

test('an adjustment credits or debits at once, whatever the hold, and zero is refused', async () => {
  const ada = await affiliate();
  await world.api.patch('/v2/account', { hold_days: 30 });
  const path = `/v2/affiliates/${ada}/adjustments`;
  const made = await world.api.post(path, {
    external_id: 'bonus',
    amount: 700,
    currency: 'EUR',
    description: 'prize',
  });
  expect(made).toMatchObject({ status: 201 });
  expect(made.body).toMatchObject({ type: 'adjustment', status: 'unpaid', amount: 700, currency: 'eur' });
  expect(
    (await world.api.post(path, { external_id: 'bonus', amount: 700, currency: 'eur', description: 'prize' }))
      .status,
  ).toBe(200);
  expect((await world.api.post(path, { external_id: 'bonus', amount: 701, currency: 'eur' })).status).toBe(
    409,
  );
  expect(await world.api.post(path, { external_id: 'zero', amount: 0 })).toMatchObject({
    status: 400,
    reason: 'invalid_amount',
  });
  expect(
    (await world.api.post('/v2/affiliates/999999/adjustments', { external_id: 'x', amount: 1 })).status,
  ).toBe(404);
});
