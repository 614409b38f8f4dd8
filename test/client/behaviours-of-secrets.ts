import { createHmac, createPrivateKey, sign } from 'node:crypto';

import { type Behaviour, type Call, json, pageOf, type Request, refusal } from './behaviour.ts';

// What all clients do with webhooks and tokens.

const SECRET = `whsec_${Buffer.from('a secret of 32 bytes, for tests!').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret of thirty-two byt').toString('base64')}`;
const ID = 'evt_0199d2c4a7f07a3b9c5d1e2f30415263';
const EVENT = `{"id":"${ID}", "type":"payout.paid", "data":{"name":"Zo\\u00eb – 漢字"}}`;

/** The headers of a webhook, signed here, independently of the clients. */
function signed(secrets: readonly string[], age = 0): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${ID}.${timestamp}.${EVENT}`).digest('base64')}`;
  });
  return {
    'webhook-id': ID,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}

// the key pair of the standard's example
const PUBLIC_KEY = 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=';
const PRIVATE_KEY =
  'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==';
const bytes = Buffer.from(PRIVATE_KEY.slice(5), 'base64');
const part = (from: number) => bytes.subarray(from, from + 32).toString('base64url');
const privateKey = createPrivateKey({
  format: 'jwk',
  key: { kty: 'OKP', crv: 'Ed25519', d: part(0), x: part(32) },
});

/** The same headers, signed with the private key, and before that with a secret. */
function signedByKey(...secrets: string[]): Readonly<Record<string, string>> {
  const headers = signed(secrets);
  const content = Buffer.from(`${ID}.${headers['webhook-timestamp']}.${EVENT}`);
  const signature = `v1a,${sign(null, content, privateKey).toString('base64')}`;
  return { ...headers, 'webhook-signature': `${headers['webhook-signature'] ?? ''} ${signature}`.trim() };
}

const verify = (title: string, result: object, change: () => Partial<Call>): Behaviour => ({
  title,
  call: () => ({ verb: 'verify', body: EVENT, headers: signed([SECRET]), secrets: [SECRET], ...change() }),
  result,
});
const genuine = { outcome: 'ok', value: [{ id: ID, type: 'payout.paid' }] };
const notGenuine = (code: string) => ({ outcome: 'not_genuine', code });

export const WEBHOOKS: readonly Behaviour[] = [
  verify('a webhook with a right signature is accepted', genuine, () => ({})),
  verify('one of two signatures is enough', genuine, () => ({ headers: signed([OTHER, SECRET]) })),
  verify('one of two secrets is enough', genuine, () => ({ secrets: [OTHER, SECRET] })),
  verify('a webhook of four minutes ago is accepted', genuine, () => ({ headers: signed([SECRET], 240) })),
  verify('a webhook of six minutes ago is refused', notGenuine('timestamp_out_of_range'), () => ({
    headers: signed([SECRET], 360),
  })),
  verify('a webhook from the future is refused', notGenuine('timestamp_out_of_range'), () => ({
    headers: signed([SECRET], -360),
  })),
  verify(
    'a webhook with a timestamp that is no number is refused',
    notGenuine('timestamp_out_of_range'),
    () => ({
      headers: { ...signed([SECRET]), 'webhook-timestamp': '1e9' },
    }),
  ),
  verify('a wrong secret is refused', notGenuine('wrong_signature'), () => ({ secrets: [OTHER] })),
  verify('a body changed by one byte is refused', notGenuine('wrong_signature'), () => ({
    body: EVENT.replace('payout.paid', 'payout.Paid'),
  })),
  verify('another id is refused', notGenuine('wrong_signature'), () => ({
    headers: { ...signed([SECRET]), 'webhook-id': 'evt_1' },
  })),
  verify('a webhook without a signature is refused', notGenuine('missing_headers'), () => ({
    headers: { 'webhook-id': ID, 'webhook-timestamp': '1' },
  })),
  verify('a secret that is none is reported', notGenuine('invalid_secret'), () => ({ secrets: ['whsec_?'] })),
];

const byKey = (title: string, result: object, change: () => Partial<Call>): Behaviour => ({
  ...verify(title, result, () => ({ headers: signedByKey(), secrets: [PUBLIC_KEY], ...change() })),
  needsEd25519: true,
});
const withSignature = (change: (right: string) => string) => () => {
  const headers = signedByKey();
  return { headers: { ...headers, 'webhook-signature': change(String(headers['webhook-signature'])) } };
};

