import { expect, test } from 'vitest';
import { PROTECTED, type ProtectedAction } from '../../src/people/accounts/protection.ts';
import {
  anonymousSenders,
  follow,
  type SendRequest,
  type SignedInUser,
  sendersOf,
  signInUser,
  withOperator,
} from '../api/approval-support.ts';
import { expectRefusal, nothingChanges } from '../api/fixtures.ts';
import { someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';

const world = useWorld();
const api = useAccount(world);

let made = 0;
/** The request of each protected action, about a user of the account. */
const REQUESTS: Readonly<Record<ProtectedAction, (about: SignedInUser) => Parameters<SendRequest>>> = {
  end_approval: () => ['PATCH', '/v2/account', { body: { approval: 'none' } }],
  shorten_wait: () => ['PATCH', '/v2/account', { body: { destination_wait_hours: 1 } }],
  change_blocks: () => ['PATCH', '/v2/account', { body: { payout_signals: {} } }],
  invite: () => [
    'POST',
    '/v2/users',
    { body: { email: `guest-${++made}@example.com`, name: 'Guest', role: 'viewer' } },
  ],
  raise_role: ({ id }) => ['PATCH', `/v2/users/${id}`, { body: { role: 'member' } }],
  make_link: ({ id }) => ['POST', `/v2/users/${id}/reset-password`],
};
const ACTIONS = Object.keys(PROTECTED) as ProtectedAction[];
const GIVING_ACCESS = ACTIONS.filter((action) => !/approval|wait|blocks/.test(action));

const PROTECTIONS = {
  'payouts need a second person': { approval: 'second_person', destination_wait_hours: 0 },
  'a changed destination waits': { approval: 'none', destination_wait_hours: 24 },
  'a signal blocks': { payout_signals: { destination_changed: { action: 'block' } } },
} as const;

async function protect(settings: object): Promise<void> {
  await withOperator(world, api, async (operator) => {
    const answer = await operator('PATCH', '/v2/account', { body: settings });
    expect(answer.status, answer.text).toBe(200);
  });
}

const whileOn: [ProtectedAction, keyof typeof PROTECTIONS][] = [
  ['end_approval', 'payouts need a second person'],
  ['shorten_wait', 'a changed destination waits'],
  ['change_blocks', 'a signal blocks'],
  ...GIVING_ACCESS.flatMap((action) =>
    someOf(['payouts need a second person', 'a changed destination waits'], 1).map((when) => [action, when]),
  ),
] as [ProtectedAction, keyof typeof PROTECTIONS][];

test.each(whileOn)('%s needs a signed-in owner or the command line while %s', async (action, when) => {
  const [owner, member] = [await signInUser(world, api), await signInUser(world, api, 'member')];
  const target = await signInUser(world, api, 'viewer');
  const own = await sendersOf(world, api, owner);
  await withOperator(world, api, async (operator) => {
    const nobodys = await anonymousSenders(world, api, operator);
    await protect(PROTECTIONS[when]);
    const isOfAccount = !GIVING_ACCESS.includes(action);
    const refused: [SendRequest, string][] = [
      [own['with their key'], 'owner_required'],
      [own['with a key that their key made'], 'owner_required'],
      [nobodys['with an ownerless key'], 'owner_required'],
      [nobodys['with a key created by an ownerless key'], 'owner_required'],
      [own['by an application they gave access to'], isOfAccount ? 'owner_required' : 'full_access_required'],
      [member.send, isOfAccount ? 'owner_required' : 'role_too_low'],
    ];
    await nothingChanges(world, async () => {
      for (const [send, reason] of refused) {
        const answer = await send(...REQUESTS[action](target));
        expectRefusal(answer, 403, reason, reason === 'owner_required' ? 'owner who is signed in' : '');
      }
    });
    for (const send of [owner.send, operator]) {
      const answer = await send(...REQUESTS[action](target));
      expect([200, 201], answer.text).toContain(answer.status);
      await protect(PROTECTIONS[when]);
      await operator('PATCH', `/v2/users/${target.id}`, { body: { role: 'viewer' } });
    }
  });
});

test('a key may still rename users, lower roles and remove users while payouts are protected', async () => {
  const [member, other] = [await signInUser(world, api, 'member'), await signInUser(world, api, 'member')];
  await protect(PROTECTIONS['payouts need a second person']);
  const path = `/v2/users/${member.id}`;
  expect((await api.patch(path, { name: 'New Name', role: 'member' })).body.name).toBe('New Name');
  expect((await api.patch(path, { role: 'viewer' })).body.role).toBe('viewer');
  expectRefusal(await api.patch(path, { role: 'owner' }), 403, 'owner_required', 'raise the role');
  expect((await api.delete(`/v2/users/${other.id}`)).status).toBe(204);
});

test('a key may add people where nothing is protected', async () => {
  const target = await signInUser(world, api, 'viewer');
  for (const action of GIVING_ACCESS) {
    const answer = await api.request(...REQUESTS[action](target));
    expect([200, 201], answer.text).toContain(answer.status);
  }
  const { reset_url } = (await api.post(`/v2/users/${target.id}/reset-password`)).body;
  expect((await follow(world, target.id, reset_url)).id).toBe(target.id);
});

test('the audit log has each raised role, and no other change of a user, as raiseUserRole', async () => {
  const target = await signInUser(world, api, 'viewer');
  for (const body of [{ role: 'member' }, { name: 'Another' }, { role: 'viewer' }, { role: 'owner' }]) {
    expect((await api.patch(`/v2/users/${target.id}`, body)).status).toBe(200);
  }
  const entries = (await api.get(`/v2/audit-log?target=${target.id}&sort=id`)).body.data;
  const actions = entries.map(({ action }: { action: string }) => action);
  expect(actions).toEqual([
    'raiseUserRole',
    'changeUser',
    'changeUser',
    'changeUser',
    'raiseUserRole',
    'changeUser',
  ]);
});
