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

/** The same for a form that leads to `next`: an invalid authorization request is redirected to its application at once. */
export async function targetsAfter(cells: Cells, next: string): Promise<string[]> {
  const { pathname, searchParams } = new URL(next, 'http://localhost');
  if (pathname !== '/oauth/authorize') return [];
  const client = searchParams.get('client_id') ?? '';
  const db = cells.of(cellOfId(client));
  const application = db && (await findApplication(db.anonymous.reader, client));
  const uri = searchParams.get('redirect_uri') ?? '';
  return application && mayRedirectTo(application, uri) ? targetsOf(uri) : [];
}
