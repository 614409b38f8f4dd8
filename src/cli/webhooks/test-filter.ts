import type { Command } from 'commander';
import type { FilterTest, TestWebhookEndpointFilterBody } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';
import { ENDPOINT_HELP } from '../finders/endpoint.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readFilter } from './fields.ts';
import { withEndpoint } from './recover.ts';

interface TestFilterOptions {
  readonly event?: string;
  readonly payload?: string;
  readonly filter?: string;
}

/** `payhook webhooks test-filter`. */
export function addTestFilter(webhooks: Command, cli: Cli): void {
  webhooks
    .command('test-filter')
    .description('try a filter on an event: whether it matches, and the value that each condition found')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--event <event>', 'a published event (evt_…)')
    .option('--payload <json>', 'or a payload: {"type":"order.created","data":{"amount":100}}')
    .option('--filter <json>', "the filter; default the endpoint's")
    .option('--json', 'print the result (FilterTest)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook webhooks test-filter https://shop.example.com/payhook --event evt_0199d2c4a7f07a3b9c5d1e2f30415263 \\\n' +
        `      --filter '{"data.amount":{"$gte":100}}'\n`,
    )
    .action((reference: string, options: TestFilterOptions) =>
      cli.run(() => tryFilter(cli, reference, options)),
    );
}

async function tryFilter(
  cli: Cli,
  reference: string,
  { event, payload, filter }: TestFilterOptions,
): Promise<undefined> {
  if ((event === undefined) === (payload === undefined))
    throw new UsageError('give either --event or --payload');
  type Payload = TestWebhookEndpointFilterBody['payload'];
  const given = payload === undefined ? null : (readJsonOption('--payload', payload).value as Payload);
  const tried = filter === undefined ? undefined : (readFilter(filter) ?? undefined);
  const result = await withEndpoint(cli, reference, async (client, id) =>
    client.webhookEndpoints.testFilter(id, {
      payload: given ?? ((await client.events.get(event ?? '')).payload as unknown as Payload),
      filter: tried,
    }),
  );
  cli.terminal.result(result, () => describe(result, cli.terminal));
}

function describe({ matches, conditions }: FilterTest, { paint }: Terminal): string {
  const verdict = matches ? paint.good('It matches.') : paint.bad('It does not match.');
  if (conditions.length === 0) return `${verdict} The endpoint has no filter.\n`;
  const lines = conditions.map(({ path, operator, value, matches: holds, found_type, found }) => [
    holds ? 'yes' : 'no',
    printable(path),
    operator,
    printable(JSON.stringify(value)),
    found_type === 'missing' || found_type === 'array' || found_type === 'object'
      ? found_type
      : printable(JSON.stringify(found)),
  ]);
  const headings = ['HOLDS', 'PATH', 'OPERATOR', 'VALUE', 'FOUND'].map((heading) => ({ heading }));
  return `${verdict}\n${table(headings, lines, paint.faint)}`;
}
