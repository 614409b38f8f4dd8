import type { Command } from 'commander';
import { type Client, everyItem } from '../../client/client.ts';
import type { ApiKey, NewApiKey } from '../../client/types.ts';
import type { Cli } from '../cli.ts';
import { CommandError } from '../errors.ts';
import { withClient } from '../session.ts';
import { printable, table } from '../table.ts';
import type { Terminal } from '../terminal.ts';
import { shortTime } from '../time.ts';

/** `payhook keys create|list|revoke`. */
export function addKeys(program: Command, cli: Cli): void {
  const keys = program.command('keys').description('API keys of an account');
  keys
    .command('create')
    .description('make an API key; the secret is shown once')
    .requiredOption('--name <name>', 'what the key is for')
    .addHelpText(
      'after',
      `
Any key grants full access to the account. Only its hash is stored: keep what is printed.

Examples:
  $ payhook keys create --name shop
  $ payhook keys create --name ci --json | jq -r .key
`,
    )
    .action(({ name }: { name: string }) => cli.run(() => create(cli, name)));
  keys
    .command('list')
    .description('list the API keys, without their secrets')
    .action(() => cli.run(() => list(cli)));
  keys
    .command('revoke')
    .description('revoke an API key: it stops working at once')
    .argument('<key>', 'the id (key_…) or the name of the key')
    .addHelpText('after', '\nExample:\n  $ payhook keys revoke ci\n')
    .action((key: string) => cli.run(() => revoke(cli, key)));
}

async function create({ terminal, account }: Cli, name: string): Promise<undefined> {
  const made = await withClient({ terminal, account: account() }, (client) => client.createKey(name));
  if (made.key === null) {
    throw new CommandError(
      `the answer with the secret was lost on the way: revoke ${made.id} and make another key`,
    );
  }
  terminal.result(made, () => describeNew(made, terminal));
}

function describeNew(made: NewApiKey, { paint }: Terminal): string {
  return `${paint.strong(made.key ?? '')}\n${printable(made.name)} (${made.id}). The key is shown only this once.\n`;
}

async function list({ terminal, account }: Cli): Promise<undefined> {
  const keys: ApiKey[] = [];
  await withClient({ terminal, account: account() }, async (client) => {
    for await (const key of everyKey(client)) keys.push(key);
  });
  terminal.result({ data: keys }, () =>
    table(
      ['ID', 'NAME', 'KEY', 'CREATED', 'LAST USED', 'REVOKED'].map((heading) => ({ heading })),
      keys.map((key) => [
        key.id,
        key.name,
        key.hint,
        shortTime(key.created_at),
        key.last_used_at === null ? 'never' : shortTime(key.last_used_at),
        key.revoked_at === null ? '' : shortTime(key.revoked_at),
      ]),
      terminal.paint.faint,
    ),
  );
}

const everyKey = (client: Client) => everyItem((query) => client.listKeys({ ...query, sort: 'id' }));

async function revoke({ terminal, account }: Cli, wanted: string): Promise<undefined> {
  const id = await withClient({ terminal, account: account() }, async (client) => {
    const found = wanted.startsWith('key_') ? wanted : (await liveKeyNamed(client, wanted)).id;
    await client.revokeKey(found);
    return found;
  });
  terminal.result({ id, object: 'api_key', revoked: true }, () => `${id} is revoked.\n`);
}

async function liveKeyNamed(client: Client, name: string): Promise<ApiKey> {
  for await (const key of everyKey(client)) {
    if (key.name === name && key.revoked_at === null) return key;
  }
  throw new CommandError(`there is no live API key named ${name}`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}
