import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readConfig } from '../../kernel/config.ts';
import { nextDelay } from './schedule.ts';

const delays = readConfig({}).delivery.scheduleMs;
const middle = { retryAfterMs: null, random: 0.5 };

test('the schedule is ten attempts in 75 h 35 min', () => {
  const pauses = [];
  for (let step = 1; nextDelay(delays, { step, ...middle }) !== null; step += 1)
    pauses.push(nextDelay(delays, { step, ...middle }) ?? 0);
  expect(delays[0]).toBe(0);
  expect(pauses.length + 1).toBe(10);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(((75 * 60 + 35) * 60 + 5) * 1000);
});

test('jitter stays within a tenth, Retry-After is never undercut, and the end is the end', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const retryAfterMs = fc.option(fc.integer({ min: 0, max: 86_400_000 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), random, retryAfterMs, (step, chance, asked) => {
      const next = nextDelay(delays, { step, random: chance, retryAfterMs: asked });
      const planned = delays[step];
      if (planned === undefined) return next === null;
      if (next === null || next < (asked ?? 0)) return false;
      return next === asked || Math.abs(next - planned) <= planned * 0.1 + 1;
    }),
  );
});
