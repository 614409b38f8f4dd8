import { createPublicKey, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook, verifyWebhooks } from '../../src/client/verify.ts';
import { isOnNode, type TestCell } from '../support/cell-of-file.ts';
import { longRun, someOf } from '../support/depth.ts';
import type { Received } from '../support/receiver.ts';
import { type Endpoint, onStage, type Stage } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
// the example of the standard
const PRIVATE_KEY =
  'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
const PUBLIC_KEY = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=';
const KEY = { signing: 'ed25519' };

interface PublicKey {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly public_key: string;
}

const urlOf = async ({ api }: Stage, { path }: Endpoint): Promise<string> =>
  (await api.get(`${path}/secret`)).body.public_keys_url;
/** Reads a set of keys as a receiver does, without credentials. */
async function keysAt(url: string): Promise<PublicKey[]> {
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  return ((await answer.json()) as { keys: PublicKey[] }).keys;
}
const textsAt = async (url: string) => (await keysAt(url)).map(({ public_key }) => public_key);

/** Which keys of a set verify a request: as any library of JSON Web Keys does. */
const verifying = (keys: readonly PublicKey[], { body, headers }: Received): string[] =>
  keys
    .filter(({ public_key: _, ...jwk }) => {
      const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
      const key = createPublicKey({ format: 'jwk', key: jwk });
      return String(headers['webhook-signature'])
        .split(' ')
        .filter((one) => one.startsWith('v1a,'))
        .some((one) => verify(null, content, key, Buffer.from(one.slice(4), 'base64')));
    })
    .map(({ public_key }) => public_key);

const versions = ({ headers }: Received) =>
  String(headers['webhook-signature'])
    .split(' ')
    .map((one) => one.split(',')[0]);
const sent = ({ headers }: Received) => headers as Record<string, string>;

describe.concurrent('an endpoint that signs with a private key', () => {
  test('serves its public keys without credentials: both while the key is replaced, and those verify its requests', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, KEY);
      const url = await urlOf(stage, endpoint);
      expect(endpoint.secret).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
      expect(await keysAt(url)).toEqual([
        {
          ...{ kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA', public_key: endpoint.secret },
          x: Buffer.from(endpoint.secret.slice(5), 'base64').toString('base64url'),
        },
      ]);
      await stage.publish();
      const [first] = await receiver.until(1);
      expect(verifying(await keysAt(url), first!)).toEqual([endpoint.secret]);

      const { body: next } = await stage.api.post(`${endpoint.path}/rotate-secret`, {});
      expect(next.public_keys_url).toBe(url);
      expect(await textsAt(url)).toEqual([next.secret, endpoint.secret]);
      await stage.publish();
      const [, second] = await receiver.until(2);
      expect(versions(second!)).toEqual(['v1a', 'v1a']);
      expect(verifying(await keysAt(url), second!)).toEqual([next.secret, endpoint.secret]);
      await stage.world.query('update webhook_endpoints set previous_secret_until = now_ms() where id = $1', [
        endpoint.uuid,
      ]);
      expect(await textsAt(url)).toEqual([next.secret]);
      expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
    }));

  test('sends one header with both signatures after a change from a secret, or to one: a receiver verifies either', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver);
      const changed = await stage.api.patch(endpoint.path, KEY);
      expect(changed.body.second_signature.signing).toBe('standard');
      await stage.publish();
      const [first] = await receiver.until(1);
      expect(versions(first!)).toEqual(['v1a', 'v1']);
      new Webhook(endpoint.secret).verify(first!.body, sent(first!));
      for (const secret of [endpoint.secret, changed.body.secret])
        await verifyWebhook(first!.body, sent(first!), secret);
      expect(await textsAt(await urlOf(stage, endpoint))).toEqual([changed.body.secret]);

      const back = await stage.api.patch(endpoint.path, { signing: 'standard' });
      expect(back.body.secret).toMatch(/^whsec_/);
      await stage.publish();
      const [, second] = await receiver.until(2);
      expect(versions(second!)).toEqual(['v1', 'v1a']);
      for (const secret of [back.body.secret, changed.body.secret])
        await verifyWebhook(second!.body, sent(second!), secret);
    }));

  test('takes a private key of the account, which is never shown, and refuses one that is none', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { ...KEY, secret: PRIVATE_KEY });
      expect(endpoint.secret).toBe(PUBLIC_KEY);
      await stage.publish();
      const [request] = await receiver.until(1);
      await verifyWebhook(request!.body, sent(request!), PUBLIC_KEY);
      const url = await urlOf(stage, endpoint);
      const answers = [
        await stage.api.get(endpoint.path),
        await stage.api.get('/v2/webhook-endpoints'),
        await stage.api.get(`${endpoint.path}/secret`),
        await stage.api.patch(endpoint.path, { ...KEY, secret: PRIVATE_KEY, description: 'the same' }),
        await stage.api.post(`${endpoint.path}/rotate-secret`, { secret: PRIVATE_KEY }),
        await stage.api.get(`${endpoint.path}/events`),
        await stage.api.get('/v2/audit-log'),
      ];
      const texts = [...answers.map(({ text }) => text), await (await fetch(url)).text()].join();
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(texts).toContain(PUBLIC_KEY);
      for (const part of ['whsk_', PRIVATE_KEY.slice(5, 45)]) expect(texts).not.toContain(part);

      const seed = Buffer.from(PRIVATE_KEY.slice(5), 'base64').subarray(0, 32);
      const wrong = [
        PUBLIC_KEY,
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        `whsk_${seed.toString('base64')}`,
        `whsk_${Buffer.concat([seed, seed]).toString('base64')}`,
      ];
      for (const secret of wrong) {
        const { status, reason } = await stage.api.post('/v2/webhook-endpoints', {
          url: receiver.url,
          ...KEY,
          secret,
        });
        expect([status, reason], secret).toEqual([400, 'invalid_secret']);
      }
    }));

  test('gives its private key to no other scheme, which would show it', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      for (const signing of ['stripe', 'github', 'shopify', 'slack']) {
        const endpoint = await stage.endpoint(receiver, { ...KEY, secret: PRIVATE_KEY });
        const given = await stage.api.patch(endpoint.path, { signing, secret: PRIVATE_KEY });
        expect([given.status, given.reason]).toEqual([400, 'invalid_secret']);
        const second = { signing, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
        await stage.change(endpoint, { second_signature: { ...second, ...KEY, secret: PRIVATE_KEY } });
        const moved = await stage.api.patch(endpoint.path, { second_signature: second });
        expect([moved.status, moved.reason]).toEqual([400, 'invalid_secret']);
        const { body } = await stage.api.patch(endpoint.path, { signing });
        expect(body.secret).toBeTruthy();
        expect((await stage.api.get(`${endpoint.path}/secret`)).body).toMatchObject({
          secret: body.secret,
          public_keys_url: null,
        });
      }
    }));

  test('signs several events in one request', () =>
    onStage({ settings }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, { ...KEY, batch: { max_events: 10 } });
      await stage.publishMany(3);
      const [request] = await receiver.until(1);
      const events = await verifyWebhooks(request!.body, sent(request!), endpoint.secret);
      expect(events.length).toBeGreaterThan(0);
    }));
});

