import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { takesNo } from '../command/option-rules.ts';
import { addBackup } from './backup.ts';
import type { Exit } from './serve.ts';

const SERVE_HELP = `
Settings come from the environment: payhook config lists them. Without DATABASE_URL it starts the PostgreSQL that came
with it, on the data folder, which it makes at the first start. SIGINT and SIGTERM answer what is under way and stop all, PostgreSQL too; a second one
stops at once. The log goes to standard error, a JSON object a line.

Examples:
  $ payhook serve
  $ PORT=9000 DATA_DIR=/var/lib/payhook payhook serve
`;

const WORKER_HELP = `
payhook serve delivers too, unless DELIVERY_WORKER=off. Any number of workers share the work of one database. SIGINT and
SIGTERM wait for the attempts under way; a worker that dies loses nothing: what it held is sent again by another. On the
embedded PostgreSQL a worker runs beside the server of the data folder, and waits while there is none.

Examples:
  $ DATABASE_URL=postgres://… SECRET_KEY_FILE=/run/secrets/payhook payhook worker
`;

const INIT_HELP = `
The first payhook serve does it too. With DATABASE_URL it sets up that database. What is there already is left alone, but for
migrations. The first key is shown on a terminal only; it is in a file of the data folder.

Example:
  $ payhook init --data-dir /var/lib/payhook/data
`;

const SYSTEM_HELP = `
With PAYHOOK_URL the key must be one of the account that was made first.

Examples:
  $ payhook system
  $ payhook system --json | jq .backlog.due_count
`;

const STATUS_HELP = `
What is published, delivered and failing now, what waits, and whether workers and chores do their part. Deliveries and endpoints
are those of the account; the rest is of the whole installation, and is told to the account that was made first. On a terminal it
is shown anew every two seconds until Ctrl-C; elsewhere it is printed once. A rate is the average of the last minute.

Examples:
  $ payhook status
  $ payhook status --once --json | jq .rates
`;

/** `payhook serve|worker|init|migrate|doctor|config|system|status`. */
export function addSystem(program: Command, cli: Cli, exit: Exit): void {
  // all accounts of the machine alike
  const machine = (name: string) => takesNo(program.command(name), '--account');
  machine('serve')
    .description('run the server until it is stopped')
    .option('--json', 'print {url, data_dir, first_api_key_file} once it runs')
    .addHelpText('after', SERVE_HELP)
    .action(() => cli.run(async () => (await import('./serve.ts')).serveForever(exit, cli.terminal.json)));
  machine('worker')
    .description('deliver webhooks until it is stopped, without the HTTP server')
    .option('--json', 'print {delivering, database} each time it starts')
    .addHelpText('after', WORKER_HELP)
    .action(() => cli.run(async () => (await import('./serve.ts')).workForever(exit, cli.terminal)));
  machine('init')
    .description('create the data folder, its database and the first API key if they are missing')
    .option('--json', 'print {data_dir, created, first_api_key_file}')
    .addHelpText('after', INIT_HELP)
    .action(() => cli.run(async () => (await import('./machine.ts')).init(cli)));
  machine('migrate')
    .description('update the database to the schema of this program; serve does this too')
    .option('--json', 'print {version, applied}')
    .addHelpText('after', '\nSafe to run again, and beside other servers: only one migrates at a time.\n')
    .action(() => cli.run(async () => (await import('./machine.ts')).migrate(cli)));
  addBackup(machine, cli);
  machine('doctor')
    .description('check settings, data folder and database; changes nothing')
    .option('--json', 'print {ok, checks}; each check {name, status, detail}')
    .addHelpText('after', '\nExit code 1 when something is wrong.\n')
    .action(() => cli.run(async () => (await import('./doctor.ts')).doctor(cli)));
  machine('config')
    .description('show every setting with its value, origin and meaning')
    .option('--json', 'print a list of {name, value, source, meaning}')
    .addHelpText(
      'after',
      '\nEvery setting may also be given as NAME_FILE, a file that holds it. Secrets are never shown.\n',
    )
    .action(() => cli.run(async () => (await import('./machine.ts')).showConfig(cli)));
  program
    .command('system')
    .description('show the state of the installation: versions, disk, what waits, workers, chores')
    .option('--json', 'print the record (System)')
    .addHelpText('after', SYSTEM_HELP)
    .action(() => cli.run(async () => (await import('./state.ts')).showSystem(cli)));
  program
    .command('status')
    .description('watch deliveries, what waits, failing endpoints, workers and chores')
    .option('--once', 'print once, on a terminal too')
    .option('--json', 'print once {at, account, rates, deliveries, failing_endpoints, system}')
    .addHelpText('after', STATUS_HELP)
    .action((options: { once?: boolean }) =>
      cli.run(async () => (await import('./status.ts')).showStatus(cli, options)),
    );
}
