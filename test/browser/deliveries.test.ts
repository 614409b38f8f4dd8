import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { uuidOf } from '../delivery/support.ts';
import { longRun } from '../support/depth.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

// values that JSON.parse would round, rewrite or reorder, and an invisible character
const DATA =
  '{"b":1e3,"10":1.0,"2":{"payload":-0},"big":12345678901234567890.10,"who":"\u{1f469}\u200d\u{1f4bb}"}';

inChromium('deliveries', (chromium) => {
  const world = useWorld({ settings: { DELIVERY_SCHEDULE: '0s' } });
  let receiver: Receiver;
  let endpoint: { id: string };
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.respond(500);
    endpoint = (await world.api.post(ENDPOINTS, { url: receiver.url })).body;
  });
  afterAll(() => receiver.close());

  const failed = async () =>
    (await world.api.get(`${ENDPOINTS}/${endpoint.id}/events?status=failed`)).body.pagination.total;
  const deliverAll = async (total: number) => {
    const worker = await world.startWorker();
    await until(`${total} have failed`, async () => (await failed()) === total);
    await worker.close();
  };
  const saved = async (page: Page) => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    return readFileSync(await file.path(), 'utf8');
  };

  test('a payload is shown, downloaded and used for trials exactly as sent', async () => {
    const body = `{"type":"order.paid","external_id":"payload","data":${DATA}}`;
    const made = await world.api.post('/v2/events', body, { 'content-type': 'application/json' });
    expect(made.status, made.text).toBe(201);
    await deliverAll(1);
    const [sent] = await receiver.until(1);
    expect(sent?.body).toContain(`"data":${DATA}`);
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}` });
    const { page } = ada;
    await page.getByRole('link', { name: 'order.paid' }).click();
    const drawer = page.getByRole('dialog', { name: 'order.paid' });
    const shown = drawer.getByRole('region', { name: 'Body' });
    await shown.getByText('"b": 1e3,').waitFor();
    await drawer.getByRole('button', { name: 'Raw' }).click();
    // an invisible character is named
    expect(await shown.textContent()).toBe(sent?.body.replace('\u200d', '\\u200d'));
    expect(await saved(page)).toBe(sent?.body);
    await expectAccessible(page);
    await page.goto(`${world.url}/events/${made.body.id}`);
    await page.getByRole('button', { name: 'Raw' }).click();
    expect(await page.getByRole('region', { name: 'Payload' }).textContent()).toContain('"10":1.0,"2":');
    expect(await saved(page)).toBe(sent?.body);

    await page.goto(`${world.url}/webhooks/${endpoint.id}?view=settings`);
    await page.getByLabel(/^Conditions \(JSON\)/).fill('{"data.b": 1000}');
    await page.getByRole('button', { name: 'Try it on an event' }).click();
    await page.getByLabel('Begin with').selectOption(made.body.id);
    const tried = page.getByLabel('Event (JSON)');
    await expect.poll(() => tried.inputValue()).toContain('"big": 12345678901234567890.10');
    await page.getByRole('button', { name: 'Try the filter' }).click();
    await page.getByText('The filter lets this event through.').waitFor();
    expectQuiet(ada);
  });

  test('a recovery cancelled before it has sent anything sends nothing', async () => {
    for (let number = 0; number < 3; number += 1) {
      await world.api.post('/v2/events', { type: 'order.lost', data: { number } });
    }
    await deliverAll(4);
    const before = receiver.received.length;
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}?status=failed` });
    const { page } = ada;
    // no worker runs, so the recovery has to wait
    await page.getByRole('button', { name: 'Retry all 4 that match' }).click();
    await page.getByRole('button', { name: 'Retry 4 events' }).click();
    const recoveries = page.getByRole('region', { name: 'Recoveries' });
    await recoveries.getByText('Begins soon').waitFor();
    await recoveries.getByRole('button', { name: 'Cancel' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel the recovery' });
    await dialog.getByText('0 events that it already queued will still be sent.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel the recovery' }).click();
    await page.getByText('The recovery was cancelled.').waitFor();
    await recoveries.getByText('Cancelled').waitFor();
    expect(await recoveries.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    await expectAccessible(page);
    const { body } = await world.api.get(`${ENDPOINTS}/${endpoint.id}/recoveries`);
    expect(body.data).toMatchObject([{ status: 'cancelled', queued_count: 0 }]);

    // a worker that delivers later events has had the time to run it
    const last = await world.api.post('/v2/events', { type: 'order.last', data: {} });
    await deliverAll(5);
    const later = receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
    expect(later).toEqual([last.body.id]);
    expectQuiet(ada);
  });

  longRun.test('a log that is slow to count shows its rows at once, then their number', async () => {
    const account = uuidOf((await world.api.get('/v2/account')).body.id);
    const add = (count: number) =>
      putIn(
        world,
        account,
        Array.from({ length: count }, () => ({
          endpoint: uuidOf(endpoint.id),
          event: eventIdAt(Date.now()),
          type: 'order.many',
        })),
      );
    await add(1200);
    const ada = await atDashboard(chromium, world);
    const { page } = ada;
    await page.clock.install();
    let count = () => {};
    const held = new Promise<void>((resolve) => {
      count = resolve;
    });
    const isCount = (url: URL) =>
      url.searchParams.get('type') === 'order.many' && url.searchParams.get('per_page') === '1';
    await page.route(isCount, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${world.url}/webhooks/${endpoint.id}?type=order.many`);
    await page.getByText('1–25 of 1,000 or more').waitFor();
    await expectAccessible(page);
    await add(3);
    await page.clock.runFor(3100);
    await page.getByRole('button', { name: '3 new' }).waitFor();
    await add(40);
    await page.clock.runFor(3100);
    await page.getByRole('button', { name: '25 or more new' }).click();
    count();
    await page.clock.runFor(15_100);
    await page.getByText('1–25 of 1,243').waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('26–50 of 1,243').waitFor();
    await page.goto(`${world.url}/webhooks/${endpoint.id}?type=order.many&page=50`);
    await page.getByText('1,226–1,243 of 1,243').waitFor();
    expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    expectQuiet(ada);
  });

  longRun.test('what waits is discarded from the log, after its number was confirmed', async () => {
    const { body: held } = await world.api.post(ENDPOINTS, {
      url: 'http://127.0.0.1:9/held',
      event_types: ['order.held'],
      status: 'disabled',
    });
    for (let number = 0; number < 2; number += 1)
      await world.api.post('/v2/events', { type: 'order.held', data: { number } });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${held.id}?status=held` });
    const { page } = ada;
    await page.getByRole('button', { name: 'Discard all 2 that match' }).click();
    const dialog = page.getByRole('dialog', { name: 'Discard all that match' });
    await dialog.getByText('Cancels 2 events that wait for').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Discard 2 events' }).click();
    await page.getByText('Discard started').waitFor();
    const jobs = page.getByRole('region', { name: 'Recoveries' });
    await jobs.getByText('Discard of what waits').waitFor();
    const worker = await world.startWorker();
    await jobs.getByText('Completed').waitFor();
    await worker.close();
    await page.goto(`${world.url}/webhooks/${held.id}?status=cancelled`);
    await page.getByRole('button', { name: 'Retry all 2 that match' }).waitFor();
    await world.api.delete(`${ENDPOINTS}/${held.id}`);
    expectQuiet(ada);
  });

  longRun.test('a new endpoint is sent the past, after its number was confirmed', async () => {
    for (let number = 0; number < 2; number += 1)
      await world.api.post('/v2/events', { type: 'order.before', data: { number } });
    const { body: late } = await world.api.post(ENDPOINTS, {
      ...{ url: `${receiver.url}/late`, event_types: ['order.before'] },
    });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${late.id}?view=recoveries` });
    const { page } = ada;
    await page.getByRole('button', { name: 'Send what it never got' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send what it never got' });
    await dialog.getByRole('button', { name: 'Send 2 events' }).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('From').fill('2999-01-01');
    await dialog.getByText('since must be before until').waitFor();
    await dialog.getByLabel('From').fill('');
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await page.getByText('Recovery started').waitFor();
    const jobs = page.getByRole('region', { name: 'Recoveries' });
    await jobs.getByText('Events it never got').waitFor();
    const worker = await world.startWorker();
    await jobs.getByText('Completed').waitFor();
    await worker.close();
    await world.api.delete(`${ENDPOINTS}/${late.id}`);
    expectQuiet(ada);
  });

  test('enabling an endpoint asks what happens to the events that were held', async () => {
    const { body: held } = await world.api.post(ENDPOINTS, {
      ...{ url: 'http://127.0.0.1:9/kept', event_types: ['order.kept'], status: 'disabled' },
    });
    for (let number = 0; number < 2; number += 1)
      await world.api.post('/v2/events', { type: 'order.kept', data: { number } });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${held.id}?view=settings` });
    const { page } = ada;
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Enable' });
    await dialog.getByRole('button', { name: 'Enable and send 2 events' }).waitFor();
    await dialog.getByLabel('2 events that were kept for it').selectOption('Discard');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Enable and discard 2 events' }).click();
    await page.getByText('The events kept for it are not sent.').waitFor();
    const worker = await world.startWorker();
    await until('they are cancelled', async () => {
      const { body } = await world.api.get(`${ENDPOINTS}/${held.id}/events?status=cancelled`);
      return body.pagination.total === 2;
    });
    await worker.close();
    await page.getByLabel('Seconds until an event expires').fill('3600');
    await page.getByRole('button', { name: 'Save' }).first().click();
    await until(
      'it is saved',
      async () => (await world.api.get(`${ENDPOINTS}/${held.id}`)).body.max_age === 3600,
    );
    await world.api.delete(`${ENDPOINTS}/${held.id}`);
    expectQuiet(ada);
  });
});
