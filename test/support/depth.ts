import { describe, test } from 'vitest';

/** Whether this is `npm run test:long`, which sets TEST_LONG. */
export const isLong = Boolean(process.env.TEST_LONG);

/** The number of rounds or cases of a test: those that prove its promise once, or more in `npm run test:long`. */
export const rounds = (normal: number, long: number): number => (isLong ? long : normal);

/** A part of the cases, spread evenly over the list; all of them in `npm run test:long`. */
export function someOf<Case>(cases: readonly Case[], normal: number): readonly Case[] {
  if (isLong || cases.length <= normal) return cases;
  return Array.from(
    { length: normal },
    (_, index) => cases[Math.floor((index * cases.length) / normal)] as Case,
  );
}

// Vitest reports a skipped test; a test of another depth is not even registered
const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });

/**
 * Tests that only `npm run test:long` runs, because a cheaper one of the same promise runs always: `longRun.test(…)`,
 * `longRun.describe(…)`. A file that has no other tests is named `*.long.test.ts`.
 */
export const longRun = isLong
  ? { test, describe }
  : { test: nothing as typeof test, describe: nothing as typeof describe };
