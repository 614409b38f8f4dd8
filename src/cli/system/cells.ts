import type { Command } from 'commander';
import type { CellUrls } from '../../cells/directory.ts';
import type { ListedCell } from '../../cells/manage.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readCell } from '../command/numbers.ts';
import { withPlatform } from '../command/session.ts';
import { count } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';

const MOST = 256;

/** In the database of cell 0. */
const AT_CELL_0: CellUrls = { url: null, listenUrl: null };

const ADD_HELP = `
A cell is a schema with the tables of Payhook, on the PostgreSQL of the URL. It holds some of the accounts. Without a URL, or with the
URL of DATABASE_URL, it is in the database of cell 0. A pooler in front of another PostgreSQL needs --listen-url too, because a pooler
shares its sessions and LISTEN needs one of its own. With --count, the names of the schemas are the given text and the number of the
cell. Running servers and workers use new cells within seconds. Where Citus has nodes, it places the cell on one of them. There the
command creates a login for each cell, named like its schema, if the login of the URL may do that; otherwise an administrator creates
it, and the URL is that of the login, without --schema. See docs/scaling.md.

Examples:
  $ payhook cells add "$DATABASE_URL" --schema cell_ --count 8
  $ payhook cells add postgres://payhook:…@db-2.example.com/payhook --schema cell_ --count 8
  $ payhook accounts create --name Shop --cell 3
`;

const LISTEN_HELP = 'the URL of PostgreSQL itself, if the other one is that of a pooler such as PgBouncer';

interface UrlOptions {
  readonly listenUrl?: string;
}

interface AddOptions extends UrlOptions {
  readonly schema?: string;
  readonly count?: string;
}

/** `payhook cells list|add|drain|open|set-url|remove`: on this machine only. */
export function addCellCommands(cells: Command, cli: Cli): void {
  cells
    .command('list')
    .description('list the cells, and what each says of itself')
    .option(
      '--json',
      'print {data}; each {number, object, state, schema, host, accounts, schema_version, problem}',
    )
    .action(() => cli.run(() => list(cli)));
  cells
    .command('add')
    .description('add cells: schemas that hold accounts')
    .argument('[url]', 'the PostgreSQL that holds them; default: that of cell 0')
    .option('--schema <name>', 'the schema; with --count, the beginning of its name')
    .option('--count <number>', 'how many')
    .option('--listen-url <url>', LISTEN_HELP)
    .option('--json', 'print {data}; each {number, object}')
    .addHelpText('after', ADD_HELP)
    .action((url: string | undefined, options: AddOptions) => cli.run(() => add(cli, url, options)));
  const change = (name: string, about: string, run: (number: number) => Promise<undefined>) =>
    cells
      .command(name)
      .description(about)
      .argument('<cell>', 'its number')
      .option('--json', 'print {number, object, state}')
      .addHelpText('after', `\nExample:\n  $ payhook cells ${name} 3\n`)
      .action((text: string) => cli.run(() => run(readCell(text, '<cell>'))));
  change('drain', 'let a cell take no new accounts', (number) => setState(cli, number, 'draining'));
  change('open', 'let a draining cell take new accounts again', (number) => setState(cli, number, 'open'));
  cells
    .command('set-url')
    .description('change where a cell is, or its login; the tables must be there already')
    .argument('<cell>', 'its number')
    .argument('<url>', 'the PostgreSQL that holds it')
    .option('--listen-url <url>', LISTEN_HELP)
    .option('--json', 'print {number, object}')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook cells set-url 3 postgres://payhook:…@db-2.example.com/payhook\n',
    )
    .action((text: string, url: string, options: UrlOptions) =>
      cli.run(() => changeUrls(cli, readCell(text, '<cell>'), url, options)),
    );
  change('remove', 'remove a cell without accounts; its tables stay', (number) =>
    setState(cli, number, 'closed'),
  );
}

async function list({ terminal }: Cli): Promise<undefined> {
  const { listCells } = await import('../../cells/manage.ts');
  const found = await withPlatform(terminal, listCells);
  const data = found.map(({ version, ...cell }) => ({ object: 'cell', ...cell, schema_version: version }));
  terminal.result({ data }, () => cellTable(found, terminal.paint.faint));
}

