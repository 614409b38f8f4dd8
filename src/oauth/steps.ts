import { timingSafeEqual } from 'node:crypto';
import { isAllowed } from '../contract/access.ts';
import { ALL_SCOPES, OPENING_SCOPES, type Scope } from '../contract/scopes.ts';
import { type PageInput, type PageReply, redirect, type SignedIn } from '../contract/web-pages.ts';
import { hashSecret, sameSecret } from '../kernel/secrets.ts';
import { type Application, findApplication, mayRedirectTo } from '../people/applications/service.ts';
import { LONGEST_PATH } from '../screens/guard.ts';
import { errorPage } from '../screens/html/html.ts';
import { refuse } from './errors.ts';

/** The results of steps, for later steps and the endpoint. */
interface Facts {
  application: Application;
  /** Registered by the application. Refusals are sent there once it is verified. */
  redirectUri: string;
  signedIn: SignedIn;
  /** RFC 7636, S256; null if a confidential application omits it. */
  challenge: string | null;
  /** The requested scopes that may be granted. */
  scopes: readonly Scope[];
}

/** A request on its way through the steps. */
export interface Exchange {
  readonly input: PageInput;
  /** The query of a GET, the form of a POST. */
  readonly params: URLSearchParams;
  readonly facts: Partial<Facts>;
}

/** Stores its results in `facts`, answers the request itself, or throws an OAuthError. */
export type Step = (exchange: Exchange) => PageReply | undefined | Promise<PageReply | undefined>;

const TO_ACCOUNT = { href: '/', label: 'Go to the dashboard' };

/** The result of an earlier step. */
export function fact<Name extends keyof Facts>({ facts }: Exchange, name: Name): Facts[Name] {
  const value = facts[name];
  if (value === undefined) throw new Error(`no earlier step stored ${name}`);
  return value as Facts[Name];
}

/**
 * The value of a parameter, or undefined: an empty one counts as not sent (RFC 6749 section 3.1). Throws
 * `invalid_request` if it is given twice.
 */
export function one(params: URLSearchParams, name: string): string | undefined {
  const all = params.getAll(name);
  if (all.length > 1) throw refuse('invalid_request', `${name} is given twice`);
  return all[0] || undefined;
}

/** As `one`. Throws `invalid_request` if it is missing. */
export function needed(params: URLSearchParams, name: string): string {
  const value = one(params, name);
  if (value === undefined) throw refuse('invalid_request', `${name} is missing`);
  return value;
}

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/** Parameters must be in a form body (RFC 6749 section 3.2 and appendix B). */
export const checkFormBody: Step = ({ input }) => {
  if (FORM.test(input.headers['content-type'] ?? '')) return undefined;
  throw refuse('invalid_request', 'send the parameters as application/x-www-form-urlencoded');
};

/** A parameter that our own page repeats, once per ticked box. */
const BOXES = 'granted';

/** No parameter may occur twice (RFC 6749 section 3.1), not even an unknown one. */
export const refuseRepeated: Step = ({ params }) => {
  const seen = new Set<string>();
  for (const name of params.keys()) {
    if (seen.has(name) && name !== BOXES) {
      // the description must not repeat text from the request
      const shown = /^[a-z_]{1,40}$/.test(name) ? name : 'a parameter';
      throw refuse('invalid_request', `${shown} is given twice`);
    }
    seen.add(name);
  }
  return undefined;
};

/** The application exists. Nothing is sent to an address before this step and the next. */
export const loadApplication: Step = async ({ input, params, facts }) => {
  const application = await findApplication(input.db.reader, needed(params, 'client_id'));
  if (application === null)
    return errorPage(
      400,
      'The application that sent you here is not registered on this server, so nothing was granted. Please inform its developers.',
    );
  facts.application = application;
  return undefined;
};

/** The redirect URI is one of the application's. */
export const checkRedirectUri: Step = (exchange) => {
  const uri = needed(exchange.params, 'redirect_uri');
  if (!mayRedirectTo(fact(exchange, 'application'), uri)) {
    return errorPage(
      400,
      'The application that sent you here named an address that it has not registered, so nothing was granted. Please inform its developers.',
    );
  }
  exchange.facts.redirectUri = uri;
  return undefined;
};

/** The parameters of an authorization request, which the consent page submits again. */
export const AUTHORIZATION_PARAMETERS = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

/**
 * The user is signed in, which is checked before any redirect to the application (RFC 9700 section 4.11.2). A request too
 * long to return to after signing in is refused for every user, so that its developers notice.
 */
export const requireSignIn: Step = ({ input, params, facts }) => {
  // a form sent after the session ended starts over, without the ticked boxes
  const carried = [...params].filter(([name]) => input.method === 'GET' || isAuthorizationParameter(name));
  const next = `/oauth/authorize?${new URLSearchParams(carried)}`;
  if (next.length > LONGEST_PATH) {
    return errorPage(
      400,
      `The application that sent you here made a request of more than ${LONGEST_PATH} characters, so nothing was granted. Please inform its developers.`,
    );
  }
  if (input.signedIn !== null) {
    facts.signedIn = input.signedIn;
    return undefined;
  }
  return redirect(`${input.authorizeUrl}/sign-in?${new URLSearchParams({ next })}`);
};

const isAuthorizationParameter = (name: string) =>
  (AUTHORIZATION_PARAMETERS as readonly string[]).includes(name);

