import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { UsageError } from '../errors.ts';
import { withPlatform } from '../session.ts';
import { table } from '../table.ts';

const LONGEST_NAME = 200;

/** `payhook accounts create|list`: across tenants, so only at the machine. */
export function addAccounts(program: Command, cli: Cli): void {
  const accounts = program.command('accounts').description('accounts (merchants) on this installation');
  accounts
    .command('create')
    .description('make an account; it has nothing in common with the others')
    .requiredOption('--name <name>', 'its name')
    .option('--json', 'print the record (Account)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook accounts create --name "Northwind"\n  $ payhook keys create --account Northwind --name shop\n',
    )
    .action(({ name }: { name: string }) => cli.run(() => create(cli, name)));
  accounts
    .command('list')
    .description('list the accounts, the oldest first')
    .option('--json', 'print {data}; each {id, object, name}')
    .action(() => cli.run(() => list(cli)));
}

async function create({ terminal }: Cli, given: string): Promise<undefined> {
  const name = given.trim();
  if (name === '' || name.length > LONGEST_NAME) {
    throw new UsageError(`--name must have 1 to ${LONGEST_NAME} characters`);
  }
  const { json } = await withPlatform(terminal, ({ accounts }) => accounts.create(name));
  const account = JSON.parse(json) as { id: string };
  terminal.result(
    account,
    () => `${account.id}\nMake its first key: payhook keys create --account ${account.id} --name shop\n`,
  );
}

async function list({ terminal }: Cli): Promise<undefined> {
  const accounts = await withPlatform(terminal, (platform) => platform.accounts.list());
  const data = accounts.map(({ id, name }) => ({ id, object: 'account', name }));
  terminal.result({ data }, () =>
    table(
      [{ heading: 'ID' }, { heading: 'NAME' }],
      data.map(({ id, name }) => [id, name]),
      terminal.paint.faint,
    ),
  );
}
