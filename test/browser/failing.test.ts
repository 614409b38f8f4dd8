import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, clicksOn, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('an endpoint that fails', (chromium) => {
  const world = useWorld({ settings: { DELIVERY_SCHEDULE: '0s' } });
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  test('is found on the home screen, and what it missed is sent again, in three clicks', async () => {
    receiver.respond(500);
    const endpoint = (await world.api.post(ENDPOINTS, { url: receiver.url })).body;
    const events = `${ENDPOINTS}/${endpoint.id}/events`;
    const made = await world.api.post('/v2/events', { type: 'order.paid', data: {} });
    expect(made.status, made.text).toBe(201);
    const worker = await world.startWorker();
    await until(
      'it has failed',
      async () => (await world.api.get(`${events}?status=failed`)).body.pagination.total === 1,
    );
    await until(
      'it counts as failing',
      async () => (await world.api.get(`${ENDPOINTS}/${endpoint.id}`)).body.first_failure_at !== null,
    );
    receiver.respond(200);

    const visitor = await atDashboard(chromium, world, { viewport: PHONE });
    const { page } = visitor;
    const clicks = await clicksOn(page);
    await page.getByRole('link', { name: '1 webhook endpoint failing' }).click();
    await page.getByRole('heading', { name: 'Failing now (1)' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Resend everything since it began to fail' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Retry 1 event' }).click();

    await page.waitForURL((url) => url.searchParams.get('view') === 'recoveries');
    expect(await clicks()).toBe(3);
    await until(
      'it was delivered',
      async () => (await world.api.get(`${events}?status=delivered`)).body.pagination.total === 1,
    );
    await worker.close();
    // the log of all endpoints names the endpoint on a phone too
    await page.goto(`${world.url}/webhooks/log`);
    await page.getByText(receiver.url).waitFor();
    expectQuiet(visitor);
  });
});
