// The build of the program, for build.mjs: src/ and the packages below in a few files, because a server that reads 1,250
// modules one by one spends most of its start on that. Every other package stays a package. The files are CommonJS,
// which Node loads with a quarter less processor time than ES modules. Nothing is removed from a module: a bundler that
// drops a call whose value is unused also drops the error that the call throws.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, parseAst } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const TESTING = 'payhook:testing';
/** Packages of many small modules, and packages that only ES modules can import by default. */
const BUNDLED = ['typebox', 'jsvat', 'sql-template-tag', 'any-ascii'];
/** The bundled package whose values tests give to the program, which knows only those of its own copy. */
const SHARED = 'sql-template-tag';

/**
 * Puts the program into a folder: cli/main.js, app/thread.js for its threads, and what they load. Resolves to whether
 * it succeeded.
 */
export async function buildProgram(to) {
  try {
    await build({
      root,
      configFile: false,
      envDir: false,
      publicDir: false,
      logLevel: 'warn',
      ssr: { noExternal: BUNDLED },
      plugins: [testing(), nothingRemoved()],
      build: {
        ssr: true,
        target: 'node20',
        outDir: to,
        emptyOutDir: false,
        minify: false,
        sourcemap: true,
        rolldownOptions: {
          input: {
            'cli/main': `${root}src/cli/main.ts`,
            'app/thread': `${root}src/app/thread.ts`,
            'testing/program': TESTING,
          },
          treeshake: false,
          // two folders below the root, as src/ is: kernel/installation finds the root from there
          output: {
            format: 'cjs',
            minify: false,
            entryFileNames: '[name].js',
            chunkFileNames: 'program/[name]-[hash].js',
          },
          checks: { pluginTimings: false },
        },
      },
    });
    writeFileSync(`${to}/package.json`, '{"type": "commonjs"}\n');
    return true;
  } catch (error) {
    console.error(error);
    return false;
  }
}

/** The modules of src that are part of the program, as paths below src. */
function modules() {
  const names = readdirSync(`${root}src`, { recursive: true }).map(String).sort();
  return names.filter((name) => name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(name));
}

const parse = (path) => parseAst(readFileSync(path, 'utf8'), { lang: 'ts' });

/** The names of the values that a module exports. */
function exportsOf(path) {
  return parse(path).body.flatMap(({ type, exportKind, declaration, specifiers = [] }) => {
    if (type !== 'ExportNamedDeclaration' || exportKind === 'type') return [];
    const declared = declaration?.declarations ?? (declaration ? [declaration] : []);
    const named = specifiers
      .filter((each) => each.exportKind !== 'type')
      .map(({ exported }) => exported.name);
    return [...named, ...declared.map(({ id }) => id.name)];
  });
}

/**
 * `testing/program.js` exports everything a module of src exports, as `<path below src>:<name>`, and the same of SHARED:
 * tests run what was built and still reach each module. Only tests load it.
 */
function testing() {
  return {
    name: 'testing',
    resolveId: (id) => (id === TESTING ? `\0${TESTING}` : undefined),
    async load(id) {
      if (id !== `\0${TESTING}`) return undefined;
      // the command line runs when it is loaded
      const reachable = modules().filter((module) => module !== 'cli/main.ts');
      const all = [
        [SHARED, SHARED, Object.keys(await import(SHARED))],
        ...reachable.map((module) => {
          const path = join(root, 'src', module);
          return [module, path, exportsOf(path)];
        }),
      ];
      return all
        .filter(([, , names]) => names.length > 0)
        .map(([module, path, names]) => {
          const list = names.map((name) => `${name} as ${JSON.stringify(`${module}:${name}`)}`);
          return `export { ${list.join(', ')} } from ${JSON.stringify(path)};`;
        })
        .join('\n');
    },
  };
}

const COUNTED = new Set([
  'CallExpression',
  'NewExpression',
  'ThrowStatement',
  'AwaitExpression',
  'AssignmentExpression',
]);

/** How often each kind of expression that can have an effect occurs in a program. */
function effects(program) {
  const counts = {};
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if (COUNTED.has(node.type)) counts[node.type] = (counts[node.type] ?? 0) + 1;
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(program);
  return counts;
}

/** Fails the build and lists the modules of which a call, an assignment or a throw is missing in the built program. */
function nothingRemoved() {
  return {
    name: 'nothing-removed',
    generateBundle(_, bundle) {
      const built = new Map();
      for (const chunk of Object.values(bundle)) {
        for (const [id, { code }] of Object.entries(chunk.modules ?? {})) built.set(id, code ?? '');
      }
      const removed = modules().flatMap((module) => {
        const path = join(root, 'src', module);
        // a module of types only is in no file
        const [before, after] = [
          effects(parse(path)),
          effects(parseAst(built.get(path) ?? '', { lang: 'js' })),
        ];
        return Object.entries(before).flatMap(([kind, count]) =>
          (after[kind] ?? 0) < count ? [`${module}: ${count - (after[kind] ?? 0)} of ${count} ${kind}`] : [],
        );
      });
      if (removed.length > 0) this.error(`the bundler removed from\n  ${removed.join('\n  ')}`);
    },
  };
}
