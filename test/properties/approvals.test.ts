import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  follow,
  type SendRequest,
  type SignedInUser,
  sendersOf,
  signInUser,
} from '../api/approval-support.ts';
import {
  COMMISSIONS,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  PAYOUTS,
  unique,
} from '../api/fixtures.ts';
import type { Answer, Api } from '../support/api.ts';
import { isLong, rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

/** The actors: two people in every way in which a person acts, a third one signed in, and an ownerless key. */
const KINDS = [
  'signed in',
  'with their key',
  'with a key that their key made',
  'by an application they gave access to',
] as const;
const ACTORS = [
  ...(['ann', 'bob'] as const).flatMap((person) => KINDS.map((kind) => ({ person, kind }))),
  { person: 'carol', kind: 'signed in' },
  { person: null, kind: 'with an ownerless key' },
] as const;
const STEPS = ['redirect', 'raise', 'lower', 'invite', 'promote', 'reset', 'reject', 'end'] as const;

interface Step {
  readonly act: (typeof STEPS)[number] | 'approve' | 'complete';
  readonly by: number;
  /** The user of the action, or the approver: one of those that exist then. */
  readonly whom: number;
}

const actor = fc.nat({ max: ACTORS.length - 1 });
const step: fc.Arbitrary<Step> = fc.record({
  act: fc.oneof(
    { weight: 5, arbitrary: fc.constant('approve' as const) },
    { weight: 1, arbitrary: fc.constant('complete' as const) },
    { weight: 5, arbitrary: fc.constantFrom(...STEPS) },
  ),
  by: actor,
  whom: fc.nat({ max: 5 }),
});
interface Wish {
  /** The creator of the payout. */
  readonly first: number;
  readonly steps: readonly Step[];
  /** The first approver at the end. */
  readonly last: number;
}

/** Everyone tries at the end, so that a payout which may be paid is. */
const wish: fc.Arbitrary<Wish> = fc.record({
  first: actor,
  steps: fc.array(step, { maxLength: 9 }),
  last: fc.nat({ max: 5 }),
});

/** A user, and the people who can act as them: their own person, and whoever gave them access. */
interface User extends SignedInUser {
  readonly controllers: Set<string>;
}

interface Stage {
  readonly api: Api;
  readonly users: User[];
  readonly senderOf: (actor: number) => SendRequest;
  readonly affiliate: Json;
  readonly commission: Json;
  readonly refund: Json;
}

async function stage(): Promise<Stage> {
  const api = await world.otherAccount();
  await api.patch('/v2/account', { approval: 'second_person' });
  const users: User[] = [];
  const senders: Record<string, Record<string, SendRequest>> = {};
  for (const name of ['ann', 'bob', 'carol', 'dan']) {
    const made = await signInUser(world, api, name === 'dan' ? 'member' : 'owner');
    users.push({ ...made, controllers: new Set([name]) });
    senders[name] =
      name === 'ann' || name === 'bob' ? await sendersOf(world, api, made) : { 'signed in': made.send };
  }
  const affiliate = await makeAffiliate(api, { paypal_email: 'first@example.com' });
  const commission = await makeCommission(api, affiliate.id, { amount: 100_000 });
  const refund = await api.post(`${COMMISSIONS}/${commission.id}/refund`, {
    external_id: unique('refund'),
    amount: 300,
  });
  expect(refund.status, refund.text).toBe(201);
  const senderOf = (index: number): SendRequest => {
    const { person, kind } = ACTORS[index] as (typeof ACTORS)[number];
    return person === null ? api.request : (senders[person]?.[kind] as SendRequest);
  };
  return { api, users, senderOf, affiliate, commission, refund: refund.body };
}

/** A payout and its history, without the rules. */
interface Case extends Stage {
  readonly payout: Json;
  /**
   * People who created it, redirected a payment or changed an amount; all people while a program may be any of them.
   */
  readonly hands: Set<string>;
  /** For each approval of its current state, the people who can have given it. */
  readonly approvals: Map<string, ReadonlySet<string>>;
  readonly note: (line: string) => void;
}

const NOBODY = ACTORS.length - 1;
const PEOPLE = ['ann', 'bob', 'carol', 'dan'];

/** The people who may have acted: one, or anyone by an ownerless key. */
const handsOf = (index: number): readonly string[] => {
  const { person } = ACTORS[index] as (typeof ACTORS)[number];
  return person === null ? PEOPLE : [person];
};

/** The requests that change a payout. */
const CHANGES: Readonly<Record<string, (on: Stage) => Parameters<SendRequest>>> = {
  redirect: ({ affiliate }) => [
    'PATCH',
    `/v2/affiliates/${affiliate.id}`,
    { body: { paypal_email: `${unique('elsewhere')}@example.com` } },
  ],
  raise: ({ refund }) => ['POST', `/v2/affiliates/refunds/${refund.id}/reverse`],
  lower: ({ commission }) => [
    'POST',
    `${COMMISSIONS}/${commission.id}/refund`,
    { body: { external_id: unique('refund'), amount: 100 } },
  ],
};

/** Gives a user access; the people who can act as them are then the actor and everyone who could before. */
async function letIn(on: Case, { act, by, whom }: Step): Promise<Answer> {
  const send = on.senderOf(by);
  const place = whom % on.users.length;
  const user = on.users[place] as User;
  if (act === 'invite') {
    const email = `${unique('eve')}@example.com`;
    const made = await send('POST', '/v2/users', { body: { email, name: 'Eve', role: 'owner' } });
    if (made.status !== 201) return made;
    const next = await follow(world, made.body.id, made.body.invitation_url);
    on.users.push({ ...next, controllers: new Set(handsOf(by)) });
    seen.let_in += 1;
    return made;
  }
  const path = `/v2/users/${user.id}`;
  const answer =
    act === 'promote'
      ? await send('PATCH', path, { body: { role: 'owner' } })
      : await send('POST', `${path}/reset-password`);
  if (answer.status !== 200) return answer;
  for (const each of handsOf(by)) user.controllers.add(each);
  if (act === 'reset') {
    const next = await follow(world, user.id, answer.body.reset_url);
    on.users[place] = { ...next, controllers: user.controllers };
  }
  seen.let_in += 1;
  return answer;
}

/** Whether one human being can have taken part in the payout and have given every approval of it. */
const isByOneAlone = ({ hands, approvals }: Pick<Case, 'hands' | 'approvals'>): boolean =>
  [...hands].some((person) => [...approvals.values()].every((able) => able.has(person)));

const seen = { paid: 0, refused: 0, let_in: 0, changed: 0 };

/** Changes the payout: earlier approvals were for another state. */
async function change(on: Case, { act, by }: Step): Promise<Answer> {
  const revision = async () => (await on.api.get(`${PAYOUTS}/current`)).body.revision;
  const before = await revision();
  const answer = await on.senderOf(by)(...(CHANGES[act] as (on: Stage) => Parameters<SendRequest>)(on));
  if ((await revision()) === before) return answer;
  seen.changed += 1;
  on.approvals.clear();
  // a smaller payment is no advantage to the holder of a program's key
  if (act === 'lower' && ACTORS[by]?.person === null) return answer;
  for (const person of handsOf(by)) on.hands.add(person);
  return answer;
}

/** Approves or rejects: as the actor, who may only when signed in, and as a user. */
async function decide(on: Case, { act, by, whom }: Step): Promise<Answer> {
  const body = { revision: (await on.api.get(`${PAYOUTS}/current`)).body.revision };
  const path = `${PAYOUTS}/${on.payout.id}/${act}`;
  if (ACTORS[by]?.kind !== 'signed in') {
    const tried = await on.senderOf(by)('POST', path, { body });
    expect(tried.status, tried.text).toBe(403);
  }
  const user = on.users[whom % on.users.length] as User;
  const answer = await user.send('POST', path, { body });
  if (answer.status !== 200) expect([401, 403], answer.text).toContain(answer.status);
  else if (act === 'reject') on.approvals.clear();
  else on.approvals.set(user.id, new Set(user.controllers));
  return answer;
}

/** Tries to end the approvals of the account without being signed in. */
async function endApprovals(on: Case, { by }: Step): Promise<Answer> {
  const send = ACTORS[by]?.kind === 'signed in' ? on.api.request : on.senderOf(by);
  const answer = await send('PATCH', '/v2/account', { body: { approval: 'none' } });
  expect([403, 409], answer.text).toContain(answer.status);
  return answer;
}

async function complete(on: Case, { by }: Step): Promise<Answer> {
  const body = { commissions: [{ affiliate_id: on.affiliate.id, is_paid: true }] };
  const answer = await on.senderOf(by)('PUT', `${PAYOUTS}/${on.payout.id}`, { body });
  if (answer.status === 409) {
    expectRefusal(answer, 409, 'approval_missing');
    seen.refused += 1;
  } else if (answer.status === 200) {
    seen.paid += 1;
    expect(on.approvals.size).toBeGreaterThan(0);
    const shown = JSON.stringify({ hands: [...on.hands], approvals: [...on.approvals] });
    expect(isByOneAlone(on), shown).toBe(false);
  } else expect([401, 403], answer.text).toContain(answer.status); // a session that ended, an application
  return answer;
}

const ACTS: Readonly<Record<Step['act'], (on: Case, step: Step) => Promise<Answer>>> = {
  ...{ redirect: change, raise: change, lower: change },
  ...{ invite: letIn, promote: letIn, reset: letIn },
  ...{ approve: decide, reject: decide, complete, end: endApprovals },
};

/** Takes a step; returns whether the payout is paid then. */
async function take(on: Case, step: Step): Promise<boolean> {
  const { person, kind } = ACTORS[step.by] as (typeof ACTORS)[number];
  const { status, reason } = await ACTS[step.act](on, step);
  on.note(`${step.act} by ${person ?? 'nobody'} ${kind}, user ${step.whom}: ${status} ${reason ?? ''}`);
  return step.act === 'complete' && status === 200;
}

async function run({ first, steps, last }: Wish, note: Case['note']): Promise<void> {
  const at = await stage();
  const made = await at.senderOf(first)('POST', PAYOUTS);
  expect(made.status, made.text).toBe(201);
  const on: Case = { ...at, payout: made.body, hands: new Set(handsOf(first)), approvals: new Map(), note };
  for (const step of steps) if (await take(on, step)) return;
  const end: Step = { act: 'complete', by: NOBODY, whom: 0 };
  for (const index of on.users.keys()) {
    if (await take(on, end)) return;
    await take(on, { act: 'approve', by: NOBODY, whom: index + last });
  }
  await take(on, end);
}

test('whoever acts in whatever way and order, nobody alone both prepares a payout and gets it paid', async () => {
  await expectProperty({
    name: 'approvals',
    arbitrary: wish,
    cases: rounds(2, 12),
    check: (given, { note }) => run(given, note),
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
});

test('the checker of the test above finds anyone who acts alone', () => {
  const story = (hands: string[], ...approvals: string[][]) => ({
    hands: new Set(hands),
    approvals: new Map(approvals.map((able, index) => [`user ${index}`, new Set(able)])),
  });
  expect(isByOneAlone(story(['ann'], ['ann']))).toBe(true);
  expect(isByOneAlone(story(['ann'], ['bob', 'ann']))).toBe(true);
  expect(isByOneAlone(story(PEOPLE, ['bob']))).toBe(true);
  expect(isByOneAlone(story(PEOPLE, ['bob'], ['carol']))).toBe(false);
  expect(isByOneAlone(story(['ann'], ['bob']))).toBe(false);
});
