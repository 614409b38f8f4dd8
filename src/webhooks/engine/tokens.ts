import type { ClientCredentials } from '../egress/record.ts';
import type { EgressRoute } from './egress-routes.ts';
import { type AttemptError, isOfProxy, MEANINGS, NOTHING, type Outcome } from './outcome.ts';
import type { Sender } from './send.ts';

/** An access token, or the outcome of an attempt without one. */
type Grant = { readonly token: string } | { readonly failure: Outcome };

/** A request for a token. */
interface TokenRequest {
  /** Tokens are cached by this object: the endpoint's, until it changes in any way. */
  readonly credentials: ClientCredentials;
  /** The egress route of the request, the same as for deliveries. */
  readonly route: EgressRoute | undefined;
  /** A token that the receiver refused: it is not returned again. */
  readonly refused?: string | undefined;
  /** The time limit for the token endpoint, in milliseconds. */
  readonly limitMs?: number | undefined;
}

/** Returns access tokens (RFC 6749 section 4.4). Never rejects. */
export type GetToken = (request: TokenRequest) => Promise<Grant>;

interface Kept {
  /** null = none yet. */
  readonly token: string | null;
  /** By `performance.now()`. */
  readonly until: number;
  /** The running request. */
  readonly running: Promise<Grant> | null;
}

/** Used for a token without an expiry. */
const USUAL_LIFE_S = 300;
const LONGEST_LIFE_S = 86_400;
/** A token is replaced this long before it expires, or a tenth of its lifetime if that is shorter. */
const MARGIN_S = 30;
/** Servers that count whole seconds expire it up to one second earlier. */
const LEAST_MARGIN_S = 1;
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const ERROR_NAME = /^[a-z_]{1,64}$/;

/**
 * Gets tokens with a sender and keeps them in memory until shortly before they expire. An endpoint has one request at a
 * time, and all waiting attempts share its result.
 */
export function createTokens(sender: Sender): GetToken {
  const kept = new WeakMap<ClientCredentials, Kept>();

  async function ask({ credentials, route, limitMs }: TokenRequest): Promise<Grant> {
    const startedAt = performance.now();
    const answer = readAnswer(await sender.send({ ...requestOf(credentials), route, limitMs }));
    if ('failure' in answer) {
      kept.delete(credentials);
      return answer;
    }
    const { token, lifeS } = answer;
    const marginS = Math.max(Math.min(MARGIN_S, lifeS / 10), LEAST_MARGIN_S);
    const until = startedAt + (lifeS - marginS) * 1000;
    kept.set(credentials, { token, until, running: null });
    return { token };
  }

  return (request) => {
    const { credentials, refused } = request;
    const known = kept.get(credentials) ?? { token: null, until: 0, running: null };
    if (known.running) return known.running;
    if (known.token !== null && known.token !== refused && performance.now() < known.until) {
      return Promise.resolve({ token: known.token });
    }
    const running = ask(request);
    kept.set(credentials, { ...known, running });
    return running;
  };
}

function requestOf({
  token_url,
  client_id,
  client_secret,
  scope,
  audience,
  authentication,
}: ClientCredentials) {
  const isBasic = authentication === 'basic';
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope === null ? {} : { scope }),
    ...(audience === null ? {} : { audience }),
    ...(isBasic ? {} : { client_id, client_secret }),
  });
  const login = Buffer.from(`${formEncoded(client_id)}:${formEncoded(client_secret)}`).toString('base64');
  return {
    url: token_url,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': 'Payhook/2.0 (webhooks)',
      ...(isBasic ? { authorization: `Basic ${login}` } : {}),
    },
    body: form.toString(),
  };
}

// both are form-encoded before they are joined (RFC 6749 section 2.3.1)
const formEncoded = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length);

function readAnswer(outcome: Outcome): { token: string; lifeS: number } | { failure: Outcome } {
  const { responseStatus: status, errorCode, errorMessage } = outcome;
  const failure = (code: AttemptError, detail = '') => ({
    failure: failed(outcome, code, `${MEANINGS[code]}${detail}`),
  });
  // the attempt was aborted, this machine lacks a resource, or the proxy failed
  if (errorCode === 'lost' || isOfProxy(errorCode))
    return { failure: failed(outcome, errorCode, errorMessage) };
  if (errorCode === 'timeout' || errorCode === 'body_too_slow') return failure('token_timeout');
  if (errorCode === 'address_blocked') return failure('token_unreachable', ': its address is not allowed');
  if (status === null || errorCode === 'connection_reset') {
    return failure('token_unreachable', `: ${errorMessage}`);
  }
  const fields = fieldsOf(outcome);
  if (status !== 200) {
    const { error } = fields;
    const name = typeof error === 'string' && ERROR_NAME.test(error) ? `, ${error}` : '';
    return failure('token_refused', ` (HTTP ${status}${name})`);
  }
  const { access_token: token, token_type: type, expires_in: life } = fields;
  const isUsable =
    typeof token === 'string' && TOKEN.test(token) && /^bearer$/i.test(String(type ?? 'Bearer'));
  if (!isUsable) return failure('token_invalid');
  const lifeS = Number(life ?? USUAL_LIFE_S);
  return { token, lifeS: lifeS >= 0 ? Math.min(lifeS, LONGEST_LIFE_S) : USUAL_LIFE_S };
}

/** The fields of a JSON object; empty for anything else, or if it is too long. */
function fieldsOf({ responseBody, responseTruncated }: Outcome): Record<string, unknown> {
  if (responseTruncated) return {};
  try {
    return { ...JSON.parse(responseBody ?? '') };
  } catch {
    return {};
  }
}

/** An outcome without anything from the token endpoint's response, which may contain secrets, except the Retry-After. */
function failed(
  { durationMs, lack, retryAfterSeconds }: Outcome,
  errorCode: AttemptError | null,
  errorMessage: string | null,
): Outcome {
  return { ...NOTHING, durationMs, lack, retryAfterSeconds, errorCode, errorMessage };
}
