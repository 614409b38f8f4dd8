import { type Command, Option } from 'commander';
import type { ApiKey, Client, ListApiKeysQuery, NewApiKey } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

/** `payhook keys create|list|revoke`. */
export function addKeys(keys: Command, cli: Cli): void {
  keys
    .command('create')
    .description('create an API key; the secret is shown once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--json', 'print the record with its secret (NewApiKey)')
    .addHelpText(
      'after',
      `
Every key grants full access to the account. Only its hash is stored, so save the printed key.

Examples:
  $ payhook keys create --name shop
  $ payhook keys create --name ci --json | jq -r .key
`,
    )
    .action(({ name }: { name: string }) => cli.run(() => create(cli, name)));
  withPages(
    keys
      .command('list')
      .description('list API keys without their secrets, newest first')
      .addOption(new Option('--status <status>', 'only this status').choices(['active', 'revoked'])),
    { nouns: 'keys', sort: 'id, created_at, name, last_used_at' },
  )
    .option('--json', 'print the page (a list of ApiKey)')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListApiKeysQuery>(options))));
  keys
    .command('revoke')
    .description('revoke an API key: it stops working at once')
    .argument('<key>', 'the id (key_…) or the name of the key')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, revoked}')
    .addHelpText('after', '\nExample:\n  $ payhook keys revoke ci\n')
    .action((key: string, { yes }: { yes?: boolean }) => cli.run(() => revoke(cli, key, yes)));
}

async function create({ terminal, account }: Cli, name: string): Promise<undefined> {
  const made = await withClient({ terminal, account }, (client) => client.apiKeys.create({ name }));
  if (made.key === null) {
    throw new CommandError(`the response with the secret was lost: revoke ${made.id} and create another key`);
  }
  terminal.result(made, () => describeNew(made, terminal));
}

function describeNew(made: NewApiKey, { paint }: Terminal): string {
  return `${paint.strong(made.key ?? '')}\n${printable(made.name)} (${made.id}). The key is shown only once.\n`;
}

async function list({ terminal, account }: Cli, query: ListApiKeysQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.apiKeys.list(query));
  terminal.result(page, () => describePage(page, 'API key', (data) => keyTable(data, terminal), terminal));
}

function keyTable(keys: readonly ApiKey[], { paint }: Terminal): string {
  return table(
    ['ID', 'NAME', 'KEY', 'CREATED (UTC)', 'LAST USED', 'REVOKED'].map((heading) => ({ heading })),
    keys.map((key) => [
      key.id,
      key.name,
      key.hint,
      shortTime(key.created_at),
      key.last_used_at === null ? 'never' : shortTime(key.last_used_at),
      key.revoked_at === null ? '' : shortTime(key.revoked_at),
    ]),
    paint.faint,
  );
}

async function revoke({ terminal, account }: Cli, wanted: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const id = await withClient({ terminal, account }, async (client) => {
    const found = wanted.startsWith('key_') ? wanted : (await liveKeyNamed(client, wanted)).id;
    await confirm(terminal, `Revoke the API key ${printable(wanted)}? It stops working at once.`, yes);
    await client.apiKeys.revoke(found);
    return found;
  });
  terminal.result({ id, object: 'api_key', revoked: true }, () => `Revoked ${id}.\n`);
}

async function liveKeyNamed(client: Client, name: string): Promise<ApiKey> {
  for await (const key of client.apiKeys.list()) {
    if (key.name === name && key.revoked_at === null) return key;
  }
  throw new CommandError(`there is no active API key named ${name}: payhook keys list shows them`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
