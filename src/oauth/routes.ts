import { ALL_SCOPES } from '../contract/scopes.ts';
import { json, type PageInput, type PageReply, type PageRoute, redirect } from '../contract/web-pages.ts';
import { fromJson } from '../kernel/json.ts';
import { getAccount } from '../people/accounts/service.ts';
import { accountsOf } from '../people/users/credentials.ts';
import { getUser } from '../people/users/service.ts';
import { errorPage } from '../screens/html/html.ts';
import { OAuthError, refuse } from './errors.ts';
import { consentPage } from './screens.ts';
import { type Caller, exchangeCode, grantCode, refreshTokens, revokeToken, type Tokens } from './service.ts';
import {
  AUTHORIZATION_PARAMETERS,
  authenticateClient,
  checkCsrfToken,
  checkFormBody,
  checkPkce,
  checkRedirectUri,
  checkResponseType,
  checkScopes,
  type Exchange,
  fact,
  loadApplication,
  needed,
  one,
  refuseRepeated,
  requireOwner,
  requireSignIn,
  type Step,
  scopesOf,
} from './steps.ts';

type Endpoint = 'ask' | 'consent' | 'token' | 'revoke';

const step = (check: Step, ...where: readonly (Endpoint | '')[]) => ({ check, where });

// Which check runs where, from the top to the bottom. Until `checkRedirectUri` a refusal is a page, then it goes to
// the application; at the token and revocation endpoints it is the JSON of RFC 6749 section 5.2.
// biome-ignore format: it is a table
const STEPS = [
  //   check               GET /authorize   POST /authorize  POST /token      POST /revoke
  step(checkFormBody,       '',              'consent',       'token',         'revoke'),
  step(loadApplication,     'ask',           'consent',       '',              ''),
  step(checkRedirectUri,    'ask',           'consent',       '',              ''),
  step(requireSignIn,       'ask',           'consent',       '',              ''),
  step(checkCsrfToken,      '',              'consent',       '',              ''),
  step(requireOwner,        'ask',           'consent',       '',              ''),
  step(refuseRepeated,      'ask',           'consent',       'token',         'revoke'),
  step(checkResponseType,   'ask',           'consent',       '',              ''),
  step(checkPkce,           'ask',           'consent',       '',              ''),
  step(checkScopes,         'ask',           'consent',       '',              ''),
  step(authenticateClient,  '',              '',              'token',         'revoke'),
];

/** The endpoints of OAuth 2.0: RFC 6749 with 7009, 7636, 8414 and 9207, following RFC 9700. */
export const OAUTH_ROUTES: readonly PageRoute[] = [
  route('ask', 'GET', '/oauth/authorize', ask),
  route('consent', 'POST', '/oauth/authorize', decide),
  route('token', 'POST', '/oauth/token', giveTokens),
  route('revoke', 'POST', '/oauth/revoke', revoke),
  {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    errors: 'oauth',
    handle: async (input) => json(200, metadataOf(input)),
  },
];

function route(
  endpoint: Endpoint,
  method: PageRoute['method'],
  path: string,
  finish: (exchange: Exchange) => PageReply | Promise<PageReply>,
): PageRoute {
  const checks = STEPS.filter(({ where }) => where.includes(endpoint)).map(({ check }) => check);
  const isForPeople = path === '/oauth/authorize';
  return {
    method,
    path,
    errors: isForPeople ? 'page' : 'oauth',
    async handle(input) {
      const exchange = { input, params: method === 'GET' ? input.query : input.form, facts: {} };
      try {
        for (const check of checks) {
          const reply = await check(exchange);
          if (reply) return reply;
        }
        return await finish(exchange);
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        return isForPeople ? refusalForApplication(exchange, error) : refusalForCaller(error);
      }
    },
  };
}

function refusalForCaller({ error, message, status, headers }: OAuthError): PageReply {
  return json(status, { error, error_description: message }, headers);
}

/**
 * Sends the error to the application if its redirect URI was verified, otherwise shows it to the person (RFC 6749 section
 * 4.1.2.1).
 */
function refusalForApplication(exchange: Exchange, { error, message }: OAuthError): PageReply {
  if (exchange.facts.redirectUri === undefined) {
    return errorPage(
      400,
      `The application that sent you here made a mistake: ${message}. Nothing was granted. Please inform its developers.`,
    );
  }
  return backToApplication(exchange, { error, error_description: message });
}

