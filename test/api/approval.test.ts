import { describe, expect, test } from 'vitest';
import type { Role } from '../../src/contract/roles.ts';
import { type Person, register, signedIn, tokensFor } from '../oauth/support.ts';
import { ARENAS, inArena, staggered } from '../races/support.ts';
import { type Api, apiOf } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { as as asOf } from './approval-support.ts';
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
  onlyAudited,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

/** The API as a signed-in person calls it. */
const as = (who: Person, at: { url: string } = world) => asOf(who, at);
const person = (role: Role = 'member') => signedIn(world, { role, api });
const decide = (who: Person, word: 'approve' | 'reject', { id, revision }: Json, note?: string) =>
  as(who)('POST', `${PAYOUTS}/${id}/${word}`, {
    body: { revision, ...(note === undefined ? {} : { note }) },
  });
const payoutOf = async (id: string) => (await api.get(`${PAYOUTS}/${id}`)).body;
const complete = ({ id, affiliates: [line] }: Json) =>
  api.put(`${PAYOUTS}/${id}`, { commissions: [{ affiliate_id: line.affiliate_id, is_paid: true }] });
const summaryFile = ({ id }: Json) => api.get(`${PAYOUTS}/${id}/payment-files/summary`);

/** An account that requires a second person, with an unpaid payout of two commissions that a person created. */
async function waiting(): Promise<{ payout: Json; commission: Json }> {
  expect((await api.patch('/v2/account', { approval: 'second_person' })).status).toBe(200);
  const { id } = await makeAffiliate(api);
  const commission = await makeCommission(api, id);
  await makeCommission(api, id);
  const made = await as(await person())('POST', PAYOUTS);
  expect(made.status, made.text).toBe(201);
  return { payout: made.body, commission };
}

