import { Command, type Option } from 'commander';
import { programVersion } from '../kernel/version.ts';
import type { Cli } from './command/cli.ts';
import { UsageError } from './command/errors.ts';
import { isGiven, refuseMeaningless, takes } from './command/option-rules.ts';
import { addCommands } from './commands.ts';
import type { Exit } from './system/running.ts';
import type { Terminal } from './terminal/terminal.ts';

const HELP = `
Commands work on the data of this machine, whether or not a server is running. The data folder is --data-dir or DATA_DIR, else the
folder of the server that you started from here, else ./data. Only serve, init, restore and demo create it. With PAYHOOK_URL
and PAYHOOK_API_KEY, commands talk to that server instead.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings.

Examples:
  $ payhook serve
  $ payhook affiliates import affiliates.csv
  $ payhook commissions import commissions.csv
  $ payhook payouts create
  $ payhook payouts export current --format paypal
  $ payhook payouts complete current --all-paid
  $ payhook listen
  $ payhook webhooks create https://shop.example.com/payhook
  $ payhook events publish order.created --data '{"order_id":"order-1042"}'
  $ payhook webhooks list https://shop.example.com/payhook --status failed
`;

/** The parts of a program. */
export interface ProgramOptions {
  readonly terminal: Terminal;
  readonly exit: Exit;
  /** Called with the exit code of the command that ran. */
  readonly finish: (code: number) => void;
  /** The command line to parse. Only the commands it needs are loaded; without it, all of them. */
  readonly args?: readonly string[];
}

/**
 * The program with its commands. Throws like `parse` for a mistake before the command, and for --version.
 */
export async function buildProgram({ terminal, exit, finish, args }: ProgramOptions): Promise<Command> {
  const program = emptyProgram();
  const cli: Cli = {
    terminal,
    account: () => program.opts<{ account?: string }>().account,
    run: async (work) => finish((await work()) ?? 0),
  };
  const words = args && program.parseOptions([...args]).operands;
  await addCommands(program, { cli, exit, words });
  refuseMeaningless(program);
  program.hook('preAction', (_, command) => readSettings(program, command));
  return program;
}

/** Adds the options to the settings. Throws ConfigError, and UsageError for a data folder that would have no effect. */
async function readSettings(program: Command, command: Command): Promise<void> {
  const { addSettings, readRemote } = await import('../kernel/config.ts');
  addSettings(program.opts<{ dataDir?: string; envFile?: string }>());
  // commands that take an account work on any server; the others always work on this machine
  if (!isGiven(command, '--data-dir') || !takes(command, '--account') || readRemote() === null) return;
  throw new UsageError(
    '--data-dir has no effect with PAYHOOK_URL: the command works on the data of that server',
  );
}

/** The program without its commands. */
function emptyProgram(): Command {
  const program = new Command('payhook');
  return program
    .description(
      'Self-hosted affiliate payouts and webhooks: nobody is paid twice, and every event is delivered.',
    )
    .version(programVersion(), '-V, --version', 'print the version')
    .option('--json', 'print JSON, one document or one per line; errors are JSON on standard error')
    .option('--account <account>', 'the account, by id (acc_…) or name; needed when there are several')
    .option('--data-dir <folder>', 'the data folder, instead of DATA_DIR')
    .option(
      '--env-file <file>',
      'a file of settings, one NAME=value per line; the environment takes precedence',
    )
    .helpCommand(true)
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptions })
    .configureOutput({ outputError: () => undefined }) // main shows errors
    .exitOverride()
    .addHelpText('after', HELP);
}

/** The options of the program that a command does not describe itself, as most do with --json. */
function globalOptions(command: Command): Option[] {
  const own = new Set(command.options.map(({ long }) => long));
  const ofProgram = command.parent === null ? [] : rootOf(command).options;
  return ofProgram.filter(({ long }) => !own.has(long) && long !== '--version' && takes(command, long ?? ''));
}

/** The program a command belongs to. */
function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
