import { afterEach, describe, expect, test } from 'vitest';
import { addressRules, PUBLIC_ONLY } from '../../src/kernel/addresses.ts';
import type { ClientCredentials } from '../../src/webhooks/egress/record.ts';
import { egressRouteOf } from '../../src/webhooks/engine/egress-routes.ts';
import { createSender, type SenderOptions } from '../../src/webhooks/engine/send.ts';
import { createTokens } from '../../src/webhooks/engine/tokens.ts';
import { certificateFor } from '../support/certificate.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity.ts';
import { countOfProcesses } from '../support/processes.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { onStage } from './support.ts';

const LOCAL = addressRules(['127.0.0.0/8', '::1/128']);
const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
const SECRET = 'secret-of-the-client';
const TOKEN = 'token-of-the-receiver';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function openReceiver(options?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(options);
  cleanups.push(() => receiver.close());
  return receiver;
}

async function openProvider(...options: Parameters<typeof startIdentityProvider>) {
  const provider = await startIdentityProvider(...options);
  cleanups.push(() => provider.close());
  return provider;
}

/** Makes a receiver answer 401 to every token that the provider does not know. */
function guard(receiver: Receiver, provider: IdentityProvider): void {
  receiver.respond(({ headers }, response) => {
    void provider
      .isLive(headers.authorization)
      .then((isLive) => response.writeHead(isLive ? 200 : 401).end());
  });
}

function openTokens(options: Partial<SenderOptions> = {}) {
  const sender = createSender({
    addresses: LOCAL,
    timeoutMs: 2000,
    connectionsPerOrigin: 4,
    needsBody: true,
    ...options,
  });
  cleanups.push(() => sender.close());
  return createTokens(sender);
}

const credentialsAt = (token_url: string): ClientCredentials => ({
  token_url,
  client_id: 'payhook',
  client_secret: SECRET,
  scope: null,
  audience: null,
  authentication: 'basic',
});

/** A token endpoint that answers everything alike; null = it never answers. */
async function openBroken(status: number | null, body: string, headers = {}): Promise<string> {
  const receiver = await openReceiver();
  receiver.respond((_request, response) => {
    if (status !== null) response.writeHead(status, headers).end(body);
  });
  return receiver.url;
}

const answer = (fields: object) => JSON.stringify({ access_token: TOKEN, token_type: 'Bearer', ...fields });

/** Each process keeps tokens for itself, so tests that count them have one. */
const ONE_CACHE = { settings, processes: 1 };

