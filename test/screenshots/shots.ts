import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ROLE_NAMES } from '../../src/contract/roles.ts';
import { PHONE, WIDE } from '../browser/dashboard-support.ts';
import { type Chromium, inChromium, type Page, takeSession } from '../browser/support.ts';
import { settingsOf, startMachine } from '../cli/support.ts';
import { signedIn } from '../people/support.ts';
import { type Api, apiOf } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';
import { SCREENS } from './screens.ts';

const FOLDER = fileURLToPath(new URL('../../screenshots/', import.meta.url));
// SCREENS=payout,events takes those alone, STATES=full these states, ROLE=viewer as a user with that role
const role = ROLE_NAMES.find((name) => name === process.env.ROLE) ?? 'owner';
const wanted = process.env.SCREENS?.split(',');
const STATES = ['full', 'empty', 'error'] as const;
const PICTURES_FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const PICTURE = { x: 0, y: 0, width: WIDE.width, height: 800, scale: 1 };
/** The pictures of the README and the guides, by the names of their screens. */
const PICTURES: Readonly<Record<string, string>> = {
  'payout-review': 'payout',
  'webhook-log-orders': 'deliveries',
  'import-month': 'import',
  'payout-preview': 'preview',
  'payout-files': 'files',
  'payout-results': 'complete',
  delivery: 'delivery',
};
// those of the pictures first: other screens change what they show
const chosen = SCREENS.filter(({ name }) => wanted?.includes(name) ?? true).sort(
  (a, b) => Number(b.name in PICTURES) - Number(a.name in PICTURES),
);

inChromium('screenshots', (chromium) => {
  test('of every screen: full, empty and refused, light and dark, wide and on a phone', async () => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    const [full, empty] = [await borrowWorld({ delivers: true }), await borrowWorld()];
    const machine = startMachine();
    try {
      const env = await settingsOf(full);
      expect(await machine.run(['demo', '--json'], { env })).toMatchObject({ code: 0 });
      const key = await machine.run(['keys', 'create', '--account', 'Demo', '--name', 'shop', '--json'], {
        env,
      });
      const demo = apiOf(full.url, key.json().key);
      for (const state of STATES.filter((each) => process.env.STATES?.split(',').includes(each) ?? true))
        await (state === 'empty'
          ? takeAll(chromium, empty, empty.api, state)
          : takeAll(chromium, full, demo, state));
    } finally {
      await machine.close();
      full.expectErrors();
      await Promise.all([full.close(), empty.close()]);
    }
  }, 1_800_000);
});

/** Takes the screens of an account, whose client is `api`. */
async function takeAll(
  chromium: Chromium,
  world: World,
  api: Api,
  state: (typeof STATES)[number],
): Promise<void> {
  const { browser: owner } = await signedIn(world, 'owner', api);
  const { browser: user } = await signedIn(world, role, api);
  for (const [size, viewport] of Object.entries({ wide: WIDE, phone: PHONE })) {
    const visitor = await chromium.visitor({ scripts: true, viewport });
    const { page } = visitor;
    await takeSession(visitor, world.url, user.cookie() ?? '');
    if (state === 'error') await refuseReads(page);
    for (const { name, path, act, after } of chosen) {
      await page.goto(world.url + (await path(api)));
      await page.waitForLoadState('networkidle');
      await page.locator('.page-body[aria-busy="true"]').waitFor({ state: 'detached' });
      if (state === 'full') await act?.(page);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({
          path: `${FOLDER}${name}-${state}-${size}-${colorScheme}.png`,
          fullPage: true,
          animations: 'disabled',
        });
        const picture = state === 'full' && size === 'wide' ? PICTURES[name] : undefined;
        if (picture !== undefined)
          await takePicture(page, `${PICTURES_FOLDER}${picture}-${colorScheme}.webp`);
      }
      if (after !== undefined) expect((await after(owner)).status, `after ${name}`).toBe(200);
    }
  }
}

/** Writes the top of the page as WebP, which is a third of the size of PNG. */
async function takePicture(page: Page, file: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const picture = { format: 'webp', quality: 80, clip: PICTURE } as const;
  const { data } = await session.send('Page.captureScreenshot', picture);
  writeFileSync(file, Buffer.from(data, 'base64'));
}

/** Answers everything except the user's identity with a server error. */
async function refuseReads(page: Page): Promise<void> {
  const body = JSON.stringify({
    error: {
      code: 'internal_error',
      message: 'unexpected error; the log has it under request req_0123456789ab',
    },
  });
  await page.route(
    (url) => url.pathname.startsWith('/v2/') && url.pathname !== '/v2/me',
    (route) =>
      route.fulfill({
        status: 500,
        body,
        headers: {
          'content-type': 'application/json',
          'payhook-reason': 'internal_error',
          'payhook-request-id': 'req_0123456789ab',
        },
      }),
  );
}
