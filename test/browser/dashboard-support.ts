import axe from 'axe-core';
import { expect } from 'vitest';
import { makeUser, type Role } from '../people/support.ts';
import type { World } from '../support/world.ts';
import { type Chromium, type Page, takeSession, type Visitor } from './support.ts';

export const PHONE = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

/** Somebody of a role at the dashboard, signed in, at a path. */
export async function atDashboard(
  chromium: Chromium,
  world: Pick<World, 'api' | 'url'>,
  {
    role = 'owner',
    path = '/',
    ...look
  }: { role?: Role; path?: string; viewport?: typeof PHONE; timezoneId?: string } = {},
): Promise<Visitor & { readonly email: string }> {
  const { email, browser } = await makeUser(world.api, role);
  const visitor = await chromium.visitor({ scripts: true, ...look });
  await takeSession(visitor, world.url, browser.cookie() ?? '');
  await visitor.page.goto(world.url + path);
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  return { ...visitor, email };
}

/** Fails when a script failed or the browser refused something that the policy of the page forbids. */
export function expectQuiet({ errors, refusals }: Visitor): void {
  expect({ errors, refusals }).toEqual({ errors: [], refusals: [] });
}

/** Fails when axe finds something on the page, in the light or in the dark, that WCAG 2.2 AA or good practice forbids. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    // the protocol may do what the policy of the page forbids to the page
    await page.evaluate(axe.source);
    const found = await page.evaluate<
      { id: string; nodes: { html: string; any: { message: string }[] }[] }[]
    >('axe.run(document).then(({ violations }) => violations)');
    const told = found.map(({ id, nodes }) => [
      id,
      nodes.map(({ html, any }) => [html, any.map(({ message }) => message)]),
    ]);
    expect(told, `${colorScheme} ${page.url()}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
}
