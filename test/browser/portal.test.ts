import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeLink, partsOf } from '../access/portal-support.ts';
import { ENDPOINTS, EVENTS } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium, type Site, startSite } from './support.ts';

inChromium('a portal', (chromium) => {
  const world = useWorld({ delivers: true, settings: { DELIVERY_SCHEDULE: '0s' } });
  let receiver: Receiver;
  let endpoint: string;
  let site: Site;
  /** The address in the frame of the merchant's page. */
  let framed = '';
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.respond((_request, response) => response.writeHead(503).end('asleep'));
    site = await startSite({
      '/webhooks': () => `<h1>Shop</h1><iframe src="${framed}" width="1100" height="700"></iframe>`,
    });
    const fields = {
      url: receiver.url,
      event_types: ['order.*'],
      owner: 'Ada',
      filter: { 'data.shop': 'Ada' },
    };
    const made = await world.api.post(ENDPOINTS, fields);
    expect(made.status, made.text).toBe(201);
    endpoint = made.body.id;
    const allowed = await world.api.patch('/v2/account', { portal_origins: [site.stranger] });
    expect(allowed.status, allowed.text).toBe(200);
  });
  afterAll(() => Promise.all([receiver.close(), site.close()]));

  const statusOf = async (id: string) => {
    const { body } = await world.api.get('/v2/portal-links?per_page=100');
    return body.data.find((each: { id: string }) => each.id === id)?.status;
  };
  const link = async (fields?: object): Promise<string> => (await makeLink(world.api, endpoint, fields)).url;
  const visit = (look: object = {}) => chromium.visitor({ scripts: true, ...look });

  test('in a frame of the shop: a failure is found and sent again, a test event arrives, the secret is rotated', async () => {
    await world.api.post(EVENTS, { type: 'order.created', data: { shop: 'Ada' } });
    await receiver.until(1);
    await until('the failure to be logged', async () => {
      const { body } = await world.api.get(`${ENDPOINTS}/${endpoint}/events?status=failed`);
      return body.pagination.total === 1;
    });
    framed = await link();
    const visitor = await visit();
    const { page } = visitor;
    await page.goto(`${site.stranger}/webhooks`);
    const portal = page.frameLocator('iframe');
    await portal.getByRole('heading', { name: receiver.url }).waitFor();
    await portal.getByRole('link', { name: 'order.created' }).click();
    const drawer = portal.getByRole('dialog', { name: 'order.created' });
    await drawer.getByText('asleep').waitFor();
    expect(await drawer.getByRole('link', { name: 'Open the event' }).count()).toBe(0);
    receiver.respond(200);
    await drawer.getByRole('button', { name: 'Retry now' }).click();
    await receiver.until(2);
    await drawer.getByRole('button', { name: 'Close' }).click();

    await portal.getByRole('button', { name: 'Send a test event' }).click();
    await portal.getByRole('dialog').getByRole('button', { name: 'Send the test event' }).click();
    await receiver.until(3);
    expect(JSON.parse(receiver.received[2]?.body ?? '')).toMatchObject({ is_test: true });
    await portal.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    await portal.getByRole('link', { name: 'Settings' }).click();
    await portal.getByText('The sender of the events sets them.').waitFor();
    expect(await portal.getByLabel('Owner').count()).toBe(0);
    expect(await portal.getByRole('button', { name: 'Delete the endpoint' }).count()).toBe(0);
    await portal.getByRole('button', { name: 'Create a new secret' }).click();
    const dialog = portal.getByRole('dialog', { name: 'Create a new secret' });
    await dialog.getByRole('button', { name: 'Create a new secret' }).click();
    const shown = portal.getByRole('dialog', { name: 'The new secret' });
    const secret = await shown.getByLabel('Secret').inputValue();
    expect((await world.api.get(`${ENDPOINTS}/${endpoint}/secret`)).body.secret).toBe(secret);
    // neither the shop nor a log has the secret of the link
    expect(await page.evaluate('document.querySelector("iframe").contentDocument')).toBe(null);
    const { secret: opener } = partsOf(framed);
    expect(JSON.stringify(site.requests.map(({ url, headers }) => [url.href, headers]))).not.toContain(
      opener,
    );
    expect(JSON.stringify(world.log)).not.toContain(opener);
    expectQuiet(visitor);
  });

  test('a customer sends a new endpoint the events it never got, after their number was shown, and sees how far it is', async () => {
    for (const owner of ['Ada', 'Ada', 'Bob'])
      await world.api.post(EVENTS, { type: 'order.before', data: { shop: 'Ada' }, owner });
    receiver.respond(200);
    const { body: late } = await world.api.post(ENDPOINTS, {
      ...{ url: `${receiver.url}/late`, event_types: ['order.before'], owner: 'Ada' },
    });
    const visitor = await visit({ viewport: PHONE });
    const { page } = visitor;
    await page.goto((await makeLink(world.api, late.id)).url);
    await page.getByRole('link', { name: 'Recoveries' }).click();
    await page.getByRole('button', { name: 'Send what it never got' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send what it never got' });
    await dialog.getByRole('button', { name: 'Send 2 events' }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await page.getByText('Recovery started').waitFor();
    const jobs = page.getByRole('region', { name: 'Recoveries' });
    await jobs.getByText('Events it never got').waitFor();
    await jobs.getByText('Completed').waitFor();
    await until('both to be delivered', async () => {
      const { body } = await world.api.get(`${ENDPOINTS}/${late.id}/events?status=delivered`);
      return body.pagination.total === 2;
    });
    await page.getByRole('button', { name: 'Send what it never got' }).click();
    await dialog.getByText('Nothing is missing').waitFor();
    expectQuiet(visitor);
    await world.api.delete(`${ENDPOINTS}/${late.id}`);
  });

  test('a customer discards what waits for their endpoint, after its number was shown', async () => {
    const { body: held } = await world.api.post(ENDPOINTS, {
      ...{ url: `${receiver.url}/held`, event_types: ['order.held'], owner: 'Ada', status: 'disabled' },
    });
    for (const owner of ['Ada', 'Ada', 'Bob'])
      await world.api.post(EVENTS, { type: 'order.held', data: {}, owner });
    const visitor = await visit({ viewport: PHONE });
    const { page } = visitor;
    await page.goto((await makeLink(world.api, held.id)).url);
    await page.getByLabel('Status').selectOption('Held');
    await page.getByRole('button', { name: 'Discard all 2 that match' }).click();
    const dialog = page.getByRole('dialog', { name: 'Discard all that match' });
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Discard 2 events' }).click();
    await page.getByText('Discard started').waitFor();
    await page.getByRole('region', { name: 'Recoveries' }).getByText('Completed').waitFor();
    const { body } = await world.api.get(`${ENDPOINTS}/${held.id}/events?status=cancelled`);
    expect(body.pagination.total).toBe(2);
    expectQuiet(visitor);
    await world.api.delete(`${ENDPOINTS}/${held.id}`);
  });

  test('a page of another origin shows nothing of it, and the link stays unused', async () => {
    framed = await link();
    const visitor = await visit();
    await visitor.page.goto(`${site.neighbour}/webhooks`);
    await until('the browser to refuse the frame', async () => visitor.refusals.length > 0);
    expect(visitor.refusals.join()).toContain('frame-ancestors');
    expect(await statusOf(partsOf(framed).id)).toBe('unused');
    const page = await fetch(framed);
    expect(page.headers.get('x-frame-options')).toBe(null);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(
      new RegExp(`frame-ancestors ${site.stranger}$`),
    );
    for (const other of [`${world.url}/portal?link=pl_nonsense`, `${world.url}/sign-in`]) {
      const { headers } = await fetch(other);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
  });

  test('of an owner lists and creates their endpoints, in its own tab, without the cookie of a signed-in user', async () => {
    const ada = await atDashboard(chromium, world);
    const { page } = ada;
    const headers: Promise<Record<string, string>>[] = [];
    await page.goto(await link({ all_of_owner: true }));
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    page.on('request', (request) => {
      // `headers()` lacks what the browser adds, such as cookies
      if (!request.url().includes('/v2/')) return;
      const sent = request.allHeaders();
      // the page may be closed before a request of its end is sent
      sent.catch(() => undefined);
      headers.push(sent);
    });
    expect(page.url()).not.toContain('#');
    await page.getByRole('link', { name: receiver.url }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add an endpoint' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add an endpoint' });
    expect(await dialog.getByRole('checkbox').evaluateAll((all) => all.length)).toBe(1);
    expect(await dialog.getByRole('checkbox', { name: 'order.*' }).isChecked()).toBe(true);
    await dialog.getByLabel('URL').fill('https://receiver.example.com/second');
    await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { name: 'https://receiver.example.com/second' }).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.getByText('Endpoint deleted').waitFor();
    expect((await world.api.get(`${ENDPOINTS}?owner=Ada`)).body.pagination.total).toBe(1);
    const cookies = (await Promise.all(headers)).map(({ cookie }) => cookie);
    expect(cookies.length).toBeGreaterThan(2);
    expect(new Set(cookies)).toEqual(new Set([undefined]));
    expectQuiet(ada);
  });

  test('in the dashboard an owner creates a link, sees that it was opened, and revokes it, which ends its portal', async () => {
    const olga = await atDashboard(chromium, world, { path: `/webhooks/${endpoint}?view=portals` });
    const { page } = olga;
    await page.getByText(`These pages may show a portal in a frame: ${site.stranger}`).waitFor();
    await page.getByRole('button', { name: 'Create a portal link' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a portal link' });
    await dialog.getByLabel('Opens').selectOption('All endpoints of Ada');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create link' }).click();
    const shown = page.getByRole('dialog', { name: 'Portal link created' });
    const url = await shown.getByLabel('Link').inputValue();
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const links = page.getByRole('region', { name: 'Portal links' });
    // links of earlier tests are in the list too
    const first = links.getByRole('row').nth(1);
    await first.getByText('Not opened yet').waitFor();
    expect(await first.innerText()).toContain('All endpoints of Ada');
    expect(await page.content()).not.toContain(partsOf(url).secret);

    const customer = await visit();
    await customer.page.goto(url);
    await customer.page.getByRole('link', { name: receiver.url }).waitFor();
    await page.getByLabel('Opens').selectOption('All endpoints of Ada');
    await page.getByLabel('Status').selectOption('Open');
    await page.waitForURL(/link=open/);
    await first.getByText('Open', { exact: true }).waitFor();
    await expectAccessible(page);
    await first.getByRole('button', { name: 'Revoke' }).click();
    const sure = page.getByRole('dialog', { name: 'Revoke the portal link' });
    await sure.getByText('ends at once').waitFor();
    await sure.getByRole('button', { name: 'Revoke the portal link' }).click();
    await page.getByText('Portal link revoked').waitFor();
    expect(await statusOf(partsOf(url).id)).toBe('revoked');
    await customer.page.getByRole('link', { name: receiver.url }).click();
    await customer.page.getByRole('heading', { name: 'This view has ended' }).waitFor();
    expectQuiet(olga);
    expectQuiet(customer);
  });

  longRun.test(
    'a member of the account reads that owners create the links, and a portal has no list of them',
    async () => {
      const path = `/webhooks/${endpoint}?view=portals`;
      const member = await atDashboard(chromium, world, { path, role: 'member' });
      await member.page.getByText('Only owners of the account can see and create portal links.').waitFor();
      expect(await member.page.getByRole('button', { name: 'Create a portal link' }).count()).toBe(0);
      await expectAccessible(member.page);
      expectQuiet(member);
      const customer = await visit();
      await customer.page.goto(await link());
      await customer.page.getByRole('link', { name: 'Settings' }).waitFor();
      expect(await customer.page.getByRole('link', { name: 'Portals' }).count()).toBe(0);
      expectQuiet(customer);
    },
  );

  test('read-only has no button that would be refused', async () => {
    const visitor = await visit({ viewport: PHONE });
    const { page } = visitor;
    await page.goto(await link({ read_only: true }));
    await page.getByRole('heading', { name: receiver.url }).waitFor();
    expect(await page.getByRole('button', { name: 'Send a test event' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('order.*').waitFor();
    expect(await page.getByRole('button', { name: /secret|Save|Disable|Delete/ }).count()).toBe(0);
    await expectAccessible(page);
    expectQuiet(visitor);
  });

  longRun.test('a link that was opened before says so, and what to do', async () => {
    const url = await link();
    const [first, second] = [await visit(), await visit()];
    await first.page.goto(url);
    await first.page.getByRole('heading', { name: receiver.url }).waitFor();
    await second.page.goto(url);
    await second.page.getByRole('heading', { name: 'This link was opened before' }).waitFor();
    await second.page.getByText('open it again there').waitFor();
    await expectAccessible(second.page);
    expectQuiet(second);
  });

  test('an expired or revoked link, and a secret with the id of another link, say so and show nothing', async () => {
    const [late, revoked, one, other] = [await link(), await link(), await link(), await link()];
    await world.query('update portal_links set expires_at = now() where id = $1', [
      partsOf(late).id.slice(3),
    ]);
    await world.api.delete(`/v2/portal-links/${partsOf(revoked).id}`);
    const mixed = one.replace(partsOf(one).id, partsOf(other).id);
    const visitor = await visit();
    for (const [url, title] of [
      [late, 'This link is too old'],
      [revoked, 'This link was revoked'],
      [mixed, 'This link is not complete'],
    ] as const) {
      await visitor.page.goto(url);
      await visitor.page.getByRole('heading', { name: title }).waitFor();
      expect(await visitor.page.getByText(receiver.url).count()).toBe(0);
      expectQuiet(visitor);
    }
    expect(await statusOf(partsOf(one).id)).toBe('unused');
    expect(await statusOf(partsOf(other).id)).toBe('unused');
  });

  test('when it ends while it is open, it says so and shows nothing more', async () => {
    const url = await link();
    const visitor = await visit();
    const { page } = visitor;
    await page.goto(url);
    await page.getByRole('heading', { name: receiver.url }).waitFor();
    const settings = page.getByRole('link', { name: 'Settings' });
    await settings.waitFor();
    await world.query('update portal_links set ends_at = now() where id = $1', [partsOf(url).id.slice(3)]);
    // the page polls now and then: if it does so first, the link is gone
    await settings.evaluateAll((links) =>
      links.map((each) => (each as unknown as { click(): void }).click()),
    );
    await page.getByRole('heading', { name: 'This view has ended' }).waitFor();
    expect(await page.getByText(receiver.url).count()).toBe(0);
    await expectAccessible(page);
    expectQuiet(visitor);
  });
});
