import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { TEST_PATIENCE_MS } from './test/support/patience.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/support/postgres.ts'],
    testTimeout: TEST_PATIENCE_MS,
    hookTimeout: TEST_PATIENCE_MS,
    pool: 'forks',
    // the program is read, compiled and warm once a process, not once a file: no module keeps what a test did
    isolate: false,
    // a test waits for PostgreSQL and for processes more than it computes
    maxWorkers: availableParallelism() + 1,
    reporters: ['default'],
  },
});
