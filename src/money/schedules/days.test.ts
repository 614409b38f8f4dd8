import { expect, test } from 'vitest';
import { nextDay, type Rhythm } from './days.ts';

test.each<[Rhythm, after: string, next: string]>([
  // 2026-11-23 is a Monday
  [{ every: 'week', day: 1 }, '2026-11-23', '2026-11-30'],
  [{ every: 'week', day: 2 }, '2026-11-23', '2026-11-24'],
  [{ every: 'week', day: 7 }, '2026-11-23', '2026-11-29'],
  [{ every: 'week', day: 7 }, '2026-11-29', '2026-12-06'],
  [{ every: 'week', day: 5 }, '2026-12-28', '2027-01-01'],
  [{ every: 'month', day: 1 }, '2026-11-23', '2026-12-01'],
  [{ every: 'month', day: 23 }, '2026-11-23', '2026-12-23'],
  [{ every: 'month', day: 24 }, '2026-11-23', '2026-11-24'],
  [{ every: 'month', day: 31 }, '2026-11-23', '2026-11-30'],
  [{ every: 'month', day: 31 }, '2026-11-30', '2026-12-31'],
  [{ every: 'month', day: 31 }, '2026-12-31', '2027-01-31'],
  [{ every: 'month', day: 30 }, '2027-01-31', '2027-02-28'],
  [{ every: 'month', day: 29 }, '2028-02-01', '2028-02-29'],
  [{ every: 'month', day: 1 }, '2026-12-01', '2027-01-01'],
])('%o after %s is due on %s', (rhythm, after, next) => {
  expect(nextDay(rhythm, after)).toBe(next);
});
