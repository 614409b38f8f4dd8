import { expect, test } from 'vitest';
import { makeLink } from '../access/portal-support.ts';
import { longRun } from '../support/depth.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('own event types', (chromium) => {
  const world = useWorld();

  test('are described, corrected and deleted', async () => {
    const ada = await atDashboard(chromium, world, { path: '/events/types' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Describe a type' }).click();
    const form = page.getByRole('dialog', { name: 'Describe a type' });
    await form.getByLabel('Type').fill('order.created');
    await form.getByLabel('When it happens').fill('An order was placed.');
    await form.getByLabel(/^JSON schema of the data/).fill('{"required": ["order_id"]}');
    await form.getByLabel(/^Example of the data/).fill('{"order": 7}');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save the type' }).click();
    await form.getByText('data_example.order_id is required').waitFor();
    await form.getByLabel(/^Example of the data/).fill('{"order_id": "order-1042"}');
    await form.getByRole('button', { name: 'Save the type' }).click();
    const drawer = page.getByRole('dialog', { name: 'order.created' });
    await drawer.getByText('order-1042').waitFor();
    await expectAccessible(page);
    await drawer.getByRole('button', { name: 'Change the type' }).click();
    const change = page.getByRole('dialog', { name: 'Change the type' });
    await change.getByLabel(/^Deprecation/).fill('use order.placed');
    await change.getByRole('button', { name: 'Save the type' }).click();
    await drawer.getByText('use order.placed').waitFor();
    expect((await world.api.get('/v2/event-types/order.created')).body).toMatchObject({
      description: 'An order was placed.',
      deprecation: 'use order.placed',
      data_schema: { required: ['order_id'] },
    });

    await drawer.getByRole('button', { name: 'Delete the type' }).click();
    const sure = page.getByRole('dialog', { name: 'Delete the type' });
    await sure.getByRole('button', { name: 'Delete the type' }).click();
    await page.getByText('Type deleted').waitFor();
    expect((await world.api.get('/v2/event-types/order.created')).status).toBe(404);
    expectQuiet(ada);
  });

  longRun.test(
    'are shown in a portal with what their events look like, and are enforced by a setting',
    async () => {
      const type = { description: 'An order was placed.', data_example: { order_id: 'order-1042' } };
      const put = await world.api.put('/v2/event-types/order.created', type);
      expect(put.status, put.text).toBeLessThan(300);
      const endpoint = await makeEndpoint(world.api, { event_types: ['order.created'] });
      const { url } = await makeLink(world.api, endpoint);
      const customer = await chromium.visitor({ scripts: true });
      await customer.page.goto(url);
      await customer.page.getByRole('link', { name: 'Settings' }).click();
      await customer.page.getByText('An order was placed.').first().waitFor();
      await customer.page.locator('summary', { hasText: 'order.created' }).click();
      await customer.page.getByText('order-1042').waitFor();
      await expectAccessible(customer.page);
      expectQuiet(customer);

      const ada = await atDashboard(chromium, world, { path: '/settings/account' });
      const { page } = ada;
      await page.getByLabel('Events that violate the schema of their type').selectOption('refuse');
      await page.getByRole('button', { name: 'Save settings' }).click();
      await page.getByText('Settings saved').waitFor();
      expect((await world.api.get('/v2/account')).body.event_validation).toBe('refuse');
      expectQuiet(ada);
    },
  );
});
