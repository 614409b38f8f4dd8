import { expect, test } from 'vitest';
import { ENDPOINTS, makePayout } from '../api/fixtures.ts';
import { authorizePath, register } from '../oauth/support.ts';
import { signedIn } from '../people/support.ts';
import { isLong } from '../support/depth.ts';
import { makeAffiliates, salesFor, takeIn } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium, takeSession } from './support.ts';

/** https://web.dev/articles/cls calls up to 0.1 good. */
const MOST_SHIFT = 0.05;
/** What a first visit may transfer, in bytes: 105 kB on the largest screen when this was written. */
const MOST_BYTES = 160_000;

/** What a page of the reference may transfer, in bytes. It makes one request, so nothing delays its first paint. */
const MOST_REFERENCE_BYTES = 80_000;

/** Adds up what moved on the page without an input of the user, and keeps the limit of `useIsSettled` from ending early. */
const OBSERVE = `
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  window.asked = [];
  const ask = window.fetch;
  window.fetch = (...request) => (window.asked.push(String(request[0])), ask(...request));
  const set = window.setTimeout;
  window.setTimeout = (work, wait, ...rest) => set(work, wait === 5000 ? 600000 : wait, ...rest);`;
/** The names that two navigation landmarks of the page have. */
const SAME_NAMES = `[...document.querySelectorAll('nav')].map((nav) => nav.getAttribute('aria-label'))
  .filter((name, index, all) => all.indexOf(name) !== index)`;
/** The scripts and styles that were loaded. */
const FILES = `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
  .filter((path) => path.startsWith('/assets/'))`;
/** The requests that the page named for its screen. */
const NAMED = `[...document.querySelectorAll('link[as=fetch]')].map((link) => link.getAttribute('href'))`;
/** Those that the scripts did not make, or that a browser sent twice. */
const WASTED = `${NAMED}.filter((address) => !asked.includes(address)
  || performance.getEntriesByType('resource').filter(({ name }) => name === new URL(address, location).href).length >
    asked.filter((each) => each === address).length)`;
/** The addresses of all screens, as the router has them: `/events/$id`. */
const ROUTES = 'Object.keys(__TSR_ROUTER__.routesByPath)';
const BYTES = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;

/** The screens whose title the server draws. */
const MAIN = [
  '/',
  ...['affiliates', 'commissions', 'events', 'import', 'payouts', 'reports', 'webhooks', 'webhooks/log'].map(
    (name) => `/${name}`,
  ),
];

/** Whether a path belongs to a route, such as `/events/$id`. */
function isAt(path: string, route: string): boolean {
  const [parts, names] = [path.split('/'), route.split('/')];
  return (
    parts.length === names.length &&
    names.every((name, index) => name.startsWith('$') || name === parts[index])
  );
}

