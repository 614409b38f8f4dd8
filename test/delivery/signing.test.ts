import { createHmac, createPublicKey, verify } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, test } from 'vitest';
import { SIGNING_SCHEMES } from '../../src/client/fields.ts';
import { isLong } from '../support/depth.ts';
import type { Received } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type Endpoint, onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
// the example of the standard
const PRIVATE_KEY =
  'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
const SHOP = {
  'x-shopify-shop-domain': 'shop.myshopify.com',
  'x-shopify-api-version': '2026-07',
};

const holds = (check: () => unknown) => {
  try {
    check();
    return true;
  } catch {
    return false;
  }
};
const standard = (secret: string, { body, headers }: Received) =>
  holds(() => new Webhook(secret).verify(body, headers as Record<string, string>));
const svix = (secret: string, { body, headers }: Received) =>
  holds(() => new SvixWebhook(secret).verify(body, headers as Record<string, string>));
const stripe = (secret: string, { body, headers }: Received) =>
  holds(() => Stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret));
const github = async (secret: string, { body, headers }: Received) =>
  headers['x-hub-signature-256'] !== undefined &&
  verifyGithub(secret, body, String(headers['x-hub-signature-256']));
async function shopify(secret: string, { body, headers }: Received): Promise<boolean> {
  const library = shopifyApi({
    apiKey: 'key',
    apiSecretKey: secret,
    hostName: 'shop.example.com',
    apiVersion: ApiVersion.July25,
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  });
  const rawRequest = { method: 'POST', url: '/hook', headers } as never;
  return (await library.webhooks.validate({ rawBody: body, rawRequest })).valid;
}
/** As Slack documents it; Slack has no library here. */
function slack(secret: string, { body, headers }: Received): boolean {
  const timestamp = String(headers['x-slack-request-timestamp']);
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body);
  return headers['x-slack-signature'] === `v0=${hmac.digest('hex')}`;
}
/** As the standard defines it; its libraries have no public keys. */
function ed25519(secret: string, { body, headers }: Received): boolean {
  if (!secret.startsWith('whpk_')) return false;
  const x = Buffer.from(secret.slice(5), 'base64').toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  const given = String(headers['webhook-signature']).split(' ');
  return given.some(
    (one) => one.startsWith('v1a,') && verify(null, content, key, Buffer.from(one.slice(4), 'base64')),
  );
}
const SCHEMES = { standard, ed25519, stripe, github, shopify, slack } satisfies Record<
  keyof typeof SIGNING_SCHEMES,
  unknown
>;
const NAMES = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[];
type Name = keyof typeof SCHEMES;

/** The schemes that verify a request with a secret. */
async function verified(secret: string, request: Received | undefined): Promise<Name[]> {
  const found: Name[] = [];
  for (const [name, check] of Object.entries(SCHEMES)) {
    if (request && (await check(secret, request))) found.push(name as Name);
  }
  return found;
}

const secretOf = async ({ api }: Stage, { path }: Endpoint): Promise<string> =>
  (await api.get(`${path}/secret`)).body.secret;
const signatures = ({ headers }: Received) =>
  [...new Set(Object.values(SIGNING_SCHEMES).map(({ header }) => header))].filter(
    (name) => headers[name] !== undefined,
  );

