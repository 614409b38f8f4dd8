import type { Command } from 'commander';
import { nameProblem } from '../../kernel/names.ts';
import { type Cli, confirmName } from '../command/cli.ts';
import {
  type Account,
  accountNamed,
  currentAccount,
  keepCurrent,
  useAccount,
} from '../command/current-account.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readCell } from '../command/numbers.ts';
import { withPlatform } from '../command/session.ts';
import { printable, table } from '../terminal/table.ts';
import { addExport } from './export-account.ts';

const LONGEST_NAME = 200;

const USE_HELP = `
The choice is stored in the data folder. --account and PAYHOOK_ACCOUNT take precedence over it.

Examples:
  $ payhook accounts use Northwind
  $ payhook payouts list
  $ PAYHOOK_ACCOUNT=Demo payhook payouts list
`;

const DELETE_HELP = `
Real accounts cannot be deleted. Close them by revoking keys, removing users and disabling webhook endpoints.

Example:
  $ payhook accounts delete Demo --yes --name Demo
`;

interface Confirmation {
  readonly yes?: boolean;
  readonly name?: string;
}

/** `payhook accounts create|list|use|export|delete`: across tenants, so only on this machine. */
export function addAccounts(accounts: Command, cli: Cli): void {
  accounts
    .command('create')
    .description('create an account; it shares nothing with the others')
    .requiredOption('--name <name>', 'the name')
    .option('--cell <number>', 'the cell that holds it; default: the open one with the fewest accounts')
    .option('--json', 'print the record (Account)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook accounts create --name "Northwind"\n  $ payhook keys create --account Northwind --name shop\n',
    )
    .action((options: { name: string; cell?: string }) => cli.run(() => create(cli, options)));
  accounts
    .command('list')
    .description('list accounts, oldest first, and the current one')
    .option('--json', 'print {data}; each {id, object, name, is_current, is_demo, cell}')
    .action(() => cli.run(() => list(cli)));
  accounts
    .command('use')
    .description('choose the account of commands without --account')
    .argument('<account>', 'the id (acc_…) or the name of the account')
    .option('--json', 'print {id, object, name, is_current}')
    .addHelpText('after', USE_HELP)
    .action((account: string) => cli.run(() => use(cli, account)));
  addExport(accounts, cli);
  accounts
    .command('delete')
    .description('delete a demo account, with everything in it')
    .argument('<account>', 'the id (acc_…) or the name of the account')
    .option('-y, --yes', 'with --name, do not ask; required without a terminal')
    .option('--name <name>', 'the name of the account, instead of typing it when asked')
    .option('--json', 'print {id, object, deleted, current_account}')
    .addHelpText('after', DELETE_HELP)
    .action((account: string, options: Confirmation) => cli.run(() => remove(cli, account, options)));
}

async function create({ terminal }: Cli, given: { name: string; cell?: string }): Promise<undefined> {
  const name = given.name.trim();
  const cell = given.cell === undefined ? undefined : readCell(given.cell);
  if (name.length > LONGEST_NAME) throw new UsageError(`--name must have 1 to ${LONGEST_NAME} characters`);
  const problem = nameProblem(name);
  if (problem !== null) throw new UsageError(`--name ${problem}`);
  const { json } = await withPlatform(terminal, async ({ accounts, config }) => {
    const before = await accounts.list();
    const made = await accounts.create(name, cell);
    keepCurrent(config.dataDir, before);
    return made;
  });
  const account = JSON.parse(json) as { id: string };
  terminal.result(
    account,
    () => `${account.id}\nCreate its first key: payhook keys create --account ${account.id} --name shop\n`,
  );
}

async function list({ terminal }: Cli): Promise<undefined> {
  const { data, hasCells } = await withPlatform(terminal, async ({ accounts, cells, config }) => {
    const all = await accounts.list();
    const current = currentAccount(config.dataDir);
    const listed = all.map(({ id, name, isDemo, cell }) => ({
      id,
      object: 'account',
      name,
      is_current: current === null ? all.length === 1 : id === current,
      is_demo: isDemo,
      cell,
    }));
    for (const { number, db, problem } of cells.list()) {
      if (db === null) terminal.note(`The accounts of cell ${number} are missing: it ${problem}`);
    }
    return { data: listed, hasCells: cells.list().length > 1 };
  });
  terminal.result({ data }, () =>
    table(
      [
        { heading: 'ID' },
        { heading: 'NAME' },
        { heading: 'CURRENT' },
        { heading: 'DEMO' },
        ...(hasCells ? [{ heading: 'CELL', right: true }] : []),
      ],
      data.map(({ id, name, is_current, is_demo, cell }) => [
        id,
        name,
        is_current ? 'yes' : '',
        is_demo ? 'yes' : '',
        ...(hasCells ? [String(cell)] : []),
      ]),
      terminal.paint.faint,
    ),
  );
}

async function use({ terminal }: Cli, wanted: string): Promise<undefined> {
  const { id, name } = await withPlatform(terminal, async ({ accounts, config }) => {
    const account = accountNamed(await accounts.list(), wanted);
    useAccount(config.dataDir, account);
    return account;
  });
  terminal.result(
    { id, object: 'account', name, is_current: true },
    () => `${printable(name)} (${id}) is now the current account.\n`,
  );
}

async function remove({ terminal }: Cli, wanted: string, { yes, name }: Confirmation): Promise<undefined> {
  const { gone, current } = await withPlatform(terminal, async ({ accounts, config }) => {
    const all = await accounts.list();
    const account = accountNamed(all, wanted);
    const next = currentAfter(all, account, currentAccount(config.dataDir));
    await confirmName(terminal, {
      question: `Delete ${printable(account.name)} (${account.id}) with everything in it? This cannot be undone.`,
      name: account.name,
      ...(yes === undefined ? {} : { yes }),
      ...(name === undefined ? {} : { repeated: name }),
    });
    const refusal = await accounts.remove(account.uuid);
    if (refusal !== null) {
      throw new CommandError(`${printable(account.name)} was not deleted: ${refusal}`, { code: 'conflict' });
    }
    if (next !== null) useAccount(config.dataDir, next);
    return { gone: account, current: next };
  });
  terminal.result(
    { id: gone.id, object: 'account', deleted: true, current_account: current?.id ?? null },
    () =>
      `${printable(gone.name)} (${gone.id}) was deleted.\n${
        current === null ? '' : `${printable(current.name)} (${current.id}) is now the current account.\n`
      }`,
  );
}

/**
 * The account that becomes current after a deletion: the only one left, if the deleted one was current.
 */
function currentAfter(all: readonly Account[], removed: Account, current: string | null): Account | null {
  if (current !== removed.id) return null;
  const [next, ...others] = all.filter(({ id }) => id !== removed.id);
  if (others.length > 0) {
    throw new CommandError(
      `${printable(removed.name)} is the current account: choose another first, with payhook accounts use`,
      { code: 'conflict' },
    );
  }
  return next ?? null;
}
