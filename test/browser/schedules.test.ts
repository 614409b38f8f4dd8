import { beforeEach, expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

const SCHEDULES = '/v2/affiliates/payout-schedules';

inChromium('schedules of payouts', (chromium) => {
  const world = useWorld();
  beforeEach(async () => {
    // the payout of the previous test is paid, and its schedules are deleted
    for (const ask of [() => world.api.get(`${PAYOUTS}/current`), () => world.api.post(PAYOUTS)]) {
      const { status, body } = await ask();
      if (status < 300) await completePayout(world.api, body);
    }
    for (const { id } of (await world.api.get(SCHEDULES)).body.data)
      await world.api.delete(`${SCHEDULES}/${id}`);
  });
  const owe = async (amount: number, currency: string) => {
    const { id } = await makeAffiliate(world.api, { paypal_email: 'p@example.com', payout_method: 'paypal' });
    await makeCommission(world.api, id, { amount, currency });
  };
  /** Makes it due, and waits until a server notices. */
  const makeDue = async (id: string) => {
    await world.query(`update payout_schedules set next_on = current_date where public_id('psc', id) = $1`, [
      id,
    ]);
    await keepHouse(world, 'payout schedules');
  };

  test.each(
    someOf(
      [
        ['a phone', PHONE],
        ['a wide screen', WIDE],
      ] as const,
      1,
    ),
  )('on %s one is created, shows what it would prepare, and links to its payout', async (_, viewport) => {
    await owe(152_584, 'usd');
    await owe(7500, 'eur');
    const visitor = await atDashboard(chromium, world, { path: '/payouts', viewport });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'New schedule' }).first().click();
    const form = page.getByRole('dialog', { name: 'New schedule' });
    expect(await form.getByRole('button', { name: 'Create schedule' }).isDisabled()).toBe(true);
    await form.getByLabel('Name').fill('dollars');
    await form.getByLabel('Day of the month').selectOption('31, or the last day');
    await form.getByLabel('Paid by').selectOption('PayPal');
    await form.getByLabel('Currency').fill('usd');
    await page.keyboard.press('Enter');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Create schedule' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'dollars' }).click();
    const drawer = page.getByRole('dialog', { name: 'dollars' });
    await drawer.getByText('On day 31 of each month, or its last').waitFor();
    await drawer.getByText('Everybody who is owed, paid by PayPal, in USD').waitFor();
    const now = drawer.getByRole('region', { name: 'If it ran now' });
    await now.getByText('1 affiliate would be paid:').waitFor();
    await now.getByText('1,525.84').waitFor();
    expect(await now.getByText('EUR').count()).toBe(0);
    await expectAccessible(page);
    const [schedule] = (await world.api.get(SCHEDULES)).body.data;
    expect(schedule).toMatchObject({
      ...{ name: 'dollars', every: 'month', day: 31, ignore_minimum: false },
      filters: { payout_method: 'paypal', currency: 'usd' },
    });
    await makeDue(schedule.id);
    await page.reload();
    await drawer.getByText('Payout prepared').waitFor();
    await now.getByText('There is an unpaid payout.').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
    await drawer.getByRole('link', { name: 'Open the payout' }).click();
    await page.getByRole('heading', { level: 1, name: /^Payout #/ }).waitFor();
    await page.getByText('Prepared by schedule').waitFor();
    await page.getByRole('link', { name: 'dollars' }).waitFor();
    await expectAccessible(page);
    await world.api.delete(`${SCHEDULES}/${schedule.id}`);
    await page.reload();
    await page.getByText('one that was deleted').waitFor();
    await expectAccessible(page);
    expectQuiet(visitor);
  });

  test('a change keeps filters without a field; pausing and resuming show the day; deleting says what stays', async () => {
    // as the command line writes them
    const given = { currency: { eq: 'eur' }, total: { gte: 1000 } };
    const filters = { ...given, currency: 'eur' };
    const made = await world.api.post(SCHEDULES, { name: 'euros', every: 'week', day: 5, filters: given });
    expect(made.status, made.text).toBe(201);
    const path = `${SCHEDULES}/${made.body.id}`;
    const visitor = await atDashboard(chromium, world, { path: `/payouts/schedules?open=${made.body.id}` });
    const { page } = visitor;
    const drawer = page.getByRole('dialog', { name: 'euros' });
    await drawer.getByText('Every Friday').waitFor();
    await drawer.getByText('in EUR, and the filters {"total":{"gte":1000}}').waitFor();
    await drawer.getByText('There would be nothing to pay').waitFor();
    await drawer.getByRole('button', { name: 'Change' }).click();
    const form = page.getByRole('dialog', { name: 'Change euros' });
    await form.getByText('These filters were set elsewhere and stay: {"total":{"gte":1000}}').waitFor();
    await form.getByLabel('Weekday').selectOption('Monday');
    await form.getByLabel('Also pay affiliates below their minimum').check();
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save schedule' }).click();
    await form.waitFor({ state: 'detached' });
    await drawer.getByText('Every Monday').waitFor();
    expect((await world.api.get(path)).body).toMatchObject({ day: 1, filters, ignore_minimum: true });
    await drawer.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Schedule paused').waitFor();
    expect((await world.api.get(path)).body).toMatchObject({ is_active: false, filters, next_on: null });
    await drawer.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Schedule resumed: next on').waitFor();
    await makeDue(made.body.id);
    await page.reload();
    await drawer.getByText('nothing to pay', { exact: false }).first().waitFor();
    await drawer.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete the schedule euros?' });
    await expectAccessible(page);
    await question.getByRole('button', { name: 'Delete schedule' }).click();
    await page.getByRole('heading', { name: 'No schedules yet' }).waitFor();
    expect((await world.api.get(path)).status).toBe(404);
    expectQuiet(visitor);
  });

  longRun.test('a refusal of the server is shown in the form, and a viewer has no form', async () => {
    const made = await world.api.post(SCHEDULES, { name: '<b>big</b>', every: 'month', day: 1 });
    const owner = await atDashboard(chromium, world, { path: '/payouts/schedules?open=new' });
    const form = owner.page.getByRole('dialog', { name: 'New schedule' });
    await form.getByLabel('Name').fill('\u200b');
    await form.getByRole('button', { name: 'Create schedule' }).click();
    await form
      .getByRole('alert')
      .getByText(/^name /i)
      .waitFor();
    await expectAccessible(owner.page);
    expectQuiet(owner);
    const path = `/payouts/schedules?open=${made.body.id}`;
    const viewer = await atDashboard(chromium, world, { role: 'viewer', path });
    await viewer.page
      .getByRole('dialog', { name: '<b>big</b>' })
      .getByText('On day 1 of each month')
      .waitFor();
    expect(await viewer.page.getByRole('button', { name: /Change|Pause|Delete/ }).count()).toBe(0);
    await viewer.page.goto(`${world.url}/payouts/schedules?open=new`);
    await viewer.page.getByText('Your role cannot create or change schedules.').waitFor();
    expect(await viewer.page.getByRole('dialog').count()).toBe(0);
    expectQuiet(viewer);
  });
});
