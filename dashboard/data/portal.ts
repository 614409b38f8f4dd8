import type { Me } from '../../src/client/api.ts';
import { actWith } from './credential.ts';
import { loadMe } from './me.ts';
import { createSignal } from './signal.ts';

/** Why there is no portal: what came of its link, or that it was open and has ended. */
export type NoPortal = 'used' | 'revoked' | 'expired' | 'unknown' | 'unreachable' | 'ended';
const REFUSALS: readonly NoPortal[] = ['used', 'revoked', 'expired', 'unknown'];

const isEnded = createSignal(false);

/** A hook: whether the portal has ended, by time or because its link was revoked. */
export const useIsEnded = isEnded.use;

/**
 * Opens the portal of the link in the address of this page, once: from then on requests are made with its token, which is
 * kept in memory alone. Returns who this is, or why there is no portal.
 */
export async function openPortal(): Promise<Me | NoPortal> {
  const { search, hash, pathname } = window.location;
  const link = new URLSearchParams(search).get('link') ?? '';
  // used up in a moment; nobody should copy the address with it
  window.history.replaceState(null, '', pathname + search);
  const body = new URLSearchParams({ link, secret: hash.slice(1) });
  const answer = await fetch('/portal', { method: 'POST', body, credentials: 'omit' }).catch(() => null);
  const told = (await answer?.json().catch(() => null)) as
    | { token?: string; error?: string }
    | null
    | undefined;
  if (!told?.token) return REFUSALS.find((each) => each === told?.error) ?? 'unreachable';
  const headers = { authorization: `Bearer ${told.token}` };
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
