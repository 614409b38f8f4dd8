import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { takesNo } from '../command/option-rules.ts';
import { addBackup } from './backup.ts';
import type { Exit } from './running.ts';

const SERVE_HELP = `
Settings come from the environment: payhook config lists them. Without DATABASE_URL, it starts the bundled PostgreSQL on the data
folder, which it creates at the first start. SIGINT and SIGTERM finish the requests in progress and stop everything, including
PostgreSQL; a second signal stops at once. With PROCESSES, several processes serve on the one port. The log goes to standard error, one JSON object per line.

Examples:
  $ payhook serve
  $ PORT=9000 DATA_DIR=/var/lib/payhook payhook serve
`;

const RELOAD_HELP = `
Starts each process of the server again, one after the other, while the others serve: no connection is refused. Settings in files
(NAME_FILE) are read again. Use it when a process holds too much memory, or after changing such a file. The server needs PROCESSES=2 or
more. SIGHUP does the same, unless the server runs at a terminal.

Examples:
  $ payhook reload
  $ payhook reload --data-dir /var/lib/payhook/data
`;

const WORKER_HELP = `
payhook serve also delivers, unless DELIVERY_WORKER=off. Any number of workers share the work of one database. SIGINT and SIGTERM
wait for the attempts in progress. If a worker dies, nothing is lost: another one repeats its attempts. With the embedded PostgreSQL,
a worker needs the server of the data folder, and waits for it.

Examples:
  $ DATABASE_URL=postgres://… SECRET_KEY_FILE=/run/secrets/payhook payhook worker
`;

const INIT_HELP = `
The first payhook serve does this too. With DATABASE_URL, it sets up that database. Existing data stays, apart from migrations. The
first key is written to a file in the data folder, and shown only on a terminal.

Example:
  $ payhook init --data-dir /var/lib/payhook/data
`;

const SYSTEM_HELP = `
With PAYHOOK_URL, the key must belong to the account that was created first.

Examples:
  $ payhook system
  $ payhook system --json | jq .backlog.due_count
`;

const STATUS_HELP = `
Shows publishing, deliveries, failing endpoints, the backlog, workers and chores. Deliveries and endpoints are those of the account. The
rest covers the whole installation and is shown only to the account that was created first. On a terminal it updates every two
seconds until Ctrl-C; otherwise it is printed once. Rates are averages of the last minute.

Examples:
  $ payhook status
  $ payhook status --once --json | jq .rates
`;

/** `payhook serve|reload|worker|init|migrate|doctor|config|system|status`. */
export function addSystem(program: Command, cli: Cli, exit: Exit): void {
  // these concern all accounts of the machine
  const machine = (name: string) => takesNo(program.command(name), '--account');
  machine('serve')
    .description('run the server until it is stopped')
    .option('--json', 'print {url, data_dir, first_api_key_file} once it is running')
    .addHelpText('after', SERVE_HELP)
    .action(() => cli.run(async () => (await import('./serve.ts')).serveForever(exit, cli.terminal.json)));
  machine('reload')
    .description('replace the processes of the running server, one by one')
    .option('--json', 'print {reloaded}')
    .addHelpText('after', RELOAD_HELP)
    .action(() => cli.run(async () => (await import('./reload.ts')).reload(cli)));
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
    .description(
      'update the database, and that of each cell, to the schema of this program; serve does this too',
    )
    .option('--json', 'print {version, applied, other_cells}; each {cell, version, applied, problem}')
    .addHelpText(
      'after',
      '\nSafe to repeat, and to run next to other servers: only one process migrates at a time.\n',
    )
    .action(() => cli.run(async () => (await import('./machine.ts')).migrate(cli)));
  addBackup(machine, cli);
  machine('doctor')
    .description('check settings, data folder and database; changes nothing')
    .option('--json', 'print {ok, checks}; each check {name, status, detail}')
    .addHelpText('after', '\nThe exit code is 1 if a check fails.\n')
    .action(() => cli.run(async () => (await import('./doctor.ts')).doctor(cli)));
  machine('config')
    .description('show every setting with its value, origin and meaning')
    .option('--json', 'print a list of {name, value, source, meaning}')
    .addHelpText(
      'after',
      '\nEvery setting can also be given as NAME_FILE, a file that contains it. Secrets are never shown.\n',
    )
    .action(() => cli.run(async () => (await import('./machine.ts')).showConfig(cli)));
  program
    .command('system')
    .description('show the state of the installation: versions, disk, backlog, workers, chores')
    .option('--json', 'print the record (System)')
    .addHelpText('after', SYSTEM_HELP)
    .action(() => cli.run(async () => (await import('./state.ts')).showSystem(cli)));
  program
    .command('status')
    .description('watch deliveries, the backlog, failing endpoints, workers and chores')
    .option('--once', 'print once, also on a terminal')
    .option('--json', 'print once {at, account, rates, deliveries, failing_endpoints, system}')
    .addHelpText('after', STATUS_HELP)
    .action((options: { once?: boolean }) =>
      cli.run(async () => (await import('./status.ts')).showStatus(cli, options)),
    );
}
