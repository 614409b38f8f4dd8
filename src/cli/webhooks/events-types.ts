import type { Command } from 'commander';
import type { EventType } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { table } from '../terminal/table.ts';

const HELP = `
Lists the types of Payhook; your own types can have any other name. With --json, each has its JSON schema and an example.

Examples:
  $ payhook events types
  $ payhook events types --json | jq '.data[] | select(.type == "payout.paid") | .example'
`;

/** `payhook events types`. */
export function addTypes(events: Command, cli: Cli): void {
  events
    .command('types')
    .description('list the event types that Payhook publishes, and when')
    .option('--json', 'print all of them as {data} (a list of EventType)')
    .addHelpText('after', HELP)
    .action(() => cli.run(() => types(cli)));
}

async function types({ terminal, account }: Cli): Promise<undefined> {
  const data: EventType[] = [];
  await withClient({ terminal, account }, async (client) => {
    for await (const type of client.events.types()) data.push(type);
  });
  terminal.result({ data }, () =>
    table(
      [{ heading: 'TYPE' }, { heading: 'WHEN' }],
      data.map(({ type, description }) => [type, description]),
      terminal.paint.faint,
    ),
  );
}
