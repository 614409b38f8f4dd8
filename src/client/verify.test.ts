import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { isWebhookSecret, verifyWebhook, WebhookVerificationError } from './verify.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const other = 'whsec_YSBzZWNyZXQgb2YgMzIgYnl0ZXMsIGZvciB0ZXN0cyE=';
const body = '{"id":"evt_1","data":{"name":"Zoë 東京"}}';

/** Headers as the package of the standard makes them. */
function signed({ key = secret, secondsAgo = 0, id = 'evt_1', text = body } = {}) {
  const at = new Date(Date.now() - secondsAgo * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign(id, at, text),
  };
}

function problemOf(...args: Parameters<typeof verifyWebhook>): string {
  try {
    verifyWebhook(...args);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.problem;
    throw error;
  }
  return 'none';
}

test('what the package of the standard signs is verified, as text and as bytes, from every kind of headers', () => {
  const headers = signed();
  const event = JSON.parse(body);
  expect(verifyWebhook(body, headers, secret)).toEqual(event);
  expect(verifyWebhook(Buffer.from(body), new Headers(headers), secret)).toEqual(event);
  expect(
    verifyWebhook(new TextEncoder().encode(body), { ...headers, 'webhook-id': ['evt_1'] }, secret),
  ).toEqual(event);
});

test('one right signature among several is enough, and one right secret', () => {
  const headers = signed();
  const signature = `v1,${'A'.repeat(43)}= v2,x ${signed({ key: other })['webhook-signature']} ${headers['webhook-signature']}`;
  expect(problemOf(body, { ...headers, 'webhook-signature': signature }, secret)).toBe('none');
  expect(problemOf(body, headers, [other, secret])).toBe('none');
});

test('another secret, body, id or time, and no signature at all, are refused', () => {
  const headers = signed();
  expect(problemOf(body, headers, other)).toBe('wrong_signature');
  expect(problemOf(body, headers, [])).toBe('wrong_signature');
  expect(problemOf(`${body} `, headers, secret)).toBe('wrong_signature');
  expect(problemOf(body, { ...headers, 'webhook-id': 'evt_2' }, secret)).toBe('wrong_signature');
  const later = String(Number(headers['webhook-timestamp']) + 1);
  expect(problemOf(body, { ...headers, 'webhook-timestamp': later }, secret)).toBe('wrong_signature');
  for (const signature of ['', ' ', 'v1,', 'v1', headers['webhook-signature'].slice(3)]) {
    expect(problemOf(body, { ...headers, 'webhook-signature': signature }, secret)).not.toBe('none');
  }
  for (const name of Object.keys(headers)) {
    expect(problemOf(body, { ...headers, [name]: undefined }, secret)).toBe('missing_headers');
  }
});

test('a timestamp up to 5 minutes off is taken, and no other', () => {
  expect(problemOf(body, signed({ secondsAgo: 295 }), secret)).toBe('none');
  expect(problemOf(body, signed({ secondsAgo: -295 }), secret)).toBe('none');
  expect(problemOf(body, signed({ secondsAgo: 302 }), secret)).toBe('timestamp_out_of_range');
  expect(problemOf(body, signed({ secondsAgo: -302 }), secret)).toBe('timestamp_out_of_range');
  for (const text of ['1e9', 'NaN', '-1', ' 1', '2026-09-15T08:30:00Z', '9'.repeat(400)]) {
    expect(problemOf(body, { ...signed(), 'webhook-timestamp': text }, secret)).toBe(
      'timestamp_out_of_range',
    );
  }
  expect(() => verifyWebhook(body, signed({ secondsAgo: 3600 }), secret)).toThrow(
    'webhook-timestamp is 60 minutes old',
  );
});

test('a secret that is none is told, and so is a signed body that is no JSON', () => {
  for (const text of ['', 'whsec_', 'whsec_ü', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `${secret} `]) {
    expect(problemOf(body, signed(), text)).toBe('invalid_secret');
    expect(isWebhookSecret(text)).toBe(false);
  }
  expect(isWebhookSecret(secret)).toBe(true);
  expect(problemOf('no', signed({ text: 'no' }), secret)).toBe('invalid_payload');
});
