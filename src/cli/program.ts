import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import type { Cli } from './cli.ts';
import { addAccounts } from './commands/accounts.ts';
import { addEvents } from './commands/events.ts';
import { addImports } from './commands/imports.ts';
import { addKeys } from './commands/keys.ts';
import { addListen } from './commands/listen.ts';
import { addPayouts } from './commands/payouts.ts';
import type { Exit } from './commands/serve.ts';
import { addSystem } from './commands/system.ts';
import { addUsers } from './commands/users.ts';
import { addWebhooks } from './commands/webhooks.ts';
import type { Terminal } from './terminal.ts';

const HELP = `
The commands work on the data of this machine, whether or not a server runs on it; with PAYHOOK_URL and
PAYHOOK_API_KEY they talk to that server instead.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings.

Examples:
  $ payhook serve
  $ payhook affiliates import affiliates.csv
  $ payhook commissions import commissions.csv
  $ payhook payouts create
  $ payhook payouts export current
  $ payhook payouts complete current --all-paid
  $ payhook listen
  $ payhook webhooks create https://shop.example.com/payhook
  $ payhook events publish order.created --data '{"order_id":"order-1042"}'
  $ payhook webhooks list https://shop.example.com/payhook --status failed
`;

/** The table of commands. `finish` is told the exit code of the one that ran. */
export function buildProgram(terminal: Terminal, exit: Exit, finish: (code: number) => void): Command {
  const program = new Command('payhook');
  const cli: Cli = {
    terminal,
    account: () => program.opts<{ account?: string }>().account,
    run: async (work) => finish((await work()) ?? 0),
  };
  program
    .description(
      'Self-hosted affiliate payouts and webhooks: who is paid how much, never twice; and every event delivered.',
    )
    .version(version(), '-V, --version', 'print the version')
    .option('--json', 'print JSON, one document or one a line; errors are JSON on standard error')
    .option('--account <account>', 'the account, by id (acc_…) or name; needed when there are several')
    .helpCommand(true)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => undefined }) // main tells errors
    .exitOverride()
    .addHelpText('after', HELP);
  addSystem(program, cli, exit);
  addAccounts(program, cli);
  addKeys(program, cli);
  addUsers(program, cli);
  addImports(program, cli);
  addPayouts(program, cli);
  addEvents(program, cli);
  addWebhooks(program, cli);
  addListen(program, cli);
  return program;
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