/** The cells as a table. */
function cellTable(cells: readonly ListedCell[], faint: (text: string) => string): string {
  return table(
    [
      { heading: 'CELL', right: true },
      { heading: 'STATE' },
      { heading: 'SCHEMA' },
      { heading: 'SERVER' },
      { heading: 'ACCOUNTS', right: true },
      { heading: 'VERSION', right: true },
      { heading: 'PROBLEM' },
    ],
    cells.map(({ number, state, schema, host, accounts, version, problem }) => [
      String(number),
      state,
      schema === null ? 'of the login' : printable(schema),
      host === null ? 'of cell 0' : printable(host),
      accounts === null ? '' : String(accounts),
      version === null ? '' : String(version),
      problem === null ? '' : printable(problem),
    ]),
    faint,
  );
}

/** The URLs of a cell as they were typed. Throws a UsageError. */
async function readUrls(url: string | undefined, { listenUrl }: UrlOptions): Promise<CellUrls> {
  if (url === undefined && listenUrl !== undefined) throw new UsageError('--listen-url needs a URL');
  await requireUrl(url, 'the URL');
  await requireUrl(listenUrl, '--listen-url');
  return { url: url ?? null, listenUrl: listenUrl ?? null };
}

/** Throws a UsageError if a URL is given that does not name one PostgreSQL; `name` is that of its argument or option. */
export async function requireUrl(url: string | undefined, name: string): Promise<void> {
  const { addressesOf } = await import('../../kernel/database-url.ts');
  if (url === undefined || addressesOf(url)?.length === 1) return;
  throw new UsageError(`${name} must begin with postgres:// or postgresql:// and name one server`);
}

async function changeUrls(
  { terminal }: Cli,
  number: number,
  url: string,
  options: UrlOptions,
): Promise<undefined> {
  const urls = await readUrls(url, options);
  const { setUrls } = await import('../../cells/manage.ts');
  await withPlatform(terminal, (platform) => setUrls(platform, number, urls));
  terminal.result(
    { number, object: 'cell' },
    () => `The URL of cell ${number} was changed. Running servers and workers use it within seconds.\n`,
  );
}

async function add({ terminal }: Cli, url: string | undefined, options: AddOptions): Promise<undefined> {
  const { addCells } = await import('../../cells/manage.ts');
  const urls = await readUrls(url, options);
  const { schema = null } = options;
  if (schema !== null && !/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new UsageError(
      '--schema must have 1 to 51 lower-case letters, digits and underscores, and not begin with a digit',
    );
  }
  const many = options.count === undefined ? null : Number(options.count);
  if (many !== null && !(Number.isInteger(many) && many >= 1 && many <= MOST)) {
    throw new UsageError(`--count must be a number from 1 to ${MOST}`);
  }
  if (many !== null && schema === null)
    throw new UsageError('--count needs --schema: each cell needs a schema of its own');
  const numbers = await withPlatform(terminal, (platform) =>
    addCells(platform, {
      ...(url === platform.config.databaseUrl ? AT_CELL_0 : urls),
      schema,
      count: many,
    }),
  );
  terminal.result(
    { data: numbers.map((number) => ({ number, object: 'cell' })) },
    () =>
      `Added ${count(numbers.length, 'cell')}: ${numbers.join(', ')}.\nCreate an account in one: payhook accounts create --name Shop --cell ${numbers[0]}\n`,
  );
}

async function setState(
  { terminal }: Cli,
  number: number,
  state: 'open' | 'draining' | 'closed',
): Promise<undefined> {
  const { drainCell, removeCell } = await import('../../cells/manage.ts');
  await withPlatform(terminal, (platform) =>
    state === 'closed' ? removeCell(platform, number) : drainCell(platform, number, state),
  );
  const says = {
    open: 'takes new accounts',
    draining: 'takes no new accounts',
    closed: 'was removed; its tables are still there',
  }[state];
  terminal.result({ number, object: 'cell', state }, () => `Cell ${number} ${says}.\n`);
}
