import type { Cells } from '../db/cells.ts';
import { cellOfId } from '../kernel/ids.ts';
import { findApplication, mayRedirectTo } from '../people/applications/service.ts';

/**
 * The CSP sources to which a form may redirect that ends at an application. Chromium checks every redirect after a form
 * submission, and applications redirect further. Private-use schemes have no origin.
 */
export function targetsOf(redirectUri: string): string[] {
  const { origin, protocol } = new URL(redirectUri);
  // hosts may contain semicolons and commas, which would end the directive or the policy; CSP has no IPv6 addresses
  const named = /^https?:\/\/[a-z0-9.:-]+$/.test(origin) ? [origin] : [];
  if (protocol === 'https:') return [...named, 'https:'];
  if (protocol === 'http:') return [...named, 'http:', 'https:'];
  return [protocol];
}

/** The application that `next` gives access to, by its id, and where it wants the answer; null = it gives none. */
function requestIn(next: string): { readonly client: string; readonly uri: string } | null {
  const { pathname, searchParams } = new URL(next, 'http://localhost');
  if (pathname !== '/oauth/authorize') return null;
  return { client: searchParams.get('client_id') ?? '', uri: searchParams.get('redirect_uri') ?? '' };
}

/**
 * The number of the cell whose accounts can continue at `next`: an application gets access only to accounts of its own cell.
 * null = all accounts.
 */
export function cellFor(cells: Cells, next: string): number | null {
  const request = requestIn(next);
  const cell = request && cellOfId(request.client);
  return cells.list().some(({ number }) => number === cell) ? cell : null;
}

/** As `targetsOf`, for a form that leads to `next`: an invalid authorization request is redirected to its application at once. */
export async function targetsAfter(cells: Cells, next: string): Promise<string[]> {
  const request = requestIn(next);
  if (request === null) return [];
  const { client, uri } = request;
  const db = cells.of(cellOfId(client));
  const application = db && (await findApplication(db.anonymous.reader, client));
  return application && mayRedirectTo(application, uri) ? targetsOf(uri) : [];
}
