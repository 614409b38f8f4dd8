import { expect, test } from 'vitest';
import { PASSWORD, signInAs } from '../people/support.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium, sessionOf } from './support.ts';

const NEXT = 'eight unusual kettles';

inChromium('the profile', (chromium) => {
  const world = useWorld();

  test('a viewer opens it from the menu, changes the password, and stays signed in here alone', async () => {
    const vera = await atDashboard(chromium, world, { role: 'viewer' });
    const { page, email } = vera;
    const { browser: phone } = await signInAs(world.url, email);
    await page.getByRole('button', { name: /account and settings/ }).click();
    await page.getByRole('menuitem', { name: 'Your profile' }).click();
    await page.getByText('Where you are signed in').waitFor();
    expect(await page.getByRole('definition').allTextContents()).toContain(email);
    const fill = async (current: string, next: string, again = next) => {
      await page.getByLabel('Current password').fill(current);
      await page.getByLabel('New password', { exact: true }).fill(next);
      await page.getByLabel('New password again').fill(again);
      await page.getByRole('button', { name: 'Change the password' }).click();
    };
    await fill('', 'short', 'shorter');
    for (const text of ['Enter your current password.', 'The two passwords are not the same.'])
      await page.getByText(text).waitFor();
    await expectAccessible(page);
    await fill('not the password', NEXT);
    await page.getByText('This is not your current password.').waitFor();
    await fill(PASSWORD, email);
    await page.getByText('Choose another password').waitFor();
    const before = await sessionOf(vera);
    await fill(PASSWORD, NEXT);
    await page.getByText('Your password was changed. You are signed out everywhere else.').waitFor();
    expect(await sessionOf(vera)).not.toBe(before);
    await expectAccessible(page);
    expect((await phone.get('/payouts')).status).toBe(303);
    expect((await signInAs(world.url, email, NEXT)).answer.status).toBe(303);
    expectQuiet(vera);
  });

  test('a person ends one session, then all others, and keeps the one in front of them', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/profile', viewport: PHONE });
    const { page, email } = ada;
    const [first, second] = [await signInAs(world.url, email), await signInAs(world.url, email)];
    await page.reload();
    const endings = page.getByRole('button', { name: 'End', exact: true });
    await endings.nth(1).waitFor();
    expect(await page.getByText('This browser').count()).toBe(1);
    await expectAccessible(page);
    await endings.first().click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /End the session/ })
      .click();
    await page.getByText('The session was ended.').waitFor();
    const open = async () =>
      Promise.all([first, second].map(async ({ browser }) => (await browser.get('/payouts')).status));
    expect((await open()).toSorted()).toEqual([200, 303]);
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere else' }).click();
    await page.getByText('You are signed out everywhere else.').waitFor();
    expect(await open()).toEqual([303, 303]);
    await page.reload();
    await page.getByText('This browser').waitFor();
    expectQuiet(ada);
  });

  longRun.test('a person in two accounts sees both and switches; the old address leads here', async () => {
    const agency = await world.otherAccount('Northwind Traders');
    const ada = await atDashboard(chromium, world, { path: '/account' });
    const { page, email } = ada;
    expect(new URL(page.url()).pathname).toBe('/settings/profile');
    const invited = await agency.post('/v2/users', { email, name: 'Ada', role: 'viewer' });
    await page.goto(invited.body.invitation_url);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.waitForURL(`${world.url}/`);
    await page.goto(`${world.url}/settings/profile`);
    await page.getByRole('heading', { name: 'Your accounts' }).waitFor();
    await expectAccessible(page);
    await page.getByTitle('Switch to Default').click();
    await page.getByTitle('Switch to Northwind Traders').waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/profile');
    expectQuiet(ada);
  });
});
