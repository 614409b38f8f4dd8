import { createRequire } from 'node:module';
import { expect } from 'vitest';
import { type Role, signedIn } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import type { World } from '../support/world.ts';
import { type Chromium, type Page, takeSession, type Visitor } from './support.ts';

export const PHONE = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

interface Arrival {
  readonly role?: Role;
  /** A client of their account; the world's first unless it says otherwise. */
  readonly api?: Api;
  readonly path?: string;
  readonly viewport?: typeof PHONE;
  readonly timezoneId?: string;
}

/** Somebody of a role at the dashboard, signed in, at a path. */
export async function atDashboard(
  chromium: Chromium,
  world: Pick<World, 'api' | 'platform' | 'url'>,
  { role = 'owner', api = world.api, path = '/', ...look }: Arrival = {},
): Promise<Visitor & { readonly email: string }> {
  const { email, browser } = await signedIn(world, role, api);
  const visitor = await chromium.visitor({ scripts: true, ...look });
  await takeSession(visitor, world.url, browser.cookie() ?? '');
  await visitor.page.goto(world.url + path);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  return { ...visitor, email };
}

/** Lets the reads of a page wait until it writes, so that it does not see by itself what changed meanwhile. */
export async function holdReads(page: Page): Promise<void> {
  let goOn = () => {};
  const written = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/v2/**', async (route) => {
    if (route.request().method() === 'GET') await written;
    else goOn();
    await route.continue();
  });
}

/** Fails when a script failed or the browser refused something that the policy of the page forbids. */
export function expectQuiet({ errors, refusals }: Visitor): void {
  expect({ errors, refusals }).toEqual({ errors: [], refusals: [] });
}

/** What axe found: a rule, and the elements that break it with its messages. */
type Violation = readonly [rule: string, elements: readonly (readonly [html: string, messages: string[]])[]];

// the smaller of the two files it comes in
const axe: typeof import('axe-core') = createRequire(import.meta.url)('axe-core/axe.min.js');
// Of the rules of axe, these look at colours. Everything else is the same in the light and in the dark.
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe finds on the page, or what the given rules alone find. The page gets axe once. */
async function audit(page: Page, rules?: readonly string[]): Promise<readonly Violation[]> {
  const hasAxe = await page.evaluate<boolean>("typeof axe === 'object'");
  // the protocol may do what the policy of the page forbids to the page
  if (!hasAxe) await page.evaluate(axe.source);
  const options = {
    ...(rules && { runOnly: rules }),
    // what passed is not described, and no selectors are made up
    resultTypes: ['violations'],
    selectors: false,
  };
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any.map(({ message }) => message)])]))`);
}

/** Fails when axe finds something on the page, in the light or in the dark, that WCAG 2.2 AA or good practice forbids. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await audit(page), `light ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await audit(page, COLOR_RULES), `dark ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}
