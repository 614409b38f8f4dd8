import { beforeEach, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  COMMISSIONS,
  expectRefusal,
  type Json,
  makeAffiliate,
  newestEvent,
  nothingChanges,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with two affiliates. */
const api = useAccount(world);
let zoe: Json;
let bob: Json;
beforeEach(async () => {
  zoe = await makeAffiliate(api, { external_id: 'partner-7', email: 'zoë@example.com' });
  bob = await makeAffiliate(api, { external_id: 'partner-8', email: 'bob@example.com' });
});

const send = (who: object, fields: object = {}) =>
  api.post(COMMISSIONS, { external_id: 'order-1', amount: 1000, currency: 'usd', ...who, ...fields });

test.each([
  ['its external_id', { affiliate_external_id: 'partner-7' }],
  ['its e-mail address', { affiliate_email: 'zoë@example.com' }],
  ['its e-mail address in another case', { affiliate_email: 'ZOË@Example.com' }],
  ['its e-mail address decomposed', { affiliate_email: 'zoe\u0308@example.com' }],
])('a commission may name its affiliate by %s', async (_, who) => {
  const made = await send(who);
  expect([made.status, made.body.affiliate_id]).toEqual([201, zoe.id]);
  expect(Object.keys(made.body)).not.toContain(Object.keys(who)[0]);
  expect(await newestEvent(world, api, 'commission.created')).toEqual(made.body);
});

test('a commission is the same under any name of its affiliate, and another one for another affiliate', async () => {
  const made = await send({ affiliate_id: zoe.id });
  for (const who of [{ affiliate_external_id: 'partner-7' }, { affiliate_email: 'zoë@example.com' }]) {
    const again = await send(who);
    expect([again.status, again.text]).toEqual([200, made.text]);
  }
  const others = [
    { affiliate_external_id: 'partner-8' },
    { affiliate_id: 999_999_999 },
    { affiliate_external_id: 'nobody' },
  ];
  for (const who of others) expectRefusal(await send(who), 409, 'duplicate_external_id');
});

test('exactly one name is accepted, and it must be in the account', async () => {
  const other = await world.otherAccount();
  await makeAffiliate(other, { external_id: 'theirs', email: 'theirs@example.com' });
  const rule = 'exactly one of affiliate_id, affiliate_email, affiliate_external_id must name the affiliate';
  await nothingChanges(world, async () => {
    expectRefusal(await send({}), 400, 'invalid_body', rule, 'none of them');
    const two = { affiliate_id: zoe.id, affiliate_external_id: 'partner-7' };
    expectRefusal(await send(two), 400, 'invalid_body', rule, 'affiliate_id and affiliate_external_id');
    for (const [name, text] of [
      ['affiliate_external_id', 'partner-9'],
      ['affiliate_external_id', 'Partner-7'],
      ['affiliate_external_id', 'theirs'],
      ['affiliate_email', 'theirs@example.com'],
      ['affiliate_email', 'nobody'],
    ] as const) {
      const answer = await send({ [name]: text });
      expectRefusal(answer, 400, 'unknown_affiliate', `${name} "${text}" does not exist`);
    }
    for (const name of ['affiliate_external_id', 'affiliate_email']) {
      expectRefusal(await send({ [name]: '' }), 400, 'invalid_body', name);
      expectRefusal(await send({ [name]: null }), 400, 'invalid_body', name);
    }
  });
});

test('each item of a batch names its affiliate in any of these ways', async () => {
  const items = [
    { affiliate_external_id: 'partner-7' },
    { affiliate_email: 'BOB@example.com' },
    { affiliate_id: zoe.id },
    { affiliate_external_id: 'partner-8' },
    { affiliate_external_id: 'partner-9' },
    { affiliate_id: zoe.id, affiliate_email: 'bob@example.com' },
    {},
  ].map((who, index) => ({ external_id: `o-${index}`, amount: 100 + index, currency: 'usd', ...who }));
  const batch = (commissions: object[], partial: boolean) =>
    api.post(`${COMMISSIONS}/batch`, { commissions, partial });
  await nothingChanges(world, async () => {
    expectRefusal(await batch(items, false), 400, 'invalid_items', 'commissions[5]', 'commissions[6]');
    const unknown = await batch(items.slice(0, 5), false);
    expectRefusal(unknown, 400, 'invalid_items', 'commissions[4]: affiliate_external_id "partner-9"');
  });
  const { body } = await batch(items, true);
  const results = body.items.map((item: Json) => item.commission?.affiliate_id ?? item.error.reason);
  expect(results).toEqual([
    zoe.id,
    bob.id,
    zoe.id,
    bob.id,
    'unknown_affiliate',
    'invalid_body',
    'invalid_body',
  ]);
});

test('a file finds affiliates by the same rules', async () => {
  const file = 'external_id,affiliate_email,amount,currency\nf-1,ZOE\u0308@example.com,1.00,usd\n';
  const answer = await api.upload(`${COMMISSIONS}/import`, file);
  expect(answer.body).toMatchObject({ created: 1 });
  const [made] = (await api.get(`${COMMISSIONS}?external_id=f-1`)).body.data;
  expect(made.affiliate_id).toBe(zoe.id);
});
