import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readInteger } from '../command/numbers.ts';
import { secretReader } from '../command/secret-option.ts';

const MOST_ROWS = 1000;
const NAME = /^[a-z_][a-z0-9_]{0,49}(\.[a-z_][a-z0-9_]{0,49})?$/;

const HELP = `
Your application inserts a row in the transaction that changes its data; this command publishes the rows as events and deletes them. So an
event is published exactly if that transaction was committed. Start one or several; docs/outbox.md describes the table and the guarantees.
A row that Payhook refuses stays in the table, with the reason in refusal; the others go on. The URL of your database can be given as
@file, or as - to read it from standard input, which keeps its password out of the list of processes.

Examples:
  $ payhook relay --table outbox --sql | psql "$SHOP_DATABASE_URL"   # make the table
  $ payhook relay --database "$SHOP_DATABASE_URL" --table outbox
  $ payhook relay --database @/etc/payhook/shop-database --table shop.outbox --once
`;

export interface RelayOptions {
  readonly database?: string;
  readonly table: string;
  readonly rows: string;
  readonly once?: boolean;
  readonly sql?: boolean;
}

/** `payhook relay`. */
export function addRelay(program: Command, cli: Cli): void {
  program
    .command('relay')
    .description('publish the rows of a table of your own database as events, until it is stopped')
    .option('--database <url>', 'your PostgreSQL: its URL, @file or -')
    .requiredOption('--table <name>', 'the table, in lower case; it may have a schema')
    .option('--rows <number>', 'how many rows to publish at once', '500')
    .option('--once', 'stop when no row waits; exit code 1 if Payhook refused any')
    .option('--sql', 'print the SQL that makes the table, and do nothing else')
    .option('--json', 'print {published, refused} of each batch, one per line')
    .addHelpText('after', HELP)
    .action((options: RelayOptions) => cli.run(() => relay(cli, options)));
}

async function relay(
  cli: Cli,
  { database, table, rows, once, sql }: RelayOptions,
): Promise<number | undefined> {
  if (!NAME.test(table)) {
    throw new UsageError('--table must be the name of a table in lower case, such as outbox or shop.outbox');
  }
  const most = readInteger('--rows', rows, { from: 1, to: MOST_ROWS });
  if (sql) {
    const { outboxSql } = await import('./outbox.ts');
    const text = outboxSql(table);
    cli.terminal.result({ sql: text }, () => text);
    return undefined;
  }
  if (database === undefined) throw new UsageError('--database must be the URL of your PostgreSQL');
  const url = await secretReader().one('--database', database);
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new UsageError('--database must begin with postgres:// or postgresql://');
  const { relayRows } = await import('./relay.ts');
  return relayRows(cli, { url, table, most, once: once === true });
}
