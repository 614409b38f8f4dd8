import { expect, test } from 'vitest';
import { makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { signedIn } from '../people/support.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('a payout that a second person must approve', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test.each(
    someOf(
      [
        ['wide', WIDE],
        ['on a phone', PHONE],
      ] as const,
      1,
    ),
  )(
    'is enabled in the settings, shown on the home screen, approved with a note, and then paid, %s',
    async (_, viewport) => {
      const owner = await atDashboard(chromium, world, { api, path: '/settings/account', viewport });
      const member = await signedIn(world, 'member', api);
      const { page } = owner;
      await page.getByLabel('Approval').selectOption('second_person');
      await page.getByRole('button', { name: 'Save settings' }).click();
      await page.getByText('Settings saved').waitFor();

      await makeCommission(api, (await makeAffiliate(api)).id);
      const { id } = (await member.browser.call('POST', PAYOUTS)).body;

      await page.goto(`${world.url}/`);
      await page.getByRole('link', { name: 'The current payout is waiting for approval' }).click();
      await page.getByText('Waiting for approval.').waitFor();
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

  test('asks its creator to find another person, and does not let them approve', async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
    const creator = await atDashboard(chromium, world, { api, path: '/payouts/new' });
    await api.patch('/v2/account', { approval: 'second_person' });
    const { page } = creator;
    await page.getByRole('button', { name: /^Create payout for/ }).click();
    await page.getByText('You cannot approve it:').waitFor();
    await page
      .getByText('You created it, directly or through an API key, an application or a schedule')
      .waitFor();
    await page.getByText('Too few people can approve this payout').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Payout rejected').waitFor();
    await page.getByText('Rejected').first().waitFor();
    expectQuiet(creator);
  });

  longRun.test.each(
    someOf(
      [
        ['on a phone', PHONE],
        ['wide', WIDE],
      ] as const,
      1,
    ),
  )(
    'of an ownerless key needs two people, and says who cannot approve it and why, %s',
    async (_, viewport) => {
      const [bob, eve] = [await signedIn(world, 'owner', api), await signedIn(world, 'member', api)];
      const owner = await atDashboard(chromium, world, { api, viewport });
      await api.patch('/v2/account', { approval: 'second_person' });
      const affiliate = await makeAffiliate(api, { paypal_email: 'first@example.com' });
      await makeCommission(api, affiliate.id);
      const { id } = (await api.post(PAYOUTS)).body;
      const changed = await eve.browser.call('PATCH', `/v2/affiliates/${affiliate.id}`, {
        paypal_email: 'elsewhere@example.com',
      });
      expect(changed.status, changed.text).toBe(200);
      const { page } = owner;
      await page.goto(`${world.url}/payouts/${id}`);
      await page.getByText('Two people must approve it: a key or a command that belongs to nobody').waitFor();
      await page.getByText('Who cannot approve it, and why').click();
      await page.getByText('They changed the name, readiness or destination').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
      await page.getByText('Payout approved').waitFor();
      await page.getByText('Approved by You').waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      const second = await bob.browser.call('POST', `${PAYOUTS}/${id}/approve`, { revision: 2 });
      expect(second.body.approval.status).toBe('approved');
      expectQuiet(owner);
    },
  );
});
