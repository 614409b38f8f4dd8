import { tmpdir } from 'node:os';
import { readPreloads } from '../../src/kernel/config.ts';

/**
 * The environment of a program that a test starts: none of our settings, nothing of the test runner, the same clock.
 */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', HOME = tmpdir() } = process.env;
  return { PATH, HOME, ...readPreloads() };
}
