import { sessionCookieName } from '../contract/cookies.ts';
import { html, type PageInput, type PageReply, redirect } from '../contract/pagination.ts';
import { idOf } from '../kernel/ids.ts';
import { sameSecret } from '../kernel/secrets.ts';
import { SESSION_SECONDS } from '../people/sessions/service.ts';
import type { Visit } from '../people/users/credentials.ts';
import { errorPage } from './html/html.ts';

/** Where a signed-in user goes when nothing else is asked for: the dashboard. */
export const HOME = '/';

const LONGEST_PATH = 8000;

/**
 * The path on this server that `next` names, else HOME: one slash and no second one or backslash, which browsers take
 * for another host, and no control characters, which they leave out.
 */
export function localPath(next: string | null): string {
  const isLocal = next !== null && next.length <= LONGEST_PATH && /^\/(?![/\\])[\x21-\x7e]*$/.test(next);
  return isLocal ? next : HOME;
}

/** A page with a form of ours. */
export function show(status: number, document: string, headers: PageReply['headers'] = {}): PageReply {
  // with no-referrer, which pages have else, browsers say `Origin: null` when they send the form
  return html(status, document, { 'referrer-policy': 'same-origin', ...headers });
}

/**
 * Whether a form without a token of a session came from a page of ours, or from a program that is no browser. Browsers
 * name the page's origin, and they name it truly.
 */
export function isFromHere({ headers, baseUrl, authorizeUrl }: PageInput): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return false;
  if (origin === undefined) return true;
  if (origin === 'null') return site === 'same-origin';
  const ours = [baseUrl, authorizeUrl].map((address) => new URL(address).origin);
  // behind the name the browser asked for, which may be another one than the configured
  return ours.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host);
}

/** The refusal of a form that another site sent. */
export function refuseForeign(): PageReply {
  return errorPage(403, 'the form was not sent from a page of this server: open the page and try again', {
    href: '/sign-in',
    label: 'Go to sign-in',
  });
}

/** A browser at an address where nothing is. */
export function nothingHere(): PageReply {
  return errorPage(404, 'there is no page at this address; the start page says what there is');
}

/** The answer to a form of somebody whose session has ended; `next` is where they go on once they have signed in. */
export function sessionEnded(next: string): PageReply {
  return redirect(`/sign-in?${new URLSearchParams({ next, ended: '' })}`);
}

/** Whether the form carries the token of the session it came with. */
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
 * Set-Cookie with the secret of a session; null takes it away, and with it the pages that browsers keep for going back:
 * Chromium keeps some in spite of `no-store`.
 */
export function sessionHeader(secret: string | null, { authorizeUrl }: PageInput): PageReply['headers'] {
  const secure = authorizeUrl.startsWith('https:') ? '; Secure' : '';
  const age = secret === null ? 0 : SESSION_SECONDS;
  return {
    'set-cookie': `${sessionCookieName(authorizeUrl)}=${secret ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`,
    ...(secret === null ? { 'clear-site-data': '"cache"' } : {}),
  };
}

/** What is kept of a request that shows or sets a password. */
export function visitOf({ headers, address, requestId, signedIn }: PageInput): Visit {
  const principal = signedIn?.principal;
  const before = principal?.session && { account: principal.account, id: idOf('ses', principal.session) };
  return { userAgent: headers['user-agent'], address, requestId, before: before || undefined };
}

/** The answer after too many attempts. */
export function refuseForNow(seconds: number): PageReply {
  const minutes = Math.ceil(seconds / 60);
  const page = errorPage(
    429,
    `sign-in is paused to protect passwords from guessing. Try again in ${minutes} minute${minutes === 1 ? '' : 's'}`,
    { href: '/sign-in', label: 'Back to sign-in' },
  );
  return { ...page, headers: { ...page.headers, 'retry-after': String(seconds) } };
}
