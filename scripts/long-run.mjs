// The record of `npm run test:long`: the last commit that passed. As a program it prints that.
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** The path of the record in the repository. */
export const RECORD = 'test/long-run.json';

/** The output of git, without the last line end. Throws when git fails. */
export function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd();
}

/** The record in a revision, or null. */
export function recordAt(revision) {
  const has = git('ls-tree', '--name-only', revision, RECORD) !== '';
  return has ? JSON.parse(git('show', `${revision}:${RECORD}`)) : null;
}

/** The files, besides the record, that differ between two revisions. */
export function changedBetween(from, to) {
  const names = git('diff', '--name-only', from, to).split('\n');
  return names.filter((name) => name !== '' && name !== RECORD);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const record = recordAt('HEAD');
  console.log(
    record === null
      ? 'npm run test:long: no record of a run that passed'
      : `npm run test:long: last passed on ${record.commit} at ${record.date}, with ${[...record.node, ...record.postgres].join(', ')}`,
  );
}
