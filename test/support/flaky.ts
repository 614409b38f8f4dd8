import type { Reporter, TestCase } from 'vitest/node';

/**
 * Lists at the end of a run each test that failed before it passed, with what it said the first time. Only CI tries a
 * failed test again (vitest.config.ts).
 */
export class FlakyTests implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const said = test.result().errors?.map(({ message }) => message.slice(0, 300)) ?? [];
    this.#flaky.push([`  ${test.module.relativeModuleId} > ${test.fullName}`, ...said].join('\n    '));
  }

  onTestRunEnd(): void {
    if (this.#flaky.length === 0) return;
    process.stdout.write(`\nfailed before they passed: ${this.#flaky.length}\n${this.#flaky.join('\n')}\n`);
  }
}