describe.concurrent('a request', () => {
  test('is verified by the library of the provider whose scheme the endpoint has, and by no other', () =>
    onStage({ settings }, async (stage) => {
      for (const signing of NAMES) {
        const receiver = await stage.receiver();
        const endpoint = await stage.endpoint(receiver, { signing, headers: SHOP });
        const event = await stage.publish();
        const [request] = await receiver.until(1);
        expect(await verified(endpoint.secret, request), signing).toEqual([signing]);
        expect(await verified(`${endpoint.secret.slice(0, -8)}AAAAAAA=`, request), signing).toEqual([]);
        expect(svix(endpoint.secret, request!)).toBe(signing === 'standard');
        expect(request?.headers['webhook-id']).toBe(event);
        const log = await stage.untilLog(endpoint, event, { status: 'delivered' });
        const { 'webhook-timestamp': timestamp, ...shown } = log.attempts[0].request_headers;
        expect(timestamp).toMatch(/^\d+$/);
        expect(Object.keys(shown)).toEqual(expect.arrayContaining(signatures(request!)));
        await stage.api.delete(endpoint.path);
      }
    }));

  test('has the id and type where receivers of github and shopify look, unless custom headers set another', () =>
    onStage({ settings }, async (stage) => {
      const [hub, shop] = [await stage.receiver(), await stage.receiver()];
      await stage.endpoint(hub, { signing: 'github' });
      await stage.endpoint(shop, { signing: 'shopify', headers: { 'x-shopify-topic': 'orders/create' } });
      const event = await stage.publish();
      const [[one], [two]] = [await hub.until(1), await shop.until(1)];
      expect(one?.headers).toMatchObject({ 'x-github-event': 'order.created', 'x-github-delivery': event });
      expect(two?.headers).toMatchObject({
        'x-shopify-topic': 'orders/create',
        'x-shopify-webhook-id': event,
      });
    }));

  test('is signed by a custom scheme', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, {
        signing: 'custom',
        custom_signing: {
          header: 'X-Shop-Sign',
          content: 'v0:{timestamp}:{id}:{url}:{body}',
          value: 't={timestamp};id={id};s={signature}',
          encoding: 'base64',
          algorithm: 'sha512',
          secret_prefix: 'shop_',
        },
      });
      expect(endpoint.secret).toMatch(/^shop_[0-9a-f]{64}$/);
      const id = await stage.publish();
      const [request] = await receiver.until(1);
      const at = request?.headers['webhook-timestamp'];
      const content = `v0:${at}:${id}:${receiver.url}:${request?.body}`;
      const digest = createHmac('sha512', endpoint.secret).update(content).digest('base64');
      expect(request?.headers['x-shop-sign']).toBe(`t=${at};id=${id};s=${digest}`);
      expect(signatures(request!)).toEqual([]);
    }));

  test('has the further headers of a scheme, which no header of the endpoint replaces, also with a second signature', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const headers = { 'X-Time': '{timestamp}', 'x-which': 'event={id} at={timestamp}' };
      const own = { ...custom, content: '{timestamp}{body}', headers };
      const endpoint = await stage.endpoint(receiver, { signing: 'custom', custom_signing: own });
      const shown = (await stage.api.get(endpoint.path)).body.custom_signing;
      expect(shown.headers).toEqual({ 'x-time': '{timestamp}', 'x-which': 'event={id} at={timestamp}' });
      const check = async (secret: string, request: Received | undefined, id: string) => {
        const time = String(request?.headers['x-time']);
        expect(request?.headers['x-which']).toBe(`event=${id} at=${time}`);
        const hmac = createHmac('sha256', secret).update(`${time}${request?.body}`);
        expect(request?.headers['x-sign']).toBe(hmac.digest('hex'));
      };
      const first = await stage.publish();
      await check(endpoint.secret, (await receiver.until(1))[0], first);
      const refused = await stage.api.patch(endpoint.path, { headers: { 'X-Time': 'now' } });
      expect([refused.status, refused.body.error.message]).toEqual([
        400,
        'headers.x-time is the header of the signature',
      ]);
      // to Slack has the previous scheme's signature for a day
      await stage.change(endpoint, { signing: 'slack', secret: 'secret-of-slack-app' });
      const second = await stage.publish();
      const request = (await receiver.until(2))[1];
      await check(endpoint.secret, request, second);
      expect(await verified('secret-of-slack-app', request)).toEqual(['slack']);
      const log = await stage.untilLog(endpoint, second, { status: 'delivered' });
      expect(log.attempts[0].request_headers).toMatchObject({
        'x-time': expect.stringMatching(/^\d+$/),
        'x-slack-request-timestamp': expect.stringMatching(/^\d+$/),
      });
      const taken = { headers: { 'x-slack-request-timestamp': '1' } };
      expect((await stage.api.patch(endpoint.path, taken)).reason).toBe('invalid_header');
    }));

  test('is signed by a scheme that was stored before schemes had further headers, and it is the same one', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { signing: 'custom', custom_signing: custom });
      await stage.world.query(
        `update webhook_endpoints set signing = replace(signing::text, ',"headers":{}', '')::json where id = $1`,
        [endpoint.uuid],
      );
      const [stored] = await stage.world.query<{ text: string }>(
        'select signing::text as text from webhook_endpoints where id = $1',
        [endpoint.uuid],
      );
      expect(stored?.text).not.toContain('headers');
      const { body } = await stage.api.get(endpoint.path);
      expect(body.custom_signing).toMatchObject({ header: 'x-sign', headers: {} });
      const same = await stage.api.patch(endpoint.path, {
        signing: 'custom',
        custom_signing: body.custom_signing,
      });
      expect(same.body.second_signature).toBeNull();
      await stage.publish();
      const [request] = await receiver.until(1);
      expect(request?.headers['x-sign']).toBe(
        createHmac('sha256', endpoint.secret).update(String(request?.body)).digest('hex'),
      );
    }));

  test('is signed with an imported secret, at once and after a rotation to another', () =>
    onStage({ settings }, async (stage) => {
      const [receiver, svixReceiver] = [await stage.receiver(), await stage.receiver()];
      const secret = 'hub-secret-of-years-ago!';
      const endpoint = await stage.endpoint(receiver, { signing: 'github', secret });
      const imported = await stage.endpoint(svixReceiver, {
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      });
      expect([endpoint.secret, imported.secret]).toEqual([secret, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']);
      await stage.publish();
      const [first] = await receiver.until(1);
      expect(await verified(secret, first)).toEqual(['github']);
      expect(svix(imported.secret, (await svixReceiver.until(1))[0]!)).toBe(true);
      const next = 'another-one-that-is-known';
      const path = `${endpoint.path}/rotate-secret`;
      const rotated = await stage.api.post(path, { secret: next, overlap_seconds: 0 });
      expect(rotated.body).toMatchObject({ secret: next, previous_secret_expires_at: null });
      await stage.publish();
      expect(await verified(next, (await receiver.until(2))[1])).toEqual(['github']);
    }));
});

