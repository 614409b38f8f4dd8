import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../src/catalogue/catalogue.ts';
import { memberOf, send } from '../access/support.ts';
import type { Api } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  completePayout,
  ENDPOINTS,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  unique,
  withoutLists,
} from './fixtures.ts';

let world: World;
let api: Api;
let nobodyElse: string;
beforeAll(async () => {
  world = await borrowWorld();
  api = world.api;
  nobodyElse = await makeEndpoint(await world.otherAccount());
});
afterAll(async () => {
  const deliveries = await world.query('select 1 from deliveries where endpoint_id = $1', [
    nobodyElse.slice(3),
  ]);
  await world.close();
  expect(deliveries, 'another account got an event').toEqual([]);
});

const get = async (path: string): Promise<Json> => (await api.get(path)).body;
/** A person decides about a payout; the account requires it only meanwhile. */
async function decided(word: 'approve' | 'reject'): Promise<() => Promise<Json[]>> {
  await makeCommission(api, (await makeAffiliate(api)).id);
  // a payout by an ownerless key needs two people, who were invited before it was created
  const people = [await memberOf(api, 'member'), await memberOf(api, 'member')];
  const { id, revision } = await makePayout(api);
  return async () => {
    await world.query(`update accounts set approval = 'second_person'`);
    let answer: Json = {};
    for (const { credentials } of word === 'approve' ? people : people.slice(1))
      answer = await ok(
        send(world, credentials, ['POST', `${PAYOUTS}/${id}/${word}`, { body: { revision } }]),
      );
    const payout = withoutLists(answer);
    await world.query(`update accounts set approval = 'none'`);
    await ok(api.delete(`${PAYOUTS}/${id}`));
    return [payout];
  };
}

const ok = async (answer: Promise<Json>): Promise<Json> => {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
};

/** Payments old enough for this test. */
async function paidCommission(): Promise<Json> {
  const { id } = await makeAffiliate(api);
  const sale = await makeCommission(api, id);
  await completePayout(api, await makePayout(api));
  return sale;
}

/** An affiliate that a file created. */
async function importOne(): Promise<{ made: Json; affiliate: Json }> {
  const email = `${unique('file')}@example.com`;
  const made = await ok(api.upload('/v2/imports?kind=affiliates', `email\n${email}\n`));
  const [
    {
      balance: _,
      last_paid_at: __,
      destination_type: ___,
      paid_through: ____,
      has_tax_profile: _____,
      ...affiliate
    } = {},
  ] = await allOf(api, `${AFFILIATES}?email=${email}`);
  return { made, affiliate };
}

