import { describe, expect, test } from 'vitest';
import {
  type AccessChange,
  APPROVAL_RULES,
  type ApprovalRule,
  type Change,
  ruleOf,
} from '../../src/money/ledger/approval-rules.ts';
import { ARENAS, inArena, staggered } from '../races/support.ts';
import { type Api, apiOf } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  anonymousSenders,
  approve,
  as,
  follow,
  invite,
  type SendRequest,
  type SignedInUser,
  sendersOf,
  signInUser,
  withOperator,
} from './approval-support.ts';
import {
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  nothingChanges,
  PAYOUTS,
  unique,
} from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const owner = () => signInUser(world, api, 'owner');
const setApproval = async (value: 'second_person' | 'none', send: SendRequest = api.request) =>
  expect((await send('PATCH', '/v2/account', { body: { approval: value } })).status).toBe(200);
const approvalOf = async (id: string, send: SendRequest = api.request): Promise<Json> => {
  const answer = await send('GET', `${PAYOUTS}/${id}/approval`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const current = async (): Promise<Json> => (await api.get(`${PAYOUTS}/current`)).body;
const complete = ({ id, affiliates: [line] }: Json) =>
  api.put(`${PAYOUTS}/${id}`, { commissions: [{ affiliate_id: line.affiliate_id, is_paid: true }] });
const create = async (send: SendRequest): Promise<Json> => {
  const made = await send('POST', PAYOUTS);
  expect(made.status, made.text).toBe(201);
  return made.body;
};

/** Owed: an affiliate with a bank account and three commissions, one of them partly refunded. */
interface Owed {
  readonly affiliate: Json;
  readonly commissions: readonly Json[];
  readonly refund: Json;
}
async function owe(shop: Api = api): Promise<Owed> {
  const affiliate = await makeAffiliate(shop, { paypal_email: 'first@example.com' });
  const commissions = [];
  for (let count = 0; count < 3; count += 1) commissions.push(await makeCommission(shop, affiliate.id));
  const refund = await shop.post(`${COMMISSIONS}/${commissions[0].id}/refund`, {
    external_id: unique('refund'),
    amount: 300,
  });
  expect(refund.status, refund.text).toBe(201);
  return { affiliate, commissions, refund: refund.body };
}

/** The requests that change a payout, by the event of the rules. */
type Request = (owed: Owed) => Parameters<SendRequest>;
const CHANGES: Readonly<Record<Change, Readonly<Record<string, Request>>>> = {
  redirected: {
    'a PayPal address': ({ affiliate }) => [
      'PATCH',
      `/v2/affiliates/${affiliate.id}`,
      { body: { paypal_email: 'elsewhere@example.com' } },
    ],
    'a destination': ({ affiliate }) => [
      'PUT',
      `/v2/affiliates/${affiliate.id}/destination`,
      { body: { type: 'sepa', account_holder: 'Eve', iban: 'DE02120300000000202051' } },
    ],
    'a file of affiliates': ({ affiliate }) => [
      'POST',
      '/v2/affiliates/import',
      {
        body: `email,paypal_email\n${affiliate.email},elsewhere@example.com\n`,
        headers: { 'content-type': 'text/csv' },
      },
    ],
  },
  increased: {
    'the reversal of a refund': ({ refund }) => ['POST', `/v2/affiliates/refunds/${refund.id}/reverse`],
  },
  reduced: {
    'a refund': ({ commissions }) => [
      'POST',
      `${COMMISSIONS}/${commissions[1].id}/refund`,
      { body: { external_id: unique('refund'), amount: 100 } },
    ],
    'a hold': ({ commissions }) => ['POST', `${COMMISSIONS}/${commissions[1].id}/hold`],
    'a void': ({ commissions }) => ['POST', `${COMMISSIONS}/${commissions[1].id}/void`],
  },
};

/** How a user gets access: the invited user. `before` is a user from before the payout. */
const GIVE_ACCESS: Readonly<
  Record<AccessChange, (send: SendRequest, before: SignedInUser) => Promise<SignedInUser>>
> = {
  invited: (send) => invite(world, send),
  promoted: async (send, before) => {
    const raised = await send('PATCH', `/v2/users/${before.id}`, { body: { role: 'owner' } });
    expect(raised.status, raised.text).toBe(200);
    return before;
  },
  linked: async (send, before) => {
    const made = await send('POST', `/v2/users/${before.id}/reset-password`);
    expect(made.status, made.text).toBe(200);
    return follow(world, before.id, made.body.reset_url);
  },
};
/** The first request of an event, sent by this actor. */
const change = (send: SendRequest, event: Change, owed: Owed) => {
  const [request] = Object.values(CHANGES[event]) as [Request];
  return send(...request(owed));
};
const ACCESS = Object.keys(GIVE_ACCESS) as AccessChange[];

/** Expects a rule for a payout: `about` is the person it bars, the others took no part in it. */
async function expectEffect(
  { effect, reason, you, they, because }: ApprovalRule,
  payout: Json,
  { about, others: [one, other] }: { about: SignedInUser; others: readonly [SignedInUser, SignedInUser] },
): Promise<void> {
  const standing = await approvalOf(payout.id);
  const entry = (id: string) => standing.approvers.find(({ user_id }: Json) => user_id === id);
  expect(standing.required_count).toBe(effect === 'two_people' ? 2 : 1);
  if (effect === 'bars') {
    expect(entry(about.id)).toMatchObject({
      can_approve: false,
      barred_because: [{ reason, message: `they ${they}` }],
    });
    const seen = (await approvalOf(payout.id, about.send)).approvers;
    expect(seen.find(({ user_id }: Json) => user_id === about.id).barred_because[0].message).toBe(
      `you ${you}`,
    );
    await nothingChanges(world, async () => {
      expectRefusal(await approve(about, payout), 403, reason ?? '', you ?? '');
    });
  } else {
    expect(entry(about.id)).toMatchObject({ can_approve: true, barred_because: [] });
  }
  expectRefusal(await complete(payout), 409, 'approval_missing');
  if (effect === 'two_people') {
    expect(standing.required_because).toContain(because);
    for (let again = 0; again < 2; again += 1) {
      expect((await approve(one, payout)).body.approval.status).toBe('waiting');
      expectRefusal(await complete(payout), 409, 'approval_missing', 'one of two has');
    }
    expect((await approve(other, payout)).body.approval).toMatchObject({
      status: 'approved',
      decided_by: other.id,
    });
  } else {
    expect(standing.required_because).toBeNull();
    const approver = effect === 'nothing' ? about : one;
    expect((await approve(approver, payout)).body.approval).toMatchObject({
      status: 'approved',
      decided_by: approver.id,
    });
  }
  expect((await completePayout(api, payout)).approval.status).toBe('approved');
}

/** Expects that a user whom a rule bars cannot approve a payout that needs two people, and that two others can. */
async function expectBarredFromTwo(
  { reason, you }: ApprovalRule,
  payout: Json,
  { about, others: [one, other] }: { about: SignedInUser; others: readonly [SignedInUser, SignedInUser] },
): Promise<void> {
  expectRefusal(await approve(about, payout), 403, reason ?? '', you ?? '');
  expect((await approve(one, payout)).body.approval.status).toBe('waiting');
  expect((await approve(other, payout)).body.approval.status).toBe('approved');
}

describe('the creator of a payout', () => {
  test('cannot approve it, however they created it', async () => {
    await setApproval('second_person');
    const [ann, bob, carol] = [await owner(), await owner(), await owner()];
    for (const [name, send] of someOf(Object.entries(await sendersOf(world, api, ann)), 2)) {
      await owe();
      const payout = await create(send);
      await expectEffect(ruleOf('created', 'person'), payout, { about: ann, others: [bob, carol] });
      expect((await approvalOf(payout.id)).changes[0], name).toMatchObject({
        ...{ change: 'created', user_id: ann.id, actor_id: payout.created_by },
      });
    }
  });

  test('needs two people to approve it when the creator is unknown', async () => {
    await setApproval('second_person');
    const [ann, bob, carol] = [await owner(), await owner(), await owner()];
    await withOperator(world, api, async (operator) => {
      for (const send of someOf(Object.values(await anonymousSenders(world, api, operator)), 1)) {
        await owe();
        const payout = await create(send);
        await expectEffect(ruleOf('created', 'program'), payout, { about: ann, others: [bob, carol] });
      }
    });
  });
});

describe.each(someOf(Object.keys(CHANGES) as Change[], 1))('a payout that was %s later', (event) => {
  test('cannot be approved by the person who changed it, however they did', async () => {
    await setApproval('second_person');
    const [ann, bob, carol, dave] = [await owner(), await owner(), await owner(), await owner()];
    const senders = await sendersOf(world, api, ann);
    const [first, ...further] = Object.values(CHANGES[event]) as [Request, ...Request[]];
    // every way with one request, and every request from a signed-in user
    const cases = [
      ...Object.values(senders).map((send) => [send, first] as const),
      ...further.map((request) => [senders['signed in'], request] as const),
    ];
    for (const [send, request] of someOf(cases, 3)) {
      const owed = await owe();
      await create(bob.send);
      const changed = await send(...request(owed));
      expect([200, 201], changed.text).toContain(changed.status);
      const payout = await current();
      expect(payout.revision).toBe(2);
      await expectEffect(ruleOf(event, 'person'), payout, { about: ann, others: [carol, dave] });
      expect((await approvalOf(payout.id)).changes[1]).toMatchObject({
        ...{ revision: 2, change: event, user_id: ann.id },
      });
    }
  });

  test("by an unknown person's program needs as many approvals as the rule says", async () => {
    await setApproval('second_person');
    const [ann, bob, carol, dave] = [await owner(), await owner(), await owner(), await owner()];
    await withOperator(world, api, async (operator) => {
      for (const send of someOf(Object.values(await anonymousSenders(world, api, operator)), 1)) {
        const owed = await owe();
        await create(bob.send);
        const changed = await change(send, event, owed);
        expect([200, 201], changed.text).toContain(changed.status);
        const payout = await current();
        await expectEffect(ruleOf(event, 'program'), payout, { about: ann, others: [carol, dave] });
      }
    });
  });
});

describe.each(someOf(ACCESS, 1))('a user who was %s since the payout was created', (event) => {
  const people = async () => {
    await setApproval('second_person');
    await owe();
    const [ann, bob, carol, dave] = [await owner(), await owner(), await owner(), await owner()];
    return { ann, bob, carol, dave, eve: await signInUser(world, api, 'member') };
  };

  test('by its creator, by someone who changed it, or by someone they gave access, cannot approve it', async () => {
    const { ann, bob, carol, dave, eve } = await people();
    const payout = await create(ann.send);
    const rule = ruleOf(event, 'author');
    const of = { others: [carol, dave] as const };
    await expectEffect(rule, payout, { about: await GIVE_ACCESS[event](ann.send, eve), ...of });

    const owed = await owe();
    await create(ann.send);
    await change(bob.send, 'reduced', owed);
    const next = await signInUser(world, api, 'member');
    await expectEffect(rule, await current(), { about: await GIVE_ACCESS[event](bob.send, next), ...of });

    await owe();
    const third = await create(ann.send);
    const friend = await invite(world, ann.send, 'owner');
    const last = await signInUser(world, api, 'member');
    await expectEffect(rule, third, { about: await GIVE_ACCESS[event](friend.send, last), ...of });
  });

  test('by the command line that created it, cannot approve it', async () => {
    const { carol, dave, eve } = await people();
    await withOperator(world, api, async (operator) => {
      const payout = await create(operator);
      const about = await GIVE_ACCESS[event](operator, eve);
      await expectBarredFromTwo(ruleOf(event, 'author'), payout, { about, others: [carol, dave] });
    });
  });

  test('by a key before approval was required, cannot approve it', async () => {
    const { ann, bob, carol, dave, eve } = await people();
    await setApproval('none', ann.send);
    const payout = await create(bob.send);
    const key = (await sendersOf(world, api, carol))['with their key'];
    const about = await GIVE_ACCESS[event](key, eve);
    await setApproval('second_person');
    await expectEffect(ruleOf(event, 'key'), payout, { about, others: [carol, dave] });
  });

  test('by anyone, cannot approve it while two people must, because each of them may have created it', async () => {
    const { carol, dave, eve } = await people();
    const payout = await create(api.request);
    const about = await GIVE_ACCESS[event](carol.send, eve);
    await expectBarredFromTwo(ruleOf(event, 'anybody'), payout, { about, others: [carol, dave] });
  });

  test('by an owner who took no part in it, or on the command line, can approve it', async () => {
    const { ann, carol, dave, eve } = await people();
    const of = { others: [carol, dave] as const };
    const payout = await create(ann.send);
    const rule = ruleOf(event, 'uninvolved');
    await expectEffect(rule, payout, { about: await GIVE_ACCESS[event](carol.send, eve), ...of });
    await owe();
    const second = await create(ann.send);
    const next = await signInUser(world, api, 'member');
    await withOperator(world, api, async (operator) => {
      await expectEffect(rule, second, { about: await GIVE_ACCESS[event](operator, next), ...of });
    });
  });
});

test('every rule is tested above', () => {
  const tried = [
    ...['created', ...Object.keys(CHANGES)].flatMap((event) => [`${event} person`, `${event} program`]),
    ...ACCESS.flatMap((event) =>
      ['author', 'key', 'anybody', 'uninvolved'].map((doer) => `${event} ${doer}`),
    ),
  ];
  expect(APPROVAL_RULES.map(({ event, by }) => `${event} ${by}`).sort()).toEqual(tried.sort());
});

test('a new name, a lower role and an earlier approval bar nobody', async () => {
  await setApproval('second_person');
  await owe();
  const [ann, bob] = [await owner(), await owner()];
  const payout = await create(ann.send);
  for (const body of [{ name: 'Another Name' }, { role: 'member' }]) {
    expect((await ann.send('PATCH', `/v2/users/${bob.id}`, { body })).status).toBe(200);
  }
  expect((await approve(bob, payout)).body.approval.status).toBe('approved');
  expect((await ann.send('PATCH', `/v2/users/${bob.id}`, { body: { role: 'owner' } })).status).toBe(200);
  expect((await current()).approval.status).toBe('approved');
  await completePayout(api, payout);
});

longRun.test('a change voids the first of two approvals, and so does a rejection', async () => {
  await setApproval('second_person');
  const owed = await owe();
  const payout = await create(api.request);
  const [bob, carol] = [await owner(), await owner()];
  await approve(bob, payout);
  await change(api.request, 'reduced', owed);
  const changed = await current();
  expect((await approvalOf(payout.id)).approvals).toEqual([]);
  expect((await approve(carol, changed)).body.approval.status).toBe('waiting');
  const rejected = await bob.send('POST', `${PAYOUTS}/${payout.id}/reject`, { body: { revision: 2 } });
  expect(rejected.body.approval).toMatchObject({ status: 'rejected', decided_by: bob.id });
  expect((await approve(bob, changed)).body.approval).toEqual({
    ...{ status: 'waiting', decided_by: null, decided_at: null, note: null },
  });
  expect((await approve(carol, changed)).body.approval.status).toBe('approved');
  await completePayout(api, changed);
});

test('two approvals count only while both people may approve', async () => {
  await setApproval('second_person');
  await owe();
  const payout = await create(api.request);
  const [ann, bob, carol] = [await owner(), await owner(), await owner()];
  await approve(bob, payout);
  await approve(carol, payout);
  await ann.send('PATCH', `/v2/users/${bob.id}`, { body: { role: 'viewer' } });
  expectRefusal(await complete(payout), 409, 'approval_missing', 'one of two has');
  expect((await approvalOf(payout.id)).approvals.map(({ user_id }: Json) => user_id)).toEqual([carol.id]);
  expect((await approve(ann, payout)).body.approval).toMatchObject({
    status: 'approved',
    decided_by: ann.id,
  });
});

test('a revision that a server of an earlier version raised needs two people', async () => {
  await setApproval('second_person');
  await owe();
  const [ann, bob, carol] = [await owner(), await owner(), await owner()];
  const { id } = await create(ann.send);
  await world.query(`update payouts set revision = revision + 1 where public_id('po', id) = $1`, [id]);
  const payout = await current();
  expect(await approvalOf(id)).toMatchObject({
    required_count: 2,
    required_because: expect.stringContaining('did not record'),
  });
  expect((await approve(bob, payout)).body.approval.status).toBe('waiting');
  expect((await approve(carol, payout)).body.approval.status).toBe('approved');
});

test('an account without approval shows who changed the payout, and asks nobody', async () => {
  await owe();
  const payout = await create(api.request);
  expect(await approvalOf('current')).toMatchObject({
    object: 'payout_approval',
    ...{ payout_id: payout.id, revision: 1, status: 'not_needed', required_count: 0, required_because: null },
    ...{ approvals: [], approvers: [], changes: [{ change: 'created', user_id: null }] },
  });
});

describe.each(ARENAS)('$name', (arena) => {
  test('two concurrent approvals both count, and a person who changes the payout meanwhile does not approve it', () =>
    inArena(arena, async ({ world: place, racer, race }) => {
      for (const gap of someOf([0, 30, 70], 1)) {
        const shop = await place.otherAccount(`gap ${gap}`);
        await shop.patch('/v2/account', { approval: 'second_person' });
        const people = [];
        for (let count = 0; count < 3; count += 1) people.push(await signInUser(place, shop));
        const [ann, bob, carol] = people as [SignedInUser, SignedInUser, SignedInUser];
        const at = (who: SignedInUser, index: number) => ({ send: as(who, { url: racer(index).url }) });

        const { affiliate } = await owe(shop);
        const first = (await shop.post(PAYOUTS)).body;
        const both = await race(() =>
          staggered(gap, ...[ann, bob].map((who, index) => () => approve(at(who, index), first))),
        );
        expect(both.map(({ status }) => status)).toEqual([200, 200]);
        expect((await shop.get(`${PAYOUTS}/${first.id}`)).body.approval.status).toBe('approved');
        await completePayout(shop, first);

        await owe(shop);
        const second = (await at(carol, 0).send('POST', PAYOUTS)).body;
        const [line] = second.affiliates;
        const [approved, changed, paid] = await race(() =>
          staggered(
            gap,
            () => approve(at(ann, 0), second),
            () =>
              at(ann, 1).send('PATCH', `/v2/affiliates/${line.affiliate_id}`, {
                body: { paypal_email: `elsewhere-${gap}@example.com` },
              }),
            () =>
              apiOf(racer(2).url, shop.key).put(`${PAYOUTS}/${second.id}`, {
                commissions: [{ affiliate_id: line.affiliate_id, is_paid: true }],
              }),
          ),
        );
        expect(affiliate.id).not.toBe(line.affiliate_id);
        expect([200, 409]).toContain(approved?.status);
        expect(changed?.status).toBe(200);
        expect([200, 409]).toContain(paid?.status);
        const wrong = await place.query(
          `select from payouts p join payout_changes c using (account_id)
           where c.payout_id = p.id and p.status = 'paid' and c.user_id = p.decided_by`,
        );
        expect(wrong).toEqual([]);
        if (paid?.status === 409) {
          const left = (await shop.get(`${PAYOUTS}/${second.id}`)).body;
          if (left.revision === 2) {
            expectRefusal(await approve(ann, left), 403, 'approver_changed_payout');
            expect((await approve(bob, left)).body.approval.status).toBe('approved');
          }
        }
      }
    }));
});
