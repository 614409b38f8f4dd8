import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectProperty } from '../../../test/support/properties.ts';
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

test('jitter stays within a tenth, Retry-After is respected, and the schedule ends', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const retryAfterMs = fc.option(fc.integer({ min: 0, max: 86_400_000 }));
  return expectProperty({
    ...{ name: 'pauses of the schedule', cases: 100 },
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 20 }), random, retryAfterMs),
    check([step, chance, asked]) {
      const next = nextDelay(delays, { step, random: chance, retryAfterMs: asked });
      const planned = delays[step];
      if (planned === undefined) return expect(next).toBeNull();
      const pause = next ?? Number.NaN;
      expect(pause >= (asked ?? 0)).toBe(true);
      expect(pause === asked || Math.abs(pause - planned) <= planned * 0.1 + 1).toBe(true);
    },
  });
});