test('is signed with both secrets during a rotation where the header takes two, else with the old one until it expires', () =>
  onStage({ settings }, async (stage) => {
    for (const signing of NAMES) {
      const isBoth = ['standard', 'ed25519', 'stripe'].includes(signing);
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { signing, headers: SHOP });
      const { body } = await stage.api.post(`${endpoint.path}/rotate-secret`, { overlap_seconds: 3600 });
      await stage.publish();
      const [during] = await receiver.until(1);
      expect(await verified(endpoint.secret, during)).toEqual([signing]);
      expect(await verified(body.secret, during)).toEqual(isBoth ? [signing] : []);
      await stage.world.query('update webhook_endpoints set previous_secret_until = now_ms() where id = $1', [
        endpoint.uuid,
      ]);
      await stage.publish();
      const [, after] = await receiver.until(2);
      expect(await verified(endpoint.secret, after)).toEqual([]);
      expect(await verified(body.secret, after)).toEqual([signing]);
      await stage.api.delete(endpoint.path);
    }
  }));

describe.concurrent('a change of the scheme', () => {
  test('sends the previous signature next to the new one for a day, or as long as set, or not at all', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const next = async (change: object) => {
        const count = receiver.received.length;
        const { status, text, body } = await stage.api.patch(endpoint.path, change);
        expect(status, text).toBe(200);
        await stage.publish();
        const request = (await receiver.until(count + 1))[count];
        return { second: body.second_signature, signed: request && signatures(request), request, body };
      };
      const github = await next({ signing: 'github' });
      expect(github.signed).toEqual(['webhook-signature', 'x-hub-signature-256']);
      expect(await verified(endpoint.secret, github.request)).toEqual(['standard', 'github']);
      const dayMs = Date.parse(github.second.expires_at) - Date.parse(github.body.updated_at);
      expect(github.second).toMatchObject({ signing: 'standard', custom_signing: null });
      // on a cluster the times are of the coordinator and of a node
      expect(dayMs / 1000).toBeCloseTo(86_400, 0);
      const until = new Date(Date.now() + 60 * 86_400_000).toISOString();
      const longer = await next({ second_signature: { expires_at: until } });
      expect(longer.second).toEqual({ signing: 'standard', custom_signing: null, expires_at: until });
      const given = { signing: 'stripe', secret: 'whsec_of_the_other_product', expires_at: until };
      const another = await next({ second_signature: given });
      expect(another.signed).toEqual(['stripe-signature', 'x-hub-signature-256']);
      expect(stripe(given.secret, another.request!)).toBe(true);
      const none = await next({ signing: 'standard', second_signature: null });
      expect([none.signed, none.second]).toEqual([['webhook-signature'], null]);
      expect(await secretOf(stage, endpoint)).toBe(endpoint.secret);
      const same = await next({ signing: 'standard', secret: endpoint.secret, description: 'the same' });
      expect([same.signed, same.second]).toEqual([['webhook-signature'], null]);
    }));

  test('keeps a secret that the new scheme can use, and creates and shows one where it cannot, for every pair', () =>
    onStage({ settings }, async (stage) => {
      // a short run has one scheme of each kind of secret
      const names = isLong
        ? ([...NAMES, 'custom'] as const)
        : (['standard', 'stripe', 'github', 'ed25519'] as const);
      const schemeOf = (signing: (typeof names)[number]) =>
        signing === 'custom' ? { signing, custom_signing: custom } : { signing };
      for (const from of names) {
        const receiver = await stage.receiver();
        const endpoint = await stage.endpoint(receiver, { headers: SHOP, ...schemeOf(from) });
        for (const to of names) {
          const before = await secretOf(stage, endpoint);
          const { status, text, body } = await stage.api.patch(endpoint.path, {
            ...schemeOf(to),
            second_signature: null,
          });
          expect(status, text).toBe(200);
          const after = await secretOf(stage, endpoint);
          const isKept =
            to === from ||
            (to !== 'ed25519' && from !== 'ed25519' && (to !== 'standard' || from === 'stripe'));
          expect([after === before, body.secret], `${from} to ${to}`).toEqual([
            isKept,
            isKept ? undefined : after,
          ]);
          const count = receiver.received.length;
          await stage.publish();
          const request = (await receiver.until(count + 1))[count];
          expect(await verified(after, request), `${from} to ${to}`).toEqual(to === 'custom' ? [] : [to]);
          // the private key of the first one was never shown
          const known = from === 'ed25519' ? PRIVATE_KEY : endpoint.secret;
          await stage.change(endpoint, { ...schemeOf(from), secret: known });
        }
        await stage.api.delete(endpoint.path);
      }
    }));

  test('that creates a secret shows it once: a replay does not have it, and the previous signature continues for a day', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { signing: 'stripe', secret: 'a-secret-of-stripe' });
      const change = () =>
        stage.api.patch(endpoint.path, { signing: 'standard' }, { 'idempotency-key': 'to standard' });
      const [first, again] = [await change(), await change()];
      expect(first.body.secret).toMatch(/^whsec_/);
      expect(await secretOf(stage, endpoint)).toBe(first.body.secret);
      expect(again.body).toEqual({ ...first.body, secret: null });
      expect((await stage.api.get(endpoint.path)).text).not.toContain('"secret"');
      await stage.publish();
      const [request] = await receiver.until(1);
      expect(standard(first.body.secret, request!)).toBe(true);
      expect(stripe('a-secret-of-stripe', request!)).toBe(true);
      const named = await stage.api.patch(
        endpoint.path,
        { description: 'x' },
        { 'idempotency-key': 'named' },
      );
      expect(named.text).not.toContain('"secret"');
    }));

  test('applies to deliveries that wait for their next attempt, and to those that begin leased', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      receiver.respond(500);
      const event = await stage.publish();
      await stage.untilLog(endpoint, event, { attempt_count: 1 });
      receiver.respond(200);
      await stage.change(endpoint, { signing: 'stripe', second_signature: null });
      await stage.publish();
      await stage.passTime(endpoint);
      const requests = await receiver.until(3);
      expect(requests.map(signatures)).toEqual([
        ['webhook-signature'],
        ['stripe-signature'],
        ['stripe-signature'],
      ]);
      await until('nothing waits', async () => (await stage.queue(endpoint)).length === 0);
    }));
});

