import { expect, test } from 'vitest';
import { makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { signedIn } from '../people/support.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('a payout that a second person must approve', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test.each([
    ['wide', WIDE],
    ['on a phone', PHONE],
  ])(
    'is asked for in the settings, shown on the home screen, approved with a note, and then paid, %s',
    async (_, viewport) => {
      const owner = await atDashboard(chromium, world, { api, path: '/settings/account', viewport });
      const { page } = owner;
      await page.getByLabel('Approval').selectOption('second_person');
      await page.getByRole('button', { name: 'Save settings' }).click();
      await page.getByText('Settings saved').waitFor();

      await makeCommission(api, (await makeAffiliate(api)).id);
      const member = await signedIn(world, 'member', api);
      const { id } = (await member.browser.call('POST', PAYOUTS)).body;

      await page.goto(`${world.url}/`);
      await page.getByRole('link', { name: 'The current payout waits for approval' }).click();
      await page.getByText('Waits for approval.').waitFor();
      await expectAccessible(page);
      await page.goto(`${world.url}/payouts/${id}?step=files`);
      await page.getByText('This payout needs an approval first').waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      const form = page.getByRole('dialog', { name: /^Approve payout #\d+\?/ });
      await form.getByLabel('Note').fill('Looked at every line.\n<b>fine</b>');
      await form.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Payout approved').waitFor();
      await page.getByText('<b>fine</b>').waitFor();
      await page.getByText('Summary of all lines (CSV)').waitFor();
      expect((await api.get(`${PAYOUTS}/${id}`)).body.approval.status).toBe('approved');
      expectQuiet(owner);
    },
  );

  test('tells its creator to ask somebody else, and does not let them approve', async () => {
    await api.patch('/v2/account', { approval: 'second_person' });
    await makeCommission(api, (await makeAffiliate(api)).id);
    const creator = await atDashboard(chromium, world, { api, path: '/payouts/new' });
    const { page } = creator;
    await page.getByRole('button', { name: /^Create payout for/ }).click();
    await page.getByText('so somebody else must approve it').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Payout rejected').waitFor();
    await page.getByText('Rejected').first().waitFor();
    expectQuiet(creator);
  });
});
