import { text } from 'node:stream/consumers';
import {
  ApiError,
  type Client,
  ConnectionError,
  createClient,
  createOAuth,
  InvalidIdError,
  OAuthError,
  type OAuthTokens,
} from '../../../src/client/client.ts';
import { signWebhook, verifyWebhooks, WebhookVerificationError } from '../../../src/client/verify.ts';
import type { Call, Result } from '../behaviour.ts';

/** What the driver uses of the package: what this process imports, or the same from a bundle. */
const HERE = {
  ...{ createClient, createOAuth, signWebhook, verifyWebhooks },
  ...{ ApiError, ConnectionError, InvalidIdError, OAuthError, WebhookVerificationError },
};
export type Package = typeof HERE;

/** Makes a call of the table with the client in TypeScript, in this process. */
export async function runHere(call: Call & { readonly url: string }, from: Package = HERE): Promise<Result> {
  const seen: number[] = [];
  try {
    // through JSON, as the other drivers answer
    const value = JSON.parse(JSON.stringify((await resultOf(from, call, seen)) ?? null));
    return { outcome: 'ok', value };
  } catch (error) {
    return { ...failureOf(from, error), seen };
  }
}

async function resultOf(
  from: Package,
  call: Call & { readonly url: string },
  seen: number[],
): Promise<unknown> {
  const { verb, url, body = '', headers = {}, secrets = [], retries, timeoutMs } = call;
  if (verb === 'verify') return from.verifyWebhooks(body, headers, secrets);
  if (verb === 'sign') {
    const { id = '', timestamp = 0 } = call;
    return from.signWebhook(body, secrets, { id, at: new Date(timestamp * 1000) });
  }
  if (verb === 'observe') return observed(from, call);
  if (verb.startsWith('oauth_')) return withTokens(from, call, seen);
  const client = from.createClient({ url, apiKey: 'secret', retries, timeoutMs });
  try {
    return await withClient(client, call, seen);
  } finally {
    await client.close();
  }
}

/** Makes a call of an application, and reports which access tokens were saved. */
async function withTokens(
  from: Package,
  call: Call & { readonly url: string },
  seen: number[],
): Promise<unknown> {
  const { verb, url, expiresIn, application, code = 'phc_1', verifier = 'the verifier' } = call;
  const saved: (string | null)[] = [];
  let kept: OAuthTokens | null =
    expiresIn === undefined
      ? null
      : {
          accessToken: 'old',
          refreshToken: 'refresh-1',
          expiresAt: Date.now() + expiresIn * 1000,
          scope: 'affiliates',
        };
  const oauth = from.createOAuth({
    url,
    clientId: application?.id ?? 'app_1',
    clientSecret: application?.secret ?? 'phs_1',
    redirectUri: 'https://shop.example.com/callback',
    load: () => kept,
    save(tokens) {
      kept = tokens;
      saved.push(tokens?.accessToken ?? null);
    },
  });
  try {
    if (verb === 'oauth_all') return { seen: await readAll(from.createClient({ url, oauth }), seen), saved };
    if (verb === 'oauth_authorization') {
      const { codeVerifier, ...request } = await oauth.authorization(['affiliates', 'webhooks']);
      return { ...request, verifier: codeVerifier };
    }
    if (verb === 'oauth_exchange') {
      const tokens = await oauth.exchange(code, verifier);
      return { access: tokens.accessToken, refresh: tokens.refreshToken, saved };
    }
    if (verb !== 'oauth_revoke') throw new Error(`no verb ${verb}`);
    await oauth.revoke();
    return { saved };
  } finally {
    oauth.close();
  }
}

async function readAll(client: Client, seen: number[]): Promise<number[]> {
  try {
    for await (const { id } of client.affiliates.list()) seen.push(id);
    return seen;
  } finally {
    await client.close();
  }
}

/** Creates a payout, and reports what the hooks got. */
async function observed(from: Package, { url, key }: Call & { readonly url: string }): Promise<unknown> {
  const [requests, responses]: [unknown[], unknown[]] = [[], []];
  const client = from.createClient({
    ...{ url, apiKey: 'secret' },
    onRequest: ({ idempotencyKey, ...about }) => requests.push({ ...about, key: idempotencyKey }),
    onResponse: ({ idempotencyKey, error, ...about }) =>
      responses.push({ ...about, key: idempotencyKey, isFailure: error !== null }),
  });
  await client.payouts.create({ filters: { currency: 'usd' } }, { idempotencyKey: key });
  await client.close();
  return { requests, responses };
}

async function withClient(client: Client, call: Call, seen: number[]): Promise<unknown> {
  const { verb, key, ifMatch } = call;
  const options = { idempotencyKey: key, ifMatch };
  const once = { repeatable: false, open: () => chunks('email\n') };
  switch (verb) {
    case 'read':
      return client.account.get();
    case 'create':
      return client.payouts.create({ filters: { currency: 'usd' } }, options);
    case 'create_affiliate':
      return client.affiliates.create({ email: 'ada@example.com' }, options);
    case 'complete':
      return client.payouts.complete('po_1', { commissions: [], require_all: true }, options);
    case 'delete':
      return client.payouts.delete('po_1');
    case 'page':
      return (await client.affiliates.list({ status: 'active', per_page: 2 })).data.map(({ id }) => id);
    case 'all':
      for await (const { id } of client.affiliates.list()) seen.push(id);
      return seen;
    case 'publish': {
      const event = { type: 'order.created', data: { text: 'x'.repeat(call.bytes ?? 1) } };
      const events = Array.from({ length: call.count ?? 0 }, () => event);
      return (await client.events.publishMany(events, options)).items.map(({ index }) => index);
    }
    case 'invalid_id':
      return client.payouts.get('..');
    case 'upload':
      return client.affiliates.import('email\nzoë@example.com\n', {}, options);
    case 'upload_once':
      return client.affiliates.import(once, {}, options);
    case 'download': {
      const { name, revision, stream } = await client.payouts.download('po_1');
      return { name, revision, content: await text(stream) };
    }
    default:
      throw new Error(`no verb ${verb}`);
  }
}

async function* chunks(content: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(content);
}

function failureOf(from: Package, error: unknown): Result {
  const { message } = error as Error;
  if (error instanceof from.ApiError) {
    const { status, code, reason, requestId, retryAfter } = error;
    return { outcome: 'refused', message, status, code, reason, requestId, retryAfter: retryAfter ?? 0 };
  }
  if (error instanceof from.ConnectionError) {
    const { outcome, idempotencyKey: key, status } = error;
    return { outcome, message, key, status };
  }
  if (error instanceof from.OAuthError) return { outcome: 'oauth', code: error.error, message };
  if (error instanceof from.InvalidIdError) return { outcome: 'invalid_id', message };
  if (error instanceof from.WebhookVerificationError)
    return { outcome: 'not_genuine', code: error.problem, message };
  throw error;
}
