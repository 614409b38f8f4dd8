import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';

const HELP = `




Fills an account with affiliates, some thousand commissions, payouts in every state, and webhooks that work, fail and recover. It
uses the only account if it is empty, else a new one called Demo, so it never mixes with your own data and can be run repeatedly.
The same seed gives the same data relative to today. At the end it prints what to look at first.

It works on the data of this machine, whether or not a server is running. The webhooks go to receivers inside this command. At the
end, one endpoint stays enabled for payhook listen, and the others are disabled, so that nothing keeps failing.

payhook accounts delete removes such an account with everything in it, if there is another account.

Examples:
  $ payhook demo
  $ payhook demo --seed 7 --account "Northwind test"
`;

/** `payhook demo`. */
export function addDemo(program: Command, cli: Cli): void {
  program
    .command('demo')
    .description('fill an account with example data: commissions, payouts, webhooks')
    .option('--seed <number>', 'other numbers; the same seed gives the same numbers', '1')
    .option('--json', 'print what was created: {object, account, seed, affiliates, commissions, payouts, …}')
    .addHelpText('after', HELP)
    .action((options: { seed: string }) =>
      cli.run(async () => (await import('./run.ts')).demo(cli, options)),
    );
}
