import { expect, test } from 'vitest';
import { ApiError, ConnectionError } from './errors.ts';
import { pauseBefore, type Repeatable, retryAfterSeconds } from './retry.ts';

const refused = (status: number, retryAfter: number | null = null) =>
  new ApiError({
    status,
    code: 'internal_error',
    reason: null,
    message: 'no',
    requestId: null,
    retryAfter,
  });
const lost = (about: object) =>
  new ConnectionError('no answer', { cause: Object.assign(new Error(), about) });

const unreachable = [
  lost({ code: 'ECONNREFUSED', syscall: 'connect' }),
  lost({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
  lost({ code: 'ETIMEDOUT', syscall: 'connect' }),
  lost({ errors: [{ syscall: 'connect' }, { syscall: 'connect' }] }),
  refused(429, 0),
];
const unknown = [
  lost({ code: 'ETIMEDOUT' }),
  lost({ code: 'ECONNRESET', syscall: 'read' }),
  lost({ errors: [{ syscall: 'connect' }, { syscall: 'read' }] }),
  lost({ errors: [] }),
  refused(500, 2),
  refused(502),
  refused(503),
  refused(504),
];
const final = [
  refused(400),
  refused(404),
  refused(409, 1),
  refused(429),
  refused(500),
  refused(501),
  refused(302, 1),
  new ConnectionError('no JSON', { cause: new SyntaxError() }),
];

const repeats = (failure: Error, method: Repeatable['method'], repeatable = true) =>
  pauseBefore(failure, 1, { method, repeatable }) !== null;

test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  '%s is repeated where that is safe',
  (method) => {
    const isSafe = method !== 'DELETE';
    expect(unreachable.map((failure) => repeats(failure, method))).toEqual(unreachable.map(() => true));
    expect(unknown.map((failure) => repeats(failure, method))).toEqual(unknown.map(() => isSafe));
    expect(final.map((failure) => repeats(failure, method))).toEqual(final.map(() => false));
  },
);

test('a body that can be read once is never sent twice', () => {
  for (const failure of [...unreachable, ...unknown]) expect(repeats(failure, 'POST', false)).toBe(false);
});

test('pauses grow, differ from client to client and are capped; a server that names one is given it', () => {
  const pauses = (attempt: number, failure: Error = refused(502)) =>
    Array.from(
      { length: 50 },
      () => pauseBefore(failure, attempt, { method: 'GET', repeatable: true }) ?? Number.NaN,
    );
  for (const [attempt, longest] of [
    [1, 250],
    [2, 500],
    [3, 1000],
    [20, 8000],
  ] as const) {
    const given = pauses(attempt);
    expect(Math.max(...given)).toBeLessThanOrEqual(longest);
    expect(Math.min(...given)).toBeGreaterThanOrEqual(longest / 2);
    expect(new Set(given).size).toBeGreaterThan(1);
  }
  expect(Math.min(...pauses(1, refused(500, 20)))).toBe(20_000);
});

test('who asks for more than a minute is not waited for', () => {
  expect(repeats(refused(500, 60), 'GET')).toBe(true);
  expect(repeats(refused(500, 61), 'GET')).toBe(false);
  expect(repeats(refused(429, 3600), 'POST')).toBe(false);
});

test('Retry-After is a number of seconds or a date', () => {
  expect(retryAfterSeconds('0')).toBe(0);
  expect(retryAfterSeconds('120')).toBe(120);
  expect(retryAfterSeconds(new Date(Date.now() + 90_000).toUTCString())).toBeGreaterThan(80);
  expect(retryAfterSeconds(new Date(0).toUTCString())).toBe(0);
  for (const text of [null, '', 'soon', '-']) expect(retryAfterSeconds(text)).toBeNull();
});
