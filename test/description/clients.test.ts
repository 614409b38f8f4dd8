import { execFile, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { hasGo, runGo } from '../support/go.ts';
import { useAccount, useWorld } from '../support/world.ts';

// Clients that the generators of others make from the description: the whole client compiles, and makes ten calls.
// A short run has one generator.
const api = useAccount(useWorld());
const PATIENCE_MS = 600_000;
const run = promisify(execFile);
const TOOLS = fileURLToPath(new URL('../tools/', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('clients/', import.meta.url));
const DESCRIPTION = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));

// in the folder of the tools, which has their libraries
mkdirSync(join(TOOLS, 'out'), { recursive: true });
const folder = mkdtempSync(join(TOOLS, 'out/clients-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = () => ({ PAYHOOK_URL: api.url, PAYHOOK_API_KEY: api.key });
const printed = (email: string) => `sepa 2 10000 paid ${email} 204\n`;

const STRICT = ['--strict', '--skipLibCheck', '--target', 'es2022', '--types', 'node'];
const MISSPELT = `
export const right: PayoutSelection = { filters: { currency: 'usd', affiliate_id: [1, 2] } };
// @ts-expect-error: a field that no filter has
export const misspelt: PayoutSelection = { filters: { curency: 'usd' } };
// @ts-expect-error: an operator that the field does not have
export const another: PayoutSelection = { filters: { currency: { gt: 'usd' } } };
`;

/** Runs a program of the tools. Returns what it printed; throws with all of it if it fails. */
async function output(file: string, args: readonly string[], cwd = folder): Promise<string> {
  const env = { ...process.env, ...environment(), DO_NOT_TRACK: '1' };
  const { stdout } = await run(file, args, { cwd, env, maxBuffer: 1 << 26 });
  return stdout;
}

/** A folder of its own for a client, with a program of this folder. */
function placeFor(client: string, program: string, name = program): string {
  const place = join(folder, client);
  mkdirSync(place);
  copyFileSync(join(PROGRAMS, program), join(place, name));
  return place;
}

const bin = (name: string) => join(TOOLS, 'node_modules/.bin', name);
const python = (name: string) => join(TOOLS, 'python/bin', name);
const module = join(TOOLS, 'oapi-codegen');
const jars = join(TOOLS, 'java/lib');
const generator = existsSync(jars)
  ? readdirSync(jars).find((jar) => jar.startsWith('openapi-generator-cli'))
  : undefined;
const hasJava = generator !== undefined && spawnSync('javac', ['-version']).status === 0;
const hasOapi =
  hasGo &&
  spawnSync('go', ['tool', '-n', 'oapi-codegen'], { cwd: module, env: { ...process.env, GOPROXY: 'off' } })
    .status === 0;

test.skipIf(!existsSync(join(TOOLS, 'node_modules/openapi-fetch')))(
  'openapi-typescript (needs test/tools, which .ci/run installs)',
  { timeout: PATIENCE_MS },
  async () => {
    const place = placeFor('typescript', 'main.ts.txt', 'main.mts');
    // without rules: it lints what it reads, as tools.test.ts does
    writeFileSync(join(place, 'redocly.yaml'), 'extends: []\n');
    const made = ['--redocly', place, '-o', join(place, 'types.d.ts')];
    await output(bin('openapi-typescript'), [DESCRIPTION, ...made]);
    writeFileSync(
      join(place, 'filters.mts'),
      `import type { components } from './types.d.ts';
      type PayoutSelection = components['schemas']['PayoutSelection'];
      ${MISSPELT}`,
    );
    await output(bin('tsc'), [
      ...STRICT,
      '--module',
      'nodenext',
      join(place, 'main.mts'),
      join(place, 'filters.mts'),
    ]);
    expect(await output(process.execPath, [join(place, 'main.mjs')])).toBe(printed('typescript@example.com'));
  },
);

longRun.test.skipIf(!existsSync(python('openapi-python-client')))(
  'openapi-python-client (needs test/tools/python, which .ci/run installs)',
  { timeout: PATIENCE_MS },
  async () => {
    const place = placeFor('python', 'main.py');
    const made = ['--path', DESCRIPTION, '--output-path', join(place, 'payhook_client'), '--meta', 'none'];
    const { stdout, stderr } = await run(python('openapi-python-client'), ['generate', ...made]);
    // it does not support text/csv, which two imports take, nor the body of an archive; it skips nothing else
    expect((stdout + stderr).match(/WARNING parsing .*/g)?.toSorted()).toEqual([
      'WARNING parsing GET /v2/affiliates/payouts/{payout_id}/invoices/download within payouts.',
      'WARNING parsing POST /v2/affiliates/commissions/import within commissions. Endpoint will not be generated.',
      'WARNING parsing POST /v2/affiliates/import within affiliates. Endpoint will not be generated.',
    ]);
    await output(python('python'), ['-m', 'compileall', '-q', place]);
    const filter = (field: string) =>
      `from payhook_client.models import PayoutFilters; print(PayoutFilters(${field}="usd").to_dict())`;
    expect(await output(python('python'), ['-c', filter('currency')], place)).toBe("{'currency': 'usd'}\n");
    await expect(output(python('python'), ['-c', filter('curency')], place)).rejects.toThrow('curency');
    expect(await output(python('python'), [join(place, 'main.py')])).toBe(printed('python@example.com'));
  },
);

longRun.test.skipIf(!existsSync(bin('openapi-ts')))(
  'hey-api (needs test/tools, which .ci/run installs)',
  { timeout: PATIENCE_MS },
  async () => {
    const place = join(folder, 'hey');
    const made = ['-i', DESCRIPTION, '-o', place, '-c', '@hey-api/client-fetch', '--no-log-file'];
    await output(bin('openapi-ts'), made, TOOLS);
    const filters = join(place, 'filters.ts');
    writeFileSync(filters, `import type { PayoutSelection } from './types.gen';\n${MISSPELT}`);
    const bundled = ['--noEmit', '--module', 'esnext', '--moduleResolution', 'bundler'];
    await output(bin('tsc'), [...STRICT, ...bundled, filters]);
  },
);

longRun.test.skipIf(!hasOapi)(
  'oapi-codegen for Go (needs go and the modules of test/tools/oapi-codegen, which TEST_LONG=1 .ci/run downloads)',
  { timeout: PATIENCE_MS },
  async () => {
    const place = placeFor('go', 'main.go');
    for (const file of ['go.mod', 'go.sum']) copyFileSync(join(module, file), join(place, file));
    mkdirSync(join(place, 'payhook'));
    const made = ['-generate', 'types,client', '-package', 'payhook', '-o', 'payhook/payhook.gen.go'];
    expect(await runGo(['go', 'tool', 'oapi-codegen', ...made, DESCRIPTION], place)).toMatchObject({
      code: 0,
    });
    const called = await runGo(['go', 'run', '.'], place, environment());
    expect(called).toEqual({ code: 0, output: printed('go@example.com') });
  },
);

longRun.test.skipIf(!hasJava)(
  'openapi-generator for Java (needs a JDK and the jars of test/tools/java, which TEST_LONG=1 .ci/run downloads)',
  { timeout: PATIENCE_MS },
  async () => {
    const place = placeFor('java', 'Main.java');
    const parts = 'apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
    const made = ['generate', '-g', 'java', '-i', DESCRIPTION, '-o', place, '--global-property', parts];
    // without it the generated code refuses null in the fields of a record that another record extends
    const asParents = ['--openapi-normalizer', 'REF_AS_PARENT_IN_ALLOF=true'];
    // by name: with parameters by position, each new filter of a list changes every call
    const byName = ['--additional-properties', 'useSingleRequestParameter=true'];
    await output('java', ['-jar', join(jars, generator ?? ''), ...made, ...asParents, ...byName]);
    const sources = readdirSync(join(place, 'src/main/java'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.java'))
      .map((file) => join(place, 'src/main/java', file));
    // Mustang is a program that contains other versions of these libraries
    const libraries = readdirSync(jars).filter((jar) => jar !== generator && !jar.startsWith('Mustang'));
    const path = [join(place, 'out'), ...libraries.map((jar) => join(jars, jar))].join(delimiter);
    const compile = ['-nowarn', '-proc:none', '-d', join(place, 'out'), '-cp', path];
    await output('javac', [...compile, ...sources, join(place, 'Main.java')]);
    expect(await output('java', ['-cp', path, 'Main'])).toBe(printed('java@example.com'));
  },
);
