import { expect, test } from 'vitest';
import { authorizePath, register } from '../oauth/support.ts';
import { PASSWORD, signedIn } from '../people/support.ts';
import { useWorld } from '../support/world.ts';
import { inChromium, openAccount } from './support.ts';

inChromium('somebody who is invited to a second account', (chromium) => {
  const world = useWorld();

  test('joins with the existing password, and chooses the account that an application gets access to', async () => {
    const { email } = await signedIn(world, 'owner');
    const agency = await world.otherAccount('Northwind Traders');
    const invited = await agency.post('/v2/users', { email, name: 'Bea', role: 'owner' });
    const application = await register(world.api);
    const { page, refusals } = await chromium.visitor();
    await page.goto(invited.body.invitation_url);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Welcome, Bea');
    const join = async (password: string) => {
      await page.getByLabel('Your password').fill(password);
      await page.getByRole('button', { name: 'Sign in and join' }).click();
    };
    await join('not the password');
    expect(await page.getByRole('alert').textContent()).toContain('The password is wrong');
    await join(PASSWORD);
    await openAccount(page, world.url);
    expect(await page.getByText('this account').count()).toBe(1);

    const question = world.url + authorizePath(application, { state: 'a b&c=d' });
    await page.goto(question);
    expect(await page.getByRole('main').textContent()).toContain('(Northwind Traders)');
    await page.getByRole('link', { name: 'switch account' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your accounts');
    await page.getByRole('button', { name: 'Switch to Default' }).click();
    await page.getByRole('heading', { level: 1, name: /wants access/ }).waitFor();
    expect(await page.getByRole('main').textContent()).toContain('(Default)');
    expect(new URL(page.url()).searchParams.get('state')).toBe('a b&c=d');
    expect(refusals).toEqual([]);
  });
});