describe('an endpoint with client credentials', () => {
  test.each(['basic', 'body'] as const)('gets each delivery with a token of its server: %s', (how) =>
    onStage({ settings }, async (stage) => {
      const provider = await openProvider(how === 'basic' ? 'basic' : 'post');
      const receiver = await stage.receiver();
      guard(receiver, provider);
      const client_credentials = { ...provider.credentials, authentication: how };
      const endpoint = await stage.endpoint(receiver, { client_credentials });
      const events = await stage.publishMany(10);
      for (const event of events) await stage.untilLog(endpoint, event, { status: 'delivered' });
      // requested once for all of them by each process that sent some
      expect(new Set(provider.given)).toEqual(new Set(['events:write']));
      expect(provider.given.length).toBeLessThanOrEqual(countOfProcesses());
      expect(receiver.received).toHaveLength(10);
      const log = await stage.log(endpoint, events[0] ?? '');
      expect(log.attempts[0].request_headers.authorization).toBe('(hidden)');
      const token = receiver.received[0]?.headers.authorization?.replace('Bearer ', '') ?? '';
      const shown = JSON.stringify([log, stage.world.log, await stage.world.query('select * from attempts')]);
      for (const secret of [token, provider.credentials.client_secret]) expect(shown).not.toContain(secret);
    }),
  );

  test('gets a new token once, in the same attempt, when the receiver refuses the previous one', () =>
    onStage(ONE_CACHE, async (stage) => {
      const provider = await openProvider();
      const receiver = await stage.receiver();
      guard(receiver, provider);
      const endpoint = await stage.endpoint(receiver, { client_credentials: provider.credentials });
      await stage.untilLog(endpoint, await stage.publish(), { status: 'delivered' });
      await provider.revoke(receiver.received[0]?.headers.authorization ?? '');
      const log = await stage.untilLog(endpoint, await stage.publish(), { status: 'delivered' });
      expect(log.attempt_count).toBe(1);
      expect([receiver.received.length, provider.given.length]).toEqual([3, 2]);
      // a receiver that refuses both is called twice, and the attempt fails with its response
      receiver.respond(401);
      const failed = await stage.untilLog(endpoint, await stage.publish(), { attempt_count: 1 });
      expect([failed.status, failed.last_response_status]).toEqual(['pending', 401]);
      expect([receiver.received.length, provider.given.length]).toEqual([5, 3]);
    }));

  test('gets a new token when the previous one has expired, and no expired one', () =>
    onStage(ONE_CACHE, async (stage) => {
      const provider = await openProvider('basic', 1);
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { client_credentials: provider.credentials });
      for (let count = 1; count <= 2; count += 1) {
        await stage.untilLog(endpoint, await stage.publish(), { status: 'delivered' });
        const { authorization } = receiver.received.at(-1)?.headers ?? {};
        await until('the token to expire', async () => !(await provider.isLive(authorization)));
      }
      expect([receiver.received.length, provider.given.length]).toEqual([2, 2]);
    }));

  test('fails without a token, and its waiting deliveries are sent once there is one', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const tokens = await openReceiver();
      tokens.respond((_request, response) => response.writeHead(401).end('{"error":"invalid_client"}'));
      const endpoint = await stage.endpoint(receiver, { client_credentials: credentialsAt(tokens.url) });
      const event = await stage.publish();
      const log = await stage.untilLog(endpoint, event, { last_error_code: 'token_refused' });
      expect(log.attempts[0]).toMatchObject({
        response_status: null,
        error_message: 'the token endpoint gave no access token (HTTP 401, invalid_client)',
      });
      expect(receiver.received).toHaveLength(0);
      expect(await stage.state(endpoint)).toMatchObject({ failures: 1, failing: true });
      tokens.respond((_request, response) => response.end(answer({ expires_in: 60 })));
      await stage.passTime(endpoint);
      await receiver.until(1);
      expect(receiver.received[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
      await stage.untilLog(endpoint, event, { status: 'delivered' });
    }));

  test('whose token request fails in a broken proxy has no failure', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const none = await openReceiver();
      const endpoint = await stage.endpoint(receiver, {
        client_credentials: credentialsAt('http://127.0.0.1:9/token'),
        // it does not know CONNECT
        proxy: none.url.replace('/hook', ''),
      });
      const log = await stage.untilLog(endpoint, await stage.publish(), { attempt_count: 1 });
      expect(log.last_error_code).toMatch(/^proxy_/);
      expect(await stage.state(endpoint)).toMatchObject({ failures: 0, failing: false });
    }));
});

