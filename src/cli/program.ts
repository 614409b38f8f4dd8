import { readFileSync } from 'node:fs';
import { Command, type Option } from 'commander';
import { addSettings } from '../kernel/config.ts';
import type { Cli } from './cli.ts';
import { addAccount } from './commands/account.ts';
import { addAccounts } from './commands/accounts.ts';
import { addAffiliates } from './commands/affiliates.ts';
import { addAuditLog } from './commands/audit-log.ts';
import { addCommissions } from './commands/commissions.ts';
import { addCompletion } from './commands/completion.ts';
import { addDemo } from './commands/demo.ts';
import { addEvents } from './commands/events.ts';
import { addKeys } from './commands/keys.ts';
import { addListen } from './commands/listen.ts';
import { addOAuthApplications } from './commands/oauth-applications.ts';
import { addOAuthGrants } from './commands/oauth-grants.ts';
import { addPayouts } from './commands/payouts.ts';
import { addPrograms } from './commands/programs.ts';
import { addRefunds } from './commands/refunds.ts';
import { addReports } from './commands/reports.ts';
import { addSecretKey } from './commands/secret-key.ts';
import type { Exit } from './commands/serve.ts';
import { addSessions } from './commands/sessions.ts';
import { addSystem } from './commands/system.ts';
import { addUsers } from './commands/users.ts';
import { addWebhooks } from './commands/webhooks.ts';
import type { Terminal } from './terminal.ts';

const HELP = `
The commands work on the data of this machine, whether or not a server runs on it: in the folder that --data-dir or DATA_DIR
names, else in that of the server that was started from here, else in ./data. Only serve, init and demo make one. With
PAYHOOK_URL and PAYHOOK_API_KEY commands talk to that server instead.

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
    .option('--data-dir <folder>', 'the data folder, instead of DATA_DIR')
    .option('--env-file <file>', 'settings, a line NAME=value each; the environment counts more')
    .hook('preAction', () => addSettings(program.opts<{ dataDir?: string; envFile?: string }>()))
    .helpCommand(true)
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptions })
    .configureOutput({ outputError: () => undefined }) // main tells errors
    .exitOverride()
    .addHelpText('after', HELP);
  addSystem(program, cli, exit);
  addSecretKey(program, cli);
  addAccounts(program, cli);
  addKeys(program, cli);
  addUsers(program, cli);
  addSessions(program, cli);
  addOAuthApplications(program, cli);
  addOAuthGrants(program, cli);
  addAuditLog(program, cli);
  addAccount(program, cli);
  addAffiliates(program, cli);
  addPrograms(program, cli);
  addCommissions(program, cli);
  addRefunds(program, cli);
  addPayouts(program, cli);
  addReports(program, cli);
  addEvents(program, cli);
  addWebhooks(program, cli);
  addListen(program, cli);
  addDemo(program, cli);
  addCompletion(program, cli);
  return program;
}

/** The options of the program that a command does not tell of itself: what --json prints is said there. */
function globalOptions(command: Command): Option[] {
  const own = new Set(command.options.map(({ long }) => long));
  const ofProgram = command.parent === null ? [] : rootOf(command).options;
  return ofProgram.filter(({ long }) => !own.has(long) && long !== '--version');
}

/** The program a command belongs to. */
function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
