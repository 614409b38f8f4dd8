import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';

/** [what a programmer forgets or misspells, the file, its text, the text instead, what the compiler says]. */
const MISTAKES = [
  [
    'a role that does not exist',
    'src/people/users/service.ts',
    "input.role !== 'owner'",
    "input.role !== 'superuser'",
    `and '"superuser"' have no overlap`,
  ],
  [
    'a role with a capability that does not exist',
    'src/contract/roles.ts',
    "['read', 'self'],",
    "['read', 'all'],",
    `'"all"' is not assignable to type '"approve" | "files"`,
  ],
  [
    'a route without a capability',
    'src/people/accounts/routes.ts',
    "  needs: 'read',\n",
    '',
    "Property 'needs' is missing",
  ],
  [
    'a route with a capability that does not exist',
    'src/money/programs/routes.ts',
    "needs: 'write'",
    "needs: 'writes'",
    `Did you mean '"write"'?`,
  ],
  [
    'a route whose scope does not give the capability',
    'src/money/payment-files/routes.ts',
    "needs: 'files'",
    "needs: 'people'",
    `Type '"people"' is not assignable to type '"files" | "read" | "write"'`,
  ],
  ...Object.entries({
    label: "    label: 'First name',\n",
    option: "    option: '--name-first <name>',\n",
    example: "    example: 'Ada',\n",
    affectsPayouts: '    affectsPayouts: true,\n',
    import:
      "    import: { synonyms: words('namefirst firstname givenname vorname prenom nombre nome voornaam imie') },\n",
    erasure: "    erasure: { to: null, as: 'name' },\n",
  }).map(
    ([part, line]) =>
      [
        `a field of affiliates without its ${part}`,
        'src/money/affiliates/fields.ts',
        line,
        '',
        `Property '${part}' is missing`,
      ] as const,
  ),
  [
    'a setting without a type',
    'src/kernel/settings.ts',
    '    read: integer(0, 65_535),\n',
    '',
    "Property 'read' is missing",
  ],
  [
    'a setting in a group without a rule',
    'src/kernel/settings.ts',
    "      rule: 'an e-mail address, or a name with one: Payhook <pay@example.com>',\n",
    '',
    "Property 'rule' is missing",
  ],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'payhook-mistakes-'));
afterAll(() => rmSync(folder, { recursive: true }));
let output: string;

/** A copy of the file in another folder, with the mistake. */
function copyWith(file: string, right: string, wrong: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8');
  expect(text.includes(right), `${file} contains ${right}`).toBe(true);
  const from = dirname(join(ROOT, file));
  return text
    .replace(right, wrong)
    .replaceAll(/from '(\.[^']+)'/g, (_, path) => `from '${join(from, path)}'`);
}

beforeAll(() => {
  const names = MISTAKES.map(([, file, right, wrong], index) => {
    writeFileSync(join(folder, `${index}.ts`), copyWith(file, right, wrong));
    return `${index}.ts`;
  });
  const compilerOptions = {
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    incremental: false,
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  const config = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: [], files: names };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  // several threads check the types that they share once each
  const args = ['-p', folder, '--pretty', 'false', '--checkers', '1'];
  output = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: folder, encoding: 'utf8' }).stdout;
});

test.each(MISTAKES.map(([title, , , , message], index) => ({ title, message, index })))(
  '$title does not compile, and the message names it',
  ({ message, index }) => {
    const errors = output.split(/^(?=\S+\(\d+,\d+\): error)/m);
    expect(errors.filter((error) => error.startsWith(`${index}.ts`)).join('\n')).toContain(message);
  },
);
