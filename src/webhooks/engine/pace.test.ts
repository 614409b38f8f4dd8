import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AccountId, timeIn } from '../../kernel/ids.ts';
import type { Finished } from './attempt.ts';
import { createPace } from './pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ACCOUNT = '0198a000-0000-7000-8000-00000000000a' as AccountId;
const OTHER = '0198a000-0000-7000-8000-00000000000b' as AccountId;
const EVENT = '0198b000-0000-7000-8000-000000000001';

/** A delivered first attempt of an event that had waited 40 ms. */
function finished({ waitedMs = 40, durationMs = 5, succeeded = true, step = 0, trigger = 'scheduled' } = {}) {
  const startedAt = new Date(timeIn(EVENT) + waitedMs).toISOString();
  return {
    delivery: { account: ACCOUNT, event: EVENT, step, trigger },
    result: { startedAt, durationMs, succeeded },
  } as unknown as Finished;
}

/** The pause of an account after these attempts, while this number of results is not written. */
function pauseAfter(attempts: readonly Finished[], unwritten = 16, account = ACCOUNT): number {
  const pace = createPace(() => unwritten);
  for (const each of attempts) pace.note(each);
  return pace.pauseMs(account);
}

test('a publisher pauses for as long as its last event waited beyond 15 ms', () => {
  expect(pauseAfter([finished()])).toBe(25);
});

test('never longer than 100 ms', () => {
  expect(pauseAfter([finished({ waitedMs: 90_000 })])).toBe(100);
});

test.each([
  ['nothing was sent', [], 16],
  ['few results are unwritten', [finished()], 15],
  ['the receiver is slow', [finished({ durationMs: 101 })], 16],
  ['the receiver fails', [finished({ succeeded: false })], 16],
  ['it was a retry by the schedule', [finished({ step: 1 })], 16],
  ['it was a retry by hand', [finished({ trigger: 'manual' })], 16],
  ['the event hardly waited', [finished({ waitedMs: 15 })], 16],
  ['a later event hardly waited', [finished(), finished({ waitedMs: 3 })], 16],
])('it does not pause if %s', (_, attempts, unwritten) => {
  expect(pauseAfter(attempts, unwritten)).toBe(0);
});

test('other accounts do not pause', () => {
  expect(pauseAfter([finished()], 16, OTHER)).toBe(0);
});

test('the pauses end when nothing was sent for 100 ms', () => {
  const pace = createPace(() => 16);
  pace.note(finished());
  vi.advanceTimersByTime(100);
  expect(pace.pauseMs(ACCOUNT)).toBe(25);
  vi.advanceTimersByTime(1);
  expect(pace.pauseMs(ACCOUNT)).toBe(0);
});
