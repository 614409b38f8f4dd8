import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSecretFor, shownSecret, signersOf } from './schemes.ts';

const now = Math.floor(Date.now() / 1000);
const body = '{"id":"evt_1","data":{"name":"Zoë 東京"}}';

/** The value of the only header. */
function signed(
  secrets: readonly [string, string?],
  message: { id: string; timestamp: number; body: string },
) {
  const [first, second] = secrets.map((secret) => ({ signing: null, secret: String(secret) }));
  const { signers } = signersOf(first!, second);
  expect(signers.map(({ header }) => header)).toEqual(['webhook-signature']);
  return signers[0]!.valueOf({ ...message, url: 'https://shop.example.com/in' });
}

test("the standard's package verifies a signature with the secret it was made with, and no other", () => {
  const secret = newSecretFor('standard');
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': signed([secret], { id: 'evt_1', timestamp: now, body }),
  };
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(newSecretFor('standard')).verify(body, headers)).toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow();
});

test('with two keys either secret verifies', () => {
  const secrets = [newSecretFor('standard'), newSecretFor('standard')] as const;
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(now),
    'webhook-signature': signed(secrets, { id: 'evt_1', timestamp: now, body }),
  };
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toBeTruthy();
});

test('the signature equals the published example', () => {
  // github.com/standard-webhooks/standard-webhooks, specification, "Verifying signatures"
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  };
  expect(signed(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], message)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('the signature with a private key equals the published example', () => {
  // the same, and its example of a header; the key pair is that of Svix, whose maintainers wrote the specification
  const secret =
    'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
    url: '',
  };
  const { signers } = signersOf({ signing: '"ed25519"', secret });
  expect(signers.map((signer) => signer.valueOf(message))).toEqual([
    'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
  ]);
  expect(shownSecret('ed25519', secret)).toBe('whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=');
});

test('the signature equals the example published by Slack', () => {
  // docs.slack.dev/authentication/verifying-requests-from-slack
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
    '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
    '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
    '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const message = { id: 'evt_1', timestamp: 1531420618, body, url: 'https://shop.example.com/in' };
  const { signers } = signersOf({ signing: '"slack"', secret: '8f742231b10e8888abcd99yyyzzz85a5' });
  expect(Object.fromEntries(signers.map((signer) => [signer.header, signer.valueOf(message)]))).toEqual({
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    'x-slack-request-timestamp': '1531420618',
  });
});