const KEYLESS = '{"error":"not_found","error_description":"there is no public key here"}';

// a database on a node of Citus is one cell
test.each<TestCell>(isOnNode() ? [0] : someOf<TestCell>([1, 0], 1))(
  'the address of keys answers nothing else, also in cell %i: no other endpoint, account or path has an answer of its own',
  (cell) =>
    onStage({ settings, cell }, async (stage) => {
      const receiver = await stage.receiver();
      const endpoint = await stage.endpoint(receiver, KEY);
      const url = await urlOf(stage, endpoint);
      expect(await textsAt(url)).toEqual([endpoint.secret]);
      const hmac = await stage.endpoint(receiver);
      const other = await stage.world.otherAccount();
      const base = url.slice(0, url.lastIndexOf('/webhook-keys'));
      const [account, ofOther] = [url.split('/').at(-2), (await other.get('/v2/account')).body.id];
      const nobody = (prefix: string) => `${prefix}_${'0'.repeat(32)}`;
      const paths = [
        `${account}/${hmac.id}`,
        `${account}/${nobody('we')}`,
        `${ofOther}/${endpoint.id}`,
        `${nobody('acc')}/${endpoint.id}`,
        `${account}/${endpoint.id}/`,
        `${account}/${endpoint.id}/x`,
        `${endpoint.id}`,
        `${account}/we_x`,
      ];
      for (const path of paths) {
        const answer = await fetch(`${base}/webhook-keys/${path}`);
        expect([path, answer.status, await answer.text()]).toEqual([path, 404, KEYLESS]);
      }
      await stage.api.delete(endpoint.path);
      expect((await fetch(url)).status).toBe(404);
    }),
);

longRun.test('a disabled endpoint still serves its keys', () =>
  onStage({ settings }, async (stage) => {
    const endpoint = await stage.endpoint(await stage.receiver(), KEY);
    await stage.change(endpoint, { status: 'disabled' });
    expect(await textsAt(await urlOf(stage, endpoint))).toEqual([endpoint.secret]);
  }),
);
