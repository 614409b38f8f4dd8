import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('batches of events', (chromium) => {
  const world = useWorld({ delivers: true });
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  test('are set in the settings of an endpoint; the log shows that an event was sent with others', async () => {
    const { body: made } = await world.api.post(ENDPOINTS, { url: receiver.url });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${made.id}?view=settings` });
    const { page } = ada;
    const most = page.getByLabel('Most events in one request');
    await most.fill('1');
    await page.getByText('Enter a whole number from 2 to 1,000.').waitFor();
    await most.fill('2');
    await page.getByLabel('Longest wait for more events').fill('60000');
    await expectAccessible(page);
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByText('Endpoint saved').waitFor();
    const batch = { max_events: 2, max_bytes: 1_048_576, max_wait_ms: 60_000 };
    expect((await world.api.get(`${ENDPOINTS}/${made.id}`)).body.batch).toEqual(batch);
    const events = [1, 2].map((number) => ({ type: 'order.created', data: { number } }));
    const { body } = await world.api.post('/v2/events/batch', { events });
    const [{ event }] = body.items;
    await receiver.until(1);
    const path = `${ENDPOINTS}/${made.id}/events/${event.id}`;
    await expect.poll(async () => (await world.api.get(path)).body.status).toBe('delivered');
    await page.goto(`${world.api.url}/webhooks/${made.id}?event=${event.id}&at=${made.id}`);
    const drawer = page.getByRole('dialog', { name: 'order.created' });
    await drawer.getByText('Sent with 1 other event in one request.').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await drawer.getByRole('button', { name: 'Copy as curl' }).click();
    const curl = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(curl).toContain(`-H 'webhook-batch-size: 1'`);
    expect(curl).toContain(`--data-raw '[{"id":"${event.id}"`);
    await expectAccessible(page);
    await page.goto(`${world.api.url}/webhooks/${made.id}?view=settings`);
    await most.fill('');
    await page.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByText('Endpoint saved').waitFor();
    expect((await world.api.get(`${ENDPOINTS}/${made.id}`)).body.batch).toBeNull();
    expectQuiet(ada);
  });
});
