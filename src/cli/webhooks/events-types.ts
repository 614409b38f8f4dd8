import type { Command } from 'commander';
import type { EventType, PutEventTypeBody } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { readJsonOption } from '../command/json-option.ts';
import { withClient } from '../command/session.ts';
import { readText } from '../command/source-file.ts';
import { printable, table } from '../terminal/table.ts';

const HELP = `
Lists the types of Payhook and your own; you can also publish events of types that are not listed. With --json, each has its JSON schema
and an example.

Examples:
  $ payhook events types
  $ payhook events types order.created
  $ payhook events types payout.paid --json | jq .example
`;

const HELP_OF_PUT = `
The file is a JSON object with "description" and, if you like, "group", "deprecation", "data_schema" (a JSON schema of the data) and
"data_example". Test events have the example. payhook account change --event-validation checks published events against the schema.

Examples:
  $ payhook events put-type order.created order-created.json
  $ echo '{"description": "An order was placed."}' | payhook events put-type order.created -
`;

/** `payhook events types|put-type|delete-type`. */
export function addTypes(events: Command, cli: Cli): void {
  events
    .command('types')
    .description('list the event types of Payhook and your own, and when they are published, or show one')
    .argument('[type]', 'only this type, with its schema and example')
    .option('--json', 'print all of them as {data} (a list of EventType), or the record (EventType)')
    .addHelpText('after', HELP)
    .action((type: string | undefined) => cli.run(() => (type === undefined ? types(cli) : show(cli, type))));
  events
    .command('put-type')
    .description('create or replace an event type of your own')
    .argument('<type>', 'a dotted name, such as order.created')
    .argument('<file>', 'its fields as JSON; - is standard input')
    .option('--json', 'print the record (EventType)')
    .addHelpText('after', HELP_OF_PUT)
    .action((type: string, file: string) => cli.run(() => put(cli, type, file)));
  events
    .command('delete-type')
    .description('delete an event type of your own; its events can still be published')
    .argument('<type>', 'its name')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {type, object, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook events delete-type order.created --yes\n')
    .action((type: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, type, yes)));
}

async function types({ terminal, account }: Cli): Promise<undefined> {
  const data: EventType[] = [];
  await withClient({ terminal, account }, async (client) => {
    for await (const type of client.events.types()) data.push(type);
  });
  terminal.result({ data }, () =>
    table(
      [{ heading: 'TYPE' }, { heading: 'WHEN' }],
      data.map(({ type, description, deprecation }) => [
        type,
        `${printable(description)}${deprecation === null ? '' : ` Deprecated: ${printable(deprecation)}`}`,
      ]),
      terminal.paint.faint,
    ),
  );
}

async function show({ terminal, account }: Cli, type: string): Promise<undefined> {
  const found = await withClient({ terminal, account }, (client) => client.events.type(type));
  terminal.result(found, () => describe(found));
}

function describe({ type, description, deprecation, schema, example, last_violation }: EventType): string {
  return [
    `${type}: ${printable(description)}`,
    deprecation === null ? null : `Deprecated: ${printable(deprecation)}`,
    last_violation && `Last violation, ${last_violation.at}: ${printable(last_violation.message)}`,
    `\nSchema:\n${JSON.stringify(schema, null, 2)}`,
    example && `\nExample:\n${JSON.stringify(example, null, 2)}`,
    '',
  ]
    .filter((line) => line !== null)
    .join('\n');
}

async function put({ terminal, account }: Cli, type: string, file: string): Promise<undefined> {
  const { value } = readJsonOption(file === '-' ? 'standard input' : file, await readText(file));
  const stored = await withClient({ terminal, account }, (client) =>
    client.events.putType(type, value as PutEventTypeBody),
  );
  terminal.result(stored, () => `Stored ${stored.type}.\n`);
}

async function remove({ terminal, account }: Cli, type: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  await withClient({ terminal, account }, async (client) => {
    await confirm(terminal, `Delete ${type}?`, yes);
    await client.events.deleteType(type);
  });
  terminal.result({ type, object: 'event_type', deleted: true }, () => `Deleted ${type}.\n`);
}
