// The build of the dashboard, for build.mjs. As a program it prints how much script the first screen loads, and fails
// above the budget.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const last = `${root}dist/dashboard`;
const FOLDERS = ['dashboard', 'src/client', 'src/kernel', 'src/screens/html'];
const BUDGET_BYTES = 130_000;

/** Runs a program of node_modules to its end; resolves to whether it succeeded. */
export function run(program, args) {
  const child = spawn(process.execPath, [`${root}node_modules/${program}`, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  return new Promise((done, failed) => child.once('error', failed).once('exit', (code) => done(code === 0)));
}

/** A hash of the dashboard's sources. */
function digest() {
  const hash = createHash('sha256').update(readFileSync(`${root}package-lock.json`));
  for (const folder of FOLDERS) {
    const names = readdirSync(join(root, folder), { recursive: true }).map(String).sort();
    for (const name of names.filter((each) => /\.(tsx?|css|html)$/.test(each))) {
      hash.update(`${folder}/${name}`).update(readFileSync(join(root, folder, name)));
    }
  }
  return hash.digest('hex');
}

/**
 * Puts the built dashboard into a folder: the last build while its sources have not changed. Resolves to whether it
 * succeeded.
 */
export async function buildDashboard(to) {
  const made = digest();
  if (existsSync(`${last}/.made-of`) && readFileSync(`${last}/.made-of`, 'utf8') === made) {
    cpSync(last, to, { recursive: true, preserveTimestamps: true });
    return true;
  }
  const args = ['build', '--config', 'dashboard/vite.config.ts', '--outDir', to, '--logLevel', 'warn'];
  const isBuilt = await run('vite/bin/vite.js', args);
  if (isBuilt) writeFileSync(`${to}/.made-of`, made);
  return isBuilt;
}

/**
 * Bytes of script, in gzip, that the first screen of a page needs: the files that the page names, and the largest that
 * a screen adds.
 */
function firstLoad(folder, html) {
  const page = readFileSync(`${folder}/${html}`, 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, name]) => name);
  const all = readdirSync(`${folder}/assets`).filter((name) => name.endsWith('.js'));
  // a file that may be loaded later is named in one that was loaded
  const reached = new Set(named);
  for (const name of reached) {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    for (const other of all) if (text.includes(other)) reached.add(`assets/${other}`);
  }
  const size = (name) => gzipSync(readFileSync(`${folder}/${name}`), { level: 9 }).length;
  const later = [...reached].filter((name) => !named.includes(name));
  return named.reduce((sum, name) => sum + size(name), 0) + Math.max(0, ...later.map(size));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = mkdtempSync(`${root}node_modules/.dashboard-`);
  try {
    if (!(await buildDashboard(folder))) process.exit(1);
    for (const html of ['index.html', 'portal.html']) {
      const bytes = firstLoad(folder, html);
      console.log(`dashboard: ${bytes} bytes of script at first load of ${html}, at most ${BUDGET_BYTES}`);
      if (bytes > BUDGET_BYTES) process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
