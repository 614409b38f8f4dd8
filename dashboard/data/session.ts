import type { Me } from '../../src/client/api.ts';
import { createSignal } from './signal.ts';

const isEnded = createSignal(false);
let token = '';

/** The session of this browser: its token against forms of other sites, and what happens when it ends. */
export const session = {
  /** What each write carries; '' before anything was read. */
  token: () => token,
  /** Takes what `/v2/me` says. */
  is(me: Me): void {
    token = me.csrf_token ?? '';
  },
  /** A hook: whether somebody must sign in again to go on. */
  useIsEnded: isEnded.use,
  /** Resolves when there is a session again, begun in the dialog that this opens or in another tab. */
  async renew(signal?: AbortSignal): Promise<void> {
    const before = token;
    if ((await readToken()) && token !== before) return;
    isEnded.set(true);
    await isEnded.until(false, signal);
  },
  /** Signs in without leaving the page. Resolves to what was wrong, or null. */
  async signIn(email: string, password: string): Promise<'wrong' | 'limited' | null> {
    const form = new URLSearchParams({ email, password, next: '/healthz' });
    const answer = await fetch('/sign-in', { method: 'POST', body: form });
    if (answer.status === 429) return 'limited';
    if (!(await readToken())) return 'wrong';
    isEnded.set(false);
    return null;
  },
};

/** Takes the token of the session that there is now; false when there is none. */
async function readToken(): Promise<boolean> {
  const answer = await fetch('/v2/me', { cache: 'no-store' });
  if (!answer.ok) return false;
  session.is((await answer.json()) as Me);
  return token !== '';
}
