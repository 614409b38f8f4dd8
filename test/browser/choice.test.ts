import { expect, test } from 'vitest';
import { accountIn, addCellsTo } from '../cells/support.ts';
import { markPeople } from '../people/cells-support.ts';
import { makeUser } from '../people/support.ts';
import { useWorld } from '../support/world.ts';
import { inChromium, sessionOf, signInOn } from './support.ts';

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
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.getByRole('button', { name: 'Choose Fabrikam' }).click();
    await page.waitForURL(({ pathname }) => pathname === '/docs');
    expect(await sessionOf(visitor)).toMatch(/^phi_2_/);
    expect(refusals).toEqual([]);
  });
});
