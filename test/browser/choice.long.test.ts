import { expect, test } from 'vitest';
import { accountIn, addCellsTo } from '../cells/support.ts';
import { markPeople } from '../people/cells-support.ts';
import { makeUser } from '../people/support.ts';
import { useWorld } from '../support/world.ts';
import { inChromium, sessionOf, signInOn, takeSession } from './support.ts';

inChromium('somebody with one password in two cells', (chromium) => {
  const world = useWorld({ own: true });

  test('chooses the account after signing in, without scripts', async () => {
    await addCellsTo(world, 2);
    const name = 'Northwind Traders of the Lower Saxon Lake District';
    const [one, two] = [await accountIn(world, 1, name), await accountIn(world, 2, 'Fabrikam')];
    const { email } = await makeUser(one.api, 'owner');
    await makeUser(two.api, 'viewer', email);
    await markPeople(world, 1, 2);
    const visitor = await chromium.visitor({ viewport: { width: 360, height: 740 } });
    const { page, refusals } = visitor;
    await page.goto(`${world.url}/sign-in?next=/docs`);
    await signInOn(page, email);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Choose an account');
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(overflow).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: 'Choose Fabrikam' }).click();
    await page.waitForURL(({ pathname }) => pathname === '/docs');
    expect(await sessionOf(visitor)).toMatch(/^phi_2_/);
    expect(refusals).toEqual([]);
  });

  test('finds the sign-in to other accounts in the menu of the dashboard', async () => {
    const { api } = await accountIn(world, 1);
    const { browser, email } = await makeUser(api, 'owner');
    const visitor = await chromium.visitor({ scripts: true });
    await takeSession(visitor, world.url, browser.cookie() ?? '');
    const { page, errors } = visitor;
    await page.goto(world.url);
    await page.getByRole('button', { name: /account and settings/ }).click();
    await page.getByRole('menuitem', { name: 'Sign in to another account' }).click();
    await page.waitForURL(({ pathname }) => pathname === '/sign-in');
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(email);
    expect(errors).toEqual([]);
  });
});
