import { beforeEach, describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  COMMISSIONS,
  completePayout,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  unique,
} from './fixtures.ts';

const REFUNDS = '/v2/affiliates/refunds';

const world = useWorld();
const api = useAccount(world);
let ada: number;
let bob: number;
beforeEach(async () => {
  ada = (await makeAffiliate(api)).id;
  bob = (await makeAffiliate(api)).id;
});

const sale = (who: number, fields: object) =>
  makeCommission(api, who, { order_id: 'o', sale_amount: 10_000, ...fields });
const refund = (fields: object) =>
  api.post(REFUNDS, { external_id: unique('refund'), order_id: 'o', ...fields });
const refundOf = (id: string, fields: object) =>
  api.post(`${COMMISSIONS}/${id}/refund`, { external_id: unique('refund'), ...fields });
const read = async (id: string): Promise<Json> => (await api.get(`${COMMISSIONS}/${id}`)).body;
const made = async (fields: object): Promise<Json> => {
  const answer = await refund(fields);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const taken = ({ refunds }: Json) =>
  refunds.map((each: Json) => [each.amount, each.sale_amount, each.capped]);
const payAll = async () => completePayout(api, await makePayout(api));

describe('a refund of an order of several sales', () => {
  test('is refused with a part of the sale, and the refusal lists the lines', async () => {
    await sale(ada, { external_id: 'c-1', order_line_id: 'mug', sale_amount: 7500 });
    await sale(bob, { external_id: 'c-2', sale_amount: 7500 });
    await sale(ada, { external_id: 'c-3', currency: 'jpy', sale_amount: 7500 });
    const refused = await nothingChanges(world, () => refund({ sale_amount: 7500 }));
    expectRefusal(
      refused,
      400,
      'invalid_amount',
      'order_line_id mug (usd, sale_amount 7500)',
      'external_id c-2 (usd, sale_amount 7500)',
      'external_id c-3 (jpy, sale_amount 7500)',
    );
    expectRefusal(await refund({ amount: 10 }), 400, 'invalid_amount', 'mug');
  });

  test('takes only the named lines: by line with all its shares, or by commission', async () => {
    const mug = [
      await sale(ada, { order_line_id: 'mug', amount: 1000 }),
      await sale(bob, { order_line_id: 'mug', amount: 500 }),
    ];
    const plate = await sale(ada, { external_id: 'plate', amount: 300 });
    const pot = await sale(ada, { order_line_id: 'pot', amount: 700 });
    const { lines, ...record } = await made({
      lines: [{ order_line_id: 'mug', sale_amount: 2500 }, { external_id: 'plate' }],
    });
    expect(record).toMatchObject({ status: 'applied', order_id: 'o' });
    expect(lines.map((each: Json) => [each.order_line_id, each.external_id, each.status])).toEqual([
      ['mug', null, 'applied'],
      [null, 'plate', 'applied'],
    ]);
    expect(taken(record).sort()).toEqual(
      [
        [125, 2500, false],
        [250, 2500, false],
        [300, 10_000, false],
      ].sort(),
    );
    expect((await read(mug[0].id)).amount).toBe(750);
    expect((await read(plate.id)).status).toBe('voided');
    expect((await read(pot.id)).amount).toBe(700);
  });

  test('without an amount is the whole order, in every currency', async () => {
    const all = [
      await sale(ada, { order_line_id: 'a' }),
      await sale(bob, { currency: 'jpy', amount: 77 }),
      await sale(bob, { order_line_id: 'b' }),
    ];
    await made({});
    for (const { id } of all) expect((await read(id)).status).toBe('voided');
  });
});

test('a part of the sale is taken from all shares of the one sale of an order', async () => {
  const [first, second] = [
    await sale(ada, { order_line_id: 'mug', amount: 1000 }),
    await sale(bob, { order_line_id: 'mug', amount: 500 }),
  ];
  await made({ sale_amount: 2500, currency: 'USD' });
  expect([(await read(first.id)).amount, (await read(second.id)).amount]).toEqual([750, 375]);
  expectRefusal(
    await refund({ sale_amount: 10, currency: 'jpy' }),
    400,
    'invalid_amount',
    'several currencies',
  );
});

test('empty or repeated lines are refused', async () => {
  await sale(ada, { external_id: 'c-1', order_line_id: 'mug' });
  await makeCommission(api, ada, { external_id: 'other', order_id: 'p' });
  const bad = (lines: object[], rest: object = {}) => nothingChanges(world, () => refund({ lines, ...rest }));
  expectRefusal(await bad([{}]), 400, 'invalid_body', 'lines[0]');
  expectRefusal(await bad([{ order_line_id: 'mug', external_id: 'c-1' }]), 400, 'invalid_body', 'lines[0]');
  expectRefusal(
    await bad([{ order_line_id: 'mug' }, { order_line_id: 'mug' }]),
    400,
    'duplicate_entry',
    'mug',
  );
  expectRefusal(await bad([{ order_line_id: 'mug' }, { external_id: 'c-1' }]), 400, 'duplicate_entry', 'c-1');
  expectRefusal(await bad([{ external_id: 'other' }]), 400, 'invalid_body', 'other', 'order o');
  expectRefusal(await bad([{ order_line_id: 'mug' }], { sale_amount: 5 }), 400, 'invalid_body', 'lines');
  expectRefusal(await refund({ currency: 'usd' }), 400, 'invalid_body', 'currency');
});

describe('refunds of a sale in parts', () => {
  test.each([
    ['two halves of an odd commission', 299, 1990, [995, 995], [150, 149]],
    ['thirds', 1000, 10_000, [3333, 3333, 3334], [333, 334, 333]],
    ['parts too small to take anything alone', 3, 1000, [100, 100, 100, 100, 600], [0, 1, 0, 0, 2]],
  ])('add up to the whole commission: %s', async (_, amount, sale_amount, parts, expected) => {
    const { id } = await sale(ada, { amount, sale_amount });
    const found: number[] = [];
    for (const part of parts) found.push((await made({ sale_amount: part })).refunds[0].amount);
    expect(found).toEqual(expected);
    expect(await read(id)).toMatchObject({ status: 'voided', refunded_amount: amount });
  });

  test('beyond the sale take the rest and say so, before and after payment', async () => {
    const unpaid = await sale(ada, { amount: 299, sale_amount: 1990, order_id: 'unpaid' });
    const first = await refundOf(unpaid.id, { sale_amount: 2490 });
    expect(first.body).toMatchObject({ amount: 299, sale_amount: 2490, capped: true });
    const again = await refundOf(unpaid.id, { sale_amount: 100 });
    expect(again.status, again.text).toBe(201);
    expect(again.body).toMatchObject({ amount: 0, capped: true });

    const paid = await sale(bob, { amount: 1000, sale_amount: 10_000 });
    await payAll();
    expect((await refundOf(paid.id, { sale_amount: 3333 })).body).toMatchObject({
      amount: 333,
      capped: false,
    });
    const rest = await refundOf(paid.id, { sale_amount: 7000 });
    expect(rest.body).toMatchObject({ amount: 667, capped: true, clawback: { amount: -667 } });
    expect((await refundOf(paid.id, { sale_amount: 1 })).body).toMatchObject({ amount: 0, clawback: null });
  });

  longRun.test('include a part given as a commission amount', async () => {
    const { id } = await sale(ada, { amount: 1000 });
    await refundOf(id, { amount: 300 });
    expect((await refundOf(id, { sale_amount: 5000 })).body.amount).toBe(500);
    expect((await refundOf(id, { sale_amount: 3000 })).body).toMatchObject({ amount: 200, capped: true });
  });
});

describe('a refund before its commission', () => {
  const single = (fields: object) => makeCommission(api, ada, fields);
  const batch = async (fields: object) => {
    const item = {
      external_id: unique('order'),
      affiliate_id: ada,
      amount: 1000,
      currency: 'usd',
      ...fields,
    };
    const answer = await api.post(`${COMMISSIONS}/batch`, { commissions: [item] });
    expect(answer.body.items[0].status, answer.text).toBe(201);
    return answer.body.items[0].commission;
  };
  const file = async (fields: Record<string, unknown>) => {
    const external_id = unique('order');
    const cells = { external_id, affiliate_id: ada, amount: '10.00', currency: 'usd', ...fields };
    const sale_amount = fields.sale_amount === undefined ? '' : Number(fields.sale_amount) / 100;
    const row: Record<string, unknown> = { ...cells, sale_amount };
    const csv = `${Object.keys(row).join(',')}\r\n${Object.values(row).join(',')}\r\n`;
    const answer = await api.upload(`${COMMISSIONS}/import`, csv);
    expect(answer.status, answer.text).toBe(200);
    return (await api.get(`${COMMISSIONS}?external_id=${external_id}`)).body.data[0];
  };

  test.each([
    ['alone', single],
    ['in a batch', batch],
    ['in a file', file],
  ])('waits and is applied when the commission is created %s', async (_, takeIn) => {
    const waiting = await made({ sale_amount: 2500, reason: 'sent back' });
    expect(waiting).toMatchObject({ status: 'waiting', refunds: [], lines: [{ status: 'waiting' }] });
    expect(await takeIn({ order_id: 'o', sale_amount: 10_000 })).toMatchObject({
      status: 'unpaid',
      amount: 750,
      refunded_amount: 250,
    });
    const whole = await made({ order_id: 'p', reason: 'cancelled' });
    expect(await takeIn({ order_id: 'p' })).toMatchObject({
      status: 'voided',
      void_reason: 'cancelled',
      amount: 1000,
    });
    for (const { id, external_id } of [waiting, whole]) {
      const { body } = await api.get(`${REFUNDS}/${id}`);
      expect(body).toMatchObject({ status: 'applied', lines: [{ status: 'applied' }] });
      expect((await api.get(`${REFUNDS}/${external_id}`)).body).toEqual(body);
    }
    await takeIn({ order_id: 'q' });
  });

  test('makes one event of the new commission: created voided or reduced', async () => {
    await made({});
    await single({ order_id: 'o', external_id: 'late' });
    const [event, ...others] = await eventsOf(world, api, 'commission.created');
    expect(others).toEqual([]);
    expect(event?.payload.data).toMatchObject({ external_id: 'late', status: 'voided' });
  });

  test('takes its named lines, in any order of arrival, and several add up', async () => {
    await made({ lines: [{ order_line_id: 'mug', sale_amount: 995 }] });
    await made({ lines: [{ order_line_id: 'mug', sale_amount: 995 }, { order_line_id: 'plate' }] });
    const mug = await single({ order_id: 'o', order_line_id: 'mug', amount: 299, sale_amount: 1990 });
    expect(mug).toMatchObject({ status: 'voided', refunded_amount: 299 });
    expect(await single({ order_id: 'o', order_line_id: 'pot' })).toMatchObject({
      status: 'unpaid',
      amount: 1000,
    });
    const { body } = await api.get(`${REFUNDS}?status=waiting`);
    expect(body.data).toMatchObject([{ lines: [{ status: 'applied' }, { status: 'waiting' }] }]);
    expect(await single({ order_id: 'o', order_line_id: 'plate' })).toMatchObject({ status: 'voided' });
    expect((await api.get(`${REFUNDS}?status=waiting`)).body.data).toEqual([]);
  });

  test('takes a commission once when one line names it and another names its sale: the line that names it decides', async () => {
    const named = unique('late');
    const { id } = await made({
      lines: [
        { order_line_id: 'mug', sale_amount: 1000 },
        { external_id: named, sale_amount: 5000 },
      ],
    });
    const mug = { order_id: 'o', order_line_id: 'mug', sale_amount: 10_000 };
    expect(await single({ ...mug, external_id: named })).toMatchObject({ amount: 500 });
    expect((await api.get(`${REFUNDS}/${id}`)).body).toMatchObject({
      lines: [{ status: 'waiting' }, { status: 'applied' }],
    });
    expect(await single(mug)).toMatchObject({ amount: 900 });
    expect((await api.get(`${REFUNDS}/${id}`)).body).toMatchObject({
      status: 'applied',
      refunds: [{ amount: 500 }, { amount: 100 }],
    });
  });

  longRun.test(
    'of the whole order takes later lines, of a part of its one sale only later shares',
    async () => {
      await single({ order_id: 'o' });
      await made({});
      expect(await single({ order_id: 'o' })).toMatchObject({ status: 'voided' });
      await single({ order_id: 'p', order_line_id: 'mug', sale_amount: 10_000 });
      await made({ order_id: 'p', sale_amount: 5000 });
      const share = { order_id: 'p', order_line_id: 'mug', sale_amount: 10_000, amount: 500 };
      expect(await makeCommission(api, bob, share)).toMatchObject({ amount: 250 });
      expect(await single({ ...share, order_line_id: 'pot' })).toMatchObject({ amount: 500 });
    },
  );

  longRun.test(
    'that could belong to several sales created at once is ambiguous and takes nothing',
    async () => {
      const { id } = await made({ sale_amount: 5000 });
      const item = (order_line_id: string) => ({
        ...{
          external_id: unique('order'),
          affiliate_id: ada,
          amount: 1000,
          currency: 'usd',
          sale_amount: 10_000,
        },
        ...{ order_id: 'o', order_line_id },
      });
      await api.post(`${COMMISSIONS}/batch`, { commissions: [item('mug'), item('plate')] });
      expect((await api.get(`${REFUNDS}/${id}`)).body).toMatchObject({
        status: 'waiting',
        refunds: [],
        lines: [{ status: 'in_doubt' }],
      });
    },
  );

  test('is idempotent by its external_id while it waits and after', async () => {
    const body = { external_id: 'r', sale_amount: 5000 };
    const first = await refund(body);
    expect((await refund(body)).text).toBe(first.text);
    expect((await refund({ ...body, sale_amount: 5001 })).reason).toBe('duplicate_external_id');
    await single({ order_id: 'o', sale_amount: 10_000, external_id: 'c-1' });
    const again = await refund(body);
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({ status: 'applied', refunds: [{ amount: 500 }] });
    const same = { external_id: 'c-1', affiliate_id: ada, amount: 1000, currency: 'usd', order_id: 'o' };
    const repeated = await api.post(COMMISSIONS, { ...same, sale_amount: 10_000 });
    expect(repeated.status).toBe(200);
    expect(repeated.body).toMatchObject({ amount: 500 });
  });

  test('is withdrawn by reversing it', async () => {
    const { external_id } = await made({});
    const reversed = await api.post(`${REFUNDS}/${external_id}/reverse`);
    expect(reversed.body).toMatchObject({ status: 'reversed', refunds: [] });
    expect(await single({ order_id: 'o' })).toMatchObject({ status: 'unpaid', amount: 1000 });
    expectRefusal(await api.post(`${REFUNDS}/${external_id}/reverse`), 409, 'refund_is_reversed');
    expectRefusal(await api.post(`${REFUNDS}/nope/reverse`), 404, 'resource_missing');
  });

  longRun.test('is included in the dry run of a file', async () => {
    const { id } = await made({});
    const csv = `external_id,affiliate_id,amount,order_id\r\nx,${ada},10.00,o\r\n`;
    expect((await api.upload(`${COMMISSIONS}/import?dry_run=true`, csv)).status).toBe(200);
    expect((await api.get(`${REFUNDS}/${id}`)).body.status).toBe('waiting');
  });
});

describe('reversing a refund', () => {
  const reverse = (refunded: Json) => api.post(`${REFUNDS}/${refunded.id}/reverse`);

  test('owes the reduced or voided amount again, in the unpaid payout too', async () => {
    const part = await sale(ada, {});
    const whole = await sale(bob, { order_id: 'p' });
    await makeCommission(api, bob, { amount: 50 });
    const payout = await makePayout(api);
    const reduced = (await refundOf(part.id, { amount: 300 })).body;
    const voided = (await refundOf(whole.id, {})).body;
    expect((await reverse(reduced)).body).toMatchObject({ status: 'reversed' });
    expect((await reverse(voided)).status).toBe(200);
    expect(await read(part.id)).toMatchObject({ amount: 1000, refunded_amount: 0, payout_id: payout.id });
    expect(await read(whole.id)).toMatchObject({
      ...{ status: 'unpaid', amount: 1000, refunded_amount: 0, payout_id: null },
      ...{ voided_at: null, void_reason: null },
    });
    expect((await api.get(`${PAYOUTS}/current`)).body).toMatchObject({ amount: 1050, revision: 4 });
    expect((await refundOf(part.id, { amount: 1000 })).status).toBe(201);
  });

  longRun.test(
    'holds held commissions again, and keeps commissions voided that were voided by hand',
    async () => {
      const held = await sale(ada, {});
      await api.post(`${COMMISSIONS}/${held.id}/hold`);
      await reverse((await refundOf(held.id, {})).body);
      expect(await read(held.id)).toMatchObject({ status: 'pending', available_at: null });
      const fraud = await sale(ada, { order_id: 'p' });
      const part = (await refundOf(fraud.id, { amount: 100 })).body;
      await api.post(`${COMMISSIONS}/${fraud.id}/void`, { reason: 'fraud' });
      await reverse(part);
      expect(await read(fraud.id)).toMatchObject({
        status: 'voided',
        void_reason: 'fraud',
        refunded_amount: 0,
      });
    },
  );

  test('voids a clawback that is not settled, in the unpaid payout too, and publishes an event', async () => {
    const paid = await sale(ada, {});
    await payAll();
    const { body } = await refundOf(paid.id, { sale_amount: 4000 });
    await makeCommission(api, ada, { amount: 1500 });
    expect(await makePayout(api)).toMatchObject({ amount: 1100 });
    expectRefusal(
      await api.post(`${COMMISSIONS}/${body.clawback.id}/void`),
      409,
      'wrong_commission_type',
      '/v2/affiliates/refunds/{refund_id}/reverse',
    );
    expect((await reverse(body)).body.refunds[0]).toMatchObject({ clawback: { status: 'voided' } });
    expect(await read(paid.id)).toMatchObject({ status: 'paid', refunded_amount: 0 });
    expect((await api.get(`${PAYOUTS}/current`)).body).toMatchObject({ amount: 1500, commission_count: 1 });
    const [voided] = await eventsOf(world, api, 'commission.voided');
    expect(voided?.payload.data).toMatchObject({ id: body.clawback.id, status: 'voided' });
    expect((await refundOf(paid.id, { sale_amount: 10_000 })).body).toMatchObject({
      amount: 1000,
      capped: false,
    });
  });

  test('is refused once a payout was reduced by it, and the refusal names an alternative', async () => {
    const first = await sale(ada, {});
    const reduced = (await refundOf(first.id, { amount: 100 })).body;
    const payout = await payAll();
    const refused = await nothingChanges(world, () => reverse(reduced));
    expectRefusal(refused, 409, 'refund_is_settled', payout.id, `/v2/affiliates/${ada}/adjustments`);
    const clawed = (await refundOf(first.id, { amount: 200 })).body;
    await makeCommission(api, ada, { amount: 1500 });
    await payAll();
    expectRefusal(await reverse(clawed), 409, 'refund_is_settled', clawed.clawback.payout_id ?? 'po_');
  });
});

describe('lists of refunds', () => {
  test('show all of them, by status, order, commission and time', async () => {
    const { id } = await sale(ada, {});
    const one = (await refundOf(id, { amount: 100 })).body;
    const two = await made({ order_id: 'late' });
    const ids = async (query: string) =>
      (await api.get(`${REFUNDS}?${query}`)).body.data.map((each: Json) => each.id);
    expect(await ids('')).toEqual([two.id, one.id]);
    expect(await ids('status=waiting')).toEqual([two.id]);
    expect(await ids('order_id=late')).toEqual([two.id]);
    expect(await ids(`commission_id=${id}`)).toEqual([one.id]);
    expect(await ids(`affiliate_id=${ada}`)).toEqual([one.id]);
    expect(await ids(`affiliate_id=${ada + 1000}`)).toEqual([]);
    expect(await ids(`external_id=${one.external_id}`)).toEqual([one.id]);
    expect(await ids('created_at[lt]=2020-01-01')).toEqual([]);
    const { pagination } = (await api.get(`${REFUNDS}?per_page=1&page=2`)).body;
    expect(pagination).toMatchObject({ page: 2, limit: 1, total: 2, pages: 2 });
    expectRefusal(await api.get(`${REFUNDS}/nope`), 404, 'resource_missing');
  });
});

test('a commission below one minor unit is accepted, paid with the others, and refunded', async () => {
  const small = await sale(ada, { amount: undefined, sale_amount: 4, rate_bps: 1000 });
  expect(small).toMatchObject({ amount: 0, status: 'unpaid' });
  expect((await refundOf(small.id, {})).body).toMatchObject({ amount: 0, capped: false });
  const csv = `external_id,affiliate_id,sale_amount,rate_bps\r\ntiny,${ada},0.04,1000\r\n`;
  expect((await api.upload(`${COMMISSIONS}/import`, csv)).body).toMatchObject({ created: 1 });
  expectRefusal(await api.post(PAYOUTS), 409, 'nothing_to_pay', 'no unpaid commission');
  await makeCommission(api, ada, { amount: 70 });
  expect(await payAll()).toMatchObject({ amount: 70, commission_count: 3 });
});

test('a commission held inside the unpaid payout is shown as left out', async () => {
  const [first, second] = [await sale(ada, {}), await sale(ada, { amount: 300 })];
  await sale(bob, { amount: 200 });
  await makePayout(api);
  await api.post(`${COMMISSIONS}/${second.id}/hold`);
  const shown = (amount: number, commission_count: number) => [
    {
      reason: 'on_hold',
      affiliate_count: 1,
      totals: [{ currency: 'usd', amount, commission_count, affiliate_count: 1 }],
    },
  ];
  expect((await api.get(`${PAYOUTS}/current`)).body.excluded).toEqual(shown(300, 1));
  await api.post(`${COMMISSIONS}/${first.id}/hold`);
  expect((await api.get(`${PAYOUTS}/current`)).body.excluded).toEqual(shown(1300, 2));
});
