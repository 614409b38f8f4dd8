import type { Reader } from '../db/database.ts';
import { findApplication, mayRedirectTo } from '../people/applications/service.ts';

/**
 * Where a form may lead that ends at an application, in the words of CSP: Chromium judges the redirect that answers a
 * form and each one after it, and applications send people on from there. Private-use schemes have no origin.
 */
export function targetsOf(redirectUri: string): string[] {
  const { origin, protocol } = new URL(redirectUri);
  // hosts may have semicolons and commas, which would end the directive or the policy; CSP knows no address of IPv6
  const named = /^https?:\/\/[a-z0-9.:-]+$/.test(origin) ? [origin] : [];
  if (protocol === 'https:') return [...named, 'https:'];
  if (protocol === 'http:') return [...named, 'http:', 'https:'];
  return [protocol];
}

/** The same for a form that leads to `next`: an authorization request with a mistake goes on to its application at once. */
export async function targetsAfter(db: Reader, next: string): Promise<string[]> {
  const { pathname, searchParams } = new URL(next, 'http://localhost');
  if (pathname !== '/oauth/authorize') return [];
  const application = await findApplication(db, searchParams.get('client_id') ?? '');
  const uri = searchParams.get('redirect_uri') ?? '';
  return application && mayRedirectTo(application, uri) ? targetsOf(uri) : [];
}
