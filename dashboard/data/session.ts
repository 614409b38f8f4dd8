import type { Me } from '../../src/client/api.ts';
import { createSignal } from './signal.ts';

const isEnded = createSignal(false);
let token = '';
/** The user and the account that this page shows; '' before the first read. */
let shown = '';

/** The session of this browser: its CSRF token, and what happens when it expires. */
export const session = {
  cookies: 'same-origin' as const,
  /** The token of the session, which each write carries; '' before the first read. */
  token: () => token,
  headers: (isWrite: boolean): Readonly<Record<string, string>> => (isWrite ? { 'payhook-csrf': token } : {}),
  /**
   * Takes the data from `/v2/me`; false if it belongs to another user or account than the page shows. The page then reloads,
   * because its input must not be sent to another account.
   */
  is(me: Me): boolean {
    const who = `${me.id} ${me.account.id}`;
    if (shown !== '' && shown !== who) {
      window.location.assign('/');
      return false;
    }
    shown = who;
    token = me.csrf_token ?? '';
    return true;
  },
  /** A hook: whether the user has to sign in again to continue. */
  useIsEnded: isEnded.use,
  /** Resolves when there is a session again, started in the dialog that this opens or in another tab. */
  async renew(signal?: AbortSignal): Promise<void> {
    const before = token;
    if ((await readToken()) && token !== before) return;
    isEnded.set(true);
    await isEnded.until(false, signal);
  },
  /** Signs in without leaving the page. Resolves to the error, or null. */
  async signIn(email: string, password: string): Promise<'wrong' | 'limited' | null> {
    const form = new URLSearchParams({ email, password, next: '/healthz' });
    const answer = await fetch('/sign-in', { method: 'POST', body: form });
    if (answer.status === 429) return 'limited';
    if (!(await readToken())) return 'wrong';
    isEnded.set(false);
    return null;
  },
};

/** Reads the token of the current session; false if there is none. Never resolves if the page reloads. */
async function readToken(): Promise<boolean> {
  const answer = await fetch('/v2/me', { cache: 'no-store' });
  if (!answer.ok) return false;
  if (!session.is((await answer.json()) as Me)) await new Promise(() => undefined);
  return token !== '';
}
