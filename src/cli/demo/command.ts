import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';

const HELP = `
Fills an account with affiliates, some thousand commissions, payouts in every state, and webhooks that work, fail and
recover: the only account when it is empty, else a new one called Demo. Nothing is ever mixed with books of yours, and it
can be run again and again. The same seed makes the same, as seen from today. It ends with what to look at first.

It works on the data of this machine, with a server running on it or not. The webhooks go to receivers inside this command;
at its end one endpoint is left for payhook listen and the others are disabled, so that nothing goes on failing.

payhook accounts delete removes such an account again, with everything in it, where there is another one.

Examples:
  $ payhook demo
  $ payhook demo --seed 7 --account "Northwind test"
`;

/** `payhook demo`. */
export function addDemo(program: Command, cli: Cli): void {
  program
    .command('demo')
    .description('fill an account with something to look at: commissions, payouts, webhooks')
    .option('--seed <number>', 'other numbers; the same seed gives the same numbers', '1')
    .option('--json', 'print what was made: {object, account, seed, affiliates, commissions, payouts, …}')
    .addHelpText('after', HELP)
    .action((options: { seed: string }) =>
      cli.run(async () => (await import('./run.ts')).demo(cli, options)),
    );
}