/** A type of event, its preconditions, its cause and its expected data. */
const HAPPENINGS: Record<string, () => Promise<() => Promise<Json[]>>> = {
  'affiliate.created': async () => async () => [await makeAffiliate(api, { name_first: 'Zoë' })],
  'affiliate.updated': async () => {
    const { id } = await makeAffiliate(api);
    return async () => {
      const { balance: _, ...changed } = await ok(api.patch(`${AFFILIATES}/${id}`, { name_last: 'Okafor' }));
      return [changed];
    };
  },
  'affiliate.deleted': async () => {
    const { made, affiliate } = await importOne();
    return async () => {
      await ok(api.post(`/v2/imports/${made.import_id}/undo`));
      return [affiliate];
    };
  },
  'import.undone': async () => {
    const { made } = await importOne();
    return async () => [await ok(api.post(`/v2/imports/${made.import_id}/undo`))];
  },
  'commission.created': async () => {
    const { id } = await makeAffiliate(api);
    return async () => {
      const sale = await makeCommission(api, id, { metadata: { campaign: 'winter' } });
      const bonus = await ok(
        api.post(`${AFFILIATES}/${id}/adjustments`, { external_id: unique('bonus'), amount: 5 }),
      );
      return [sale, bonus];
    };
  },
  'commission.updated': async () => {
    const { id } = await makeCommission(api, (await makeAffiliate(api)).id);
    const one = `${COMMISSIONS}/${id}`;
    return async () => {
      const records = [];
      for (const [what, body] of [
        ['refund', { external_id: unique('refund'), amount: 100 }],
        ['hold', undefined],
        ['unhold', undefined],
      ] as const) {
        await ok(api.post(`${one}/${what}`, body));
        records.push(await get(one));
      }
      return records;
    };
  },
  'commission.voided': async () => {
    const { id } = await makeCommission(api, (await makeAffiliate(api)).id);
    return async () => {
      await ok(api.post(`${COMMISSIONS}/${id}/void`, { reason: 'her own order' }));
      return [await get(`${COMMISSIONS}/${id}`)];
    };
  },
  'commission.clawed_back': async () => {
    const { id } = await paidCommission();
    return async () => {
      await ok(api.post(`${COMMISSIONS}/${id}/refund`, { external_id: unique('refund'), amount: 300 }));
      const all = await allOf(api, COMMISSIONS);
      return all.filter((row) => row.reverses_commission_id === id);
    };
  },
  'commissions.imported': async () => {
    const { id } = await makeAffiliate(api);
    const sales = [1, 2, 3].map((amount) => ({
      external_id: unique('batch'),
      affiliate_id: id,
      amount,
      currency: 'usd',
    }));
    return async () => {
      await ok(api.post(`${COMMISSIONS}/batch`, { commissions: sales }));
      const file = `external_id,affiliate_id,amount,currency\n${unique('file')},${id},1.00,usd\n`;
      await ok(api.upload(`${COMMISSIONS}/import`, file));
      const object = 'commission_import';
      const sums = (amount: number, count: number) => [{ currency: 'usd', amount, count }];
      return [
        { object, source: 'batch', created: 3, totals: sums(6, 3) },
        { object, source: 'file', created: 1, unchanged: 0, failed: 0, totals: sums(100, 1) },
      ];
    };
  },
  'payout.created': async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
    return async () => {
      const payout = await makePayout(api);
      await ok(api.delete(`${PAYOUTS}/${payout.id}`));
      return [withoutLists(payout)];
    };
  },
  'payout.updated': async () => {
    const { id } = await makeAffiliate(api);
    const [sale] = [await makeCommission(api, id), await makeCommission(api, id)];
    const payout = await makePayout(api);
    return async () => {
      await ok(api.post(`${COMMISSIONS}/${sale?.id}/refund`, { external_id: unique('refund'), amount: 100 }));
      const updated = await get(`${PAYOUTS}/${payout.id}`);
      await ok(api.delete(`${PAYOUTS}/${payout.id}`));
      return [withoutLists(updated)];
    };
  },
  'payout.approved': () => decided('approve'),
  'payout.rejected': () => decided('reject'),
  'payout.paid': async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
    const payout = await makePayout(api);
    return async () => {
      await completePayout(api, payout);
      return [withoutLists(await get(`${PAYOUTS}/${payout.id}`))];
    };
  },
  'payout.deleted': async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
    const payout = await makePayout(api);
    return async () => {
      await ok(api.delete(`${PAYOUTS}/${payout.id}`));
      return [withoutLists(payout)];
    };
  },
  'webhook_endpoint.disabled': async () => {
    const id = await makeEndpoint(api, { event_types: ['nothing.at-all'] });
    return async () => [await ok(api.patch(`${ENDPOINTS}/${id}`, { status: 'disabled' }))];
  },
};

const difference = (updated: object, added: object = {}, removed: object = {}) => ({
  added,
  updated,
  removed,
});
const text = expect.any(String);
const approval = { status: 'waiting', decided_by: null, decided_at: null, note: null };
/** The changes of each type that reports an update, in the order in which they happen. */
const CHANGES: Readonly<Record<string, readonly object[]>> = {
  'affiliate.updated': [difference({}, { name_last: 'Okafor' })],
  'import.undone': [difference({ status: 'completed' }, { undone_at: text, undone_by: text })],
  'commission.updated': [
    difference({ amount: 1000, refunded_amount: 0 }),
    difference({ status: 'unpaid' }, {}, { available_at: text }),
    difference({ status: 'pending' }, { available_at: text }),
  ],
  'commission.voided': [difference({ status: 'unpaid' }, { voided_at: text, void_reason: 'her own order' })],
  'payout.updated': [difference({ amount: expect.any(Number), totals: [expect.any(Object)], revision: 1 })],
  'payout.approved': [difference({ approval })],
  'payout.rejected': [difference({ approval })],
  'payout.paid': [
    difference(
      { status: 'unpaid', totals: [expect.objectContaining({ paid_amount: 0 })], revision: 1 },
      { paid_at: text, paid_by: text },
    ),
  ],
  'webhook_endpoint.disabled': [
    difference({ status: 'enabled' }, { disabled_at: text, disabled_reason: 'manual' }),
  ],
};

