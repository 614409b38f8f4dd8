import { html, type PageInput, type PageReply, type PageRoute, redirect } from '../contract/web-pages.ts';
import { assetFor, indexPage } from './dashboard/files.ts';
import { HOME, nothingHere } from './guard.ts';
import { errorPage } from './html/html.ts';

/**
 * The Content-Security-Policy of a built page: nothing is loaded from elsewhere, only scripts of the build run, and only
 * pages of the origins `frames` may show it in a frame.
 */
export const pagePolicy = (frames: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${frames.join(' ') || "'none'"}`,
  ].join('; ');

/** GET of any address of the dashboard: its page, or a redirect to the sign-in, which returns here. */
export async function showDashboard({ signedIn, path, query }: PageInput): Promise<PageReply> {
  if (!signedIn) {
    const next = query.size > 0 ? `${path}?${query}` : path;
    return redirect(next === HOME ? '/sign-in' : `/sign-in?${new URLSearchParams({ next })}`, VARY);
  }
  const page = indexPage(path, query.size > 0);
  if (page === null) return errorPage(503, 'the dashboard was not built: run `npm run build` on the server');
  return html(200, page, {
    ...VARY,
    'cache-control': 'private, no-cache',
    'content-security-policy': pagePolicy([]),
    'referrer-policy': 'same-origin',
  });
}

const VARY = { vary: 'accept, cookie' };

/** GET /assets/*: a file of the build, whose name has the hash of its content. */
async function sendAsset({ path, headers }: PageInput): Promise<PageReply> {
  const asset = assetFor(path.slice(1), String(headers['accept-encoding'] ?? ''));
  if (asset === null) return nothingHere();
  return {
    status: 200,
    body: asset.body,
    type: asset.type,
    headers: {
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(asset.coding === null ? {} : { 'content-encoding': asset.coding }),
    },
  };
}

// without `/`, where programs get the API's 404
const PLACES = [
  'payouts',
  'affiliates',
  'commissions',
  'reports',
  'import',
  'webhooks',
  'events',
  'settings',
];

/** The dashboard at each of its addresses, and its files. */
export const DASHBOARD_ROUTES: readonly PageRoute[] = [
  ...PLACES.flatMap((place) => [`/${place}`, `/${place}/*`]).map(
    (path): PageRoute => ({ method: 'GET', path, errors: 'page', handle: showDashboard }),
  ),
  { method: 'GET', path: '/assets/*', errors: 'page', isPublic: true, isStatic: true, handle: sendAsset },
];
