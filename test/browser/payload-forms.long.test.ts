import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the form of payloads', (chromium) => {
  const world = useWorld({ delivers: true });
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  test('is chosen in the settings of an endpoint; the log shows the sent body, and copies it as curl', async () => {
    const { body: made } = await world.api.post(ENDPOINTS, { url: receiver.url });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${made.id}?view=settings` });
    const { page } = ada;
    await page.getByLabel('Payload').selectOption('Thin: without its data');
    await page.getByText('which the receiver reads with an API key').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByText('Endpoint saved').waitFor();
    expect((await world.api.get(`${ENDPOINTS}/${made.id}`)).body.payload).toBe('thin');
    const data = { id: 'order-7', amount: 900 };
    const { body: event } = await world.api.post('/v2/events', { type: 'order.created', data });
    const [request] = await receiver.until(1);
    const path = `${ENDPOINTS}/${made.id}/events/${event.id}`;
    await expect.poll(async () => (await world.api.get(path)).body.status).toBe('delivered');
    await page.goto(`${world.api.url}/webhooks/${made.id}?event=${event.id}&at=${made.id}`);
    const drawer = page.getByRole('dialog', { name: 'order.created' });
    const sent = drawer.getByRole('region', { name: 'Body as sent' });
    expect(JSON.parse((await sent.textContent()) ?? '')).toEqual(JSON.parse(request?.body ?? ''));
    const whole = drawer.getByRole('region', { name: 'The whole event' });
    expect(await whole.textContent()).toContain('"amount": 900');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await drawer.getByRole('button', { name: 'Copy as curl' }).click();
    const curl = await page.evaluate('navigator.clipboard.readText()');
    expect(curl).toContain(`--data-raw '${request?.body}'`);
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    expectQuiet(ada);
  });
});