/** The form comes from our own page: another site cannot read its token. */
export const checkCsrfToken: Step = (exchange) => {
  const given = exchange.params.getAll('csrf');
  const { csrfToken } = fact(exchange, 'signedIn');
  if (given.length === 1 && sameSecret(given[0] ?? '', csrfToken)) return undefined;
  return errorPage(
    403,
    'This form was not sent from our own page, or is too old, so nothing was granted. Start again in the application.',
    TO_ACCOUNT,
  );
};

/** The user may manage applications: whoever grants access could make an API key too. */
export const requireOwner: Step = (exchange) => {
  if (isAllowed(fact(exchange, 'signedIn').principal, 'people')) return undefined;
  return errorPage(
    403,
    'Only an owner of the account can give applications access. Ask an owner, or switch to an account that you own.',
    { href: '/account/switch', label: 'Choose another account' },
  );
};

/** The response type is an authorization code in the query of the redirect URI. No other type is supported. */
export const checkResponseType: Step = ({ params }) => {
  if (needed(params, 'response_type') !== 'code') {
    throw refuse('unsupported_response_type', 'response_type must be code');
  }
  if ((one(params, 'response_mode') ?? 'query') !== 'query') {
    throw refuse('invalid_request', 'response_mode must be query');
  }
  return undefined;
};

/** PKCE (RFC 7636) with S256 only; public applications must use it. */
export const checkPkce: Step = (exchange) => {
  const challenge = one(exchange.params, 'code_challenge');
  const method = one(exchange.params, 'code_challenge_method');
  if (challenge === undefined && method === undefined) {
    if (fact(exchange, 'application').kind === 'public') {
      throw refuse('invalid_request', 'code_challenge is missing: a public application must use PKCE');
    }
    exchange.facts.challenge = null;
    return undefined;
  }
  // an absent method means plain (RFC 7636 section 4.3)
  if (method !== 'S256') throw refuse('invalid_request', 'code_challenge_method must be S256');
  if (challenge === undefined || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw refuse('invalid_request', 'code_challenge must be 43 characters of base64url');
  }
  exchange.facts.challenge = challenge;
  return undefined;
};

/**
 * The scopes exist. The application is offered those it registered that open something; the scope of its tokens names
 * them (RFC 6749 section 3.3).
 */
export const checkScopes: Step = (exchange) => {
  const requested = scopesOf(one(exchange.params, 'scope'));
  const registered = fact(exchange, 'application').scopes;
  if (requested?.some((scope) => !(ALL_SCOPES as ReadonlySet<string>).has(scope))) {
    throw refuse('invalid_scope', 'scope contains an unknown scope');
  }
  const wanted = requested === null ? registered : registered.filter((scope) => requested.includes(scope));
  if (wanted.length === 0) {
    throw refuse('invalid_scope', 'the application registered none of the requested scopes');
  }
  const scopes = wanted.filter((scope) => OPENING_SCOPES.has(scope));
  if (scopes.length === 0) {
    throw refuse('invalid_scope', 'none of the requested scopes opens anything on this server');
  }
  exchange.facts.scopes = scopes;
  return undefined;
};

/** The words of a `scope` parameter, or null. */
export function scopesOf(scope: string | undefined): readonly string[] | null {
  return scope === undefined ? null : scope.split(' ').filter((word) => word !== '');
}

/**
 * Authenticates the application (RFC 6749 sections 2.3 and 3.2.1): with its secret, in the Authorization header or in the
 * form, or with only its id if it is public and has none.
 */
export const authenticateClient: Step = async (exchange) => {
  const { id, secret } = credentialsOf(exchange);
  const application = await findApplication(exchange.input.db.reader, id);
  if (application === null) throw refuse('invalid_client', 'no such application, or a wrong secret');
  const { secret_hash: expected } = application;
  const isRight =
    expected === null
      ? secret === undefined
      : secret !== undefined && timingSafeEqual(hashSecret(secret), expected);
  if (!isRight) throw refuse('invalid_client', 'no such application, or a wrong secret');
  exchange.facts.application = application;
  return undefined;
};

interface Credentials {
  readonly id: string;
  readonly secret: string | undefined;
}

function credentialsOf({ input, params }: Exchange): Credentials {
  const { authorization } = input.headers;
  const [id, secret] = [one(params, 'client_id'), one(params, 'client_secret')];
  if (authorization === undefined) {
    if (id === undefined) throw refuse('invalid_client', 'client_id is missing');
    return { id, secret };
  }
  if (secret !== undefined) {
    throw refuse('invalid_request', 'authenticate in the Authorization header or in the form, not in both');
  }
  const basic = basicCredentials(authorization);
  if (id !== undefined && id !== basic.id) {
    throw refuse('invalid_request', 'client_id differs from the one in the Authorization header');
  }
  return basic;
}

/** RFC 6749 section 2.3.1: both are form-encoded before RFC 7617 joins them. */
function basicCredentials(authorization: string): Credentials {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  const id = formDecoded(text.slice(0, Math.max(colon, 0)));
  const secret = formDecoded(text.slice(colon + 1));
  if (colon === -1 || id === null || secret === null) {
    throw refuse('invalid_client', 'the Authorization header must be Basic with client id and secret');
  }
  return { id, secret: secret || undefined };
}

function formDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
