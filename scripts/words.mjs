// Refuses the words of the table "Words we do not use" in CONTRIBUTING.md, in every file that people read: code, tests,
// guides, messages. `node scripts/words.mjs src/webhooks` checks one folder.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const TEXT = /\.(ts|tsx|mjs|md|css|yaml|yml|tpl|txt|sh|conf|py|go)$/;
/** Landed migrations never change, the clients are generated, and CONTRIBUTING.md and this file name the words. */
const LEFT_OUT =
  /^(migrations\/|src\/client\/api\.ts$|packages\/python\/src\/payhook\/(types|_resources|_async_resources)\.py$|packages\/go\/(types|resources)\.go$|CONTRIBUTING\.md$|scripts\/words\.mjs$)/;

const table = readFileSync(new URL('../CONTRIBUTING.md', import.meta.url), 'utf8')
  .split('### Words we do not use')[1]
  .split('\n#')[0];
const words = [...table.matchAll(/^\| (.+?) \| (.+?) \|$/gm)]
  .slice(2)
  .flatMap(([, refused, instead]) => refused.split(', ').map((word) => ({ word, instead })));
const pattern = new RegExp(`\\b(${words.map(({ word }) => word).join('|')})\\b`, 'gi');

const folders = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', '--', ...folders], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => (TEXT.test(name) || name.startsWith('.ci/')) && !LEFT_OUT.test(name));

/** Columns of landed migrations. */
const COLUMNS = /\b(?:s\.told(?:_at)?\b|set told\b|greatest\(told\b)/g;

const problems = [];
for (const name of files) {
  const lines = readFileSync(`${root}${name}`, 'utf8').split('\n');
  lines.forEach((line, index) => {
    for (const [found] of line.replaceAll(COLUMNS, '').matchAll(pattern)) {
      const { instead } = words.find(({ word }) => word === found.toLowerCase());
      problems.push(`${name}:${index + 1}: "${found}": use ${instead}`);
    }
  });
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  console.error(`words: ${problems.length} to replace`);
  process.exitCode = 1;
} else {
  console.log(`words: ${files.length} files use none of ${words.length} words`);
}
