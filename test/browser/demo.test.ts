import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the demo account', (chromium) => {
  const world = useWorld();

  test('an owner creates it on the empty home screen, finds it among the accounts, and deletes it there', async () => {
    const visitor = await atDashboard(chromium, world, { viewport: PHONE });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Look around first' }).waitFor();
    await page.getByText('npx payhook demo').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create a demo account' }).click();
    await page.getByText('This is a demo account: everything in it is made up.').waitFor();
    await page.getByRole('heading', { name: 'Payout #8' }).waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    const me = await page.evaluate<{ role: string; accounts: { name: string; is_demo: boolean }[] }>(
      `fetch('/v2/me').then((response) => response.json())`,
    );
    expect(me.role).toBe('owner');
    expect(me.accounts.map(({ name, is_demo }) => [name, is_demo])).toEqual([
      ['Demo', true],
      ['Default', false],
    ]);

    // from the account before, the same button leads back to it
    await page.goto(`${world.url}/account/switch`);
    await page.getByRole('button', { name: 'Switch to Default' }).click();
    await page.getByRole('button', { name: 'Open your demo account' }).click();
    await page.getByRole('button', { name: 'Delete the demo account' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the demo account' }).click();
    await page.getByRole('button', { name: 'Create a demo account' }).waitFor();
    expect(await world.query('select name from accounts where is_demo')).toEqual([]);
    expectQuiet(visitor);
  });

  test('only owners are offered one, and no form of another site or of a member makes one', async () => {
    const { page } = await atDashboard(chromium, world, { role: 'member' });
    await page.getByRole('heading', { name: 'Set up Payhook' }).waitFor();
    expect(await page.getByText('Look around first').count()).toBe(0);
    const post = (csrf: string) =>
      page.evaluate<number>(
        `fetch('/account/demo', { method: 'POST', body: new URLSearchParams({ csrf: ${JSON.stringify(csrf)} }) })
          .then(({ status }) => status)`,
      );
    expect(await post('wrong')).toBe(403);
    const { csrf_token: token } = await page.evaluate<{ csrf_token: string }>(
      `fetch('/v2/me').then((response) => response.json())`,
    );
    expect(await post(token)).toBe(403);
    expect(await world.query('select name from accounts where is_demo')).toEqual([]);
  });
});