describe('an account that requires a second person', () => {
  test('pays nothing, and gives no payment file, before one has approved', async () => {
    const { payout } = await waiting();
    expect(payout.approval).toEqual({ status: 'waiting', decided_by: null, decided_at: null, note: null });
    await nothingChanges(world, async () => {
      expectRefusal(await complete(payout), 409, 'approval_missing', 'approve its revision 1');
      expectRefusal(await summaryFile(payout), 409, 'approval_missing');
    });
    const member = await person();
    const approved = await decide(member, 'approve', payout, 'Looked at every line.');
    expect(approved.status, approved.text).toBe(200);
    expect(approved.body.approval).toMatchObject({
      ...{ status: 'approved', decided_by: member.id, note: 'Looked at every line.' },
    });
    expect(approved.body.revision).toBe(payout.revision);
    expect((await summaryFile(payout)).status).toBe(200);
    const paid = await completePayout(api, payout);
    expect(paid.approval).toEqual(approved.body.approval);
    expect((await summaryFile(payout)).status).toBe(200);
  });

  test('lets finance prepare and an approver approve, and neither do both', async () => {
    await waiting();
    const current = (await api.get(`${PAYOUTS}/current`)).body;
    expect((await api.delete(`${PAYOUTS}/${current.id}`)).status).toBe(204);
    const [finance, approver, viewer] = [
      await person('finance'),
      await person('approver'),
      await person('viewer'),
    ];
    const made = await as(finance)('POST', PAYOUTS);
    expect(made.status, made.text).toBe(201);
    const { body: payout } = made;
    const line = { affiliate_id: payout.affiliates[0].affiliate_id, is_paid: true };
    await nothingChanges(world, async () => {
      expectRefusal(await decide(finance, 'approve', payout), 403, 'approver_is_creator');
      expectRefusal(await decide(viewer, 'approve', payout), 403, 'role_too_low');
      for (const [method, path, body] of [
        ['POST', PAYOUTS, undefined],
        ['DELETE', `${PAYOUTS}/${payout.id}`, undefined],
        ['PUT', `${PAYOUTS}/${payout.id}`, { commissions: [line] }],
        ['PATCH', `/v2/affiliates/${line.affiliate_id}`, { paypal_email: 'mine@example.com' }],
        ['PATCH', '/v2/account', { approval: 'none' }],
      ] as const) {
        const answer = await as(approver)(method, path, body === undefined ? {} : { body });
        expectRefusal(answer, 403, 'role_too_low');
      }
    });
    const approved = await decide(approver, 'approve', payout);
    expect([approved.status, approved.body.approval?.decided_by]).toEqual([200, approver.id]);
    expect((await as(approver)('GET', `${PAYOUTS}/${payout.id}/payment-files/summary`)).status).toBe(200);
    const paid = await as(finance)('PUT', `${PAYOUTS}/${payout.id}`, { body: { commissions: [line] } });
    expect(paid.status, paid.text).toBe(200);
  });

  test('takes no approval from a viewer whom the author of the payout made an approver', async () => {
    await waiting();
    const [owner, viewer] = [await person('owner'), await person('viewer')];
    const current = (await api.get(`${PAYOUTS}/current`)).body;
    expect((await api.delete(`${PAYOUTS}/${current.id}`)).status).toBe(204);
    const payout = (await as(owner)('POST', PAYOUTS)).body;
    const raised = await as(owner)('PATCH', `/v2/users/${viewer.id}`, { body: { role: 'approver' } });
    expect(raised.status, raised.text).toBe(200);
    expectRefusal(await decide(viewer, 'approve', payout), 403, 'approver_let_in');
  });

  test('shows and lists everything of a waiting payout', async () => {
    const { payout } = await waiting();
    for (const part of ['', '/affiliates', '/commissions', '/excluded', '/download', '/payment-files']) {
      expect((await api.get(`${PAYOUTS}/${payout.id}${part}`)).status, part).toBe(200);
    }
    expect((await api.get(PAYOUTS)).body.data[0].approval.status).toBe('waiting');
  });

  test('loses an approval with every change of the payout', async () => {
    const { payout, commission } = await waiting();
    const member = await person();
    await decide(member, 'approve', payout);
    await api.post(`${COMMISSIONS}/${commission.id}/refund`, { external_id: 'r', amount: 1 });
    const changed = await payoutOf(payout.id);
    expect(changed.approval.status).toBe('waiting');
    expectRefusal(await complete(changed), 409, 'approval_missing', 'revision 2');
    expectRefusal(await decide(member, 'approve', payout), 409, 'payout_changed', 'revision 2');
    expect((await decide(member, 'approve', changed)).body.approval.status).toBe('approved');
    const { affiliate_id } = commission;
    await api.patch(`/v2/affiliates/${affiliate_id}`, { paypal_email: 'elsewhere@example.com' });
    expect((await payoutOf(payout.id)).approval.status).toBe('waiting');
  });

  test('reports a decision once, and a later one replaces it', async () => {
    const { payout } = await waiting();
    const [one, other] = [await person(), await person('owner')];
    await decide(one, 'approve', payout);
    await onlyAudited(world, () => decide(one, 'approve', payout));
    const rejected = await decide(other, 'reject', payout, 'Too much.');
    expect(rejected.body.approval).toMatchObject({ status: 'rejected', decided_by: other.id });
    expectRefusal(await complete(payout), 409, 'approval_missing', 'was rejected');
    await decide(one, 'approve', payout);
    await completePayout(api, payout);
    const types = (await eventsOf(world, api)).map(({ type }) => type);
    expect(types.filter((type) => /^payout\.(approved|rejected)$/.test(type))).toEqual([
      'payout.approved',
      'payout.rejected',
      'payout.approved',
    ]);
    expectRefusal(await decide(one, 'reject', payout), 409, 'payout_is_paid');
  });

  test('can delete a payout that nobody approves', async () => {
    const { payout } = await waiting();
    await decide(await person(), 'reject', payout);
    expect((await api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
    expect((await makePayout(api)).approval.status).toBe('waiting');
  });
});

describe('an approval is refused', () => {
  test('to a key, an application and a viewer', async () => {
    const { payout } = await waiting();
    const { access_token } = await tokensFor(world, await person('owner'), await register(api));
    const viewer = await person('viewer');
    const path = `${PAYOUTS}/${payout.id}/approve`;
    await nothingChanges(world, async () => {
      expectRefusal(await api.post(path, { revision: 1 }), 403, 'person_required', 'signed in');
      expectRefusal(await apiOf(world.url, access_token).post(path, { revision: 1 }), 403, 'person_required');
      expectRefusal(await decide(viewer, 'approve', payout), 403, 'role_too_low');
    });
  });

  test('to the creator of the payout: by hand, by a key, by a key that a key created, or by an application', async () => {
    await api.patch('/v2/account', { approval: 'second_person' });
    const { id: affiliate } = await makeAffiliate(api);
    await makeCommission(api, affiliate);
    const owner = await person('owner');
    const other = await person();
    const first = (await as(owner)('POST', '/v2/api-keys', { body: { name: 'first' } })).body.key;
    const second = (await apiOf(world.url, first).post('/v2/api-keys', { name: 'second' })).body.key;
    const { access_token } = await tokensFor(world, owner, await register(api));
    const senders: Api['request'][] = [
      as(owner),
      ...[first, second, access_token].map((key) => apiOf(world.url, key).request),
    ];
    for (const send of senders) {
      const made = await send('POST', PAYOUTS);
      expect(made.status, made.text).toBe(201);
      await nothingChanges(world, async () => {
        expectRefusal(await decide(owner, 'approve', made.body), 403, 'approver_is_creator', 'somebody else');
      });
      expect((await decide(owner, 'reject', made.body)).status).toBe(200);
      expect((await decide(other, 'approve', made.body)).status).toBe(200);
      await api.delete(`${PAYOUTS}/${made.body.id}`);
    }
  });

  test('to a creator who was removed and invited again', async () => {
    await api.patch('/v2/account', { approval: 'second_person' });
    await makeCommission(api, (await makeAffiliate(api)).id);
    const creator = await person();
    const payout = (await as(creator)('POST', PAYOUTS)).body;
    await api.delete(`/v2/users/${creator.id}`);
    const again = await person();
    await world.query(
      `update users set person_id = (select person_id from users where public_id('usr', id) = $1)
       where public_id('usr', id) = $2`,
      [creator.id, again.id],
    );
    expectRefusal(await decide(again, 'approve', payout), 403, 'approver_is_creator');
  });

  test('with a reason for another revision, `current`, an unknown payout, and an account without approval', async () => {
    const { payout } = await waiting();
    const member = await person();
    const stranger = await signedIn(world, { api: await world.otherAccount('another shop') });
    await nothingChanges(world, async () => {
      expectRefusal(await decide(member, 'approve', { ...payout, revision: 7 }), 409, 'payout_changed');
      expectRefusal(
        await decide(member, 'approve', { ...payout, id: 'current' }),
        404,
        'current_is_read_only',
      );
      expectRefusal(
        await decide(member, 'approve', { ...payout, revision: 0 }),
        400,
        'invalid_body',
        'revision',
      );
      const long = await decide(member, 'approve', payout, 'x'.repeat(1001));
      expectRefusal(long, 400, 'invalid_body', 'note');
      expectRefusal(await decide(stranger, 'approve', payout), 404, 'resource_missing');
    });
    await as(await person('owner'))('PATCH', '/v2/account', { body: { approval: 'none' } });
    expectRefusal(await decide(member, 'approve', payout), 409, 'approval_not_needed');
    expect((await payoutOf(payout.id)).approval.status).toBe('not_needed');
    await completePayout(api, payout);
  });
});

test('an approval counts only while its user may approve', async () => {
  const { payout } = await waiting();
  const member = await person();
  await decide(member, 'approve', payout);
  const owner = await person('owner');
  await api.patch(`/v2/users/${member.id}`, { role: 'viewer' });
  expect((await payoutOf(payout.id)).approval.status).toBe('waiting');
  await as(owner)('PATCH', `/v2/users/${member.id}`, { body: { role: 'member' } });
  expect((await payoutOf(payout.id)).approval.status).toBe('approved');
  await api.delete(`/v2/users/${member.id}`);
  expectRefusal(await complete(payout), 409, 'approval_missing');
  await decide(owner, 'approve', payout);
  await completePayout(api, payout);
});

test('only a signed-in owner turns off the second person, and the audit log records it', async () => {
  await api.patch('/v2/account', { approval: 'second_person' });
  const lowered = { body: { approval: 'none' } };
  expectRefusal(await api.patch('/v2/account', lowered.body), 403, 'owner_required', 'approval');
  expectRefusal(await as(await person())('PATCH', '/v2/account', lowered), 403, 'owner_required');
  expect((await api.get('/v2/account')).body.approval).toBe('second_person');
  const owner = await person('owner');
  expect((await as(owner)('PATCH', '/v2/account', lowered)).body.approval).toBe('none');
  const [entry] = (await api.get('/v2/audit-log?action=changeAccount&sort=-id')).body.data;
  expect(entry).toMatchObject({ actor: { kind: 'user', id: owner.id } });
  expect((await api.patch('/v2/account', lowered.body)).status).toBe(200);
});

describe.each(ARENAS)('$name', (arena) => {
  test('of any concurrent requests, only an approved revision is paid', () =>
    inArena(arena, async ({ world: place, racer, race }) => {
      for (const gap of someOf([0, 30, 70], 1)) {
        const shop = await place.otherAccount(`gap ${gap}`);
        const here = (index: number) => apiOf(racer(index).url, shop.key);
        await shop.patch('/v2/account', { approval: 'second_person' });
        const { id } = await makeAffiliate(shop);
        const commission = await makeCommission(shop, id);
        await makeCommission(shop, id);
        const creator = await signedIn(place, { role: 'member', api: shop });
        const payout = (await as(creator, place)('POST', PAYOUTS)).body;
        const member = await signedIn(place, { role: 'member', api: shop });
        const [approved, refunded, paid] = await race(() =>
          staggered(
            gap,
            () =>
              apiOf(here(0).url, '').request('POST', `${PAYOUTS}/${payout.id}/approve`, {
                body: { revision: 1 },
                headers: { cookie: `payhook_session=${member.cookie}`, 'payhook-csrf': member.csrf },
              }),
            () => here(1).post(`${COMMISSIONS}/${commission.id}/refund`, { external_id: 'r', amount: 1 }),
            () =>
              here(2).put(`${PAYOUTS}/${payout.id}`, { commissions: [{ affiliate_id: id, is_paid: true }] }),
          ),
        );
        expect([200, 409]).toContain(approved?.status);
        expect(refunded?.status).toBe(201);
        expect([200, 409]).toContain(paid?.status);
        const [row] = await place.query<{ status: string; revision: number; decided_revision: number }>(
          `select status, revision, decided_revision from payouts where public_id('po', id) = $1`,
          [payout.id],
        );
        expect(row?.status).toBe(paid?.status === 200 ? 'paid' : 'unpaid');
        if (row?.status === 'paid') expect(row.decided_revision).toBe(row.revision - 1);
      }
    }));
});
