import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WriteStream } from 'node:tty';
import type { Command, Option } from 'commander';
import { afterEach, describe, expect, test } from 'vitest';
import { takes } from '../../src/cli/command/option-rules.ts';
import { createTerminal } from '../../src/cli/terminal/terminal.ts';
import { helpOf, programHere, runHere } from './here.ts';
import { ROOT } from './support.ts';

const program = await programHere();

const leavesOf = (group: Command, words: readonly string[]): [name: string, command: Command][] =>
  group.commands.flatMap((command) => {
    const name = [...words, command.name()];
    return command.commands.length === 0 ? [[name.join(' '), command]] : leavesOf(command, name);
  });

/** Every command with an action, by the words after `payhook`. */
const COMMANDS: readonly (readonly [name: string, command: Command])[] = leavesOf(program, []);

const optionOf = (command: Command, long: string): Option | undefined =>
  command.options.find((option) => option.long === long);

/** The shortest line with everything a command needs. */
function lineOf(name: string, command: Command): string[] {
  const needed = command.options.filter(({ mandatory }) => mandatory);
  const places = command.registeredArguments.filter(({ required }) => required);
  return [
    ...name.split(' '),
    ...places.map(({ argChoices }) => argChoices?.[0] ?? 'x'),
    ...needed.flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? 'x']),
  ];
}

describe.each(COMMANDS)('%s', (name, command) => {
  test('refuses an option it does not know, with exit code 2', async () => {
    const ran = await runHere([...lineOf(name, command), '--no-such-option']);
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      error: { code: 'usage', message: expect.stringContaining("unknown option '--no-such-option'") },
    });
  });

  test('refuses one argument too many, with exit code 2', async () => {
    if (command.registeredArguments.some(({ variadic }) => variadic)) return;
    const places = command.registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? 'x');
    const options = lineOf(name, command).slice(name.split(' ').length + places.length);
    const ran = await runHere([...name.split(' '), ...places, 'more', ...options]);
    expect(ran).toMatchObject({ code: 2, error: { message: expect.stringContaining('too many arguments') } });
  });

  test('documents the output of --json, in records that the API describes', () => {
    const about = optionOf(command, '--json')?.description ?? '';
    expect(about).toMatch(/^print /);
    const named = about.match(/\b[A-Z]\w+/g) ?? [];
    expect(named.filter((record) => !RECORDS.has(record))).toEqual([]);
  });

  test('is described in lower case, without a full stop; so are arguments and options', () => {
    const texts = [command, ...command.registeredArguments, ...command.options].map((about) =>
      typeof about.description === 'function' ? about.description() : about.description,
    );
    for (const text of texts) expect(text).toMatch(/^(?![A-Z][a-z]).*[^.]$/s);
  });

  test('shows an example when it takes an argument', () => {
    const isNeeded = command.registeredArguments.length > 0 || command.options.some((each) => each.mandatory);
    // the first line is the synopsis
    const [, ...lines] = helpOf(command).split('\n');
    if (isNeeded) expect(lines.join('\n')).toContain(`payhook ${name} `);
  });

  test('always asks in the same words', () => {
    const yes = optionOf(command, '--yes');
    if (yes === undefined) return;
    expect(yes.short).toBe('-y');
    expect(yes.description).toMatch(/do not ask; required without a terminal$/);
  });
});

const described = JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'));
const RECORDS = new Set(Object.keys(described.components.schemas));

test('asks before an irreversible action', () => {
  const confirmed = COMMANDS.filter(([, command]) => optionOf(command, '--yes')).map(([name]) => name);
  expect(confirmed.sort()).toEqual(
    [
      'accounts delete',
      'alerts remove-channel',
      'affiliates adjust',
      'affiliates corrections accept',
      'affiliates corrections dismiss',
      'affiliates destination remove',
      'affiliates destination use-name',
      'affiliates erase',
      'affiliates import',
      'affiliates tax remove',
      'commissions import',
      'commissions refund',
      'commissions void',
      'events delete-type',
      'imports undo',
      'keys revoke',
      'oauth-applications delete',
      'oauth-applications rotate-secret',
      'oauth-grants revoke',
      'payouts complete',
      'payouts delete',
      'payouts returned',
      'payouts returns undo',
      'refunds create',
      'refunds reverse',
      'schedules delete',
      'secret-key abandon',
      'users erase',
      'users remove',
      'webhooks delete',
      'webhooks discard',
      'webhooks recover',
      'webhooks retry',
      'webhooks revoke-portal-link',
    ].sort(),
  );
});

test('the help of a command lists --json once, and the other program options too', () => {
  for (const [name, command] of COMMANDS) {
    expect(helpOf(command).match(/^ +--json /gm)).toHaveLength(1);
    expect(helpOf(command).includes('--account <account>'), name).toBe(takes(command, '--account'));
  }
});

describe('colours', () => {
  const { stdout, env } = process;
  const before = { isTTY: stdout.isTTY, hasColors: stdout.hasColors, env };
  afterEach(() => {
    Object.assign(stdout, { isTTY: before.isTTY, hasColors: before.hasColors });
    process.env = before.env;
  });

  test.each([
    ['a terminal', true, { TERM: 'xterm-256color' }, true],
    ['a terminal with NO_COLOR', true, { TERM: 'xterm-256color', NO_COLOR: '1' }, false],
    ['a terminal without colours', true, { TERM: 'dumb' }, false],
    ['a terminal without colours, with FORCE_COLOR', true, { TERM: 'dumb', FORCE_COLOR: '1' }, true],
    ['a pipe', false, { TERM: 'xterm-256color' }, false],
    ['a pipe with FORCE_COLOR', false, { TERM: 'xterm-256color', FORCE_COLOR: '1' }, false],
  ])('on %s', (_, isTTY, given, coloured) => {
    process.env = given;
    Object.assign(stdout, { isTTY, hasColors: WriteStream.prototype.hasColors });
    Object.assign(stdout, { getColorDepth: WriteStream.prototype.getColorDepth });
    expect(createTerminal(false).paint.strong('1')).toBe(coloured ? '\u001B[1m1\u001B[0m' : '1');
  });
});