const custom = { header: 'x-sign', content: '{body}', encoding: 'hex' };
const HOUR = () => new Date(Date.now() + 3_600_000).toISOString();

test('a signature scheme that cannot work is refused, naming the field and the rule, and changes nothing', () =>
  onStage({ delivers: false }, async (stage) => {
    const { api } = stage;
    const endpoint = await stage.endpoint('https://shop.example.com/in', { headers: { 'x-own': '1' } });
    const before = (await api.get(endpoint.path)).body;
    const refusals: [object, string, string][] = [
      [{ signing: 'paddle' }, 'invalid_body', 'signing must be one of'],
      [{ signing: 'custom' }, 'invalid_signing', 'custom_signing is required'],
      [{ custom_signing: custom }, 'invalid_signing', 'custom_signing must be given with signing: custom'],
      [{ signing: 'github', custom_signing: custom }, 'invalid_signing', 'custom_signing must be given with'],
      ...(
        [
          [{ header: 'webhook-signature' }, 'custom_signing.header is set by Payhook'],
          [{ header: 'a b' }, 'custom_signing.header must be a header name'],
          [{ content: '{id}' }, 'custom_signing.content must have {body} once'],
          [{ content: '{body}{body}' }, 'custom_signing.content must have {body} once'],
          [{ content: '{body}{secret}' }, 'custom_signing.content must have no braces except'],
          [{ content: '{body}\r\nx' }, 'custom_signing.content must be printable ASCII'],
          [{ value: 'v1=' }, 'custom_signing.value must have {signature} once'],
          [{ value: '{signature}{body}' }, 'custom_signing.value must have no braces except'],
          [{ value: '{signature}\r\nx-evil: 1' }, 'custom_signing.value must be printable ASCII'],
          [{ secret_prefix: 'a b' }, 'custom_signing.secret_prefix must be printable'],
          [{ headers: { 'x-time': 'now' } }, 'custom_signing.headers.x-time must have {timestamp} or {id}'],
          [
            { headers: { 'x-time': '{body}' } },
            'custom_signing.headers.x-time must have no braces except {timestamp}',
          ],
          [
            { headers: { 'x-time': '{id}\r\nx: y' } },
            'custom_signing.headers.x-time must be printable ASCII',
          ],
          [{ headers: { host: '{id}' } }, 'custom_signing.headers.host is set by Payhook'],
          [{ headers: { 'a b': '{id}' } }, 'custom_signing.headers.a b must be a header name'],
          [{ headers: { 'X-Sign': '{id}' } }, 'custom_signing.headers.X-Sign is the header of the signature'],
          [
            { headers: { 'x-a': '{id}', 'X-A': '{id}' } },
            'custom_signing.headers.X-A is given twice; names ignore case',
          ],
        ] as const
      ).map(([part, message]): [object, string, string] => [
        { signing: 'custom', custom_signing: { ...custom, ...part } },
        'invalid_signing',
        message,
      ]),
      [
        { signing: 'custom', custom_signing: { ...custom, header: 'X-Own' } },
        'invalid_header',
        'headers.x-own is the header of the signature',
      ],
      [
        {
          signing: 'custom',
          custom_signing: {
            ...custom,
            headers: Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`x-${n}`, '{id}'])),
          },
        },
        'invalid_body',
        'custom_signing.headers must have at most 5 keys',
      ],
      [{ secret: 'short' }, 'invalid_body', 'secret must have at least 16 characters'],
      [{ secret: 'whsec_not base64 at all' }, 'invalid_secret', 'secret must be whsec_ and 24 to 64 bytes'],
      [
        { secret: 'whsec_AAAAAAAAAAAAAAAAAAAA' },
        'invalid_secret',
        'secret must be whsec_ and 24 to 64 bytes',
      ],
      [{ signing: 'github', secret: 'with a space inside it' }, 'invalid_secret', 'without spaces'],
      [
        { second_signature: { expires_at: HOUR() } },
        'invalid_signing',
        'second_signature.signing is required',
      ],
      [
        { second_signature: { signing: 'stripe', expires_at: HOUR() } },
        'invalid_signing',
        'second_signature.secret is required',
      ],
      [
        { signing: 'stripe', second_signature: { expires_at: 'soon' } },
        'invalid_body',
        'second_signature.expires_at must be an RFC 3339 instant',
      ],
      [
        { signing: 'stripe', second_signature: { expires_at: '2020-01-01T00:00:00Z' } },
        'invalid_body',
        'second_signature.expires_at must be in the next 90 days',
      ],
      [
        { signing: 'stripe', second_signature: { expires_at: '2999-01-01T00:00:00Z' } },
        'invalid_body',
        'second_signature.expires_at must be in the next 90 days',
      ],
    ];
    for (const [change, reason, message] of refusals) {
      const { status, headers, body } = await api.patch(endpoint.path, change);
      expect([status, headers.get('payhook-reason')], message).toEqual([400, reason]);
      expect(body.error.message).toContain(message);
    }
    expect((await api.get(endpoint.path)).body).toEqual(before);
    const imported = await stage.endpoint('https://shop.example.com/in', {
      signing: 'shopify',
      secret: 'a-secret-of-a-shop',
    });
    // a second signature is for a receiver that has its secret: none is created for it
    const second = { signing: 'standard', expires_at: HOUR() };
    const back = await api.patch(imported.path, { signing: 'standard', second_signature: second });
    expect([back.status, back.body.error.message]).toEqual([
      400,
      expect.stringContaining('second_signature.secret is required'),
    ]);
    const other = await api.post(`${endpoint.path}/rotate-secret`, { secret: 'no-standard-secret' });
    expect([other.status, other.headers.get('payhook-reason')]).toEqual([400, 'invalid_secret']);
    expect(await secretOf(stage, endpoint)).toBe(endpoint.secret);
  }));
