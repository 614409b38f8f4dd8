// Everything that must hold before a commit: format, lint, types, import rules, dead code, generated files fresh.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const STEPS = [
  ['format and lint', 'node_modules/.bin/biome', ['ci', '--colors=off', '--error-on-warnings', '.']],
  ['types', 'node_modules/.bin/tsc', ['-p', 'tsconfig.json']],
  ['types of the dashboard', 'node_modules/.bin/tsc', ['-p', 'dashboard/tsconfig.json']],
  ['size of the dashboard', process.execPath, ['scripts/dashboard.mjs']],
  ['import rules', process.execPath, ['scripts/imports.mjs']],
  ['statements', process.execPath, ['scripts/statements.mjs']],
  ['words', process.execPath, ['scripts/words.mjs']],
  ['dead code', 'node_modules/.bin/knip', ['--no-progress', '--no-config-hints']],
  ['generated files', 'node_modules/.bin/tsx', ['scripts/generate.ts', '--check']],
];

let failed = 0;
for (const [name, command, args] of STEPS) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name}`);
  if (status !== 0) {
    failed += 1;
    console.log(`${stdout}${stderr}`);
  }
}
process.exit(failed === 0 ? 0 : 1);