export const PUBLIC_KEYS: readonly Behaviour[] = [
  byKey('a signature is verified with its public key', genuine, () => ({})),
  byKey('a signature with a key next to one with a secret is enough', genuine, () => ({
    headers: signedByKey(OTHER),
  })),
  byKey('a public key next to a secret is enough', genuine, () => ({ secrets: [OTHER, PUBLIC_KEY] })),
  byKey('a secret next to a public key is enough', genuine, () => ({
    headers: signed([OTHER]),
    secrets: [PUBLIC_KEY, OTHER],
  })),
  byKey('another public key is refused', notGenuine('wrong_signature'), () => ({
    secrets: ['whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='],
  })),
  byKey('a signature of a secret is refused by a public key', notGenuine('wrong_signature'), () => ({
    headers: signed([`whsec_${PUBLIC_KEY.slice(5)}`]),
  })),
  byKey('a body changed by one byte is refused by a public key', notGenuine('wrong_signature'), () => ({
    body: EVENT.replace('payout.paid', 'payout.Paid'),
  })),
  byKey(
    'a signature under the version of secrets is refused',
    notGenuine('wrong_signature'),
    withSignature((right) => right.replace('v1a,', 'v1,')),
  ),
  byKey(
    'a signature of a key that is cut off is refused',
    notGenuine('wrong_signature'),
    withSignature((right) => right.slice(0, -4)),
  ),
  byKey(
    'a signature of a key that is no base64 is refused',
    notGenuine('wrong_signature'),
    withSignature(() => 'v1a,??? v1a, v1a'),
  ),
  byKey('a public key of another length is reported', notGenuine('invalid_secret'), () => ({
    secrets: ['whpk_AAAA'],
  })),
  byKey('a private key verifies nothing', notGenuine('invalid_secret'), () => ({ secrets: [PRIVATE_KEY] })),
  {
    title: 'a webhook can be signed with a private key, to test a receiver: the example of the standard',
    needsEd25519: true,
    call: {
      verb: 'sign',
      body: '{"test": 2432232314}',
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1614265330,
      secrets: [PRIVATE_KEY],
    },
    result: {
      outcome: 'ok',
      value: {
        'webhook-signature':
          'v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==',
      },
    },
  },
];

export const SIGNING: readonly Behaviour[] = [
  {
    title: 'a webhook can be signed with two secrets, to test a receiver',
    call: { verb: 'sign', body: '{}', id: 'evt_1', timestamp: 1_700_000_000, secrets: [SECRET, OTHER] },
    result: {
      outcome: 'ok',
      value: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': '1700000000',
        'webhook-signature': [SECRET, OTHER]
          .map((secret) =>
            createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update('evt_1.1700000000.{}'),
          )
          .map((digest) => `v1,${digest.digest('base64')}`)
          .join(' '),
      },
    },
  },
];

const tokens = json(200, {
  ...{ access_token: 'new', refresh_token: 'refresh-2', expires_in: 3600 },
  ...{ token_type: 'Bearer', scope: 'affiliates' },
});
const expired = refusal(401, 'unauthorized', { 'payhook-reason': 'invalid_credentials' });
const refreshed: Request = {
  method: 'POST',
  url: '/oauth/token',
  token: `Basic ${Buffer.from('app_1:phs_1').toString('base64')}`,
  body: 'grant_type=refresh_token&refresh_token=refresh-1',
};

export const OAUTH: readonly Behaviour[] = [
  {
    title: 'the code of the callback is exchanged for tokens, which are saved',
    call: { verb: 'oauth_exchange' },
    answers: [tokens],
    result: { outcome: 'ok', value: { access: 'new', refresh: 'refresh-2', saved: ['new'] } },
    requests: [
      {
        ...refreshed,
        body: 'code=phc_1&code_verifier=the+verifier&grant_type=authorization_code&redirect_uri=https%3A%2F%2Fshop.example.com%2Fcallback',
      },
    ],
  },
  {
    title: 'a code that is refused is an error of OAuth',
    call: { verb: 'oauth_exchange' },
    answers: [json(400, { error: 'invalid_grant', error_description: 'the code was used' })],
    result: { outcome: 'oauth', code: 'invalid_grant' },
    requests: [{}],
  },
  {
    title: 'a token that expired is refreshed before the call',
    call: { verb: 'oauth_all', expiresIn: 5 },
    answers: [tokens, pageOf([1], null)],
    result: { outcome: 'ok', value: { seen: [1], saved: ['new'] } },
    requests: [refreshed, { token: 'Bearer new' }],
  },
  {
    title: 'a token that is refused in the middle of a loop is refreshed, and the loop continues',
    call: { verb: 'oauth_all', expiresIn: 3600 },
    answers: [pageOf([1, 2], 'after-2'), expired, tokens, pageOf([3], null)],
    result: { outcome: 'ok', value: { seen: [1, 2, 3], saved: ['new'] } },
    requests: [{ token: 'Bearer old' }, { token: 'Bearer old' }, refreshed, { token: 'Bearer new' }],
  },
  {
    title: 'a grant that has ended ends the loop with an error of OAuth',
    call: { verb: 'oauth_all', expiresIn: 3600 },
    answers: [expired, json(400, { error: 'invalid_grant', error_description: 'the grant has ended' })],
    result: { outcome: 'oauth', code: 'invalid_grant' },
    requests: [{}, refreshed],
  },
  {
    title: 'a token that is refused again after its refresh is a refusal',
    call: { verb: 'oauth_all', expiresIn: 3600 },
    answers: [expired, tokens, expired],
    result: { outcome: 'refused', status: 401 },
    requests: [{ token: 'Bearer old' }, refreshed, { token: 'Bearer new' }],
  },
  {
    title: 'a grant is revoked by its refresh token, and the tokens are removed',
    call: { verb: 'oauth_revoke', expiresIn: 3600 },
    answers: [{ status: 200 }],
    result: { outcome: 'ok', value: { saved: [null] } },
    requests: [{ ...refreshed, url: '/oauth/revoke', body: 'token=refresh-1' }],
  },
];
