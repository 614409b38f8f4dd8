import { beforeEach, describe, expect, test } from 'vitest';
import { memberOf, send } from '../access/support.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { useWorld } from '../support/world.ts';
import {
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const PATH = '/v2/affiliates/payout-schedules';
const MONTHLY = { name: 'monthly', every: 'month', day: 1 };

const made = async (fields: object = {}): Promise<Json> => {
  const answer = await api.post(PATH, { ...MONTHLY, ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const get = async (id: string): Promise<Json> => (await api.get(`${PATH}/${id}`)).body;
const payouts = async (): Promise<Json[]> => (await api.get(`${PAYOUTS}?sort=created_at`)).body.data;
const owe = async (fields: object = {}) => {
  const affiliate = await makeAffiliate(api, { paypal_email: 'p@example.com' });
  return makeCommission(api, affiliate.id, { currency: 'usd', amount: 700, ...fields });
};

/** Creates a schedule that was due some days ago. */
const dueSince = (id: string, days: number) =>
  world.query(
    `update payout_schedules set next_on = current_date - $2::int where public_id('psc', id) = $1`,
    [id, days],
  );
const run = () => keepHouse(world, 'payout schedules');

test('a schedule is created, shown, changed, switched off and deleted', async () => {
  const schedule = await made({ filters: { currency: 'usd' } });
  expect(schedule).toEqual({
    id: expect.stringMatching(/^psc_[0-9a-f]{32}$/),
    object: 'payout_schedule',
    name: 'monthly',
    every: 'month',
    day: 1,
    filters: { currency: 'usd' },
    search: '',
    ignore_minimum: false,
    is_active: true,
    made_by: expect.stringMatching(/^key_/),
    next_on: expect.stringMatching(/^\d{4}-\d\d-01$/),
    last_run: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  expect(await get(schedule.id)).toEqual(schedule);
  expect((await api.get(PATH)).body.data).toEqual([schedule]);
  const changed = await api.patch(`${PATH}/${schedule.id}`, { every: 'week', day: 7, name: 'weekly' });
  expect(changed.body).toMatchObject({ name: 'weekly', every: 'week', day: 7, filters: { currency: 'usd' } });
  expect(new Date(`${changed.body.next_on}T00:00:00Z`).getUTCDay()).toBe(0);
  expect((await api.patch(`${PATH}/${schedule.id}`, { is_active: false })).body.next_on).toBeNull();
  expect((await api.delete(`${PATH}/${schedule.id}`)).status).toBe(204);
  expectRefusal(await api.get(`${PATH}/${schedule.id}`), 404, 'resource_missing');
});

test.each<[string, object, string, string]>([
  ['an eighth weekday', { every: 'week', day: 8 }, 'invalid_body', 'day'],
  ['a 32nd', { day: 32 }, 'invalid_body', 'day'],
  ['no day', { day: undefined }, 'invalid_body', 'day'],
  ['every year', { every: 'year' }, 'invalid_body', 'every'],
  ['an invisible name', { name: '\u200b' }, 'invalid_body', 'name'],
  ['an unknown filter', { filters: { colour: 'red' } }, 'unknown_filter', 'colour'],
  ['an unknown affiliate', { filters: { affiliate_id: 999_999 } }, 'unknown_affiliate', '999999'],
])('%s is refused, on create and on change', async (_, fields, reason, word) => {
  const { id } = await made();
  await nothingChanges(world, async () => {
    expectRefusal(await api.post(PATH, { ...MONTHLY, ...fields }), 400, reason, word);
    if (!('day' in fields && fields.day === undefined)) {
      expectRefusal(await api.patch(`${PATH}/${id}`, fields), 400, reason, word);
    }
  });
});

test('another account cannot see, change or delete it', async () => {
  const { id } = await made();
  const other = await world.otherAccount();
  await nothingChanges(world, async () => {
    expect((await other.get(PATH)).body.data).toEqual([]);
    expectRefusal(await other.get(`${PATH}/${id}`), 404, 'resource_missing');
    expectRefusal(await other.patch(`${PATH}/${id}`, { day: 2 }), 404, 'resource_missing');
    expectRefusal(await other.delete(`${PATH}/${id}`), 404, 'resource_missing');
  });
});

describe('a due schedule', () => {
  test('creates the payout that its creator would, once, with its events and in the audit log', async () => {
    await owe();
    await owe({ currency: 'eur' });
    const schedule = await made({ filters: { currency: 'usd' } });
    await run();
    expect(await payouts()).toEqual([]);
    await dueSince(schedule.id, 0);
    await run();
    await run();
    const [payout, ...more] = await payouts();
    expect(more).toEqual([]);
    expect(payout).toMatchObject({
      status: 'unpaid',
      created_by: schedule.made_by,
      schedule_id: schedule.id,
    });
    expect(payout?.totals).toMatchObject([{ currency: 'usd', amount: 700 }]);
    const { last_run, next_on } = await get(schedule.id);
    expect(last_run).toMatchObject({ outcome: 'created', reason: null, payout_id: payout?.id });
    expect(next_on > last_run.due_on).toBe(true);
    expect((await eventsOf(world, api, 'payout.created')).length).toBe(1);
    const { data } = (await api.get('/v2/audit-log?action=runPayoutSchedule')).body;
    expect(data).toMatchObject([{ target: payout?.id, actor: { kind: 'key', id: schedule.made_by } }]);
  });

  test('is named by its payouts, also after its next run and its deletion; payouts of people name none', async () => {
    await owe();
    const { id } = await made();
    await dueSince(id, 0);
    await run();
    const [first] = await payouts();
    expect((await api.delete(`${PAYOUTS}/${first?.id}`)).status).toBe(204);
    await dueSince(id, 0);
    await run();
    const [second] = await payouts();
    await dueSince(id, 0);
    await run();
    expect((await get(id)).last_run).toMatchObject({ outcome: 'refused', payout_id: null });
    const path = `${PAYOUTS}/${second?.id}`;
    expect((await api.get(path)).body.schedule_id).toBe(id);
    expect((await api.delete(`${PATH}/${id}`)).status).toBe(204);
    expect((await api.get(path)).body.schedule_id).toBe(id);
    const events = await eventsOf(world, api, 'payout.created');
    expect(events.map(({ payload }) => payload.data.schedule_id)).toEqual([id, id]);
    await api.delete(path);
    expect(await makePayout(api)).toMatchObject({ schedule_id: null });
  });

  test('runs once for all missed days', async () => {
    await owe();
    const { id } = await made({ every: 'week', day: 3 });
    await dueSince(id, 70);
    await run();
    expect(await payouts()).toHaveLength(1);
    expect(Date.parse((await get(id)).next_on)).toBeGreaterThan(Date.now() - 86_400_000);
  });

  test('with nothing to pay creates no payout, and says so', async () => {
    const { id } = await made();
    await dueSince(id, 0);
    await run();
    expect(await payouts()).toEqual([]);
    expect((await get(id)).last_run).toMatchObject({
      outcome: 'empty',
      reason: expect.stringContaining('nothing to pay'),
      payout_id: null,
    });
  });

  test('creates none while another payout is unpaid, keeps the reason, and continues on its next day', async () => {
    await owe();
    const before = await makePayout(api);
    await owe();
    const { id } = await made();
    await dueSince(id, 0);
    await run();
    expect((await payouts()).map((each) => each.id)).toEqual([before.id]);
    expect((await get(id)).last_run).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining(before.id),
    });
    expect((await api.delete(`${PAYOUTS}/${before.id}`)).status).toBe(204);
    await run();
    expect(await payouts()).toEqual([]);
    await dueSince(id, 0);
    await run();
    expect(await payouts()).toHaveLength(1);
  });

  test('with a deleted affiliate in its filters is refused, and no other schedule waits for it', async () => {
    await owe();
    const broken = await made({ name: 'broken' });
    const good = await made({ name: 'good' });
    await world.query(
      `update payout_schedules set filters = '{"affiliate_id": 999999}' where public_id('psc', id) = $1`,
      [broken.id],
    );
    await dueSince(broken.id, 2);
    await dueSince(good.id, 1);
    await run();
    expect((await get(broken.id)).last_run).toMatchObject({ outcome: 'refused' });
    expect((await get(good.id)).last_run).toMatchObject({ outcome: 'created' });
  });

  test('does nothing while switched off, and once on it skips the missed days', async () => {
    await owe();
    const { id } = await made({ is_active: false });
    await dueSince(id, 5);
    await run();
    await api.patch(`${PATH}/${id}`, { is_active: true });
    await run();
    expect(await payouts()).toEqual([]);
  });

  test('creates one payout on several servers', async () => {
    await owe();
    const { id } = await made();
    await dueSince(id, 0);
    await Promise.all([run(), run(), run(), run()]);
    expect(await payouts()).toHaveLength(1);
    expect((await api.get('/v2/audit-log?action=runPayoutSchedule')).body.data).toHaveLength(1);
    expect((await get(id)).last_run.outcome).toBe('created');
  });
});

test('the last person who changed the schedule cannot approve its payouts; another person can', async () => {
  await owe();
  const [ada, bob] = [await memberOf(api, 'owner'), await memberOf(api, 'owner')];
  expect((await api.patch('/v2/account', { approval: 'second_person' })).status).toBe(200);
  const as = (person: typeof ada, method: string, path: string, body: object) =>
    send(world, person.credentials, [method, path, { body }]);
  const schedule = (await as(ada, 'POST', PATH, MONTHLY)).body;
  expect((await as(bob, 'PATCH', `${PATH}/${schedule.id}`, { name: 'mine now' })).body.made_by).not.toBe(
    schedule.made_by,
  );
  await dueSince(schedule.id, 0);
  await run();
  const [payout] = await payouts();
  const approve = (person: typeof ada) =>
    as(person, 'POST', `${PAYOUTS}/${payout?.id}/approve`, { revision: payout?.revision });
  expectRefusal(await approve(bob), 403, 'approver_is_creator');
  expect((await approve(ada)).status).toBe(200);
});

test('people are notified of a prepared payout, of none, and of one that waits for approval, each once', async () => {
  const fields = { name: 'ops', format: 'slack', url: 'http://127.0.0.1:9/alerts', kinds: [] };
  const kinds = ['payout_prepared', 'schedule_skipped', 'approval_waiting'];
  const channel = await api.post('/v2/alert-channels', { ...fields, kinds });
  expect(channel.status, channel.text).toBe(201);
  const notices = () =>
    world.query<{ kind: string }>(
      `select n.kind from notices n where public_id('alc', n.channel_id) = $1 order by n.id`,
      [channel.body.id],
    );
  const { id } = await made();
  await dueSince(id, 0);
  await run();
  await owe();
  await api.patch('/v2/account', { approval: 'second_person' });
  await dueSince(id, 0);
  await run();
  for (let round = 0; round < 3; round += 1) await keepHouse(world, 'approval alerts');
  expect((await notices()).map(({ kind }) => kind)).toEqual([
    'schedule_skipped',
    'payout_prepared',
    'approval_waiting',
  ]);
});
