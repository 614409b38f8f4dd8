// Compiles src/ to dist/ from nothing, so that a renamed file leaves no stale twin behind. A build that fails leaves the
// last one as it was.
import { spawnSync } from 'node:child_process';
import { chmodSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const next = `${root}dist.next`;
rmSync(next, { recursive: true, force: true });
const tsc = spawnSync(
  process.execPath,
  [`${root}node_modules/typescript/bin/tsc`, '-p', 'tsconfig.build.json', '--outDir', next],
  { cwd: root, stdio: 'inherit' },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
chmodSync(`${next}/cli/main.js`, 0o755);
rmSync(`${root}dist`, { recursive: true, force: true });
renameSync(next, `${root}dist`);
