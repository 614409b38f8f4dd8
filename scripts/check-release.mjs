// `node scripts/check-release.mjs TAG` refuses a release unless `npm run test:long` passed on it: the record in the
// tagged commit names that commit, or one that differs only in the record.
import { changedBetween, git, RECORD, recordAt } from './long-run.mjs';

const tag = process.argv[2] ?? 'HEAD';

function refuse(message) {
  console.error(`${tag} cannot be released: ${message}`);
  process.exit(1);
}

const commit = git('rev-parse', '--verify', `${tag}^{commit}`);
const record = recordAt(commit);
if (record === null) refuse(`it has no ${RECORD}. Run npm run test:long and commit what it writes`);
let changed;
try {
  changed = changedBetween(record.commit, commit);
} catch {
  refuse(`npm run test:long last passed on ${record.commit}, which is not in this repository`);
}
if (changed.length > 0) {
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  refuse(
    `npm run test:long last passed on ${record.commit}. ${changed.slice(0, 3).join(', ')}${more} changed since. ` +
      'Run it again and commit what it writes',
  );
}
console.log(`${tag} may be released: npm run test:long passed on ${record.commit} at ${record.date}`);
