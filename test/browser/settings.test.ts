import { expect, test } from 'vitest';
import { keepHouse } from '../support/chores.ts';
import { longRun, someOf } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the settings', (chromium) => {
  const world = useWorld();

  test('an owner changes the account: minimums are written as people write amounts', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/account' });
    const { page } = ada;
    await page.getByLabel('Days a new commission is on hold').fill('14');
    const minimums = page.locator('section', { has: page.getByRole('heading', { name: 'Minimum payout' }) });
    await minimums.getByRole('button', { name: 'Add a currency' }).click();
    const currency = minimums.getByLabel('Currency').last();
    await currency.fill('yen');
    await page.getByRole('option', { name: 'JPY – Japanese Yen' }).click();
    expect(await currency.inputValue()).toBe('JPY – Japanese Yen');
    await currency.click();
    await page.getByRole('option', { name: 'USD – US Dollar' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    expect(await currency.inputValue()).toBe('JPY – Japanese Yen');
    // a code is enough: Tab chooses it
    await page.getByLabel('Default currency').fill('all');
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Default currency').inputValue()).toBe('ALL – Albanian Lek');
    await page.getByLabel('Default currency').fill('nothing');
    await page.getByText('No currency has this code or name.').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Default currency').inputValue()).toBe('ALL – Albanian Lek');
    await minimums.getByLabel('Amount').last().fill('5000.5');
    await minimums.getByText('Enter an amount in JPY').waitFor();
    await expectAccessible(page);
    await minimums.getByLabel('Amount').last().fill('5000');
    const states = page.getByLabel('Reports to states');
    for (const wrong of someOf(['CA', 'CA 600,00', 'CA 600 now', 'CA 1\nca none'], 2)) {
      await states.fill(wrong);
      await page.getByText('Write each state once').waitFor();
    }
    await states.fill('CA 600.50\n\noh none');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved').waitFor();
    const { body } = await world.api.get('/v2/account');
    expect(body).toMatchObject({
      ...{
        default_currency: 'all',
        hold_days: 14,
        minimum_payout: { jpy: 5000 },
        state_thresholds: { CA: 60_050, OH: null },
      },
    });
    await page.reload();
    await expect.poll(() => states.inputValue()).toBe('CA 600.50\nOH none');
    expectQuiet(ada);
  });

  longRun.test(
    'the originator of NACHA files is entered next to the debtor, and a wrong number is named',
    async () => {
      const ada = await atDashboard(chromium, world, { path: '/settings/account' });
      const { page } = ada;
      for (const [label, value] of [
        ['Routing number of the bank that receives the file', '021000022'],
        ['Name of that bank', 'JPMorgan Chase'],
        ['Immediate origin', '1234567890'],
        ['Your name at that bank', 'Shop'],
        ['Company name', 'Shop'],
        ['Company id', '1234567890'],
      ] as const) {
        await page.getByLabel(label, { exact: true }).fill(value);
      }
      await page.getByLabel('Hours until a changed destination is paid').fill('48');
      const save = page.getByRole('button', { name: 'Save settings' });
      await save.click();
      await page.getByText('originator.immediate_destination has a wrong check digit').waitFor();
      await page.getByLabel('Routing number of the bank that receives the file').fill('021000021');
      await save.click();
      await page.getByText('Settings saved').waitFor();
      await expectAccessible(page);
      expect((await world.api.get('/v2/account')).body).toMatchObject({
        originator: {
          immediate_destination: '021000021',
          company_id: '1234567890',
          entry_description: 'PAYOUT',
          person_entry_description: 'PAYROLL',
        },
        destination_wait_hours: 48,
      });
    },
  );

  test('a key is shown once, works, and is revoked after a warning', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/keys' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('CI <b>bold</b>');
    await page.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: /created$/ });
    const secret = await shown.getByLabel('Key', { exact: true }).inputValue();
    await expectAccessible(page);
    const status = async () => {
      const headers = { authorization: `Bearer ${secret}` };
      return (await fetch(`${world.url}/v2/account`, { headers })).status;
    };
    expect(await status()).toBe(200);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByTitle('Revoke CI <b>bold</b>').click();
    const dialog = page.getByRole('dialog', { name: /Revoke the key/ });
    await dialog.getByText('gets 401 from its next request on').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Revoke CI <b>bold</b>' }).click();
    await page.getByText('Key “CI <b>bold</b>” revoked').waitFor();
    expect(await status()).toBe(401);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Revoked');
    await page.getByRole('cell', { name: 'CI <b>bold</b>', exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=revoked');
    expectQuiet(ada);
  });

  test('a user is invited, becomes a viewer, and is removed', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/people' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Grace');
    await page.getByLabel('E-mail address').fill('grace@example.com');
    await page.getByRole('button', { name: 'Invite grace@example.com' }).click();
    const link = page.getByRole('dialog', { name: 'Invite grace@example.com' });
    expect(await link.getByLabel('Link').inputValue()).toMatch(/^http/);
    await link.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('link', { name: 'Grace' }).click();
    const drawer = page.getByRole('dialog', { name: 'Grace', exact: true });
    await drawer.getByLabel('Change the role').selectOption('viewer');
    await page.getByText('Grace now has the role viewer.').waitFor();
    await expectAccessible(page);
    await drawer.getByRole('button', { name: 'Remove Grace' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove Grace' });
    await dialog.getByRole('button', { name: 'Remove Grace' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body } = await world.api.get('/v2/users?status=removed&email=grace@example.com');
    expect(body.data).toMatchObject([{ role: 'viewer', status: 'removed' }]);
    expectQuiet(ada);
  });

  test('the e-mails to affiliates are switched on, and each is shown in each language', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/notices' });
    const { page } = ada;
    await page.getByText('This server sends no e-mail yet').waitFor();
    await page.getByText('You were paid').waitFor();
    await page.getByLabel('Paid', { exact: true }).check();
    await page.getByLabel('Payment details changed').check();
    await page.getByLabel('Where answers go').fill('pay@shop.example');
    await page.getByRole('button', { name: 'Save e-mails' }).click();
    await page.getByText('E-mails saved').waitFor();
    const { affiliate_notices } = (await world.api.get('/v2/account')).body;
    expect(affiliate_notices).toEqual({
      kinds: ['paid', 'destination_changed'],
      language: 'en',
      reply_to: 'pay@shop.example',
    });
    await page.getByLabel('E-mail', { exact: true }).selectOption('Payment details changed');
    await page.getByLabel('Shown in').selectOption('German');
    await page.getByText('ein Bankkonto mit der Endung 3000').waitFor();
    await page.getByText('Schreiben Sie an pay@shop.example').waitFor();
    expect(new URL(page.url()).search).toBe('?kind=destination_changed&language=de');
    await expectAccessible(page);
    // without any kind nothing is sent
    await page.getByLabel('Paid', { exact: true }).uncheck();
    await page.getByLabel('Payment details changed').uncheck();
    await page.getByRole('button', { name: 'Save e-mails' }).click();
    await until('the setting to be off', async () => {
      return (await world.api.get('/v2/account')).body.affiliate_notices === null;
    });
    expectQuiet(ada);
  });

  test('a user chooses their alerts, and an owner adds a channel whose secret is shown once', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/alerts' });
    const { page } = ada;
    await page.getByText('This server sends no e-mail yet').waitFor();
    await page.getByLabel('Import done').check();
    await page.getByLabel('Endpoint recovered').uncheck();
    await page.getByRole('button', { name: 'Save alerts' }).click();
    await page.getByText('Alerts saved').waitFor();
    await expectAccessible(page);
    await page.reload();
    expect(await page.getByLabel('Import done').isChecked()).toBe(true);
    expect(await page.getByLabel('Endpoint recovered').isChecked()).toBe(false);
    await page.getByRole('button', { name: 'Add a channel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a channel' });
    await dialog.getByLabel('Name').fill('ops <b>bold</b>');
    await dialog.getByLabel('Format').selectOption('webhook');
    await dialog.getByLabel('URL').fill('http://127.0.0.1:9/alerts');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Add channel' }).click();
    const shown = page.getByRole('dialog', { name: /added$/ });
    expect(await shown.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByTitle('Send a test to ops <b>bold</b>').click();
    await page.getByText('A test is on its way.').waitFor();
    await keepHouse(world, 'alert channels');
    await page.getByText('the connection was refused').waitFor();
    await page.getByTitle('Delete ops <b>bold</b>').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete ops <b>bold</b>' }).click();
    await page.getByText('No channels yet').waitFor();
    expectQuiet(ada);
  });

  test('an application is registered, its secret shown once, and it is deleted', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/applications' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Register an application' }).click();
    await page.getByLabel('Name').fill('Ledger');
    await page.getByLabel('Redirect addresses').fill('https://ledger.example/back');
    await page.getByLabel('affiliates').check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Register the application' }).click();
    const shown = page.getByRole('dialog', { name: '“Ledger” registered' });
    expect(await shown.getByLabel('Client secret').inputValue()).not.toBe('');
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('link', { name: 'Ledger' }).click();
    await page.getByRole('button', { name: 'Delete “Ledger”' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete “Ledger”' });
    await dialog.getByRole('button', { name: 'Delete “Ledger”' }).click();
    await page.getByText('“Ledger” deleted').waitFor();
    expect((await world.api.get('/v2/oauth-applications')).body.data).toEqual([]);
    expectQuiet(ada);
  });

  longRun.test(
    'the URL contains the filters of the audit log; on a phone nothing is wider than the screen',
    async () => {
      await world.api.patch('/v2/account', { name: 'Acme' });
      const path = '/settings/audit?action=changeAccount&kind=key';
      const ada = await atDashboard(chromium, world, { path, viewport: PHONE });
      const { page } = ada;
      await page.getByRole('cell', { name: 'changeAccount' }).first().waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      await page.getByRole('searchbox', { name: /^Action/ }).fill('completePayout');
      await page.getByText('No entry matches these filters.').waitFor();
      expect(new URL(page.url()).searchParams.get('action')).toBe('completePayout');
      expectQuiet(ada);
    },
  );

  test('an owner sees the state of the installation, each problem with its remedy, and a member does not', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/system' });
    const { page } = ada;
    await page.getByText('No process delivers webhooks.').waitFor();
    await page.getByText('or run payhook worker.').waitFor();
    await page.getByText('Disk space').waitFor();
    await expectAccessible(page);
    const max = await atDashboard(chromium, world, { role: 'member', path: '/settings/system' });
    await max.page.getByText('Your role cannot see this.').waitFor();
    expect(await max.page.getByText('Disk space').count()).toBe(0);
    expectQuiet(ada);
    expectQuiet(max);
  });

  longRun.test(
    'the state of the installation includes the replica: whether it is read, why not, and how far it is behind',
    async () => {
      const ada = await atDashboard(chromium, world, { path: '/settings/system' });
      const { page } = ada;
      await page.getByText('Disk space').waitFor();
      expect(await page.getByText('Replica').count()).toBe(0);
      const answering = async (replica: object) => {
        await page.unrouteAll({ behavior: 'wait' });
        await page.route('**/v2/system', async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: { ...(await response.json()), replica } });
        });
        await page.reload();
      };
      await answering({ is_used: true, problem: null, lag_ms: 0, lag_bytes: 0 });
      await page.getByText('Read from, 0 ms and 0 bytes behind').waitFor();
      const problem = 'the replica does not have what the primary has';
      await answering({ is_used: false, problem, lag_ms: 4200, lag_bytes: 2_500_000 });
      await page.getByText(/^Not read from, 4.200 ms and 2[.,]5 MB behind$/).waitFor();
      await page.getByText(`The replica is not used: ${problem}.`).waitFor();
      await expectAccessible(page);
      await answering({
        is_used: false,
        problem: 'the replica cannot be reached: x',
        lag_ms: null,
        lag_bytes: null,
      });
      await page.getByText('Not read from', { exact: true }).waitFor();
      expectQuiet(ada);
    },
  );

  longRun.test('a viewer reads who may change these, and gets no button that would be refused', async () => {
    const vera = await atDashboard(chromium, world, { role: 'viewer', path: '/settings/keys' });
    const { page } = vera;
    await page.getByText('Your role cannot see this.').waitFor();
    expect(await page.getByRole('button', { name: 'Create a key' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Account', exact: true }).click();
    await page.getByText('Your role cannot change settings.').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Save settings' }).count()).toBe(0);
    await expectAccessible(page);
    expectQuiet(vera);
  });
});
