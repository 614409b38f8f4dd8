import type { Me } from '../../src/client/api.ts';
import { actWith } from './credential.ts';
import { loadMe } from './me.ts';
import { createSignal } from './signal.ts';

/** Why there is no portal: the state of its link, or `ended` after it was open. */
export type NoPortal = 'used' | 'revoked' | 'expired' | 'unknown' | 'unreachable' | 'ended';
const REFUSALS: readonly NoPortal[] = ['used', 'revoked', 'expired', 'unknown'];

const isEnded = createSignal(false);

/** A hook: whether the portal has expired or its link was revoked. */
export const useIsEnded = isEnded.use;

/**
 * Opens the portal of the link in the address of this page, once. Later requests use its token, which is kept only in
 * memory. Returns the caller, or why there is no portal.
 */
export async function openPortal(): Promise<Me | NoPortal> {
  const { search, hash, pathname } = window.location;
  const link = new URLSearchParams(search).get('link') ?? '';
  // the link works once, so nobody should copy the address with it
  window.history.replaceState(null, '', pathname + search);
  const body = new URLSearchParams({ link, secret: hash.slice(1) });
  const answer = await fetch('/portal', { method: 'POST', body, credentials: 'omit' }).catch(() => null);
  const opened = (await answer?.json().catch(() => null)) as
    | { token?: string; error?: string }
    | null
    | undefined;
  if (!opened?.token) return REFUSALS.find((each) => each === opened?.error) ?? 'unreachable';
  const headers = { authorization: `Bearer ${opened.token}` };
  actWith({
    cookies: 'omit',
    headers: () => headers,
    renew(signal) {
      isEnded.set(true);
      return isEnded.until(false, signal);
    },
  });
  return loadMe();
}
