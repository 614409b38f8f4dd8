import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCE = `${ROOT}src/`;
const TESTS = `${ROOT}test/`;
/** What `npm run build` writes for the tests: every export of src, as `<path below src>:<name>`. */
const BUILT = `${ROOT}dist/testing/program.js`;
const PREFIX = '\0built:';
/** A package whose values tests give to the program: they must be of the copy that the program contains. */
const SHARED = 'sql-template-tag';

/** Test helpers, and unit tests next to the source. */
const isTest = (path: string) =>
  path.startsWith(TESTS) || (path.startsWith(SOURCE) && /\.test\.ts$/.test(path));

/**
 * Makes an import of `src/…` in a test load the built program, so that the tests run what ships. Throws when nothing is
 * built, or when a module is not in the build.
 */
export function builtProgram(): Plugin {
  if (!existsSync(BUILT)) throw new Error('the program is not built: run `npm run build`, or `npm test`');
  const names = Object.keys(createRequire(import.meta.url)(BUILT));
  return {
    name: 'built-program',
    enforce: 'pre',
    resolveId(source, importer) {
      if (importer === undefined || !isTest(importer)) return undefined;
      if (source === SHARED) return PREFIX + source;
      if (!source.startsWith('.')) return undefined;
      const path = resolve(importer, '..', source);
      return path.startsWith(SOURCE) ? PREFIX + relative(SOURCE, path) : undefined;
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return undefined;
      const module = id.slice(PREFIX.length);
      const exported = names.filter((name) => name.startsWith(`${module}:`));
      if (exported.length === 0) throw new Error(`src/${module} is not in the build: run \`npm run build\``);
      const lines = exported.map((name) => {
        const short = name.slice(module.length + 1);
        const value = `program[${JSON.stringify(name)}]`;
        return short === 'default' ? `export default ${value};` : `export const ${short} = ${value};`;
      });
      return [`import program from ${JSON.stringify(BUILT)};`, ...lines].join('\n');
    },
  };
}
