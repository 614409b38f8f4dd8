import { expect, test } from 'vitest';
import { ENDPOINTS, makePayout } from '../api/fixtures.ts';
import { isLong } from '../support/depth.ts';
import { makeAffiliates, salesFor, takeIn } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

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
  const set = window.setTimeout;
  window.setTimeout = (work, wait, ...rest) => set(work, wait === 5000 ? 600000 : wait, ...rest);`;
/** The names that two navigation landmarks of the page have. */
const SAME_NAMES = `[...document.querySelectorAll('nav')].map((nav) => nav.getAttribute('aria-label'))
  .filter((name, index, all) => all.indexOf(name) !== index)`;
/** The scripts and styles that were loaded. */
const FILES = `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
  .filter((path) => path.startsWith('/assets/'))`;
const BYTES = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .reduce((sum, { transferSize }) => sum + transferSize, 0)`;

inChromium('the screens', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test('do not move while they load, transfer little, have no refused request, and name each navigation differently', async () => {
    await api.patch('/v2/account', { hold_days: 0 });
    const affiliates = await makeAffiliates(api, 30, 'layout');
    await takeIn(api, salesFor(affiliates, 90, 'layout'));
    const payout = await makePayout(api);
    const endpoint = await api.post(ENDPOINTS, { url: 'https://example.com/hook' });
    const event = await api.post('/v2/events', { type: 'order.paid', data: {} });
    const paths = [
      ...['/', '/affiliates', `/affiliates/${affiliates[0]}`, '/commissions', '/events', '/events/types'],
      ...[`/events/${event.body.id}`, '/import', '/payouts', '/payouts/new', `/payouts/${payout.id}`],
      ...[
        '/payouts/schedules',
        '/reports',
        '/reports/us-tax',
        '/reports/tax-forms',
        '/settings/account',
        '/settings/people',
        '/settings/keys',
      ],
      ...[
        '/settings/alerts',
        '/settings/audit',
        '/webhooks',
        '/webhooks/log',
        `/webhooks/${endpoint.body.id}`,
      ],
    ];
    for (const [index, viewport] of [WIDE, PHONE].entries()) {
      const visitor = await atDashboard(chromium, world, { api, viewport });
      const { context } = visitor;
      await context.addInitScript(OBSERVE);
      // every second screen at each size
      const here = isLong ? paths : paths.filter((_, each) => each % 2 === index);
      for (const path of here) {
        const page = await context.newPage();
        const refused: string[] = [];
        page.on('response', (response) => {
          if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
        });
        const answer = await page.goto(world.url + path, { waitUntil: 'networkidle' });
        await page.locator('.page-body[aria-busy="false"]').waitFor();
        const [shift, bytes] = await page.evaluate<[number, number]>(`[shift, ${BYTES}]`);
        expect(shift, `${path} at ${viewport.width} pixels`).toBeLessThanOrEqual(MOST_SHIFT);
        // the console of the browser shows each as an error
        expect(refused, path).toEqual([]);
        // the page names what its screen needs: nothing is requested only after the first scripts have run
        const served = (await answer?.text()) ?? '';
        const files = await page.evaluate<string[]>(FILES);
        expect(
          files.filter((name) => !served.includes(name)),
          `files of ${path}`,
        ).toEqual([]);
        expect(await page.evaluate(SAME_NAMES), `navigation of ${path}`).toEqual([]);
        expect(bytes, path).toBeGreaterThan(0);
        expect(bytes, path).toBeLessThan(MOST_BYTES);
        await page.close();
      }
      expectQuiet(visitor);
    }
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
