// Builds dist/ from nothing, so that a renamed file leaves no stale twin behind: the program, the dashboard beside it, and
// the package of the client. A build that fails leaves the last one as it was.
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDashboard, run } from './dashboard.mjs';
import { buildProgram } from './program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const outputs = [`${root}dist`, `${root}packages/client/dist`];
const [next, nextClient] = outputs.map((output) => `${output}.next`);
for (const folder of [next, nextClient]) rmSync(folder, { recursive: true, force: true });
const built = await Promise.all([
  run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']),
  buildProgram(next),
  run('typescript/bin/tsc', ['-p', 'tsconfig.client.json', '--outDir', nextClient]),
  buildDashboard(`${next}/dashboard`),
]);
if (built.includes(false)) process.exit(1);
chmodSync(`${next}/cli/main.js`, 0o755);
for (const output of outputs) {
  rmSync(output, { recursive: true, force: true });
  renameSync(`${output}.next`, output);
}