/** The redirect URI with the response, the unchanged state, and the issuer (RFC 9207). Its own query is kept. */
function backToApplication({ input, params, facts }: Exchange, answer: Record<string, string>): PageReply {
  const uri = facts.redirectUri ?? '';
  const [state, ...more] = params.getAll('state');
  const query = new URLSearchParams(answer);
  if (state && more.length === 0) query.set('state', state);
  query.set('iss', input.baseUrl);
  const joint = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?';
  return redirect(`${uri}${joint}${query}`);
}

function ask(exchange: Exchange): Promise<PageReply> {
  return consent(exchange);
}

async function consent(exchange: Exchange, problem?: string): Promise<PageReply> {
  const { input, params } = exchange;
  const { principal, person } = fact(exchange, 'signedIn');
  const [user, account] = [
    fromJson(await getUser(input.db.reader, principal.account, principal.id)),
    fromJson(await getAccount(input.db.reader, principal.account)),
  ];
  const carried = AUTHORIZATION_PARAMETERS.flatMap((name) => {
    const value = one(params, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return consentPage({
    application: fact(exchange, 'application'),
    redirectUri: fact(exchange, 'redirectUri'),
    user: user.email,
    account: account.name,
    elsewhere: (await accountsOf(input.db.reader, person)).length > 1 ? switchPath(carried) : null,
    scopes: fact(exchange, 'scopes'),
    action: new URL(`${input.authorizeUrl}/oauth/authorize`).pathname,
    carried: [...carried, ['csrf', fact(exchange, 'signedIn').csrfToken]],
    ...(problem === undefined ? {} : { problem }),
  });
}

/** The page for choosing another account, which then shows the same request. */
function switchPath(carried: readonly (readonly [string, string])[]): string {
  const request = new URLSearchParams(carried.map(([name, value]): [string, string] => [name, value]));
  return `/account/switch?${new URLSearchParams({ next: `/oauth/authorize?${request}` })}`;
}

/** Grants what was requested, is registered and is ticked. */
async function decide(exchange: Exchange): Promise<PageReply> {
  const { params } = exchange;
  if (one(params, 'decision') !== 'allow') throw refuse('access_denied', 'the merchant denied the request');
  const ticked = new Set(params.getAll('granted'));
  const scopes = fact(exchange, 'scopes').filter((scope) => ticked.has(scope));
  if (scopes.length === 0) return consent(exchange, 'tick what the application may do, or deny');
  const code = await grantCode(callerOf(exchange), fact(exchange, 'signedIn').principal, {
    scopes,
    redirectUri: fact(exchange, 'redirectUri'),
    challenge: fact(exchange, 'challenge'),
  });
  return backToApplication(exchange, { code });
}

function callerOf(exchange: Exchange): Caller {
  const { db, requestId } = exchange.input;
  return { db, requestId, application: fact(exchange, 'application') };
}

const GRANT_TYPES: Readonly<Record<string, (exchange: Exchange) => Promise<Tokens>>> = {
  authorization_code: (exchange) =>
    exchangeCode(callerOf(exchange), {
      code: needed(exchange.params, 'code'),
      redirectUri: needed(exchange.params, 'redirect_uri'),
      verifier: one(exchange.params, 'code_verifier'),
    }),
  refresh_token: (exchange) =>
    refreshTokens(callerOf(exchange), {
      refreshToken: needed(exchange.params, 'refresh_token'),
      scopes: scopesOf(one(exchange.params, 'scope')),
    }),
};

async function giveTokens(exchange: Exchange): Promise<PageReply> {
  const type = needed(exchange.params, 'grant_type');
  const give = Object.hasOwn(GRANT_TYPES, type) ? GRANT_TYPES[type] : undefined;
  if (!give) {
    throw refuse('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  }
  return json(200, await give(exchange));
}

async function revoke(exchange: Exchange): Promise<PageReply> {
  await revokeToken(callerOf(exchange), needed(exchange.params, 'token'));
  return { status: 200, body: '', type: null, headers: {} };
}

const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post', 'none'];

/** RFC 8414: the metadata for clients, the same for all. */
function metadataOf({ baseUrl, authorizeUrl }: PageInput) {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${authorizeUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    scopes_supported: [...ALL_SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: Object.keys(GRANT_TYPES),
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}
