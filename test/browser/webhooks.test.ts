import { afterAll, beforeAll, expect, test } from 'vitest';
import { ENDPOINTS, makeAffiliate } from '../api/fixtures.ts';
import { apiOf } from '../support/api.ts';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

// possible receiver responses: markup, terminal escapes, a right-to-left override, bytes that are not text, long lists
const TEXT = '<img src=x onerror="window.harmed=1">\u001b]0;taken\u0007\u202eexe.txt';
const HOSTILE = Buffer.concat([Buffer.from(TEXT), Buffer.from([0x00, 0xff, 0xfe])]);
const NESTED = '['.repeat(8000) + ']'.repeat(8000);
const MANY = rounds(60, 300);
const HEADERS = Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`x-${at}`, `<b>${at}</b>`]));

inChromium('webhooks', (chromium) => {
  const world = useWorld({ delivers: true, settings: { DELIVERY_SCHEDULE: '0s 1s' } });
  let receiver: Receiver;
  let endpoint: { id: string; url: string };
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.respond((_request, response) => response.writeHead(500, HEADERS).end(HOSTILE));
  });
  afterAll(() => receiver.close());

  /** The request with this text, once it has arrived. */
  const sentWith = async (text: string) =>
    (await receiver.until((all) => all.some(({ body }) => body.includes(text)))).findLast(({ body }) =>
      body.includes(text),
    );

  test('an endpoint is added with types of the catalogue, and its secret shown', async () => {
    const ada = await atDashboard(chromium, world, { path: '/webhooks' });
    const { page } = ada;
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Events it receives').selectOption('Only these');
    await page.getByLabel(/^Find a type/).fill('affiliate.cre');
    await page.getByRole('checkbox', { name: 'affiliate.created' }).check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    const shown = page.getByRole('dialog', { name: 'Endpoint added' });
    expect(await shown.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: receiver.url }).waitFor();
    const { body } = await world.api.get(ENDPOINTS);
    expect(body.data).toMatchObject([{ url: receiver.url, event_types: ['affiliate.created'] }]);
    [endpoint] = body.data;
    expectQuiet(ada);
  });

  test('a failure is found, its response is harmless text, and it is sent again', async () => {
    await makeAffiliate(world.api);
    await receiver.until(1);
    const ada = await atDashboard(chromium, world, { path: '/webhooks/log?answer=5xx' });
    const { page } = ada;
    await page.getByRole('link', { name: 'affiliate.created' }).click();
    const drawer = page.getByRole('dialog', { name: 'affiliate.created' });
    await drawer.getByText('The endpoint answered with a status that is not 2xx.').waitFor();
    const answer = await drawer.getByRole('region', { name: 'Answer', exact: true }).textContent();
    expect(answer).toBe(
      '<img src=x onerror="window.harmed=1">\\u001b]0;taken\\u0007\\u202eexe.txt\ufffd\ufffd\ufffd',
    );
    const headers = drawer.getByRole('region', { name: 'Answer: Headers' });
    expect(await headers.textContent()).toContain(`x-${MANY - 1}: <b>${MANY - 1}</b>`);
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(new URL(page.url()).searchParams.get('event')).toMatch(/^evt_/);
    await expectAccessible(page);
    receiver.respond(200);
    await drawer.getByRole('button', { name: 'Retry now' }).click();
    await receiver.until(2);
    await page.getByText('Sending it again now').waitFor();
    expectQuiet(ada);
  });

  longRun.test(
    'all matching deliveries are sent again as a recovery, after their number was confirmed',
    async () => {
      const before = receiver.received.length;
      const path = `/webhooks/${endpoint.id}?status=delivered`;
      const ada = await atDashboard(chromium, world, { path });
      const { page } = ada;
      await page.getByRole('button', { name: 'Retry all 1 that match' }).click();
      const dialog = page.getByRole('dialog', { name: 'Retry all that match' });
      await dialog.getByText(`Sends 1 event to ${endpoint.url} again`).waitFor();
      await dialog.getByRole('button', { name: 'Retry 1 event' }).click();
      await receiver.until(before + 1);
      await page.getByText('Recovery started').waitFor();
      await page.getByRole('region', { name: 'Recoveries' }).getByText('all types').waitFor();
      await expectAccessible(page);
      expectQuiet(ada);
    },
  );

  test('a secret is rotated, with its overlap shown; a test event arrives', async () => {
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}?view=settings` });
    const { page } = ada;
    await page.getByLabel(/^Your own types/).fill('order.*');
    await page.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByText('Endpoint saved').waitFor();
    await page.reload();
    expect(await page.getByLabel(/^Your own types/).inputValue()).toBe('order.*');
    expect(await page.getByRole('checkbox', { name: 'affiliate.created' }).isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Create a new secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a new secret' });
    await dialog.getByText('During the overlap they carry both signatures').waitFor();
    await dialog.getByRole('button', { name: 'Create a new secret' }).click();
    const shown = page.getByRole('dialog', { name: 'The new secret' });
    const secret = await shown.getByLabel('Secret').inputValue();
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    await page.getByText('A second signature (Standard Webhooks) is also sent until').waitFor();
    expect(await page.getByLabel('Secret').inputValue()).toBe(secret);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'End it now' }).click();
    await page.getByText('is also sent until').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Header', { exact: true }).fill('X-Shop');
    await page.getByLabel('Value', { exact: true }).fill('its-value');
    await page.getByRole('button', { name: 'Save endpoint' }).click();
    await page.getByRole('button', { name: 'Remove x-shop' }).waitFor();
    expect(await page.content()).not.toContain('its-value');

    await page.getByRole('button', { name: 'Send a test event' }).click();
    const testing = page.getByRole('dialog', { name: 'Send a test event' });
    await testing.getByLabel('Type').selectOption('payout.paid');
    const data = testing.getByLabel('Data (JSON)');
    expect(JSON.parse(await data.inputValue())).toMatchObject({ object: 'affiliate_payout', status: 'paid' });
    await data.fill('{\n  "number": 7\n  "status": "paid" }');
    await testing.getByText('Line 3, column 3: expected a comma or the closing bracket.').waitFor();
    await expectAccessible(page);
    expect(await testing.getByRole('button', { name: 'Send the test event' }).isDisabled()).toBe(true);
    await testing.getByLabel('Type').selectOption('Your own type');
    await testing.getByLabel('Its name').fill('order.tried');
    await data.fill('{"exact": 12345678901234567890.10}');
    await testing.getByRole('button', { name: 'Send the test event' }).click();
    const sent = await sentWith('order.tried');
    expect(sent?.headers).toMatchObject({
      'x-shop': 'its-value',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
    expect(sent?.body).toContain('"is_test":true,"data":{"exact":12345678901234567890.10}');
    await page.getByRole('dialog', { name: 'order.tried' }).getByText('Attempt 1').waitFor();
    expectQuiet(ada);
  });

  longRun.test(
    'an endpoint signs as GitHub does, in its own way, and as before, each with an overlap',
    async () => {
      const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}?view=settings` });
      const { page } = ada;
      await page.getByRole('button', { name: 'Change how it signs' }).click();
      const signing = page.getByRole('dialog', { name: 'Change how it signs' });
      await signing.getByLabel('Signed as').selectOption('GitHub');
      await signing.getByLabel(/^Secret the receiver already has/).fill('the-secret-of-the-receiver');
      await expectAccessible(page);
      await signing.getByRole('button', { name: 'Change it' }).click();
      await page.getByText('A second signature (Standard Webhooks) is also sent until').waitFor();
      await page.getByRole('button', { name: 'Change how it signs' }).click();
      await signing.getByLabel('Signed as').selectOption('Custom');
      await signing.getByRole('button', { name: 'Add a signature header' }).click();
      await signing.getByLabel('Name of the header').fill('X-Time');
      await expectAccessible(page);
      await signing.getByRole('button', { name: 'Change it' }).click();
      await page.getByText('A second signature (GitHub) is also sent until').waitFor();
      // not a Standard Webhooks secret, so the way back creates one
      await page.getByRole('button', { name: 'Change how it signs' }).click();
      await signing.getByLabel('Signed as').selectOption('Standard Webhooks');
      await signing.getByRole('button', { name: 'Change it' }).click();
      const shown = page.getByRole('dialog', { name: 'The new secret' });
      expect(await shown.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
      await shown.getByRole('button', { name: 'I have saved it' }).click();
      await page.getByText('A second signature (Custom) is also sent until').waitFor();
      const made = await world.api.post('/v2/events', { type: 'order.signed', data: {} });
      expect(made.status, made.text).toBe(201);
      expect((await sentWith('order.signed'))?.headers).toMatchObject({
        'x-signature': expect.stringMatching(/^t=\d+,v0=[0-9a-f]{64}$/),
        'x-time': expect.stringMatching(/^\d+$/),
        'webhook-signature': expect.stringMatching(/^v1,/),
      });
      expectQuiet(ada);
    },
  );

  test('an endpoint that changes to a key pair shows its public key, and where anyone can read it', async () => {
    const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', {
      url: 'https://keys.example.com/payhook',
    });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${endpoint.id}?view=settings` });
    const { page } = ada;
    const signing = page.getByRole('dialog', { name: 'Change how it signs' });
    await page.getByRole('button', { name: 'Change how it signs' }).click();
    await signing.getByLabel('Signed as').selectOption('Standard Webhooks, Ed25519');
    await signing.getByText('The receiver verifies with a public key').waitFor();
    await signing.getByRole('button', { name: 'Change it' }).click();
    const keyShown = page.getByRole('dialog', { name: 'The new public key' });
    const publicKey = await keyShown.getByLabel('Public key').inputValue();
    expect(publicKey).toMatch(/^whpk_/);
    await keyShown.getByRole('button', { name: 'I have saved it' }).click();
    const shownKeys = page.getByLabel('Address where anyone can read the public keys');
    if ((await shownKeys.count()) === 0)
      await page.getByRole('button', { name: 'Show the public key' }).click();
    await shownKeys.waitFor();
    expect(await page.getByLabel('Public key', { exact: true }).inputValue()).toBe(publicKey);
    const served = await (await fetch(await shownKeys.inputValue())).text();
    expect(served).toContain(publicKey);
    await expectAccessible(page);
    await world.api.delete(`/v2/webhook-endpoints/${endpoint.id}`);
    expectQuiet(ada);
  });

  longRun.test('a viewer finds a type of events, and has no button to publish one', async () => {
    const vera = await atDashboard(chromium, world, {
      role: 'viewer',
      path: '/events/types',
      viewport: PHONE,
    });
    await vera.page.getByLabel('Find a type').fill('was completed');
    await vera.page.waitForURL(/find=was/);
    await vera.page.getByRole('link', { name: 'payout.paid' }).click();
    const type = vera.page.getByRole('dialog', { name: 'payout.paid' });
    expect(await type.getByRole('region', { name: 'Example' }).textContent()).toContain(
      '"type": "payout.paid"',
    );
    await expectAccessible(vera.page);
    expect(await vera.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await vera.page.goto(`${world.url}/events`);
    await vera.page.getByRole('link', { name: 'affiliate.created' }).waitFor();
    expect(await vera.page.getByRole('button', { name: 'Publish an event' }).count()).toBe(0);
    expectQuiet(vera);
  });

  test('an event is published by hand once, with a long payload shown in part', async () => {
    receiver.respond((_request, response) => response.writeHead(200, HEADERS).end(NESTED));
    const ada = await atDashboard(chromium, world, { path: '/events' });
    const { page } = ada;
    for (const _time of ['first', 'again']) {
      await page.goto(`${world.url}/events`);
      await page.getByRole('button', { name: 'Publish an event' }).click();
      const form = page.getByRole('dialog', { name: 'Publish an event' });
      await form.getByLabel('Type').fill('order.long');
      await form.getByLabel(/^Your id/).fill('long-1');
      await form
        .getByLabel('Data (JSON)')
        .fill(JSON.stringify({ text: '<b>'.repeat(rounds(20_000, 80_000)) }));
      await form.getByRole('button', { name: 'Publish the event' }).click();
      await page.getByRole('heading', { name: 'order.long' }).waitFor();
    }
    const { body } = await world.api.get('/v2/events?external_id=long-1');
    expect(body.pagination.total).toBe(1);
    await page.goto(`${world.url}/webhooks/${endpoint.id}?own=long-1&code=200`);
    await page.getByRole('link', { name: 'order.long' }).click();
    const drawer = page.getByRole('dialog', { name: 'order.long' });
    const sent = drawer.getByRole('region', { name: 'Body' });
    expect((await sent.textContent())?.length).toBeLessThan(40_000);
    await drawer
      .getByRole('button', { name: /Show all of it/ })
      .first()
      .click();
    await drawer
      .getByRole('button', { name: /Show all of it/ })
      .last()
      .click();
    expect((await sent.textContent())?.length).toBeGreaterThan(3 * rounds(20_000, 80_000));
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    expect(new URL(page.url()).search).toBe('');
    expectQuiet(ada);
  });

  longRun.test(
    'a log that grows by hundreds keeps its scroll position; a button shows the new rows',
    async () => {
      receiver.respond(200);
      const publish = (many: number) =>
        Promise.all(
          Array.from({ length: many }, () => world.api.post('/v2/events', { type: 'order.live', data: {} })),
        );
      await publish(30);
      const ada = await atDashboard(chromium, world);
      const { page } = ada;
      await page.clock.install();
      const path = `/v2/webhook-endpoints/${endpoint.id}/events`;
      let polls = 0;
      page.on('response', (response) => {
        if (response.url().includes(path)) polls += 1;
      });
      await page.goto(`${world.url}/webhooks/${endpoint.id}?type=order.live`);
      const rows = page.getByRole('region', { name: 'Log' });
      await rows.getByRole('link').first().waitFor();
      await receiver.until((all) => all.filter(({ body }) => body.includes('order.live')).length >= 30);
      const seen = () =>
        rows.getByRole('link').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
      const before = await seen();
      // this sees a row that is added or removed; a changed status is neither
      await page.evaluate(`
      window.moved = 0;
      new MutationObserver((all) => { window.moved += all.filter(({ target }) => target.tagName === 'TBODY').length })
        .observe(document.querySelector('tbody'), { childList: true, subtree: true })`);
      for (const many of [300, 600]) {
        await publish(300);
        await page.clock.runFor(3100);
        await page.getByRole('button', { name: `${many} new` }).waitFor();
      }
      expect(await seen()).toEqual(before);
      expect(await page.evaluate('window.moved')).toBe(0);
      await expectAccessible(page);
      await page.getByRole('button', { name: '600 new' }).click();
      await page.getByText('1–25 of 630').waitFor();
      expect((await seen()).some((each) => before.includes(each))).toBe(false);

      await page.getByRole('checkbox', { name: 'Live' }).uncheck();
      await page.reload();
      await rows.getByRole('link').first().waitFor();
      expect(await page.getByRole('checkbox', { name: 'Live' }).isChecked()).toBe(false);
      polls = 0;
      await page.clock.runFor(60_000);
      expect(polls).toBe(0);
      expectQuiet(ada);
    },
  );

  longRun.test(
    'an event shows where it went and why not elsewhere, also to a viewer and on a phone',
    async () => {
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
    },
  );

  longRun.test(
    'on a phone: a failing endpoint and its reason are found, the URL is corrected, everything is sent again, and the queue drains',
    async () => {
      const url = `${receiver.url}/shop`;
      receiver.respond(({ path }, response) =>
        response.writeHead(path.endsWith('/shop') ? 500 : 200).end('the database is away'),
      );
      const { body: shop } = await world.api.post(ENDPOINTS, { url, event_types: ['shop.*'] });
      await Promise.all(
        Array.from({ length: 12 }, () => world.api.post('/v2/events', { type: 'shop.sold', data: {} })),
      );
      const log = `${ENDPOINTS}/${shop.id}/events`;
      const failed = async () => (await world.api.get(`${log}?status=failed`)).body.pagination.total;
      await until('all have failed', async () => (await failed()) === 12);
      const ada = await atDashboard(chromium, world, { path: '/webhooks', viewport: PHONE });
      const { page } = ada;
      const row = page.getByRole('row').filter({ hasText: url });
      await row.getByText('Failing').waitFor();
      await expectAccessible(page);
      await row.getByRole('link', { name: '12', exact: true }).click();
      await page.waitForURL(/status=failed/);
      await page.getByRole('link', { name: 'shop.sold' }).first().click();
      const drawer = page.getByRole('dialog', { name: 'shop.sold' });
      await drawer.getByText('The endpoint answered with a status that is not 2xx.').waitFor();
      const answer = drawer.getByRole('region', { name: 'Answer', exact: true }).first();
      expect(await answer.textContent()).toBe('the database is away');
      await expectAccessible(page);
      await page.keyboard.press('Escape');

      receiver.respond(200);
      await page.getByRole('button', { name: 'Retry all 12 that match' }).click();
      await page.getByRole('button', { name: 'Retry 12 events' }).click();
      const recoveries = page.getByRole('region', { name: 'Recoveries' });
      await recoveries.getByText('Completed').waitFor();
      await expectAccessible(page);
      await page.getByRole('link', { name: 'Log', exact: true }).first().click();
      await page.getByLabel('Status', { exact: true }).selectOption('Failed');
      await page.getByText('Nothing in the log matches these filters.').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      expect(await failed()).toBe(0);
      await page.goto(`${world.url}/webhooks`);
      await row.getByText('Enabled').waitFor();

      // two attempts of each failed, and the third did not
      await row.getByRole('link', { name: url }).click();
      await page.getByRole('link', { name: 'Charts' }).click();
      await page.getByText('66.6 %').waitFor();
      await page.getByRole('slider', { name: 'Answers' }).waitFor();
      for (const span of ['7 days', '30 days']) {
        await page.getByLabel('Time span').selectOption(span);
        await page.getByRole('slider', { name: 'Events by outcome' }).waitFor();
      }
      expect(new URL(page.url()).searchParams.get('span')).toBe('30d');
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      expectQuiet(ada);
    },
  );

  test('a filter is tried, saved and removed; the page shows what it skips and what it lets through', async () => {
    receiver.respond(200);
    const url = `${receiver.url}/large`;
    const { body: large } = await world.api.post(ENDPOINTS, { url, event_types: ['sale.*'] });
    const path = `/webhooks/${large.id}?view=settings`;
    const ada = await atDashboard(chromium, world, { path });
    const { page } = ada;
    const conditions = page.getByLabel(/^Conditions \(JSON\)/);
    const save = page.getByRole('button', { name: 'Save the filter' });
    await conditions.fill('{"data.amount": {"$gte": 100},\n "data.amount": {"$lt": 200}}');
    await page.getByText('Line 2, column 2: expected a different name (this one appears twice)').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await conditions.fill('{"data.amount": {"$above": 100}}');
    await save.click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^filter\.data\.amount\.\$above is not an operator/ })
      .waitFor();
    expect(await conditions.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    const deep = `${'{"$and": ['.repeat(20)}{"data.amount": 1}${']}'.repeat(20)}`;
    const long = JSON.stringify({ 'data.land': 'x'.repeat(5000) });
    const refused = [
      [deep, /must not be nested more than/],
      [long, /must be at most 4096 bytes/],
    ] as const;
    for (const [filter, rule] of someOf(refused, 1)) {
      await conditions.fill(filter);
      await save.click();
      await page.getByRole('alert').filter({ hasText: rule }).waitFor();
    }
    await conditions.fill('{"data.amount": {"$gte": 100}, "$or": [{"data.vip": true}, {"data.land": "DE"}]}');
    await page
      .getByRole('listitem')
      .filter({ hasText: /^data\.amount is at least 100$/ })
      .waitFor();
    await page.getByRole('button', { name: 'Try it on an event' }).click();
    const tried = page.getByRole('region', { name: 'Try it on an event' });
    await tried.getByLabel('Begin with').selectOption('Example: payout.paid');
    expect(JSON.parse(await tried.getByLabel('Event (JSON)').inputValue())).toMatchObject({
      type: 'payout.paid',
    });
    await tried
      .getByLabel('Event (JSON)')
      .fill('{"type": "sale.made", "data": {"amount": "250", "land": "DE"}}');
    await tried.getByRole('button', { name: 'Try the filter' }).click();
    await tried.getByText('The filter leaves this event out.').waitFor();
    const amount = tried.getByRole('listitem').filter({ hasText: 'data.amount' });
    expect(await amount.textContent()).toBe('Does not holddata.amount is at least 100In the event: "250"');
    await expectAccessible(page);
    await tried
      .getByLabel('Event (JSON)')
      .fill('{"type": "sale.made", "data": {"amount": 250, "land": "DE"}}');
    await tried.getByText('leaves this event out').waitFor({ state: 'detached' });
    await tried.getByRole('button', { name: 'Try the filter' }).click();
    await tried.getByText('The filter lets this event through.').waitFor();
    expect((await world.api.get(`${ENDPOINTS}/${large.id}`)).body.filter).toBeNull();
    await save.click();
    await page.getByText('Filter saved.').waitFor();

    const publish = (amount: number) =>
      world.api.post('/v2/events', { type: 'sale.made', data: { amount, land: 'DE' } });
    const { body: small } = await publish(5);
    const { body: big } = await publish(250);
    await receiver.until((all) => all.some((sent) => sent.path.endsWith('/large')));
    await page.goto(`${world.url}/events/${small.id}`);
    const left = page.getByRole('region', { name: 'Not sent to' }).getByRole('row').filter({ hasText: url });
    await left.getByText('Its filter did not match when the event was published.').waitFor();
    await page.goto(`${world.url}/events/${big.id}`);
    await page.getByRole('region', { name: 'Sent to', exact: true }).getByText(url).waitFor();

    await page.goto(world.url + path);
    await page.getByRole('button', { name: 'Remove the filter' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the filter' }).click();
    await page.getByText('Filter removed').waitFor();
    expect(await conditions.inputValue()).toBe('');
    expect((await world.api.get(`${ENDPOINTS}/${large.id}`)).body.filter).toBeNull();
    expectQuiet(ada);
  });

  longRun.test('a viewer tries a filter on an event of the log, and cannot save it', async () => {
    const fields = { url: `${receiver.url}/tried`, event_types: ['trial.*'], filter: { 'data.amount': 250 } };
    const { body: tried } = await world.api.post(ENDPOINTS, fields);
    const { body: small } = await world.api.post('/v2/events', { type: 'trial.made', data: { amount: 5 } });
    const path = `/webhooks/${tried.id}?view=settings`;
    const vera = await atDashboard(chromium, world, { role: 'viewer', path, viewport: PHONE });
    await vera.page.getByText('Your role cannot save them.').waitFor();
    expect(await vera.page.getByRole('button', { name: /the filter$/ }).count()).toBe(0);
    await vera.page.getByRole('button', { name: 'Try it on an event' }).click();
    await vera.page.getByLabel('Begin with').selectOption(small.id);
    await vera.page.getByRole('button', { name: 'Try the filter' }).click();
    await vera.page.getByText('The filter leaves this event out.').waitFor();
    await expectAccessible(vera.page);
    expect(await vera.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expectQuiet(vera);
  });

  test('a pull endpoint is added without a URL, and consumers claim with the token that is shown once', async () => {
    const ada = await atDashboard(chromium, world, { path: '/webhooks' });
    const { page } = ada;
    await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
    await page.getByLabel('How events arrive').selectOption('Your programs fetch them: no URL');
    expect(await page.getByLabel('URL', { exact: true }).count()).toBe(0);
    await page.getByLabel('Description').fill('the queue of the warehouse');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: /^Pull endpoint we_/ }).waitFor();
    await page.goto(`${page.url()}?view=settings`);
    await page.getByRole('button', { name: 'Create a token' }).click();
    const asked = page.getByRole('dialog', { name: 'Create a token' });
    await expectAccessible(page);
    await asked.getByRole('button', { name: 'Create a token' }).click();
    const shown = page.getByRole('dialog', { name: 'The new token' });
    const token = await shown.getByLabel('Token').inputValue();
    const { body } = await world.api.get(`${ENDPOINTS}?sort=-created_at`);
    expect(body.data[0]).toMatchObject({ delivery: 'pull', description: 'the queue of the warehouse' });
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const claims = await apiOf(world.url, token).post(`${ENDPOINTS}/${body.data[0].id}/claims`, {});
    expect([claims.status, claims.body.items]).toEqual([200, []]);
    expect((await apiOf(world.url, token).get('/v2/account')).status).toBe(403);
    expectQuiet(ada);
  });
});
