import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeLink } from '../access/portal-support.ts';
import { ENDPOINTS } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong, longRun } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { type MailReceiver, startMailReceiver } from '../support/smtp.ts';
import { standIn, type World } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the contact of an endpoint', (chromium) => {
  let mail: MailReceiver;
  let started: World;
  const world = standIn(() => started);
  beforeAll(async () => {
    mail = await startMailReceiver();
    started = await borrowWorld({
      settings: {
        SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
        SMTP_FROM: 'Payhook <pay@example.com>',
      },
    });
    // a process that sends e-mails has been running
    await world.query(`insert into server_settings (key, value) values ('chore e-mail', now()::text)
      on conflict (key) do update set value = excluded.value`);
  });
  afterAll(async () => {
    await started.close();
    await mail.close();
  });

  test('is switched on by the merchant, set by the customer in the portal, confirmed by the link, and shown to both', async () => {
    const ada = await atDashboard(chromium, world, { path: '/settings/notices' });
    await ada.page.getByLabel('E-mail the contact when an endpoint fails').check();
    await ada.page.getByLabel('Page with the portal').fill('https://shop.example/webhooks');
    await ada.page.getByLabel('Language of these e-mails').selectOption('French');
    await expectAccessible(ada.page);
    await ada.page.getByRole('button', { name: 'Save contact e-mails' }).click();
    await ada.page.getByText('Contact e-mails saved').waitFor();
    expect((await world.api.get('/v2/account')).body.contact_notices).toEqual({
      ...{ portal_url: 'https://shop.example/webhooks', language: 'fr', reply_to: null },
    });

    const { body: endpoint } = await world.api.post(ENDPOINTS, {
      url: 'https://receiver.example.com/in',
      owner: 'customer-7',
    });
    const customer = await chromium.visitor({ scripts: true, viewport: PHONE });
    const portal = customer.page;
    await portal.goto((await makeLink(world.api, endpoint.id)).url);
    await portal.getByRole('link', { name: 'Settings' }).click();
    await portal.getByLabel('Contact', { exact: true }).fill('ops@customer.example');
    await portal.getByRole('button', { name: 'Save endpoint' }).click();
    await portal.getByText('was sent a link').waitFor();
    await expectAccessible(portal);
    await keepHouse(world, 'contact notices');
    await mail.untilMail('ops@customer.example', 'Confirmez cette adresse');
    await portal.getByRole('button', { name: 'Send the link again' }).click();
    await portal.getByText('A link is on its way').waitFor();
    await keepHouse(world, 'contact notices');
    const { text } = await mail.untilMail('ops@customer.example', 'Confirmez cette adresse', 2);
    const link = new URL(/http:\/\/\S+\/notices\/confirm\S+/.exec(text)?.[0] ?? '');

    const reader = await chromium.visitor({ scripts: false, viewport: PHONE });
    await reader.page.goto(`${world.url}${link.pathname}${link.search}`);
    await reader.page.getByRole('heading', { name: 'Confirmez votre adresse e-mail' }).waitFor();
    await reader.page.getByRole('button', { name: 'Confirmer l’adresse' }).click();
    await reader.page.getByText('L’adresse est confirmée.').waitFor();

    await ada.page.goto(`${world.url}/webhooks/${endpoint.id}?view=settings`);
    await ada.page.getByText('ops@customer.example is notified').waitFor();
    await expectAccessible(ada.page);
    expect(await ada.page.getByRole('button', { name: 'Send the link again' }).count()).toBe(0);
    for (const visitor of [ada, customer]) expectQuiet(visitor);
  });

  longRun.test(
    'is set with a new endpoint by the merchant and by an owner, and shown to a viewer',
    async () => {
      await world.api.patch('/v2/account', {
        contact_notices: { portal_url: 'https://shop.example/webhooks', language: 'en', reply_to: null },
      });
      const { body: endpoint } = await world.api.post(ENDPOINTS, {
        ...{ url: 'https://receiver.example.com/first', owner: 'customer-8' },
        contact_email: 'ops@another.example',
      });
      const ada = await atDashboard(chromium, world);
      const owner = await chromium.visitor({ scripts: true });
      await owner.page.goto((await makeLink(world.api, endpoint.id, { all_of_owner: true })).url);
      for (const { page, address } of [
        { page: ada.page, address: 'ada@shop.example' },
        { page: owner.page, address: 'second@customer.example' },
      ]) {
        if (page === ada.page) await page.goto(`${world.url}/webhooks`);
        await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
        const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
        await dialog.getByLabel('URL').fill('https://receiver.example.com/second');
        await dialog.getByLabel(/^Contact/).fill('nobody@');
        await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
        // the browser refuses it
        await dialog.locator('input:invalid').waitFor();
        await dialog.getByLabel(/^Contact/).fill(` ${address} `);
        await expectAccessible(page);
        await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'I have saved it' }).click();
        await page.getByRole('heading', { name: 'https://receiver.example.com/second' }).waitFor();
        const { body } = await world.api.get(`${ENDPOINTS}?sort=-created_at&per_page=1`);
        expect(body.data[0]).toMatchObject({ contact_email: address, contact_status: 'waiting' });
      }

      const viewer = await atDashboard(chromium, world, {
        path: `/webhooks/${endpoint.id}?view=settings`,
        role: 'viewer',
      });
      await viewer.page.getByText('ops@another.example').first().waitFor();
      for (const visitor of [ada, owner, viewer]) expectQuiet(visitor);
    },
  );

  test('is not offered in a portal while nothing would be sent, and the dashboard says why', async () => {
    const api = await world.otherAccount();
    const { body: endpoint } = await api.post(ENDPOINTS, {
      url: 'https://receiver.example.com/in',
      owner: 'customer-7',
      contact_email: 'ops@customer.example',
    });
    const customer = await chromium.visitor({ scripts: true });
    await customer.page.goto((await makeLink(api, endpoint.id)).url);
    await customer.page.getByRole('link', { name: 'Settings' }).click();
    await customer.page.getByLabel('Description').waitFor();
    expect(await customer.page.getByLabel('Contact', { exact: true }).count()).toBe(0);
    // with a new endpoint the same field is left out
    if (isLong) {
      const owner = await chromium.visitor({ scripts: true });
      await owner.page.goto((await makeLink(api, endpoint.id, { all_of_owner: true })).url);
      await owner.page.getByRole('link', { name: endpoint.url }).waitFor();
      await owner.page.getByRole('button', { name: 'Add an endpoint' }).first().click();
      const dialog = owner.page.getByRole('dialog', { name: 'Add an endpoint' });
      await dialog.getByLabel('Description').waitFor();
      expect(await dialog.getByLabel(/^Contact/).count()).toBe(0);
      expectQuiet(owner);
    }
    const ada = await atDashboard(chromium, world, { api, path: `/webhooks/${endpoint.id}?view=settings` });
    await ada.page.getByText('gets nothing: switch e-mails to contacts on').waitFor();
    for (const visitor of [ada, customer]) expectQuiet(visitor);
  });
});
