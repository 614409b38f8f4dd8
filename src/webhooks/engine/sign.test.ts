import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSigningSecret, signingKey } from '../../outbox/secrets.ts';
import { sign } from './sign.ts';

const now = Math.floor(Date.now() / 1000);
const body = '{"id":"evt_1","data":{"name":"Zoë 東京"}}';

test('the package of the standard verifies a signature with the secret it was made with, and no other', () => {
  const secret = newSigningSecret();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': sign([signingKey(secret)], 'evt_1', now, body),
  };
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow();
});

test('with two keys either secret verifies', () => {
  const secrets = [newSigningSecret(), newSigningSecret()];
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': sign(secrets.map(signingKey), 'evt_1', now, body),
  };
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
});

test('it is the signature of the published example', () => {
  // github.com/standard-webhooks/standard-webhooks, specification, "Verifying signatures"
  const key = signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  expect(sign([key], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});
