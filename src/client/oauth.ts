import { connectionsTo } from '#connections';
import { base64Url, utf8 } from './bytes.ts';
import { textOf, type WireResponse } from './connections.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { hasNotConnected } from './retry.ts';

/** The tokens of a grant. Keep them secret. */
export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** The granted scopes, separated by spaces. */
  readonly scope: string;
}

/** Where to send the merchant's browser, and what to store with its session until it returns. */
export interface OAuthAuthorization {
  readonly url: string;
  /** Compare it with the `state` of the callback. */
  readonly state: string;
  readonly codeVerifier: string;
}

export interface OAuthOptions {
  /** The address of the server. */
  readonly url: string;
  readonly clientId: string;
  /** undefined = a public application. */
  readonly clientSecret?: string | undefined;
  /** One of the application's redirect URIs. */
  readonly redirectUri: string;
  /** Reads the stored tokens. Without it they are kept in memory. */
  readonly load?: (() => OAuthTokens | null | Promise<OAuthTokens | null>) | undefined;
  /** Stores the tokens before they are used; null = the grant was revoked. */
  readonly save?: ((tokens: OAuthTokens | null) => void | Promise<void>) | undefined;
}

/** The authorization server refused a request (RFC 6749 section 5.2). */
export class OAuthError extends Error {
  override name = 'OAuthError';
  /** `invalid_grant`: the code was used or is too old, or the grant has ended. `no_tokens`: there are none yet. */
  readonly error: string;
  /** null = nothing was sent. */
  readonly status: number | null;

  constructor(error: string, message: string, status: number | null) {
    super(message);
    this.error = error;
    this.status = status;
  }
}

/** An application and its tokens for one merchant; pass it to `createClient({ url, oauth })`. */
export interface OAuth {
  /** A new authorization request with a random state and PKCE (RFC 7636). */
  authorization(scopes: readonly string[]): Promise<OAuthAuthorization>;
  /** Exchanges the code of the callback for tokens, and saves them. Compare `state` before. */
  exchange(code: string, codeVerifier: string): Promise<OAuthTokens>;
  /** Gets a new access token, and saves the tokens. */
  refresh(): Promise<OAuthTokens>;
  /** Ends the grant and all its tokens (RFC 7009). */
  revoke(): Promise<void>;
  /** A valid access token: refreshed if it expires within 30 seconds, or is the one that the server refused. */
  accessToken(refused?: string): Promise<string>;
  /** Closes the connections. */
  close(): void;
}

const MARGIN_MS = 30_000;
const TIMEOUT_MS = 30_000;

/**
 * Prepares the OAuth calls of an application (docs/oauth.md). They throw OAuthError for a refusal, and ConnectionError if there was
 * no answer. Throws TypeError if the URL is invalid.
 *
 * @example
 * const oauth = createOAuth({ url, clientId, clientSecret, redirectUri, load, save });
 * const { url: consent, state, codeVerifier } = await oauth.authorization(['affiliates']);
 */
export function createOAuth(options: OAuthOptions): OAuth {
  const connections = connectionsTo({ url: options.url });
  const base = connections.base.href.replace(/\/$/, '');
  let kept: OAuthTokens | null = null;
  let refreshing: Promise<OAuthTokens> | null = null;

  async function current(): Promise<OAuthTokens> {
    const tokens = options.load ? await options.load() : kept;
    if (tokens !== null) return tokens;
    throw new OAuthError('no_tokens', 'there are no tokens yet: send the merchant to Payhook', null);
  }

  async function keep(tokens: OAuthTokens | null): Promise<void> {
    kept = tokens;
    await options.save?.(tokens);
  }

  async function post(path: string, form: Readonly<Record<string, string>>): Promise<unknown> {
    const { clientId, clientSecret } = options;
    const body = new URLSearchParams(clientSecret === undefined ? { ...form, client_id: clientId } : form);
    const answer = await answered(() =>
      connections.exchange({
        method: 'POST',
        path: connections.base.pathname.replace(/\/$/, '') + path,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...(clientSecret === undefined ? {} : { authorization: basic(clientId, clientSecret) }),
        },
        body: body.toString(),
        timeoutMs: TIMEOUT_MS,
        signal: undefined,
      }),
    );
    return bodyOf(answer);
  }

  async function tokensFor(form: Readonly<Record<string, string>>): Promise<OAuthTokens> {
    const body = (await post('/oauth/token', form)) as TokenResponse;
    const tokens = {
      accessToken: body.access_token,
      refreshToken: body.refresh_token,
      expiresAt: Date.now() + body.expires_in * 1000,
      scope: body.scope,
    };
    await keep(tokens);
    return tokens;
  }

  /** One refresh at a time: a refresh token can be used once. */
  function refresh(): Promise<OAuthTokens> {
    refreshing ??= current()
      .then(({ refreshToken }) => tokensFor({ grant_type: 'refresh_token', refresh_token: refreshToken }))
      .finally(() => {
        refreshing = null;
      });
    return refreshing;
  }

  return {
    async authorization(scopes) {
      const [state, codeVerifier] = [24, 48].map((size) =>
        base64Url(crypto.getRandomValues(new Uint8Array(size))),
      ) as [string, string];
      const challenge = await crypto.subtle.digest('SHA-256', utf8(codeVerifier));
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: options.clientId,
        redirect_uri: options.redirectUri,
        scope: scopes.join(' '),
        state,
        code_challenge: base64Url(new Uint8Array(challenge)),
        code_challenge_method: 'S256',
      });
      return { url: `${base}/oauth/authorize?${query}`, state, codeVerifier };
    },
    exchange: (code, codeVerifier) =>
      tokensFor({
        grant_type: 'authorization_code',
        code,
        redirect_uri: options.redirectUri,
        code_verifier: codeVerifier,
      }),
    refresh,
    async revoke() {
      const { refreshToken } = await current();
      await post('/oauth/revoke', { token: refreshToken });
      await keep(null);
    },
    async accessToken(refused) {
      const tokens = await current();
      const isUsable = tokens.accessToken !== refused && tokens.expiresAt - MARGIN_MS > Date.now();
      return (isUsable ? tokens : await refresh()).accessToken;
    },
    close: () => connections.close(),
  };
}

interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly scope: string;
}

/** The credentials of an application (RFC 6749 section 2.3.1: both are form-encoded first). */
const basic = (id: string, secret: string) =>
  `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`;

interface Answered {
  readonly status: number;
  readonly content: string;
}

async function answered(exchange: () => Promise<WireResponse>): Promise<Answered> {
  try {
    const { status, body } = await exchange();
    return { status, content: await textOf(body) };
  } catch (error) {
    throw new ConnectionError(`no answer from the authorization server: ${(error as Error).message}`, {
      cause: error,
      outcome: hasNotConnected(error) ? 'not_done' : 'unknown',
    });
  }
}

/** The JSON of an answer. Throws OAuthError for a refusal, and ConnectionError if something else has answered. */
function bodyOf({ status, content }: Answered): unknown {
  const body = content === '' ? {} : parsed(content);
  if (status >= 200 && status < 300 && body !== null) return body;
  const { error, error_description: message } = (body ?? {}) as Record<string, unknown>;
  if (typeof error === 'string' && status < 500)
    throw new OAuthError(error, typeof message === 'string' ? message : error, status);
  const what = `the server answered HTTP ${status} without an answer of OAuth: is the address right?`;
  const about = { status, reason: null, message: what, requestId: null, retryAfter: null };
  throw new ConnectionError(what, { cause: new ApiError({ ...about, code: 'internal_error' }) });
}

function parsed(content: string): object | null {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
