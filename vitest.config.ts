import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { builtProgram } from './test/support/built.ts';
import { whyNoCitus } from './test/support/citus.ts';
import { TEST_PATIENCE_MS } from './test/support/patience.ts';
import { countOfProcesses } from './test/support/processes.ts';
import { SlowestFiles } from './test/support/report.ts';

/** Tests of these rooms start servers, commands and browsers, so their files take longest. */
const SLOW_ROOMS = /\/test\/(first-hour|faults|cli|browser|operations)\//;

/** Begins with the slow files, so that no worker has one of them left at the end. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => SLOW_ROOMS.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const skipsAll = Boolean(process.env.TEST_CITUS) && whyNoCitus !== null;
if (skipsAll)
  process.stdout.write(`All tests are skipped, because TEST_CITUS asks for a cluster: ${whyNoCitus}.\n`);

export default defineConfig({
  plugins: [builtProgram()],
  test: {
    server: { deps: { external: [/\/dist\//] } },
    include: skipsAll ? [] : ['src/**/*.test.ts', 'test/**/*.test.ts'],
    passWithNoTests: skipsAll,
    exclude: [
      ...configDefaults.exclude,
      // a cheaper test of the same promise runs always
      ...(process.env.TEST_LONG ? [] : ['**/*.long.test.ts']),
      // on a cluster each cell has a login of its own, which test/faults/citus-operations.test.ts tests
      ...(process.env.TEST_CITUS ? ['test/cells/**'] : []),
    ],
    globalSetup: skipsAll ? [] : ['test/support/postgres.ts'],
    testTimeout: TEST_PATIENCE_MS,
    hookTimeout: TEST_PATIENCE_MS,
    pool: 'forks',
    // the program is read, compiled and warm once per process, not once per file: no module keeps state of a test
    isolate: false,
    // A test waits for PostgreSQL and for processes, so there are more workers than cores. With twice as many a run takes almost
    // 50 % longer: each has its own worlds, Chromium and program. Each of several processes (TEST_PROCESSES) polls.
    maxWorkers: Math.ceil((1.5 * availableParallelism()) / countOfProcesses()),
    // each test that runs next to another one needs a world of its own, which costs more than the wait it hides: other files run meanwhile
    maxConcurrency: Math.ceil(2 / countOfProcesses()),
    sequence: { sequencer: SlowFirst },
    setupFiles: ['test/support/cost.ts'],
    reporters: [new SlowestFiles(), 'default'],
  },
});
