import { beforeAll, expect, test } from 'vitest';
import { ENDPOINTS, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { moveTimeBack, PASSWORD } from '../people/support.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, hasScreen, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the dashboard', (chromium) => {
  const world = useWorld();
  beforeAll(async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
  });

  test('an empty account explains what a payout is, and how to begin', async () => {
    const ada = await atDashboard(chromium, world, { path: '/payouts' });
    await ada.page.getByRole('heading', { name: 'No payouts yet' }).waitFor();
    await expectAccessible(ada.page);
    expectQuiet(ada);
  });

  test('keyboard shortcuts lead everywhere: to rows, to the global search, to the help', async () => {
    const affiliate = await makeAffiliate(world.api);
    await makeCommission(world.api, affiliate.id);
    const payout = await makePayout(world.api);
    const ada = await atDashboard(chromium, world, { path: '/payouts?status=unpaid' });
    const { page } = ada;
    expect(new URL(page.url()).search).toBe('?status=unpaid');
    await page.getByRole('link', { name: `Payout #${payout.number}`, exact: true }).waitFor();
    await page.keyboard.press('j');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(`Payout #${payout.number}`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(`Payout #${payout.number}`);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill(payout.id);
    await page.getByRole('option', { name: `Payout #${payout.number}` }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${world.url}/payouts/${payout.id}`);

    const commission = await makeCommission(world.api, affiliate.id, { order_id: 'order 4711' });
    const endpoint = (await world.api.post(ENDPOINTS, { url: 'https://shop.example.com/hook' })).body;
    const published = { type: 'order.paid', external_id: 'shop-99', data: {} };
    const event = (await world.api.post('/v2/events', published)).body;
    const found = [
      [affiliate.email, affiliate.email, `/affiliates/${affiliate.id}`],
      ['order 4711', 'Commission order 4711', `/commissions?open=${commission.id}`],
      [commission.id, 'Commission order 4711', `/commissions?open=${commission.id}`],
      ['shop.example', 'https://shop.example.com/hook', `/webhooks/${endpoint.id}`],
      ['shop-99', 'order.paid', `/events/${event.id}`],
      [event.id, 'order.paid', `/events/${event.id}`],
      [`#${payout.number}`, `Payout #${payout.number}`, `/payouts/${payout.id}`],
      ['complete', 'Complete this payout', `/payouts/${payout.id}?step=complete`],
    ] as const;
    for (const [typed, shown, path] of someOf(found, 4)) {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to anything' }).fill(typed);
      await page.getByRole('option', { name: shown }).click();
      await page.waitForURL(world.url + path);
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to anything' }).fill('dark');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expectQuiet(ada);
  });

  test('on a phone the navigation is a button away, and nothing is wider than the screen', async () => {
    const ada = await atDashboard(chromium, world, { path: '/payouts', viewport: PHONE });
    await ada.page.getByRole('button', { name: 'Menu', exact: true }).click();
    await ada.page.getByRole('link', { name: 'Payouts', exact: true }).waitFor();
    await expectAccessible(ada.page);
    expect(await ada.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expectQuiet(ada);
  });

  longRun.test(
    'a theme and the time zone are kept for the next visit; signing out ends the session',
    async () => {
      const ada = await atDashboard(chromium, world, { path: '/payouts' });
      const { page } = ada;
      const choose = async (role: 'menuitem' | 'menuitemradio', name: string) => {
        await page.getByRole('button', { name: /account and settings/ }).click();
        await page.getByRole(role, { name }).click();
      };
      await choose('menuitemradio', 'Dark');
      await choose('menuitemradio', 'UTC');
      await page.reload();
      await hasScreen(page);
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
      await page.getByRole('button', { name: /account and settings/ }).click();
      expect(await page.getByRole('menuitemradio', { name: 'UTC' }).getAttribute('aria-checked')).toBe(
        'true',
      );
      await expectAccessible(page);
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.waitForURL(`${world.url}/sign-in?done`);
      await page.goto(`${world.url}/payouts`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expectQuiet(ada);
    },
  );

  longRun.test('an ended session is renewed in a dialog over the screen, which then continues', async () => {
    const ada = await atDashboard(chromium, world, { path: '/payouts' });
    const { page } = ada;
    await moveTimeBack(world, '60 days');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Paid');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Password').fill('wrong password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByText('The e-mail address or the password is wrong.').waitFor();
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('No payout has this status.').waitFor();
    expect(new URL(page.url()).search).toBe('?status=paid');
    expectQuiet(ada);
  });

  longRun.test('an unreachable server is reported, and the screen recovers by itself', async () => {
    const ada = await atDashboard(chromium, world, { path: '/payouts' });
    const { page, context } = ada;
    await context.setOffline(true);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Paid');
    const bar = page.getByText('The server does not answer.');
    await bar.waitFor();
    await expectAccessible(page);
    // no worker runs, so the server is not ready, but it still answers
    const { body: endpoint } = await world.api.post(ENDPOINTS, { url: 'https://shop.example.com/late' });
    await world.api.post('/v2/events', { type: 'order.paid', data: {} });
    await world.query(`update queue set due_at = due_at - interval '1 minute'`);
    await world.query(`update webhook_endpoints set updated_at = updated_at - interval '1 minute'`);
    expect((await fetch(`${world.url}/readyz`)).status).toBe(503);
    await context.setOffline(false);
    await page.getByText('No payout has this status.').waitFor();
    await bar.waitFor({ state: 'detached' });
    await world.api.delete(`${ENDPOINTS}/${endpoint.id}`);
    expectQuiet(ada);
  });
});
