import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import type { Role } from '../../src/contract/roles.ts';
import { signedIn } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
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
  world: Pick<World, 'api' | 'db' | 'url'>,
  { role = 'owner', api = world.api, path = '/', ...look }: Arrival = {},
): Promise<Visitor & { readonly email: string }> {
  const { email, browser } = await signedIn(world, role, api);
  const visitor = await chromium.visitor({ scripts: true, ...look });
  await takeSession(visitor, world.url, browser.cookie() ?? '');
  await visitor.page.goto(world.url + path);
  await hasScreen(visitor.page);
  return { ...visitor, email };
}

/** The screen of a path: the same for all records that it can show, and for all its dialogs. */
const screenOf = (path: string) =>
  path.replace(/\?.*$/, '').replace(/\/([a-z]+_)?[0-9a-f]*\d[0-9a-f]*$/, '/$id');

/** Goes to a screen as a link does, without loading the page again, unless the same screen already shows something else. */
export async function goTo(page: Page, path: string): Promise<void> {
  if (screenOf(new URL(page.url()).pathname) === screenOf(path)) {
    await page.goto(new URL(path, page.url()).href);
  } else await page.evaluate(`__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} })`);
  await page.locator('.page-body[aria-busy="false"]').waitFor();
}

/** Waits for the screen: the server draws its title, but not its body. */
export const hasScreen = (page: Page): Promise<void> =>
  page.locator('.page-body').waitFor({ state: 'attached' });

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
/** The axe rules about what is drawn, which take most of the time. Everything else is the same in light and dark mode. */
const DRAWN_RULES = ['color-contrast', 'link-in-text-block', 'target-size'];

/** Later rows of a table or list, and later operations of the reference, have the same markup as the first ones. */
const REPEATED = ':is(tbody > tr, li, option, section.op):nth-child(n + 6)';

/** The axe findings on the elements that a selector matches. axe is loaded once per page. */
async function audit(page: Page, rules: object, include = 'html'): Promise<readonly Violation[]> {
  const hasAxe = await page.evaluate<boolean>("typeof axe === 'object'");
  // the protocol may do what the page's policy forbids to the page
  if (!hasAxe) await page.evaluate(axe.source);
  // skips descriptions of passed rules and generated selectors
  const options = { ...rules, resultTypes: ['violations'], selectors: false };
  const context = { include: [[include]], exclude: [[REPEATED]] };
  return page.evaluate(`axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html, any.map(({ message }) => message)])]))`);
}

const THEMES = ['light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** The kinds of elements that this run has audited in a theme, one a line. Its processes share them. */
const auditedIn = (theme: Theme) => join(inject('postgres').folder, `audited-${theme}`);
/** Marks the elements that are to be audited. */
const MARK = 'data-audit';

/**
 * Marks the visible elements of the kinds that were not audited in a theme, and returns these kinds. A kind is what the style
 * sheet and the rules can distinguish of an element and its parent: tag, class, state, the attributes it has, and whether a
 * control has a name. Elements of one kind have the same colours and the same findings.
 */
function markNewKinds(page: Page, theme: Theme): Promise<readonly string[]> {
  const known = existsSync(auditedIn(theme)) ? readFileSync(auditedIn(theme), 'utf8').split('\n') : [];
  return page.evaluate(`((audited) => {
    const isNamed = (each) => [each.textContent, each.title, each.getAttribute('aria-label'), each.getAttribute('aria-labelledby')]
      .some((text) => text?.trim()) || each.labels?.length > 0;
    const kind = (each) => [each.tagName, ...[...each.attributes]
      .filter(({ name }) => name !== '${MARK}')
      .map(({ name, value }) =>
        /^(class|role|type|hidden|open|disabled|aria-(selected|busy|pressed|invalid|current))$/.test(name) ? name + '=' + value : name),
      ...(each.matches('a, button, input, select, textarea, [role]') && !isNamed(each) ? ['nameless'] : [])].join(' ');
    const found = new Set();
    for (const each of document.body.querySelectorAll('*')) {
      const its = kind(each.parentElement) + ' > ' + kind(each);
      const isNew = !audited.has(its) && each.checkVisibility();
      each.toggleAttribute('${MARK}', isNew);
      if (isNew) found.add(its);
    }
    return [...found];
  })(new Set(${JSON.stringify(known)}))`);
}

/**
 * Fails when axe finds a violation of WCAG 2.2 AA or of good practice on the page. In a long run, and where `isWhole` says
 * so (layout.test.ts has the page of every route), all rules but those about what is drawn see the whole page, and those
 * the elements of kinds that no earlier page had, in both themes. Otherwise all rules see the elements of such kinds, in the
 * light theme.
 */
export async function expectAccessible(page: Page, isWhole = isLong): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  const others = { rules: Object.fromEntries(DRAWN_RULES.map((rule) => [rule, { enabled: false }])) };
  if (isWhole) expect(await audit(page, others), page.url()).toEqual([]);
  for (const colorScheme of isWhole ? THEMES : (['light'] as const)) {
    const kinds = await markNewKinds(page, colorScheme);
    if (kinds.length === 0) continue;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = await audit(page, isWhole ? { runOnly: DRAWN_RULES } : {}, `[${MARK}]`);
    expect(found, `${colorScheme} ${page.url()}`).toEqual([]);
    appendFileSync(auditedIn(colorScheme), kinds.map((kind) => `${kind}\n`).join(''));
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}

/** Counts the presses of the pointer on a page from now on. A page that is loaded again loses its count. */
export async function clicksOn(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(
    `window.presses = 0; addEventListener('pointerdown', () => { window.presses += 1; }, true)`,
  );
  return () => page.evaluate<number>('window.presses');
}
