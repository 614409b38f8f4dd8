import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { Role } from '../../src/contract/roles.ts';
import { signedIn } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import type { World } from '../support/world.ts';
import { type Chromium, type Page, takeSession, type Visitor } from './support.ts';

export const PHONE = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

interface Arrival {
  readonly role?: Role;
  /** A client of their account; by default the world's first. */
  readonly api?: Api;
  readonly path?: string;
  readonly viewport?: typeof PHONE;
  readonly timezoneId?: string;
}

/** A signed-in user with a role at the dashboard, on a path. */
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

/** Holds back the reads of a page until it writes, so that it does not notice changes by itself. */
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

/** Fails when a script failed or the page's policy blocked something. */
export function expectQuiet({ errors, refusals }: Visitor): void {
  expect({ errors, refusals }).toEqual({ errors: [], refusals: [] });
}

/** A finding of axe: a rule, and the elements that violate it with its messages. */
type Violation = readonly [rule: string, elements: readonly (readonly [html: string, messages: string[]])[]];

// the smaller of its two builds
const axe: typeof import('axe-core') = createRequire(import.meta.url)('axe-core/axe.min.js');
// The axe rules about colours. Everything else is the same in light and dark mode.
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** The axe findings of the page, for all rules or the given ones. axe is loaded once per page. */
async function audit(page: Page, rules?: readonly string[]): Promise<readonly Violation[]> {
  const hasAxe = await page.evaluate<boolean>("typeof axe === 'object'");
  // the protocol may do what the page's policy forbids to the page
  if (!hasAxe) await page.evaluate(axe.source);
  const options = {
    ...(rules && { runOnly: rules }),
    // skips descriptions of passed rules and generated selectors
    resultTypes: ['violations'],
    selectors: false,
  };
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any.map(({ message }) => message)])]))`);
}

/** Fails when axe finds a violation of WCAG 2.2 AA or of good practice on the page, in light or dark mode. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  expect(await audit(page), `light ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await audit(page, COLOR_RULES), `dark ${page.url()}`).toEqual([]);
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}
