import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bashScript } from '../../src/cli/completion/bash.ts';
import { fishScript } from '../../src/cli/completion/fish.ts';
import { commandTree } from '../../src/cli/completion/tree.ts';
import { zshScript } from '../../src/cli/completion/zsh.ts';
import { programHere } from './here.ts';

const tree = commandTree(await programHere());

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'payhook-completion-'));
  writeFileSync(join(folder, 'september 2026.csv'), '');
  writeFileSync(join(folder, '$(touch made).csv'), '');
  mkdirSync(join(folder, 'files'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The path of a shell; null when this machine does not have it. */
function shellAt(name: string): string | null {
  const places = (process.env.PATH ?? '').split(delimiter).map((place) => join(place, name));
  return places.find((file) => spawnSync(file, ['-c', ':']).status === 0) ?? null;
}

/** Runs a script in a shell that finds no other program. */
function runAlone(shell: string, option: string, script: string): string {
  const env = { PATH: '/nowhere', HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const file = join(folder, 'files', 'script');
  writeFileSync(file, script);
  const { stdout, stderr } = spawnSync(shell, [option, file], { cwd: folder, env, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

type Complete = (lines: readonly (readonly string[])[]) => string[][];

/** What bash offers for the last word of each line, split as bash splits it. */
const inBash: Complete = (lines) => {
  const calls = lines.map(
    (words) =>
      `COMP_WORDS=(payhook ${words.map(quoted).join(' ')}); COMP_CWORD=${words.length}; _payhook; ` +
      `((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"; echo '<end>'\n`,
  );
  return offersIn(runAlone('/bin/bash', '--norc', bashScript(tree) + calls.join('')));
};

/** The same in zsh, whose completion functions are made to print. */
function inZsh(shell: string): Complete {
  const ways = `
compdef() { : }
_message() { : }
_files() { print -rl -- *(N) }
compset() { : }
_describe() { local name=\${@[-1]}; print -rl -- \${(P)name%%:*} }
compadd() { shift; print -rl -- "$@" }
`;
  return (lines) => {
    const calls = lines.map(
      (words) =>
        `words=(payhook ${words.map(quoted).join(' ')}); CURRENT=$#words; _payhook; print -- '<end>'\n`,
    );
    const printed = offersIn(runAlone(shell, '-f', ways + zshScript(tree) + calls.join('')));
    // zsh itself leaves out words with another beginning
    return printed.map((offers, index) => {
      const typed = lines[index]?.at(-1)?.replace(/^--\w+=/, '') ?? '';
      return offers.filter((offer) => offer.startsWith(typed));
    });
  };
}

/** The same in fish. */
function inFish(shell: string): Complete {
  return (lines) => {
    const calls = lines.map(
      (words) => `complete --do-complete ${quoted(`payhook ${words.join(' ')}`)}; echo '<end>'\n`,
    );
    const printed = offersIn(runAlone(shell, '--no-config', fishScript(tree) + calls.join('')));
    return printed.map((offers) => offers.map((offer) => offer.split('\t', 1)[0] ?? ''));
  };
}

function offersIn(printed: string): string[][] {
  return printed
    .split('<end>\n')
    .slice(0, -1)
    .map((text) => text.split('\n').filter((line) => line !== ''));
}

const LINES: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [['payo'], ['payouts']],
  [['payouts', 'sh'], ['show']],
  [['--account', 'payouts', 'key'], ['keys']],
  [['--account', 'Northwind', 'payouts', 'sh'], ['show']],
  [
    ['payouts', 'export', '--fo'],
    ['--force', '--format'],
  ],
  [
    ['payouts', 'export', 'current', '--format', ''],
    ['commissions', 'nacha', 'paypal', 'sepa', 'signals', 'summary', 'wise', 'wise_bank'],
  ],
  [['payouts', 'show', ''], ['current']],
  [['payouts', 'returned', 'current', ''], []],
  [['payouts', 'export', '--format', 'wise', 'cur'], ['current']],
  [['keys', 'create', '--name', ''], []],
  [
    ['users', 'invite', '--role', ''],
    ['approver', 'finance', 'member', 'owner', 'viewer'],
  ],
  [['help', 'payo'], ['payouts']],
  [['payouts', 'help', 'cr'], ['create']],
  [['completion', 'z'], ['zsh']],
  [['payouts', 'list', '--js'], ['--json']],
  [['payouts', 'list', '--acc'], ['--account']],
];

const SHELLS = [
  ['bash', () => inBash, ['payouts', 'export', '--format', '=', 'pay'], 'paypal'],
  ['zsh', inZsh, ['payouts', 'export', '--format=pay'], 'paypal'],
  ['fish', inFish, ['payouts', 'export', '--format=pay'], '--format=paypal'],
] as const;

describe.each(SHELLS)('%s', (name, completeIn, equals, offered) => {
  const shell = shellAt(name);
  const complete = completeIn(shell ?? '');
  const title = (promise: string) =>
    shell === null ? `${promise} (skipped: there is no ${name} here)` : promise;

  test.skipIf(shell === null)(title('offers what can stand there, and starts no program for it'), () => {
    const offered = complete(LINES.map(([words]) => words));
    expect(offered.map((offers) => offers.sort())).toEqual(LINES.map(([, offers]) => offers));
  });

  test.skipIf(shell === null)(title('knows a value that follows ='), () => {
    expect(complete([equals])).toEqual([[offered]]);
  });

  test.skipIf(shell === null)(title('offers names of files where a file is expected, and only there'), () => {
    const [argument = [], option = [], none] = complete([
      ['affiliates', 'import', ''],
      ['payouts', 'export', 'current', '-o', ''],
      ['webhooks', 'create', ''],
    ]);
    for (const offers of [argument, option]) {
      expect(offers.map((offer) => offer.replaceAll('\\', '').replace(/\/$/, ''))).toEqual(
        expect.arrayContaining(['$(touch made).csv', 'files', 'september 2026.csv']),
      );
    }
    expect(none).toEqual([]);
  });

  test.skipIf(shell === null)(title('knows every command and every option of the program'), () => {
    const groups = tree.filter(({ children }) => children.length > 0);
    const offered = complete(groups.map(({ path }) => [...wordsIn(path), '']));
    expect(offered.map((offers) => offers.sort())).toEqual(
      groups.map(({ children }) => children.map((child) => child.name).sort()),
    );
    const flags = complete(tree.map(({ path }) => [...wordsIn(path), '--']));
    expect(flags.map((offers) => offers.filter((offer) => offer.startsWith('--')).sort())).toEqual(
      tree.map(({ options }) =>
        options
          .flatMap((option) => option.flags)
          .filter((flag) => flag.startsWith('--'))
          .sort(),
      ),
    );
  });
});

const wordsIn = (path: string) => path.split(' ').filter((word) => word !== '');

test('bash completes an address or a time as one word, although it splits them', () => {
  const url = ['https', ':', '//shop.example.com/payhook'];
  const file = ['2026-09-01T08', ':', '30.csv'];
  const offered = inBash([
    ['webhooks', 'retry', ...url, '--fail'],
    ['payouts', 'export', '--output', ...file, ''],
  ]);
  expect(offered).toEqual([['--failed'], ['current']]);
});

test('after -- bash offers no options', () => {
  const [files = [], none] = inBash([
    ['affiliates', 'import', '--', ''],
    ['affiliates', 'import', '--', '--'],
  ]);
  expect(files).toContain('september 2026.csv');
  expect(none).toEqual([]);
});