inChromium('the screens', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test('do not move while they load, transfer little, have no refused request, and are accessible', async () => {
    await api.patch('/v2/account', { hold_days: 0 });
    const affiliates = await makeAffiliates(api, 30, 'layout');
    await takeIn(api, salesFor(affiliates, 90, 'layout'));
    const payout = await makePayout(api);
    const endpoint = await api.post(ENDPOINTS, { url: 'https://example.com/hook' });
    const event = await api.post('/v2/events', { type: 'order.paid', data: {} });
    const paths = [
      ...[
        '/',
        '/affiliates',
        `/affiliates/${affiliates[0]}`,
        '/commissions',
        '/commissions/refunds',
        '/events',
      ],
      ...[
        '/events/types',
        `/events/${event.body.id}`,
        '/import',
        '/payouts',
        '/payouts/new',
        `/payouts/${payout.id}`,
      ],
      ...[
        '/payouts/schedules',
        '/reports',
        '/reports/entries',
        '/reports/us-tax',
        '/reports/tax-forms',
        '/settings/account',
        '/settings/profile',
        '/settings/people',
        '/settings/keys',
      ],
      ...[
        '/settings/applications',
        '/settings/alerts',
        '/settings/notices',
        '/settings/audit',
        '/settings/system',
        '/webhooks',
        '/webhooks/log',
        `/webhooks/${endpoint.body.id}`,
      ],
    ];
    const sizes = [WIDE, PHONE];
    for (const [index, viewport] of sizes.entries()) {
      const visitor = await atDashboard(chromium, world, { api, viewport });
      const { context, page } = visitor;
      const routes = await page.evaluate<string[]>(ROUTES);
      // `/settings` leads to `/settings/account`
      const unseen = routes.filter(
        (route) => route !== '/settings' && !paths.some((path) => isAt(path, route)),
      );
      expect(unseen, 'routes without a path in this test').toEqual([]);
      await context.addInitScript(OBSERVE);
      // every second screen at each size
      const here = isLong ? paths : paths.filter((_, each) => each % 2 === index);
      let refused: string[] = [];
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      for (const path of here) {
        refused = [];
        await page.setViewportSize(viewport);
        const answer = await page.goto(world.url + path, { waitUntil: 'networkidle' });
        await page.locator('.page-body[aria-busy="false"]').waitFor();
        const [shift, bytes] = await page.evaluate<[number, number]>(`[shift, ${BYTES}]`);
        expect(shift, `${path} at ${viewport.width} pixels`).toBeLessThanOrEqual(MOST_SHIFT);
        // the console of the browser shows each as an error
        // the state of the installation is for the owners of its oldest account
        expect(refused, path).toEqual(path === '/settings/system' ? [`403 ${world.url}/v2/system`] : []);
        // the page names what its screen needs: nothing is requested only after the first scripts have run
        const served = (await answer?.text()) ?? '';
        const files = await page.evaluate<string[]>(FILES);
        expect(
          files.filter((name) => !served.includes(name)),
          `files of ${path}`,
        ).toEqual([]);
        expect(await page.evaluate(WASTED), `requests of ${path} without use`).toEqual([]);
        if (MAIN.includes(path)) {
          expect(/<h1>(.+)<\/h1>/.exec(served)?.[1]).toBe(await page.locator('h1').textContent());
        }
        expect(await page.evaluate(SAME_NAMES), `navigation of ${path}`).toEqual([]);
        expect(bytes, path).toBeGreaterThan(0);
        expect(bytes, path).toBeLessThan(MOST_BYTES);
        // each screen at both sizes in a long run
        for (const size of isLong ? sizes : [viewport]) {
          await page.setViewportSize(size);
          await page.locator('.page-body[aria-busy="false"]').waitFor();
          await expectAccessible(page, true);
        }
      }
      expectQuiet(visitor);
    }
  });

  test('that the server draws are accessible wide and on a phone', async () => {
    const visitor = await chromium.visitor({ scripts: true });
    const { page } = visitor;
    const { body: invited } = await api.post('/v2/users', {
      email: 'layout@example.com',
      name: 'Ada',
      role: 'viewer',
    });
    const question = authorizePath(await register(api), { state: 'a' });
    const { browser } = await signedIn(world, 'owner', api);
    let visits = 0;
    const visit = async (path: string, heading: string | RegExp) => {
      await page.goto(new URL(path, world.url).href);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      // every second page at each size in a short run
      visits += 1;
      for (const size of isLong ? [WIDE, PHONE] : [visits % 2 === 0 ? WIDE : PHONE]) {
        await page.setViewportSize(size);
        await expectAccessible(page, true);
      }
    };
    await visit('/sign-in', 'Sign in');
    await visit('/set-up?token=x', /./);
    await visit('/password?token=x', /./);
    await visit('/oauth/authorize', /./);
    await visit(invited.invitation_url, 'Welcome, Ada');
    await takeSession(visitor, world.url, browser.cookie() ?? '');
    await visit(question, /wants access/);
    await visit('/account/switch', 'Your accounts');
    await visit('/docs', 'API reference');
    // the longest pages, of the same parts
    if (isLong) await visit('/docs/affiliates', 'Affiliates');
    await visit('/docs/events', 'Events');
    expectQuiet(visitor);
  });

  test('the overview of the reference is one small response and does not move', async () => {
    for (const viewport of [WIDE, PHONE]) {
      const { page } = await chromium.visitor({ scripts: true, viewport });
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.addInitScript(OBSERVE);
      await page.goto(`${world.url}/docs`, { waitUntil: 'networkidle' });
      const [shift, bytes] = await page.evaluate<[number, number]>(`[shift, ${BYTES}]`);
      expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([`${world.url}/docs`]);
      expect(shift).toBeLessThanOrEqual(MOST_SHIFT);
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThan(MOST_REFERENCE_BYTES);
    }
  });
});
