// Builds dist/ from nothing, so that a renamed file leaves no stale twin behind: src/ compiled, the dashboard beside it. A
// build that fails leaves the last one as it was.
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDashboard, run } from './dashboard.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const next = `${root}dist.next`;
rmSync(next, { recursive: true, force: true });
const built = await Promise.all([
  run('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', next]),
  buildDashboard(`${next}/dashboard`),
]);
if (built.includes(false)) process.exit(1);
chmodSync(`${next}/cli/main.js`, 0o755);
rmSync(`${root}dist`, { recursive: true, force: true });
renameSync(next, `${root}dist`);
