import { beforeEach, expect, test } from 'vitest';
import { type Json, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { type RanHere, runHere } from './here.ts';

const world = useWorld();
const api = useAccount(world);
const SCHEDULES = '/v2/affiliates/payout-schedules';

const run = (...args: string[]): Promise<RanHere> =>
  runHere(['schedules', ...args], { env: { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key } });
const all = async (): Promise<Json[]> => (await api.get(SCHEDULES)).body.data;

let id: string;
beforeEach(async () => {
  const made = await run('create', '--name', 'monthly', '--every', 'month', '--day', '31', '--json');
  expect(made, made.stderr).toMatchObject({ code: 0 });
  id = JSON.parse(made.stdout).id;
});

test('a schedule is created with filters, listed, and shown with what it pays', async () => {
  const euros = ['--name', 'euros', '--every', 'week', '--day', '5', '--filter', 'currency=eur'];
  const made = await run('create', ...euros, '--search', 'ada', '--ignore-minimum', '--off', '--json');
  expect(made, made.stderr).toMatchObject({ code: 0 });
  const schedule = JSON.parse(made.stdout);
  expect(await api.get(`${SCHEDULES}/${schedule.id}`).then(({ body }) => body)).toEqual(schedule);
  expect(schedule).toMatchObject({
    ...{ name: 'euros', every: 'week', day: 5, filters: { currency: { eq: 'eur' } }, search: 'ada' },
    ...{ ignore_minimum: true, is_active: false, next_on: null },
  });
  const listed = await run('list', '--sort', 'name');
  expect(listed.stdout).toMatch(new RegExp(`${schedule.id}\\s+euros\\s+every Friday\\s+switched off`));
  expect(listed.stdout).toMatch(new RegExp(`${id}\\s+monthly\\s+on day 31 of each month\\s+\\d{4}-`));
  const shown = await run('show', schedule.id);
  for (const text of [
    'every Friday',
    'switched off',
    '{"currency":{"eq":"eur"}}',
    'ada',
    'ignored',
    'not run yet',
  ]) {
    expect(shown.stdout).toContain(text);
  }
});

test('a change names only the changed fields; a schedule switched off and on again has its next day', async () => {
  expect(await run('change', id, '--filter', 'currency=usd')).toMatchObject({ code: 0 });
  expect(await run('change', id, '--day', '15', '--off')).toMatchObject({ code: 0 });
  expect(await all()).toMatchObject([
    { name: 'monthly', day: 15, filters: { currency: { eq: 'usd' } }, next_on: null },
  ]);
  const on = await run('change', id, '--on');
  expect(on.stdout).toMatch(/Next +\d{4}-\d\d-15/);
});

test('on its day the payout is prepared, and show prints the result', async () => {
  const due = async () => {
    await world.query(`update payout_schedules set next_on = current_date where public_id('psc', id) = $1`, [
      id,
    ]);
    await keepHouse(world, 'payout schedules');
  };
  await due();
  expect((await run('show', id)).stdout).toMatch(/Last +\d{4}-\d\d-\d\d: empty, nothing to pay/);
  const affiliate = await makeAffiliate(api, { paypal_email: 'p@example.com' });
  await makeCommission(api, affiliate.id, { currency: 'usd', amount: 700 });
  await due();
  const { body: payout } = await api.get(`${PAYOUTS}/current`);
  expect((await run('show', id)).stdout).toContain(`created ${payout.id}`);
  await due();
  const env = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key };
  const shown = await runHere(['payouts', 'show', payout.id], { env });
  expect(shown.stdout).toContain(`Prepared by the schedule ${id}`);
  expect((await run('show', id)).stdout).toMatch(/refused, payout po_\w+ is unpaid/);
});

test('deleting needs confirmation, and its payout stays', async () => {
  const affiliate = await makeAffiliate(api, { paypal_email: 'p@example.com' });
  await makeCommission(api, affiliate.id, { currency: 'usd', amount: 700 });
  await world.query(`update payout_schedules set next_on = current_date where public_id('psc', id) = $1`, [
    id,
  ]);
  await keepHouse(world, 'payout schedules');
  expect(await run('delete', id)).toMatchObject({ code: 2 });
  expect(await all()).toHaveLength(1);
  const gone = await run('delete', id, '--yes', '--json');
  expect(JSON.parse(gone.stdout)).toEqual({ id, deleted: true });
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
  const ran = await run(...args);
  expect(ran, ran.stderr).toMatchObject({ code });
  expect(ran.stderr).toMatch(words);
  expect(await all()).toEqual(before);
});

test('a schedule of another account is not found, changed or deleted', async () => {
  const other = await world.otherAccount();
  const env = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: other.key };
  const before = await all();
  for (const args of [
    ['show', id],
    ['change', id, '--off'],
    ['delete', id, '--yes'],
  ]) {
    const ran = await runHere(['schedules', ...args], { env });
    expect(ran.stderr).toMatch(/no such schedule/);
  }
  expect(await all()).toEqual(before);
});
