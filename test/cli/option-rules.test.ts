import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { takes } from '../../src/cli/command/option-rules.ts';
import { programHere, runHere, runOn } from './here.ts';
import { useMachine } from './support.ts';

const machine = useMachine();

test.each([
  ['config --account Demo', '--account has no effect on payhook config: leave it out'],
  ['--account Demo accounts list', '--account has no effect on payhook accounts list: leave it out'],
  ['secret-key rotate --account x', '--account has no effect on payhook secret-key rotate: leave it out'],
  ['completion bash --data-dir x', '--data-dir has no effect on payhook completion: leave it out'],
  ['payouts list --status paid --status unpaid', '--status is given twice'],
  ['--account a payouts list --account b', '--account is given twice'],
  ['affiliates change 7 --ready --no-ready', 'give --ready or --no-ready, not both'],
  ['payouts export 1 --format wise --format paypal', '--format is given twice'],
  ['payouts export 1 -o - --force', '--force has no effect with --output -: no file is written'],
  ['listen --payload --json', '--payload has no effect with --json: it always prints the whole payload'],
  [
    'listen --account a --secret x',
    '--account has no effect with --secret: no secrets are fetched from the server',
  ],
  [
    'refunds create --order 1 --external-id r1 --currency usd --yes',
    '--currency has no effect without an amount: the rest is refunded',
  ],
])('payhook %s is refused with exit code 2', async (line, message) => {
  const ran = await runOn(machine)(line.split(' '));
  const shown = line.includes('--json') ? JSON.parse(ran.stderr).error.message : ran.stderr;
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(shown).toContain(message);
});

test('--data-dir is refused with PAYHOOK_URL by commands on an account', async () => {
  const env = { PAYHOOK_URL: 'http://127.0.0.1:9', PAYHOOK_API_KEY: 'ph_x' };
  const refused = await runOn(machine)(['payouts', 'list', '--data-dir', 'x'], { env });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toBe(
    'payhook: --data-dir has no effect with PAYHOOK_URL: the command works on the data of that server\n',
  );
  // about this machine, whichever server the commands use
  const config = await runOn(machine)(['config', '--json', '--data-dir', 'x'], { env });
  expect(config.code).toBe(0);
});

test('repeatable options, and options that repeat the same value, are accepted', async () => {
  const ran = await runOn(machine)([
    'payouts',
    'preview',
    '--filter',
    'x=1',
    '--filter',
    'y=2',
    '--json',
    '--json',
  ]);
  expect(JSON.parse(ran.stderr).error.message).not.toMatch(/twice|no effect/);
});

describe('a program option that a command does not take', async () => {
  const pairs = leaves(await programHere()).flatMap((command) =>
    ['--account', '--data-dir', '--env-file']
      .filter((option) => !takes(command, option))
      .map((option) => [pathOf(command).join(' '), option, command] as const),
  );

  test('exists', () => expect(pairs.length).toBeGreaterThan(10));

  test.each(pairs)('%s %s is refused, and its help does not name it', async (_, option, command) => {
    const needed = command.registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? 'x');
    const values = command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long }) => [long ?? '', 'x']);
    const ran = await runHere([...pathOf(command), ...needed, ...values, option, 'x']);
    expect(ran).toMatchObject({
      code: 2,
      stdout: '',
      error: { message: expect.stringContaining(`${option} has no effect on payhook`) },
    });
    expect(command.helpInformation()).not.toContain(`${option} <`);
  });
});

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}