describe('a token endpoint', () => {
  const broken: Readonly<Record<string, [number | null, string, string, object?]>> = {
    'never answers': [null, '', 'token_timeout'],
    redirects: [302, '', 'token_refused', { location: 'https://example.com/' }],
    'refuses the client': [401, '{"error":"invalid_client"}', 'token_refused'],
    'is broken itself': [503, SECRET, 'token_refused'],
    'sends no JSON': [200, `<p>${SECRET}</p>`, 'token_invalid'],
    'sends null': [200, 'null', 'token_invalid'],
    'sends no token': [200, '{"token_type":"Bearer"}', 'token_invalid'],
    'sends a token of two lines': [200, answer({ access_token: 'a\nx-other: b' }), 'token_invalid'],
    'sends another type': [200, answer({ token_type: 'DPoP' }), 'token_invalid'],
    'sends 100 KiB': [200, answer({ more: 'x'.repeat(100_000) }), 'token_invalid'],
    'sends 2 MiB': [200, answer({ more: 'x'.repeat(2_000_000) }), 'token_invalid'],
  };
  test.each(Object.entries(broken))('that %s gives none', async (_, [status, body, code, headers]) => {
    const getToken = openTokens(status === null ? { timeoutMs: 300 } : {});
    const credentials = credentialsAt(await openBroken(status, body, headers));
    const grant = await getToken({ credentials, route: undefined });
    expect(grant).toMatchObject({ failure: { errorCode: code, responseStatus: null, responseBody: null } });
    for (const secret of [SECRET, TOKEN]) expect(JSON.stringify(grant)).not.toContain(secret);
  });

  test('that is down, or at an address forbidden to webhooks, gives none', async () => {
    const down = await openTokens()({ credentials: credentialsAt('http://127.0.0.1:9/'), route: undefined });
    expect(down).toMatchObject({ failure: { errorCode: 'token_unreachable' } });
    const tokens = await openReceiver();
    const getToken = openTokens({
      addresses: PUBLIC_ONLY,
      resolve: (_name, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    for (const url of [tokens.url, tokens.url.replace('127.0.0.1', 'rebound.example')]) {
      expect(await getToken({ credentials: credentialsAt(url), route: undefined })).toMatchObject({
        failure: {
          errorCode: 'token_unreachable',
          errorMessage: 'the token endpoint could not be reached: its address is not allowed',
        },
      });
    }
    expect(tokens.received).toHaveLength(0);
  });

  test('has no more time than the request', async () => {
    const getToken = openTokens({ timeoutMs: 3_600_000 });
    const credentials = credentialsAt(await openBroken(null, ''));
    const grant = await getToken({ credentials, route: undefined, limitMs: 300 });
    expect(grant).toMatchObject({ failure: { errorCode: 'token_timeout' } });
  });

  test('that requests a client certificate gets that of the endpoint', async () => {
    const [server, client] = [certificateFor('localhost'), certificateFor('known')];
    const tls = { ...server, ca: [client.cert], requestCert: true, rejectUnauthorized: true };
    const tokens = await openReceiver({ tls });
    tokens.respond((_request, response) => response.end(answer({})));
    const getToken = openTokens({ authorities: server.cert });
    const route = egressRouteOf({ certificate: { certificate: client.cert, key: client.key } });
    expect(await getToken({ credentials: credentialsAt(tokens.url), route })).toEqual({ token: TOKEN });
    expect(tokens.received[0]?.peer).toBe('known');
    expect(await getToken({ credentials: credentialsAt(tokens.url), route: undefined })).toMatchObject({
      failure: { errorCode: 'token_unreachable' },
    });
  });

  test('is called again for a refused or expired token, and only once at a time', async () => {
    // the second expires at once; the third has no expiry
    const LIVES = ['3600', 0, null];
    const tokens = await openReceiver();
    tokens.respond((_request, response, count) =>
      response.end(answer({ access_token: `token-${count}`, expires_in: LIVES[count - 1] })),
    );
    const getToken = openTokens();
    const credentials = credentialsAt(tokens.url);
    const ask = async (refused?: string) => {
      const grant = await getToken({ credentials, route: undefined, refused });
      return 'token' in grant ? grant.token : grant.failure.errorCode;
    };
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['token-1', 'token-1', 'token-1']);
    expect(await ask()).toBe('token-1');
    expect(await Promise.all([ask('token-1'), ask('token-1')])).toEqual(['token-2', 'token-2']);
    expect(await ask()).toBe('token-3');
    expect(await ask('token-1')).toBe('token-3');
    expect(tokens.received).toHaveLength(3);
    expect(tokens.received[0]?.body).toBe('grant_type=client_credentials');
  });
});
