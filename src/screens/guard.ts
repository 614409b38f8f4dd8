import { sessionCookie, sessionCookieName } from '../contract/cookies.ts';
import { html, type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { idOf } from '../kernel/ids.ts';
import { cellOf, hashSecret, isSecret, sameSecret } from '../kernel/secrets.ts';
import { note } from '../people/audit/service.ts';
import { endSession, findSession, SESSION_SECONDS } from '../people/sessions/service.ts';
import type { Visit } from '../people/users/credentials.ts';
import { errorPage } from './html/html.ts';

/** Where a signed-in user goes without a `next`: the dashboard. */
export const HOME = '/';

/** The longest path that `localPath` accepts. */
export const LONGEST_PATH = 8000;

/**
 * The path on this server in `next`, else HOME. It must begin with one slash that is not followed by another slash or a
 * backslash, which browsers read as a host, and contain no control characters, which browsers drop.
 */
export function localPath(next: string | null): string {
  const isLocal = next !== null && next.length <= LONGEST_PATH && /^\/(?![/\\])[\x21-\x7e]*$/.test(next);
  return isLocal ? next : HOME;
}

/** A page with a form. */
export function show(status: number, document: string, headers: PageReply['headers'] = {}): PageReply {
  // With no-referrer, as on other pages, browsers submit forms with `Origin: null`. With same-origin they would send the
  // whole address with the token of a link, which proxies log.
  return html(status, document, { 'referrer-policy': 'strict-origin', ...headers });
}

/**
 * Whether a form without a session token came from one of our pages, or from a program that is not a browser.
 * Browsers send the origin of the page, and cannot be made to lie about it.
 */
export function isFromHere({ headers, baseUrl, authorizeUrl }: PageInput): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return false;
  if (origin === undefined) return true;
  if (origin === 'null') return site === 'same-origin';
  const ours = [baseUrl, authorizeUrl].map((address) => new URL(address).origin);
  // the Host of the request may differ from the configured address
  return ours.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host);
}

/** The refusal of a form sent from another site. */
export function refuseForeign(): PageReply {
  return errorPage(403, 'the form was not sent from a page of this server: open the page and try again', {
    href: '/sign-in',
    label: 'Go to sign-in',
  });
}

/** The 404 page for browsers. */
export function nothingHere(): PageReply {
  return errorPage(404, 'there is no page at this address. It may be mistyped, or out of date');
}

/** The response to a form whose session has ended; `next` is where to continue after signing in. */
export function sessionEnded(next: string): PageReply {
  return redirect(`/sign-in?${new URLSearchParams({ next, ended: '' })}`);
}

/** Whether the form has the CSRF token of its session. */
export function hasToken({ form, signedIn }: PageInput): boolean {
  return signedIn !== null && sameSecret(form.get('csrf') ?? '', signedIn.csrfToken);
}

/** The refusal of a form of a signed-in user without that token. */
export function refuseUnsigned(): PageReply {
  return errorPage(403, 'this form is too old: open the page and try again', {
    href: HOME,
    label: 'Go to the start page',
  });
}

/**
 * Set-Cookie with the secret of a session. null removes the cookie, and clears pages that browsers cache for going back:
 * Chromium keeps some despite `no-store`.
 */
export function sessionHeader(secret: string | null, { authorizeUrl }: PageInput): PageReply['headers'] {
  const secure = authorizeUrl.startsWith('https:') ? '; Secure' : '';
  const age = secret === null ? 0 : SESSION_SECONDS;
  return {
    'set-cookie': `${sessionCookieName(authorizeUrl)}=${secret ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`,
    ...(secret === null ? { 'clear-site-data': '"cache"' } : {}),
  };
}

/**
 * Continues at `next` with the secret of a new session. The session that the browser had in another cell ends; one of the same
 * cell has ended with the transaction that opened the new one.
 */
export async function enter(input: PageInput, secret: string, next: string): Promise<PageReply> {
  const before = sessionCookie(input.headers.cookie, input.authorizeUrl);
  if (before !== undefined && isSecret('phi_', before) && cellOf(before) !== cellOf(secret)) {
    // the new session is valid also if that cell cannot be reached: the browser no longer has the old cookie
    await endSessionElsewhere(input, before).catch((error: unknown) =>
      input.log.warn({ err: error }, 'the earlier session in another cell was not ended'),
    );
  }
  return redirect(next, sessionHeader(secret, input));
}

async function endSessionElsewhere({ cells, requestId }: PageInput, secret: string): Promise<void> {
  const db = cells.of(cellOf(secret));
  const found = db && (await findSession(db, hashSecret(secret)));
  if (!found?.principal.session) return;
  const { account, session } = found.principal;
  const target = idOf('ses', session);
  await db?.transaction(async (tx) => {
    await endSession(tx, account, target);
    await note(tx, found.principal, { action: 'signOut', target, requestId });
  });
}

/** The data recorded about a request that uses or sets a password. */
export function visitOf({ db, headers, address, requestId, signedIn }: PageInput): Visit {
  const { session, account } = signedIn?.principal ?? {};
  const before = session && account && { cell: db.cell, account, id: idOf('ses', session) };
  return { userAgent: headers['user-agent'], address, requestId, before: before || undefined };
}

/** The response after too many attempts. */
export function refuseForNow(seconds: number): PageReply {
  const minutes = Math.ceil(seconds / 60);
  const page = errorPage(
    429,
    `sign-in is paused to protect passwords from guessing. Try again in ${minutes} minute${minutes === 1 ? '' : 's'}`,
    { href: '/sign-in', label: 'Back to sign-in' },
  );
  return { ...page, headers: { ...page.headers, 'retry-after': String(seconds) } };
}
