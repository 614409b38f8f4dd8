import { existsSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium as playwright } from 'playwright-core';
import { afterEach, describe } from 'vitest';
import { PASSWORD } from '../people/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';

type Instance = Awaited<ReturnType<typeof playwright.launch>>;
type Context = Awaited<ReturnType<Instance['newContext']>>;
export type Page = Awaited<ReturnType<Context['newPage']>>;
/** The cookies of a browser, as they were set. */
export type Cookies = Awaited<ReturnType<Context['storageState']>>;

/** The headless one comes first: it needs half the processor time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = [process.env.CHROMIUM ?? '', ...PLACES].find((path) => existsSync(path));

/**
 * Features that no page of ours can see, and that cost as much as our pages: each window of Chromium opens its own
 * pages for the suggestions of the address bar, and each visit starts a process for the next one.
 */
const UNSEEN = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'SpareRendererForSitePerProcess',
];
/** What playwright-core turns off; Chromium obeys only the last list. */
const OFF_BY_DEFAULT = [
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
];
const ARGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  `--disable-features=${[...OFF_BY_DEFAULT, ...UNSEEN].join(',')}`,
];

/** A user with a separate browser, with one tab open. */
export interface Visitor {
  readonly page: Page;
  readonly context: Context;
  /** Resources that the browser blocked because of a Content-Security-Policy. */
  readonly refusals: string[];
  /** Errors on the console and exceptions of scripts, except for refused requests. */
  readonly errors: string[];
}

export interface Chromium {
  /** A new visitor; pages run no scripts unless `scripts` is true. */
  visitor(options?: VisitorOptions): Promise<Visitor>;
}

interface VisitorOptions {
  readonly scripts?: boolean;
  /** The viewport in pixels; by default a desktop's. */
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  /** The time zone of the browser's machine. */
  readonly timezoneId?: string;
  /** The cookies of an earlier, signed-in visitor. */
  readonly storageState?: Cookies;
  /** The test closes the context itself: several tests share one page. */
  readonly kept?: boolean;
}

/** The browser of this process, which its files share: launched at the first use, and again if it has crashed. */
let launched: Promise<Instance> | undefined;

async function launch(executablePath: string): Promise<Instance> {
  const instance = await playwright.launch({
    executablePath,
    args: ARGS,
    // real browsers keep the pages that users go back to
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    handleSIGTERM: false,
  });
  instance.on('disconnected', () => {
    launched = undefined;
  });
  return instance;
}

function running(executablePath: string): Promise<Instance> {
  if (launched === undefined) {
    launched = launch(executablePath);
    launched.catch(() => {
      launched = undefined;
    });
  }
  return launched;
}

// the signal ends a worker of the tests; playwright ends the browser and removes its profile when the process exits
process.once('SIGTERM', () => process.exit());

/** A `describe` whose tests have a Chromium; without one they are skipped, and the title says why. */
export function inChromium(title: string, body: (chromium: Chromium) => void): void {
  if (executablePath === undefined) {
    describe.skip(`${title} (no Chromium found: install it, or name it in CHROMIUM)`, () =>
      body({ visitor: () => Promise.reject(new Error('no Chromium')) }));
    return;
  }
  describe(title, () => {
    const contexts: Context[] = [];
    afterEach(async () => {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
    });
    body({
      async visitor({ scripts = false, kept = false, ...look } = {}) {
        const context = await (await running(executablePath)).newContext({
          ...look,
          javaScriptEnabled: scripts,
          ignoreHTTPSErrors: true,
          locale: 'en-GB',
        });
        if (!kept) contexts.push(context);
        context.setDefaultTimeout(PATIENCE_MS);
        const page = await context.newPage();
        const refusals: string[] = [];
        const errors: string[] = [];
        page.on('console', (message) => {
          const text = message.text();
          if (text.includes('Content Security Policy')) refusals.push(text);
          else if (message.type() === 'error' && !text.startsWith('Failed to load resource'))
            errors.push(text);
        });
        page.on('pageerror', (error) => errors.push(String(error)));
        return { page, context, refusals, errors };
      },
    });
  });
}

