import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const SCRIPTS = fileURLToPath(new URL('../../scripts/', import.meta.url));
const RECORD = 'test/long-run.json';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new repository with one commit. */
function repository() {
  const cwd = mkdtempSync(join(tmpdir(), 'payhook-release-'));
  folders.push(cwd);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd,
      encoding: 'utf8',
    }).trim();
  /** Commits a file; returns the commit. */
  const commit = (name: string, text: string) => {
    mkdirSync(join(cwd, 'test'), { recursive: true });
    writeFileSync(join(cwd, name), text);
    git('add', '.');
    git('commit', '-q', '-m', name);
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q');
  return {
    git,
    commit,
    first: commit('program.txt', 'one'),
    record: (of: string) =>
      commit(RECORD, JSON.stringify({ commit: of, date: '2026-11-25', node: ['Node 24'], postgres: [] })),
    run(script: string, ...args: string[]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [`${SCRIPTS}${script}`, ...args], {
        cwd,
        encoding: 'utf8',
      });
      return { status, text: stdout + stderr };
    },
  };
}

test('a tag may be released when its commit differs only in the record from the one that test:long passed', () => {
  const { first, record, git, run } = repository();
  record(first);
  git('tag', 'v1.0.0');
  expect(run('check-release.mjs', 'v1.0.0')).toEqual({
    status: 0,
    text: `v1.0.0 may be released: npm run test:long passed on ${first} at 2026-11-25\n`,
  });
  expect(run('long-run.mjs').text).toBe(
    `npm run test:long: last passed on ${first} at 2026-11-25, with Node 24\n`,
  );
});

test('a tag is refused without a record, after any other change, and with the record of an unknown commit', () => {
  const { first, record, commit, git, run } = repository();
  git('tag', 'v1.0.0');
  expect(run('long-run.mjs').text).toContain('no record');
  expect(run('check-release.mjs', 'v1.0.0')).toMatchObject({
    status: 1,
    text: expect.stringContaining('v1.0.0 cannot be released: it has no test/long-run.json'),
  });
  record(first);
  commit('program.txt', 'two');
  git('tag', 'v1.0.1');
  expect(run('check-release.mjs', 'v1.0.1')).toMatchObject({
    status: 1,
    text: expect.stringContaining(`last passed on ${first}. program.txt changed since`),
  });
  record('0123456789012345678901234567890123456789');
  git('tag', 'v1.0.2');
  expect(run('check-release.mjs', 'v1.0.2')).toMatchObject({
    status: 1,
    text: expect.stringContaining('which is not in this repository'),
  });
});

test('test:long refuses a tree with changes before it runs anything', () => {
  const { run, first } = repository();
  expect(first).toHaveLength(40);
  writeFileSync(join(folders[0] as string, 'other.txt'), 'new');
  expect(run('test-long.mjs')).toEqual({
    status: 1,
    text: 'test:long: commit or put away what is changed first: what is recorded is a commit\n',
  });
});
