import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { makeAffiliates, salesFor, takeIn } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  bookDebt,
  COMMISSIONS,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

/** Every item of a list of the preview, page by page. */
async function previewed(part: string, body?: object, query = 'per_page=100'): Promise<Json[]> {
  const items: Json[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await api.post(`${PAYOUTS}/preview/${part}?${query}&page=${page}`, body);
    expect(answer.status, answer.text).toBe(200);
    items.push(...answer.body.data);
    if (page >= answer.body.pagination.pages) {
      expect(items.length).toBe(answer.body.pagination.total);
      return items;
    }
  }
}

describe('an affiliate who is not ready for payout', () => {
  const sum = { currency: 'usd', amount: 1000, commission_count: 1, affiliate_count: 1 };
  const leftOut = [{ reason: 'not_ready', affiliate_count: 1, totals: [sum] }];

  test('is left out of a payout with the reason, and paid when ready again', async () => {
    const [off, on] = [await makeAffiliate(api, { is_ready_for_payout: false }), await makeAffiliate(api)];
    for (const { id } of [off, on]) await makeCommission(api, id);
    expect((await api.post(`${PAYOUTS}/preview`)).body.excluded).toEqual(leftOut);
    const payout = await makePayout(api);
    expect(payout.affiliates.map((line: Json) => line.affiliate_id)).toEqual([on.id]);
    expect(payout.excluded).toEqual(leftOut);
    const { body } = await api.get(`${PAYOUTS}/${payout.id}/excluded?reason=not_ready`);
    expect(body.data).toEqual([
      { affiliate_id: off.id, currency: 'usd', reason: 'not_ready', amount: 1000, commission_count: 1 },
    ]);
    expect((await api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
    await api.patch(`${AFFILIATES}/${off.id}`, { is_ready_for_payout: true });
    expect((await makePayout(api)).affiliate_count).toBe(2);
  });

  test('alone makes no payout, and the refusal says why', async () => {
    const { id } = await makeAffiliate(api, { is_ready_for_payout: false });
    await makeCommission(api, id);
    expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay', 'not_ready: 1 affiliates');
  });

  test.each([true, false])('is selected by a filter on readiness: %s', async (ready) => {
    const [off, on] = [await makeAffiliate(api, { is_ready_for_payout: false }), await makeAffiliate(api)];
    for (const { id } of [off, on]) await makeCommission(api, id);
    const payout = await makePayout(api, { filters: { is_ready_for_payout: ready } });
    expect(payout.affiliates.map((line: Json) => line.affiliate_id)).toEqual([ready ? on.id : off.id]);
    expect(payout.excluded).toEqual([]);
  });

  test.each(['paypal', 'wise'])(
    'inside a payout is in no %s file of it, unless its filters named the readiness',
    async (format) => {
      const fields = {
        payout_method: format,
        name_first: 'Ada',
        paypal_email: format === 'paypal' ? 'ada@example.com' : null,
      };
      const [off, on] = [await makeAffiliate(api, fields), await makeAffiliate(api, fields)];
      for (const { id } of [off, on]) await makeCommission(api, id);
      const payout = await makePayout(api);
      await api.patch(`${AFFILIATES}/${off.id}`, { is_ready_for_payout: false });
      const file = `${PAYOUTS}/${payout.id}/payment-files/${format}`;
      const why = `is_ready_for_payout is false (affiliates ${off.id})`;
      expectRefusal(await api.get(file), 400, 'affiliates_not_in_file', why);
      const without = await api.get(`${file}?allow_skipped=true`);
      expect([without.status, without.headers.get('payhook-skipped-affiliates')]).toEqual([200, '1']);
      expect((await api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
      const named = await makePayout(api, { filters: { is_ready_for_payout: false } });
      expect((await api.get(`${PAYOUTS}/${named.id}/payment-files/${format}`)).status).toBe(200);
    },
  );
});

describe('the lists of a preview', () => {
  longRun.test(
    'name everyone above 1,000 affiliates, with exact totals, and equal what create makes',
    async () => {
      const [first = 0] = await makeAffiliates(api, 1, 'one');
      await world.query(
        `insert into affiliates (account_id, email, name_first)
       select account_id, 'many-' || n || '@example.com', 'Many ' || n
       from affiliates, generate_series(1, 1700) n where id = $1`,
        [first],
      );
      const ids = (await allOf(api, `${AFFILIATES}?sort=id`)).map(({ id }) => id);
      await takeIn(api, salesFor(ids, 2 * ids.length));
      await api.patch('/v2/account', { minimum_payout: { usd: 2000 } });
      const preview = (await api.post(`${PAYOUTS}/preview`)).body;
      expect(preview.affiliates).toBeNull();
      const lines = await nothingChanges(world, () => previewed('affiliates'));
      const excluded = await previewed('excluded');
      expect(excluded.length).toBeGreaterThan(10);
      expect(lines.length + excluded.length).toBe(ids.length);
      expect(lines.length).toBe(preview.affiliate_count);
      const payout = await makePayout(api);
      expect(lines).toEqual(await allOf(api, `${PAYOUTS}/${payout.id}/affiliates`));
      const kept = excluded.map(({ name, email, minimum_payout, available_at, ...rest }) => rest);
      expect(kept).toEqual(await allOf(api, `${PAYOUTS}/${payout.id}/excluded`));
    },
  );

  test('say what would have to change for each affiliate left out', async () => {
    await api.patch('/v2/account', { minimum_payout: { usd: 5000, eur: 70 } });
    const low = await makeAffiliate(api, {
      name_first: 'Ada',
      name_last: 'Low',
      minimum_payout: { usd: 2000 },
    });
    await makeCommission(api, low.id);
    await makeCommission(api, low.id, { currency: 'eur', amount: 69 });
    const debtor = await makeAffiliate(api);
    await bookDebt(world, debtor.id, -40);
    const held = await makeAffiliate(api);
    const sale = await makeCommission(api, held.id, { amount: 9000 });
    await api.post(`${COMMISSIONS}/${sale.id}/hold`);
    const off = await makeAffiliate(api, { is_ready_for_payout: false });
    await makeCommission(api, off.id);
    await api.patch('/v2/account', { hold_days: 30 });
    const waiting = await makeAffiliate(api);
    const soon = await makeCommission(api, waiting.id);
    await makeCommission(api, waiting.id, { occurred_at: '2999-01-01T00:00:00Z' });
    const one = (fields: object) => ({
      name: null,
      email: expect.stringMatching(/@/),
      currency: 'usd',
      amount: 1000,
      commission_count: 1,
      minimum_payout: null,
      available_at: null,
      ...fields,
    });
    expect(await previewed('excluded', {}, 'sort=affiliate_id')).toEqual([
      one({
        affiliate_id: low.id,
        name: 'Ada Low',
        reason: 'below_minimum',
        currency: 'eur',
        amount: 69,
        minimum_payout: 70,
      }),
      one({ affiliate_id: low.id, name: 'Ada Low', reason: 'below_minimum', minimum_payout: 2000 }),
      one({ affiliate_id: debtor.id, reason: 'negative_balance', amount: -40 }),
      one({ affiliate_id: held.id, reason: 'on_hold', amount: 9000 }),
      one({ affiliate_id: off.id, reason: 'not_ready' }),
      one({
        affiliate_id: waiting.id,
        reason: 'on_hold',
        amount: 2000,
        commission_count: 2,
        available_at: soon.available_at,
      }),
    ]);
  });

  test('take the body of create and the query of a list, with the same refusals', async () => {
    const [a, b, c] = await makeAffiliates(api, 3, 'three');
    await takeIn(api, salesFor([a ?? 0, b ?? 0, c ?? 0, a ?? 0], 4));
    const path = `${PAYOUTS}/preview/affiliates`;
    const sorted = await api.post(`${path}?sort=-commission_count&per_page=2`);
    expect(sorted.body.data.map((line: Json) => line.affiliate_id)).toEqual([a, c]);
    expect(sorted.body.pagination).toMatchObject({ page: 1, limit: 2, total: 3, pages: 2 });
    expect(sorted.headers.get('link')).toContain('page=2');
    const filtered = await api.post(path, { filters: { affiliate_id: { ne: a } }, search: 'three-1' });
    expect(filtered.body.data.map((line: Json) => line.affiliate_id)).toEqual([b]);
    expect((await api.post(`${path}?affiliate_id=${b}`)).body.pagination.total).toBe(1);
    for (const part of ['affiliates', 'excluded']) {
      const at = `${PAYOUTS}/preview/${part}`;
      expectRefusal(await api.post(at, { filters: { nope: 1 } }), 400, 'unknown_filter');
      expectRefusal(await api.post(at, { filters: { affiliate_id: 987654321 } }), 400, 'unknown_affiliate');
      expectRefusal(await api.post(`${at}?sort=amounts`), 400, 'invalid_query', 'sort must be one of');
      expectRefusal(await api.post(`${at}?per_page=101`), 400, 'invalid_query');
      expectRefusal(await api.post(`${at}?nope=1`), 400, 'unknown_query_parameter');
      expectRefusal(await api.post(at, { nope: 1 }), 400, 'unknown_field');
    }
    expectRefusal(await api.post(`${PAYOUTS}/preview/excluded?reason=nope`), 400, 'invalid_query');
  });
});