describe('each type of event that we publish', () => {
  test.each(Object.keys(HAPPENINGS))(
    '%s reaches its subscribers, with the record as GET shows it',
    async (type) => {
      const happen = await HAPPENINGS[type]?.();
      const prefix = `${type.split('.')[0]}.*`;
      const exact = await makeEndpoint(api, { event_types: [type] });
      const other = await makeEndpoint(api, { event_types: ['webhook_endpoint.test', 'order.*'] });
      // one statement finds the subscribers of every type: a short run has those by a pattern for one type of each prefix
      const isFirst = Object.keys(HAPPENINGS).find((each) => each.startsWith(prefix.slice(0, -1))) === type;
      const wider =
        isLong || isFirst
          ? [await makeEndpoint(api, { event_types: ['order.created', prefix] }), await makeEndpoint(api)]
          : [];
      const expected = (await happen?.()) ?? [];
      expect(expected.length).toBeGreaterThan(0);
      for (const endpoint of [exact, ...wider]) {
        const log = `${ENDPOINTS}/${endpoint}/events`;
        const rows = await allOf(api, `${log}?sort=id&type=${type}`);
        expect(rows.map(({ status }) => status)).toEqual(expected.map(() => 'pending'));
        const payloads = await Promise.all(rows.map(async ({ id }) => (await get(`${log}/${id}`)).payload));
        expect(payloads.map(({ data }) => data)).toEqual(expected);
        for (const [index, payload] of payloads.entries())
          expect(payload).toMatchObject({ id: rows[index]?.id, type, object: 'event' });
        expect(payloads.map(({ changes }) => changes)).toEqual(
          CHANGES[type] ?? expected.map(() => undefined),
        );
      }
      // each that waits in the log waits in the queue
      const exactly = await world.query('select 1 from queue where endpoint_id = $1', [exact.slice(3)]);
      expect(exactly).toHaveLength(expected.length);
      expect(await allOf(api, `${ENDPOINTS}/${other}/events`)).toEqual([]);
      for (const endpoint of [exact, ...wider, other]) await api.delete(`${ENDPOINTS}/${endpoint}`);
    },
  );

  test('is tested here: the catalogue has no more, except the endpoint test', () => {
    expect([...Object.keys(HAPPENINGS), 'webhook_endpoint.test'].toSorted()).toEqual(
      Object.keys(CATALOGUE).toSorted(),
    );
  });

  test('has changes, unless its record is new or gone', () => {
    const isNewOrGone = /\.(created|deleted|imported|clawed_back|test)$/;
    expect(Object.keys(CHANGES).toSorted()).toEqual(
      Object.keys(CATALOGUE)
        .filter((type) => !isNewOrGone.test(type))
        .toSorted(),
    );
  });

  test('is not published by a refused request', async () => {
    const endpoint = await makeEndpoint(api);
    const { id } = await makeAffiliate(api);
    const log = `${ENDPOINTS}/${endpoint}/events`;
    const before = await allOf(api, log);
    for (const answer of [
      await api.post(AFFILIATES, { email: 'no' }),
      await api.patch(`${AFFILIATES}/${id}`, { status: 'asleep' }),
      await api.post(COMMISSIONS, { external_id: 'x', affiliate_id: 999_999, amount: 1 }),
      await api.post(PAYOUTS, { filters: { currency: 'jpy' } }),
    ])
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(await allOf(api, log)).toEqual(before);
  });
});
