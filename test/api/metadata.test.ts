import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { before } from '../support/migrations.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  newestEvent,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
  PROGRAMS,
  unique,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const KINDS = {
  affiliate: { path: AFFILIATES, needed: () => ({ email: `${unique('a')}@example.com` }) },
  program: { path: PROGRAMS, needed: () => ({ name: unique('program') }) },
};

describe.each(Object.entries(KINDS))('the metadata of a %s', (_, { path, needed }) => {
  const make = (fields: object = {}) => api.post(path, { ...needed(), ...fields });

  test('are an object of texts, empty at first; a change replaces all of them or none', async () => {
    const made = await make();
    expect([made.status, made.body.metadata]).toEqual([201, {}]);
    const one = `${path}/${made.body.id}`;
    const change = async (fields: object) => (await api.patch(one, fields)).body.metadata;
    expect(await change({ metadata: { a: '1', b: '' } })).toEqual({ a: '1', b: '' });
    expect(await change({ ...needed() })).toEqual({ a: '1', b: '' });
    expect(await change({ metadata: { c: 'ä 💥' } })).toEqual({ c: 'ä 💥' });
    expect((await api.get(one)).body.metadata).toEqual({ c: 'ä 💥' });
    expect((await api.get(path)).body.data[0].metadata).toEqual({ c: 'ä 💥' });
    expect(await change({ metadata: {} })).toEqual({});
  });

  test.each([
    ['null', null, 'metadata'],
    ['a list', ['a'], 'metadata'],
    ['a number', { k: 1 }, 'metadata.k'],
    ['null in it', { k: null }, 'metadata.k'],
    ['501 characters', { k: 'x'.repeat(501) }, 'metadata.k must have at most 500 characters'],
    ['a key of 41', { ['k'.repeat(41)]: '' }, `the key metadata.${'k'.repeat(41)} must have at most 40`],
    [
      '51 keys',
      Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, ''])),
      'metadata must have at most 50 keys',
    ],
    ['NUL', { k: '\0' }, 'metadata.k'],
  ])('refuse %s', async (_title, metadata, message) => {
    const { body } = await make();
    await nothingChanges(world, async () => {
      expectRefusal(await make({ metadata }), 400, 'invalid_body', message);
      expectRefusal(await api.patch(`${path}/${body.id}`, { metadata }), 400, 'invalid_body', message);
    });
  });

  test('hold fifty keys of forty characters and texts of five hundred', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${index}`.padStart(40, 'k'), 'x'.repeat(500)]),
    );
    expect((await make({ metadata })).body.metadata).toEqual(metadata);
  });
});

test('the metadata of an affiliate are in its events, and unchanged ones publish nothing', async () => {
  const { id } = await makeAffiliate(api, { metadata: { a: '1', b: '2' } });
  const one = `${AFFILIATES}/${id}`;
  await onlyAudited(world, () => api.patch(one, { metadata: { b: '2', a: '1' } }));
  await api.patch(one, { metadata: { a: '2' } });
  expect((await newestEvent(world, api, 'affiliate.updated')).metadata).toEqual({ a: '2' });
});

test('a file of affiliates keeps their metadata', async () => {
  const { id, email } = await makeAffiliate(api, { metadata: { a: '1' } });
  await api.upload(`${AFFILIATES}/import`, `email,name_first\n${email},Ada\nnew@example.com,New\n`);
  expect((await api.get(`${AFFILIATES}/${id}`)).body).toMatchObject({
    name_first: 'Ada',
    metadata: { a: '1' },
  });
  expect((await api.get(`${AFFILIATES}?email=new@example.com`)).body.data[0].metadata).toEqual({});
});

test('the same limits hold for the metadata of a commission', async () => {
  const { id } = await makeAffiliate(api);
  const made = await api.post(COMMISSIONS, {
    external_id: 'o',
    affiliate_id: id,
    amount: 1,
    metadata: { ['k'.repeat(41)]: '' },
  });
  expectRefusal(made, 400, 'invalid_body', 'the key metadata');
});

describe('the metadata of a payout', () => {
  beforeEach(async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
  });
  const metadataOf = ({ body }: Answer) => body.metadata;

  test('are set when it is created, shown everywhere, and previewed', async () => {
    const metadata = { run: 'november' };
    expect(metadataOf(await api.post(`${PAYOUTS}/preview`, { metadata }))).toEqual(metadata);
    expect(metadataOf(await api.post(`${PAYOUTS}/preview`))).toEqual({});
    for (const part of ['affiliates', 'excluded']) {
      expect((await api.post(`${PAYOUTS}/preview/${part}`, { metadata })).status).toBe(200);
    }
    const made = await makePayout(api, { metadata });
    expect(made.metadata).toEqual(metadata);
    expect(metadataOf(await api.get(`${PAYOUTS}/current`))).toEqual(metadata);
    expect((await api.get(PAYOUTS)).body.data[0].metadata).toEqual(metadata);
    expect((await newestEvent(world, api, 'payout.created')).metadata).toEqual(metadata);
    expect((await completePayout(api, made)).metadata).toEqual(metadata);
  });

  test('are replaced when it is completed, and then stay', async () => {
    const payout = await makePayout(api, { metadata: { run: 'november' } });
    const [{ affiliate_id }] = payout.affiliates;
    const body = { commissions: [{ affiliate_id, is_paid: true }], metadata: { bank_run: 'B-9' } };
    const done = await api.put(`${PAYOUTS}/${payout.id}`, body);
    expect(metadataOf(done)).toEqual({ bank_run: 'B-9' });
    expect((await newestEvent(world, api, 'payout.paid')).metadata).toEqual({ bank_run: 'B-9' });
    expectRefusal(await api.put(`${PAYOUTS}/${payout.id}`, body), 409, 'payout_is_paid');
  });

  test('follow the rules of all metadata', async () => {
    await nothingChanges(world, async () => {
      const answer = await api.post(PAYOUTS, { metadata: { k: 1 } });
      expectRefusal(answer, 400, 'invalid_body', 'metadata.k');
    });
    expect((await makePayout(api)).metadata).toEqual({});
  });
});

test.skipIf(isOnNode())('records of an earlier version have none, shown as an empty object', async () => {
  await before(world, '0018_metadata.sql', async (migrate) => {
    const add = (sql: string) => world.query(`${sql} from accounts`);
    await world.query(`insert into accounts (name) values ('One')`);
    await add(`insert into affiliates (account_id, email) select id, 'a@example.com'`);
    await add(`insert into affiliate_programs (account_id, name) select id, 'P'`);
    await add(
      `insert into payouts (account_id, number, as_of, created_by) select id, 1, '2026-01-01', 'key_1'`,
    );
    await migrate();
    for (const table of ['affiliates', 'affiliate_programs', 'payouts']) {
      expect(await world.query(`select metadata from ${table}`)).toEqual([{ metadata: {} }]);
    }
  });
});
