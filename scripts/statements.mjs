// Finds statements that Citus refuses on a node, without a cluster: an UPDATE that calls a stable function with a column, or that
// has the time within CASE or COALESCE (docs/decisions/0098). It reads the text of each statement, not the parts that are inserted
// into it, so only TEST_CITUS=1 proves that a statement works.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** From SET up to RETURNING, the end of the step or statement, or a FROM that takes the time. */
const UPDATE = /\bupdate [a-z_]+(?: [a-z])?\s+set\b[^`]*?(?=`|\breturning\b|\bfrom \(select\b|\),\n)/g;
const REFUSED = [
  {
    form: /\b(?:to_jsonb?|jsonb?_build_object|row_to_json|concat_ws|to_char|date_trunc)\([^)]*[a-z]/,
    instead: 'take its value from a CTE or a subquery in FROM',
  },
  { form: /[a-z_] [+-] (?:interval\b|make_interval\()/, instead: 'use add_span' },
  { form: /->> '\w+'\)::(?:date|timestamptz?)\b/, instead: 'read it in a CTE' },
  {
    form: /(?:\bcase\b(?:(?!\bend\b)[^`])*?|\bcoalesce\([^`,]*, )\b(?:now|now_ms|clock_time)\(\)/,
    instead: 'take the time from a subquery in FROM: (select now_ms() as now) at',
  },
];

const files = execFileSync('git', ['ls-files', '--', 'src'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
let updates = 0;
const problems = [];
for (const name of files) {
  const text = readFileSync(`${root}${name}`, 'utf8');
  for (const { 0: update, index } of text.matchAll(UPDATE)) {
    updates++;
    const line = text.slice(0, index).split('\n').length;
    for (const { form, instead } of REFUSED) {
      const [found] = form.exec(update) ?? [];
      if (found !== undefined)
        problems.push(`${name}:${line}: Citus refuses "${found}" in an UPDATE: ${instead}`);
    }
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
} else {
  console.log(`statements: Citus accepts the form of ${updates} updates`);
}
