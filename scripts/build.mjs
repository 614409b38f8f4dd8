// Builds dist/ from scratch, so that a renamed file leaves no stale output: the program, the dashboard and the pages of
// the reference next to it, and the client package. A failed build keeps the previous output.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDashboard, run } from './dashboard.mjs';
import { buildProgram } from './program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputs = [`${root}dist`, `${root}packages/client/dist`];
const [next, nextClient] = outputs.map((output) => `${output}.next`);
for (const folder of [next, nextClient]) rmSync(folder, { recursive: true, force: true });
// the client for programs that load modules with require()
const COMMONJS = ['-p', 'tsconfig.client.json', '--module', 'commonjs', '--moduleResolution', 'bundler'];
COMMONJS.push('--verbatimModuleSyntax', 'false');
const built = await Promise.all([
  run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']),
  buildProgram(next),
  run('typescript/bin/tsc', ['-p', 'tsconfig.client.json', '--outDir', nextClient]),
  run('typescript/bin/tsc', [...COMMONJS, '--outDir', `${nextClient}/cjs`]),
  buildDashboard(`${next}/dashboard`),
  run('tsx/dist/cli.mjs', ['scripts/reference.ts', `${next}/reference`]),
]);
if (built.includes(false)) process.exit(1);
// the folder is a scope of its own, so it needs the imports of the package
const { imports } = JSON.parse(
  readFileSync(`${root}packages/client/package.json`, 'utf8').replaceAll('./dist/', './'),
);
writeFileSync(`${nextClient}/cjs/package.json`, JSON.stringify({ type: 'commonjs', imports }));
chmodSync(`${next}/cli/main.js`, 0o755);
for (const output of outputs) {
  rmSync(output, { recursive: true, force: true });
  renameSync(`${output}.next`, output);
}
// `npx payhook` runs this. With a `bin` in package.json, npx would install the whole repository again, into its own
// cache, so the package gets its `bin` when it is packed.
const command = `${root}node_modules/.bin/payhook`;
mkdirSync(`${root}node_modules/.bin`, { recursive: true });
rmSync(command, { force: true });
symlinkSync('../../dist/cli/main.js', command);
