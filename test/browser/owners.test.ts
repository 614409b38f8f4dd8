import { expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('owners', (chromium) => {
  const world = useWorld();

  test('an event is published for an owner, and events, endpoints, charts and the log are filtered by it', async () => {
    await makeEndpoint(world.api, { owner: 'customer-7', event_types: ['order.*'] });
    const url = 'https://elsewhere.example.com/hooks';
    await world.api.post('/v2/webhook-endpoints', { url, owner: 'customer-8', event_types: ['order.*'] });
    const ada = await atDashboard(chromium, world, { path: '/events' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Publish an event' }).click();
    const form = page.getByRole('dialog', { name: 'Publish an event' });
    await form.getByLabel('Type').fill('order.created');
    await form.getByLabel(/^Owner/).fill('customer-7');
    await form.getByRole('button', { name: 'Publish the event' }).click();
    await page.getByRole('heading', { name: 'order.created' }).waitFor();
    await page.getByText('customer-7', { exact: true }).waitFor();
    await page.getByText('The event was for the endpoints of another owner.').waitFor();
    await expectAccessible(page);
    for (const [owner, count] of [
      ['customer-7', 1],
      ['customer-8', 0],
    ] as const) {
      await page.goto(`${world.url}/events?owner=${owner}`);
      await page.getByText(count === 0 ? 'No event matches these filters.' : 'order.created').waitFor();
      await page.goto(`${world.url}/webhooks/log?owner=${owner}`);
      await page
        .getByText(count === 0 ? 'Nothing in the log matches these filters.' : 'order.created')
        .waitFor();
    }
    await page.goto(`${world.url}/webhooks`);
    await page.getByRole('link', { name: url }).waitFor();
    await page.getByLabel('Owner').fill('customer-7');
    await page.getByRole('heading', { name: 'Deliveries to customer-7' }).waitFor();
    await page.getByRole('link', { name: url }).waitFor({ state: 'detached' });
    await page.getByText('of customer-7').waitFor();
    await expectAccessible(page);
    expectQuiet(ada);
  });

  longRun.test(
    'an endpoint that has an owner keeps it, and the account says whether events need one',
    async () => {
      const id = await makeEndpoint(world.api, { owner: 'customer-7', event_types: ['invoice.*'] });
      const ada = await atDashboard(chromium, world);
      const { page } = ada;
      await page.goto(`${world.url}/webhooks/${id}?view=settings`);
      await page.getByText('customer-7', { exact: true }).waitFor();
      expect(await page.getByRole('textbox', { name: /^Owner/ }).count()).toBe(0);
      await page.goto(`${world.url}/settings/account`);
      await page.getByLabel('Owner of the events you publish').selectOption('required');
      await page.getByLabel(/^Most webhook endpoints of an owner/).fill('5');
      await page.getByRole('button', { name: 'Save settings' }).click();
      await page.getByText('Settings saved').waitFor();
      expect((await world.api.get('/v2/account')).body).toMatchObject({
        event_owner: 'required',
        endpoints_per_owner: 5,
      });
      expectQuiet(ada);
    },
  );

  longRun.test('an event is published with tags, and found in the events and in the log by one', async () => {
    const { api, url } = world;
    await api.patch('/v2/account', { event_owner: 'optional' });
    await makeEndpoint(api, { event_types: ['stock.*'] });
    await api.post('/v2/events', { type: 'stock.changed', data: {}, tags: ['order:8'] });
    const ada = await atDashboard(chromium, world, { path: '/events' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Publish an event' }).click();
    const form = page.getByRole('dialog', { name: 'Publish an event' });
    await form.getByLabel('Type').fill('stock.emptied');
    await form.getByLabel(/^Tags/).fill('order:7, web shop,');
    await form.getByRole('button', { name: 'Publish the event' }).click();
    await page.getByRole('heading', { name: 'stock.emptied' }).waitFor();
    await page.getByRole('link', { name: 'order:7', exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'web shop', exact: true }).click();
    await page.waitForURL(/tag=web/);
    await page.getByRole('link', { name: 'stock.emptied' }).waitFor();
    await page.getByRole('link', { name: 'stock.changed' }).waitFor({ state: 'detached' });
    await page.goto(`${url}/webhooks/log`);
    await page.getByRole('link', { name: 'stock.changed' }).waitFor();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Tag of the event').fill('order:7');
    await page.getByRole('link', { name: 'stock.changed' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'stock.emptied' }).waitFor();
    await expectAccessible(page);
    expectQuiet(ada);
  });
});
