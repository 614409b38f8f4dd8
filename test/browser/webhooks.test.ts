import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS, makeAffiliate } from '../api/fixtures.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

// what a receiver may answer: markup, escapes of a terminal, a turned line
const HOSTILE = '<img src=x onerror="window.harmed=1">\u001b]0;taken\u0007\u202eexe.txt';

inChromium('webhooks', (chromium) => {
  const world = useWorld({ delivers: true });
  let receiver: Receiver;
  let endpoint: { id: string; url: string };
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.respond((_request, response) => response.writeHead(500).end(HOSTILE));
  });
  afterAll(() => receiver.close());

  test('an endpoint is added with types of the catalogue, and its secret shown', async () => {
    const ada = await atDashboard(chromium, world, { path: '/webhooks' });
    const { page } = ada;
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Which events it gets').selectOption('Only these');
    await page.getByLabel(/^Find a type/).fill('affiliate.cre');
    await page.getByRole('checkbox', { name: 'affiliate.created' }).check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    const shown = page.getByRole('dialog', { name: 'The endpoint was added' });
    expect(await shown.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('heading', { name: receiver.url }).waitFor();
    const { body } = await world.api.get(ENDPOINTS);
    expect(body.data).toMatchObject([{ url: receiver.url, event_types: ['affiliate.created'] }]);
    [endpoint] = body.data;
    expectQuiet(ada);
  });

  test('what failed is found, its answer is text that does nothing, and it is sent again', async () => {
    await makeAffiliate(world.api);
    await receiver.until(1);
    const ada = await atDashboard(chromium, world, { path: '/webhooks/log?answer=5xx' });
    const { page } = ada;
    await page.getByRole('link', { name: 'affiliate.created' }).click();
    const drawer = page.getByRole('dialog', { name: 'affiliate.created' });
    await drawer.getByText('The endpoint answered with a status that is not 2xx.').waitFor();
    const answer = await drawer.getByRole('region', { name: 'Answer', exact: true }).textContent();
    expect(answer).toBe('<img src=x onerror="window.harmed=1">\\u001b]0;taken\\u0007\\u202eexe.txt');
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(new URL(page.url()).searchParams.get('event')).toMatch(/^evt_/);
    await expectAccessible(page);
    receiver.respond(200);
    await drawer.getByRole('button', { name: 'Retry now' }).click();
    await receiver.until(2);
    await page.getByText('It is sent again now.').waitFor();
    expectQuiet(ada);
  });

  test('all that match are sent again as a recovery, after a number was confirmed', async () => {
    const path = `/webhooks/${endpoint.id}?status=delivered`;
    const ada = await atDashboard(chromium, world, { path });
    const { page } = ada;
    await page.getByRole('button', { name: 'Retry all 1 that match' }).click();
    const asked = page.getByRole('dialog', { name: 'Retry all that match' });
    await asked.getByText(`Sends 1 event to ${endpoint.url} once more`).waitFor();
    await asked.getByRole('button', { name: 'Retry 1 event' }).click();
    await receiver.until(3);
    await page.getByText('The recovery has begun.').waitFor();
    await page.getByRole('region', { name: 'Recoveries' }).getByText('all types').waitFor();
    await expectAccessible(page);
    expectQuiet(ada);
  });

  test('a secret is rotated with its overlap told; a test event arrives', async () => {
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}?view=settings` });
    const { page } = ada;
    await page.getByLabel(/^Types of your own/).fill('order.*');
    await page.getByRole('button', { name: 'Save the endpoint' }).click();
    await page.getByText('The endpoint was saved.').waitFor();
    await page.reload();
    expect(await page.getByLabel(/^Types of your own/).inputValue()).toBe('order.*');
    expect(await page.getByRole('checkbox', { name: 'affiliate.created' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Make a new secret' }).click();
    const asked = page.getByRole('dialog', { name: 'Make a new secret' });
    await asked.getByText('During the overlap they carry both signatures').waitFor();
    await asked.getByRole('button', { name: 'Make a new secret' }).click();
    const shown = page.getByRole('dialog', { name: 'The new secret' });
    const secret = await shown.getByLabel('Secret').inputValue();
    await shown.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText('The secret before this one signs too until').waitFor();
    expect(await page.getByLabel('Secret').inputValue()).toBe(secret);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await receiver.until((all) => all.some(({ body }) => body.includes('"webhook_endpoint.test"')));
    expectQuiet(ada);
  });

  test('an event tells to whom it went and why not to others, to a viewer too, on a phone too', async () => {
    const other = await world.api.post(ENDPOINTS, { url: receiver.url.replace('/hook', '/other') });
    expect(other.status).toBe(201);
    const path = '/events?type=affiliate.*';
    const vera = await atDashboard(chromium, world, { role: 'viewer', path, viewport: PHONE });
    const { page } = vera;
    await page.getByRole('link', { name: 'affiliate.created' }).click();
    await page.getByText('The endpoint was added after the event.').waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await page.getByRole('link', { name: endpoint.url, exact: true }).click();
    await page.getByRole('dialog').getByText('Attempt 1').waitFor();
    expect(await page.getByRole('button', { name: 'Retry now' }).count()).toBe(0);
    await expectAccessible(page);
    expectQuiet(vera);
  });
});
