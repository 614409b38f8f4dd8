// The build of the program, for build.mjs: src/, typebox and jsvat in a few files, because a server that reads 1,250 modules
// one by one needs most of its start for that. Every other package stays a package.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Puts the program into a folder: cli/main.js and what it loads. Resolves to whether it could. */
export async function buildProgram(to) {
  try {
    await build({
      root,
      configFile: false,
      envDir: false,
      publicDir: false,
      logLevel: 'warn',
      ssr: { noExternal: ['typebox', 'jsvat'] },
      build: {
        ssr: true,
        target: 'node20',
        outDir: to,
        emptyOutDir: false,
        minify: false,
        sourcemap: true,
        rolldownOptions: {
          input: `${root}src/cli/main.ts`,
          // two folders below the root, as src/ is: kernel/installation finds the root from there
          output: { entryFileNames: 'cli/[name].js', chunkFileNames: 'program/[name]-[hash].js' },
          checks: { pluginTimings: false },
        },
      },
    });
    return true;
  } catch (error) {
    console.error(error);
    return false;
  }
}
