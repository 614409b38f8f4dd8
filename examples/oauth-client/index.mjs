// An application that a merchant gives access to: authorization code flow with PKCE, against a running Payhook.
//
//   node examples/oauth-client                        prints an address; open it, sign in, tick, allow
//   node examples/oauth-client --public               the same as a public application, which has no secret
//   node examples/oauth-client --yes EMAIL PASSWORD   signs in and allows by itself (or PAYHOOK_EMAIL, PAYHOOK_PASSWORD)
//
// PAYHOOK_URL is the server, as its BASE_URL says. PAYHOOK_API_KEY registers the application; from then on the flow
// needs no key. Without one it is read from data/first-api-key.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import * as openid from 'openid-client';
import { consentAs } from './person.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    yes: { type: 'boolean', default: false },
    public: { type: 'boolean', default: false },
    // redirect URIs are compared character by character: a port that changes would be another URI
    port: { type: 'string', default: '8765' },
    scope: { type: 'string', default: 'affiliates webhooks' },
  },
});
const [email = process.env.PAYHOOK_EMAIL ?? '', password = process.env.PAYHOOK_PASSWORD ?? ''] = positionals;
const server = process.env.PAYHOOK_URL ?? 'http://127.0.0.1:8080';
const kind = options.public ? 'public' : 'confidential';
const redirectUri = `http://127.0.0.1:${options.port}/callback`;

const say = (text = '') => process.stdout.write(`${text}\n`);

/** A call of the API with an API key or an access token. */
async function call(method, path, bearer, body) {
  const response = await fetch(server + path, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** As `call`, for what has to work. */
async function must(...request) {
  const { status, body } = await call(...request);
  if (status >= 400) throw new Error(`${request[0]} ${request[1]}: ${status} ${body.error.message}`);
  return body;
}

function apiKey() {
  if (process.env.PAYHOOK_API_KEY) return process.env.PAYHOOK_API_KEY;
  try {
    return readFileSync('data/first-api-key', 'utf8').trim();
  } catch {
    throw new Error('set PAYHOOK_API_KEY, or run this in the folder of the server');
  }
}

/** The application of this example: the one of an earlier run, or a new one. A real one is registered once, by hand. */
async function application() {
  const key = apiKey();
  const name = `Example client (${kind})`;
  const { data } = await must('GET', `/v2/oauth-applications?kind=${kind}&per_page=100`, key);
  const known = data.find((each) => each.name === name && each.redirect_uris.includes(redirectUri));
  if (known === undefined) {
    return must('POST', '/v2/oauth-applications', key, {
      name,
      kind,
      redirect_uris: [redirectUri],
      scopes: ['affiliates', 'webhooks', 'account'],
    });
  }
  // a secret is shown once, and this program keeps nothing: it takes a new one
  return kind === 'public'
    ? known
    : must('POST', `/v2/oauth-applications/${known.id}/rotate-secret`, key, {});
}

/** Listens on the redirect URI; `arrived` is the first address that comes back there. */
async function listenForCallback() {
  let resolve;
  const arrived = new Promise((done) => {
    resolve = done;
  });
  const listener = createServer((request, response) => {
    const url = new URL(request.url ?? '/', redirectUri);
    const isCallback = url.pathname === new URL(redirectUri).pathname;
    response.writeHead(isCallback ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' });
    response.end(isCallback ? 'Done. Go back to the terminal.\n' : 'nothing here\n');
    if (isCallback) resolve(url);
  });
  listener.listen(Number(options.port), '127.0.0.1');
  await once(listener, 'listening');
  return { arrived, close: () => listener.close() };
}

const DOORS = ['/v2/affiliates/payouts', '/v2/webhook-endpoints', '/v2/account', '/v2/api-keys'];

/** Tries what the token opens. */
async function tryDoors(token) {
  for (const path of DOORS) {
    const { status, headers, body } = await call('GET', path, token);
    const why = status === 200 ? 'allowed' : `${headers.get('payhook-reason')}: ${body.error.message}`;
    say(`  ${status}  GET ${path.padEnd(24)}${why}`);
  }
}

async function main() {
  const { id, client_secret: secret } = await application();
  say(`Application  ${id} (${kind})`);

  // Everything about the server comes from /.well-known/oauth-authorization-server.
  const config = await openid.discovery(
    new URL(server),
    id,
    undefined,
    secret ? openid.ClientSecretBasic(secret) : openid.None(),
    {
      algorithm: 'oauth2',
      // openid-client refuses plain http, and rightly so; only a server on this machine may be spoken to like that.
      execute: server.startsWith('http://127.0.0.1:') ? [openid.allowInsecureRequests] : [],
    },
  );

  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: options.scope,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const listener = await listenForCallback();
  try {
    say(`Asks for     ${options.scope}`);
    say(`\nOpen this, sign in as an owner, tick, allow:\n  ${address}\n`);
    if (options.yes) await consentAs(address, { email, password });
    const callback = await listener.arrived;

    // Checks state, and that iss is this server and no other one, before it sends code and verifier.
    const tokens = await openid.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    say(`Came from    ${callback.searchParams.get('iss')}`);
    say(`Granted      ${tokens.scope}, for ${tokens.expires_in} s`);
    await tryDoors(tokens.access_token);

    const again = await openid.refreshTokenGrant(config, tokens.refresh_token);
    const rotated = again.refresh_token !== tokens.refresh_token;
    say(`\nRefreshed    ${again.scope}; the refresh token ${rotated ? 'is a new one' : 'stays'}`);
    // always keep the one that came last: a public application's earlier one is used up
    const refreshToken = again.refresh_token;

    const [only] = tokens.scope.split(' ');
    const narrow = await openid.refreshTokenGrant(config, refreshToken, { scope: only });
    say(`\nNarrowed     ${narrow.scope}`);
    await tryDoors(narrow.access_token);

    // A refresh token ends the whole grant, with every access token of it.
    await openid.tokenRevocation(config, narrow.refresh_token);
    say('\nRevoked');
    for (const { access_token } of [tokens, again, narrow]) {
      const { status, headers } = await call('GET', '/v2/affiliates/payouts', access_token);
      say(`  ${status}  ${headers.get('payhook-reason')}`);
    }
  } finally {
    listener.close();
  }
}

/** The error of the server in its own words, where it said some. */
function describe(error) {
  const said = error.error ? `${error.error}: ${error.error_description}` : error.message;
  return error.cause?.message ? `${said} (${error.cause.message})` : said;
}

main().catch((error) => {
  process.stderr.write(`${describe(error)}\n`);
  process.exitCode = 1;
});
