import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/**
 * Lists at the end of a run each test that failed before it passed, with what it said the first time. Only CI tries a
 * failed test again (vitest.config.ts). The files in which something failed for good are written to the file that
 * FAILED_FILES names, one a line: `.ci/run` tries them again as a whole.
 */
export class SecondTries implements Reporter {
  readonly #passed: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const said = test.result().errors?.map(({ message }) => message.slice(0, 300)) ?? [];
    this.#passed.push([`  ${test.module.relativeModuleId} > ${test.fullName}`, ...said].join('\n    '));
  }

  onTestRunEnd(modules: readonly TestModule[], stray: readonly SerializedError[]): void {
    if (this.#passed.length > 0)
      process.stdout.write(
        `\nfailed before they passed: ${this.#passed.length}\n${this.#passed.join('\n')}\n`,
      );
    const list = process.env.FAILED_FILES;
    if (list === undefined) return;
    const failed = modules.filter((each) => !each.ok()).map(({ relativeModuleId }) => relativeModuleId);
    // errors outside of any test; without a file there is nothing that could be tried again
    const places = stray.map(({ VITEST_TEST_PATH: path }) => path);
    const files = places.flatMap((path) => (typeof path === 'string' ? [relative('', path)] : []));
    const again = files.length < places.length ? [] : [...new Set([...failed, ...files])];
    writeFileSync(list, again.map((file) => `${file}\n`).join(''));
  }
}