/** A web site of a third party. */
export interface Site {
  /** Another origin than the world, but the same site: browsers send `SameSite=Lax` cookies along. */
  readonly neighbour: string;
  /** The same pages on a different site. */
  readonly stranger: string;
  /** The requests it received. */
  readonly requests: { readonly url: URL; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** Serves pages by their path: HTML, or a redirect target. Everything else is a page that says `Here`. */
export async function startSite(
  pages: Readonly<Record<string, () => string | { readonly to: string }>> = {},
): Promise<Site> {
  const requests: Site['requests'] = [];
  const server = createServer(({ url: path = '/', headers }, response) => {
    const url = new URL(path, `http://${headers.host}`);
    if (url.pathname === '/favicon.ico') return response.writeHead(204).end();
    requests.push({ url, headers });
    const answer = pages[url.pathname]?.() ?? '<h1>Here</h1>';
    if (typeof answer !== 'string') return response.writeHead(302, { location: answer.to }).end();
    return response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${answer}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    neighbour: `http://127.0.0.1:${port}`,
    stranger: `http://localhost:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Fills the sign-in form on the page, and submits it. */
export async function signInOn(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Gives a browser the session of a user who signed in elsewhere. */
export async function takeSession({ context }: Visitor, url: string, value: string): Promise<void> {
  await context.addCookies([{ name: 'payhook_session', value, url, httpOnly: true, sameSite: 'Lax' }]);
}

/** Waits for the dashboard, which a sign-in opens, and opens the page of the accounts, which needs no script. */
export async function openAccount(page: Page, url: string): Promise<void> {
  await page.waitForURL((at) => ['/', '/payouts'].includes(at.pathname));
  await page.goto(`${url}/account/switch`);
}

/** The value of the session's cookie, which has another name with https. */
export async function sessionOf({ context }: Visitor): Promise<string | undefined> {
  return (await context.cookies()).find(({ name }) => /^(__Host-)?payhook_session$/.test(name))?.value;
}

/** The accessible description of one element on the page. */
export interface Accessible {
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly invalid: boolean;
}

/** The accessibility tree of the page, as the browser computes it. */
export async function accessibleTree({ context, page }: Visitor): Promise<Accessible[]> {
  const session = await context.newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, description, properties = [] }) => ({
      role: String(role?.value ?? ''),
      name: String(name?.value ?? ''),
      description: String(description?.value ?? ''),
      invalid: properties.some((each) => each.name === 'invalid' && each.value.value === 'true'),
    }));
}

/** The focused element, by the value of a choice or the name of a field, and whether its focus ring is visible. */
export function focusOf(page: Page): Promise<{ name: string; isSeen: boolean }> {
  return page.evaluate(`(() => {
    const at = document.activeElement;
    const isChoice = at.type === 'checkbox' || at.type === 'submit';
    const rings = [at, at.closest('label')].filter((each) => each !== null).map((each) => getComputedStyle(each));
    return {
      name: (isChoice && at.value) || at.getAttribute('name') || at.tagName,
      isSeen: rings.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && outlineWidth !== '0px'),
    };
  })()`);
}

/** The structure of the page. */
export interface PageFacts {
  readonly lang: string;
  readonly title: string;
  /** The number of them. */
  readonly h1: number;
  readonly main: number;
  readonly scripts: number;
  /** Attributes with a script in them. */
  readonly handlers: number;
  /** Visible links, buttons and fields. */
  readonly controls: number;
  readonly ids: readonly string[];
}

/** Counts the elements of the page. */
export function factsOf(page: Page): Promise<PageFacts> {
  return page.evaluate(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
      lang: document.documentElement.lang,
      title: document.title,
      h1: all('h1').length,
      main: all('main').length,
      scripts: document.scripts.length,
      handlers: all('*').flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith('on')).length,
      controls: all('a[href],button,select,textarea,input').filter((each) => each.getClientRects().length > 0).length,
      ids: all('[id]').map(({ id }) => id),
    };
  })()`);
}
