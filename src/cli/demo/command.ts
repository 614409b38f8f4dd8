import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';

const HELP = `
Creates an account named Demo, and fills it with affiliates, some thousand commissions of the last months, payouts in every state, and
a day of webhooks that work, fail and wait. It never touches your own accounts. The same seed gives the same data relative to today.
At the end it prints what to look at first. If there is an account named Demo already, it is refused: delete that one first, with
payhook accounts delete Demo. An interrupted demo deletes what it created.

It works on the data of this machine, whether or not a server is running. One endpoint works and one fails, until payhook listen
receives for both.

Examples:
  $ payhook demo
  $ payhook demo --seed 7
`;

/** `payhook demo`. */
export function addDemo(program: Command, cli: Cli): void {
  program
    .command('demo')
    .description('create an account named Demo with example data: commissions, payouts, webhooks')
    .option('--seed <number>', 'other numbers; the same seed gives the same numbers', '1')
    .option('--json', 'print what was created: {object, account, seed, affiliates, commissions, payouts, …}')
    .addHelpText('after', HELP)
    .action((options: { seed: string }) =>
      cli.run(async () => (await import('./run.ts')).demo(cli, options)),
    );
}
