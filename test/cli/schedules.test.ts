import { beforeEach, expect, test } from 'vitest';
import { type Json, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';

const world = useWorld();
const api = useAccount(world);
const SCHEDULES = '/v2/affiliates/payout-schedules';

const { run, runJson, runText } = commandsOf(world, api);
const all = async (): Promise<Json[]> => (await api.get(SCHEDULES)).body.data;

let id: string;
beforeEach(async () => {
  const monthly = ['--name', 'monthly', '--every', 'month', '--day', '31'];
  id = (await runJson('schedules', 'create', ...monthly)).id;
});

test('a schedule is created with filters, listed, and shown with what it pays', async () => {
  const euros = ['--name', 'euros', '--every', 'week', '--day', '5', '--filter', 'currency=eur'];
  const more = ['--search', 'ada', '--ignore-minimum', '--off'];
  const schedule = await runJson('schedules', 'create', ...euros, ...more);
  expect(await api.get(`${SCHEDULES}/${schedule.id}`).then(({ body }) => body)).toEqual(schedule);
  expect(schedule).toMatchObject({
    ...{ name: 'euros', every: 'week', day: 5, filters: { currency: { eq: 'eur' } }, search: 'ada' },
    ...{ ignore_minimum: true, is_active: false, next_on: null },
  });
  const listed = await runText('schedules', 'list', '--sort', 'name');
  expect(listed).toMatch(new RegExp(`${schedule.id}\\s+euros\\s+every Friday\\s+switched off`));
  expect(listed).toMatch(new RegExp(`${id}\\s+monthly\\s+on day 31 of each month\\s+\\d{4}-`));
  const shown = await runText('schedules', 'show', schedule.id);
  for (const text of [
    'every Friday',
    'switched off',
    '{"currency":{"eq":"eur"}}',
    'ada',
    'ignored',
    'not run yet',
  ]) {
    expect(shown).toContain(text);
  }
});

test('a change names only the changed fields; a schedule switched off and on again has its next day', async () => {
  await runText('schedules', 'change', id, '--filter', 'currency=usd');
  await runText('schedules', 'change', id, '--day', '15', '--off');
  expect(await all()).toMatchObject([
    { name: 'monthly', day: 15, filters: { currency: { eq: 'usd' } }, next_on: null },
  ]);
  expect(await runText('schedules', 'change', id, '--on')).toMatch(/Next +\d{4}-\d\d-15/);
});

test('on its day the payout is prepared, and show prints the result', async () => {
  const due = async () => {
    await world.query(`update payout_schedules set next_on = current_date where public_id('psc', id) = $1`, [
      id,
    ]);
    await keepHouse(world, 'payout schedules');
  };
  await due();
  expect(await runText('schedules', 'show', id)).toMatch(/Last +\d{4}-\d\d-\d\d: empty, nothing to pay/);
  const affiliate = await makeAffiliate(api, { paypal_email: 'p@example.com' });
  await makeCommission(api, affiliate.id, { currency: 'usd', amount: 700 });
  await due();
  const { body: payout } = await api.get(`${PAYOUTS}/current`);
  expect(await runText('schedules', 'show', id)).toContain(`created ${payout.id}`);
  await due();
  expect(await runText('payouts', 'show', payout.id)).toContain(`Prepared by the schedule ${id}`);
  expect(await runText('schedules', 'show', id)).toMatch(/refused, payout po_\w+ is unpaid/);
});

test('deleting needs confirmation, and its payout stays', async () => {
  const affiliate = await makeAffiliate(api, { paypal_email: 'p@example.com' });
  await makeCommission(api, affiliate.id, { currency: 'usd', amount: 700 });
  await world.query(`update payout_schedules set next_on = current_date where public_id('psc', id) = $1`, [
    id,
  ]);
  await keepHouse(world, 'payout schedules');
  expect(await run('schedules', 'delete', id)).toMatchObject({ code: 2 });
  expect(await all()).toHaveLength(1);
  expect(await runJson('schedules', 'delete', id, '--yes')).toEqual({ id, deleted: true });
  expect(await all()).toEqual([]);
  expect((await api.get(`${PAYOUTS}/current`)).status).toBe(200);
});

test.each<[string, string[], number, RegExp]>([
  ['no day', ['create', '--name', 'x', '--every', 'week'], 2, /--name, --every and --day are required/],
  [
    'a day that is a word',
    ['create', '--name', 'x', '--every', 'week', '--day', 'Friday'],
    2,
    /--day must be a number/,
  ],
  [
    'an eighth weekday',
    ['create', '--name', 'x', '--every', 'week', '--day', '8'],
    1,
    /day must be 1 \(Monday\) to 7/,
  ],
  ['an unknown rhythm', ['create', '--name', 'x', '--every', 'year', '--day', '1'], 2, /every/],
  [
    'an unknown filter',
    ['create', '--name', 'x', '--every', 'week', '--day', '1', '--filters', '{"colour":"red"}'],
    1,
    /colour/,
  ],
  ['on and off at once', ['change', 'psc_0', '--on', '--off'], 2, /--on or --off/],
  ['nothing to change', ['change', 'psc_0'], 2, /nothing to change/],
  ['an unknown schedule', ['show', 'psc_0'], 1, /no such schedule/],
])('%s is refused in words, and nothing changes', async (_, args, code, words) => {
  const before = await all();
  const ran = await run('schedules', ...args);
  expect(ran, ran.stderr).toMatchObject({ code });
  expect(ran.stderr).toMatch(words);
  expect(await all()).toEqual(before);
});

test('a schedule of another account is not found, changed or deleted', async () => {
  const other = await world.otherAccount();
  const { run } = commandsOf(world, other);
  const before = await all();
  for (const args of [
    ['show', id],
    ['change', id, '--off'],
    ['delete', id, '--yes'],
  ]) {
    const ran = await run('schedules', ...args);
    expect(ran.stderr).toMatch(/no such schedule/);
  }
  expect(await all()).toEqual(before);
});
