import { tmpdir } from 'node:os';
import { readPreloads } from '../../src/kernel/config.ts';

/**
 * The environment of a program that a test starts: nothing of the test runner, the same clock, and of our settings only
 * one process for a server, whatever number of cores the machine has.
 */
export function plainEnvironment(): Record<string, string> {
  const { PATH = '/usr/bin:/bin', HOME = tmpdir() } = process.env;
  return { PATH, HOME, PROCESSES: '1', ...readPreloads() };
}
