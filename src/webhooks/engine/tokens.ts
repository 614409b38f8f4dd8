import type { ClientCredentials } from '../egress/record.ts';
import type { EgressRoute } from './egress-routes.ts';
import { type AttemptError, isOfProxy, MEANINGS, NOTHING, type Outcome } from './outcome.ts';
import type { Sender } from './send.ts';

/** An access token, or the outcome of an attempt that gets none. */
type Grant = { readonly token: string } | { readonly failure: Outcome };

/** Who asks for a token. */
interface TokenRequest {
  /** Tokens are kept for this object: the endpoint's, until anything of it changes. */
  readonly credentials: ClientCredentials;
  /** How the request leaves, which is how deliveries do. */
  readonly route: EgressRoute | undefined;
  /** A token that the receiver did not take: it is not given again. */
  readonly refused?: string | undefined;
  /** Milliseconds for the token endpoint. */
  readonly limitMs?: number | undefined;
}

/** Gives access tokens (RFC 6749 section 4.4). Never rejects. */
export type GetToken = (request: TokenRequest) => Promise<Grant>;

interface Kept {
  /** null = there is none yet. */
  readonly token: string | null;
  /** By `performance.now()`. */
  readonly until: number;
  /** The request that is under way. */
  readonly asked: Promise<Grant> | null;
}

/** Of a token that does not say how long it lives. */
const USUAL_LIFE_S = 300;
const LONGEST_LIFE_S = 86_400;
/** It is replaced this long before its end, or a tenth of its life when that is shorter. */
const MARGIN_S = 30;
/** Servers that count whole seconds end it up to one earlier. */
const LEAST_MARGIN_S = 1;
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const ERROR_NAME = /^[a-z_]{1,64}$/;

/**
 * Gets tokens with a sender and keeps them in memory until shortly before they end. There is one request at a time for an
 * endpoint: all that wait share its answer.
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
    kept.set(credentials, { token, until, asked: null });
    return { token };
  }

  return (request) => {
    const { credentials, refused } = request;
    const known = kept.get(credentials) ?? { token: null, until: 0, asked: null };
    if (known.asked) return known.asked;
    if (known.token !== null && known.token !== refused && performance.now() < known.until) {
      return Promise.resolve({ token: known.token });
    }
    const asked = ask(request);
    kept.set(credentials, { ...known, asked });
    return asked;
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

// both are encoded as in a form before they are joined (RFC 6749 section 2.3.1)
const formEncoded = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length);

function readAnswer(outcome: Outcome): { token: string; lifeS: number } | { failure: Outcome } {
  const { responseStatus: status, errorCode, errorMessage } = outcome;
  const failure = (code: AttemptError, detail = '') => ({
    failure: failed(outcome, code, `${MEANINGS[code]}${detail}`),
  });
  // the attempt was given up, this machine lacks something, or the proxy is to blame
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

/** The fields of a JSON object; none where the answer is anything else, or too long. */
function fieldsOf({ responseBody, responseTruncated }: Outcome): Record<string, unknown> {
  if (responseTruncated) return {};
  try {
    return { ...JSON.parse(responseBody ?? '') };
  } catch {
    return {};
  }
}

/** An outcome without anything of the token endpoint's answer, which may hold secrets, except how long to wait. */
function failed(
  { durationMs, lack, retryAfterSeconds }: Outcome,
  errorCode: AttemptError | null,
  errorMessage: string | null,
): Outcome {
  return { ...NOTHING, durationMs, lack, retryAfterSeconds, errorCode, errorMessage };
}
