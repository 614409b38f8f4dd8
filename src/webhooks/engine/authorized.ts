import type { ClientCredentials } from '../egress/record.ts';
import type { Outcome } from './outcome.ts';
import type { Sender, SentRequest } from './send.ts';
import type { GetToken } from './tokens.ts';

// the minimum left if this process was blocked for the rest of the time limit
const LEAST_SHARE = 0.1;

interface Authorizing {
  readonly sender: Sender;
  readonly getToken: GetToken;
  readonly credentials: ClientCredentials;
  /** Milliseconds in total; the token endpoint has at most half of them. */
  readonly timeoutMs: number;
}

/**
 * Sends with an access token. If the receiver refuses it (401), repeats the request with a new one. The outcome is that of
 * the last request, or of the token endpoint; its duration covers everything. Never rejects.
 */
export async function sendAuthorized(
  request: SentRequest,
  { sender, getToken, credentials, timeoutMs }: Authorizing,
): Promise<Outcome> {
  const { route } = request;
  const startedAt = performance.now();
  const tookMs = () => performance.now() - startedAt;
  const leftMs = () => Math.max(timeoutMs - tookMs(), timeoutMs * LEAST_SHARE);

  async function sendWith(refused?: string): Promise<{ token: string | undefined; outcome: Outcome }> {
    const limitMs = Math.min(timeoutMs / 2, leftMs());
    const grant = await getToken({ credentials, route, refused, limitMs });
    if ('failure' in grant) return { token: undefined, outcome: grant.failure };
    const { token } = grant;
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    return { token, outcome: await sender.send({ ...request, headers, limitMs: leftMs() }) };
  }

  let sent = await sendWith();
  if (sent.outcome.responseStatus === 401) sent = await sendWith(sent.token);
  return { ...sent.outcome, durationMs: Math.round(tookMs()) };
}
