import { createHmac } from 'node:crypto';

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
