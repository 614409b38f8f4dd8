import { expect, test } from 'vitest';
import type { Principal } from '../contract/route.ts';
import type { Failure } from '../kernel/errors.ts';
import { type RateLimits, rateGate } from './rate-limits.ts';

const SECOND = 1000;

/** A gate with a clock that the test controls. `send` returns the result of a request and its headers. */
function gateOf(limits: RateLimits) {
  let at = 0;
  const gate = rateGate(limits, () => at);
  const send = (key: string, account = 'one', kind = 'key') => {
    try {
      const headers = gate({ id: key, account, kind } as unknown as Principal);
      return { admitted: true, ...headers };
    } catch (error) {
      const { reason, headers } = error as Failure;
      return { admitted: false, reason, ...headers };
    }
  };
  return {
    send,
    pass: (ms: number) => {
      at += ms;
    },
    admitted: (count: number, key = 'a', account = 'one') =>
      Array.from({ length: count }, () => send(key, account)).filter((each) => each.admitted).length,
  };
}

test('a minute of requests is admitted at once, then one each time that another is due', () => {
  const { admitted, send, pass } = gateOf({ account: undefined, key: 6 });
  expect(admitted(10)).toBe(6);
  pass(9 * SECOND);
  expect(send('a')).toEqual({
    admitted: false,
    reason: 'rate_limited',
    'ratelimit-policy': '"key";q=6;w=60',
    ratelimit: '"key";r=0;t=1',
    'retry-after': '1',
  });
  pass(SECOND);
  expect(send('a')).toEqual({
    admitted: true,
    'ratelimit-policy': '"key";q=6;w=60',
    ratelimit: '"key";r=0;t=10',
  });
  expect(admitted(1)).toBe(0);
  // at most a minute's worth is saved up
  pass(3600 * SECOND);
  expect(admitted(10)).toBe(6);
});

test('keys of an account share its limit, other accounts have their own, and the command line has none', () => {
  const { admitted, send } = gateOf({ account: 10, key: 6 });
  expect(admitted(8, 'a')).toBe(6);
  expect(admitted(8, 'b')).toBe(4);
  // a request that the account limit refused is not counted for the key
  expect(send('b')).toMatchObject({ admitted: false, ratelimit: '"account";r=0;t=6, "key";r=2;t=10' });
  expect(admitted(8, 'c', 'two')).toBe(6);
  expect(send('operator', 'one', 'operator')).toEqual({ admitted: true });
});

test('without limits nothing is counted and no header is sent', () => {
  const { send, admitted } = gateOf({ account: undefined, key: undefined });
  expect(send('a')).toEqual({ admitted: true });
  expect(admitted(1000)).toBe(1000);
});
