import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';
import { collect } from '../command/pairs.ts';
import { withClient } from '../command/session.ts';
import { readText } from '../command/source-file.ts';
import { addBatch } from './events-batch.ts';
import { addPublished } from './events-published.ts';
import { addTail } from './events-tail.ts';
import { addTypes } from './events-types.ts';

interface PublishOptions {
  readonly data?: string;
  readonly dataFile?: string;
  readonly externalId?: string;
  readonly orderingKey?: string;
  readonly owner?: string;
  readonly tag?: readonly string[];
}

const HELP = `
Prints the id of the event, which receivers see as webhook-id. It is sent to every endpoint that receives its type; with --owner, only to
the endpoints of that owner. data is a JSON
object, {} without --data, and is passed on unchanged. Types that begin with payout., commission., commissions., affiliate. or
webhook_endpoint. are reserved for Payhook and refused.

Examples:
  $ payhook events publish order.created --data '{"order_id":"order-1042"}' --external-id order-1042-created
  $ payhook events publish order.shipped --data-file order.json --ordering-key order:7
  $ payhook events publish order.created --owner customer-7 --data '{"order_id":"order-1042"}'
  $ payhook events publish order.refunded --tag order:7 --tag refunds --data '{"order_id":"order-7"}'
  $ jq .order shop.json | payhook events publish order.created --data-file -
`;

/** `payhook events publish|publish-batch|list|show|tail|types|put-type|delete-type`. */
export function addEvents(events: Command, cli: Cli): void {
  events
    .command('publish')
    .description('publish your own event to the webhook endpoints')
    .argument('<type>', 'a dotted name, such as order.created')
    .option('--data <json>', 'the data: a JSON object; - is standard input')
    .option('--data-file <file>', 'the data in a file; - is standard input')
    .option('--external-id <id>', 'your own id; an event with the same id is not sent twice')
    .option('--ordering-key <key>', 'ordered endpoints receive events with the same key one after another')
    .option('--owner <owner>', 'send it only to the endpoints of this owner')
    .option('--tag <tag>', 'find it again by this text; may be repeated', collect)
    .option('--json', 'print the record (Event)')
    .addHelpText('after', HELP)
    .action((type: string, options: PublishOptions) => cli.run(() => publish(cli, type, options)));
  addBatch(events, cli);
  addPublished(events, cli);
  addTail(events, cli);
  addTypes(events, cli);
}

async function publish(
  { terminal, account }: Cli,
  type: string,
  { data, dataFile, externalId, orderingKey, owner, tag: tags }: PublishOptions,
): Promise<undefined> {
  if (data !== undefined && dataFile !== undefined)
    throw new UsageError('give --data or --data-file, not both');
  const dataText = await readData(data, dataFile);
  const event = await withClient({ terminal, account }, (client) =>
    client.events.publish({
      type,
      dataText,
      external_id: externalId,
      ordering_key: orderingKey,
      owner,
      tags,
    }),
  );
  terminal.result(event, () => `${event.id}\n`);
}

/** The JSON text of `data`, checked to be an object. */
async function readData(data: string | undefined, path: string | undefined): Promise<string> {
  const option = path === undefined ? '--data' : path === '-' ? 'standard input' : path;
  const file = data === '-' ? data : path;
  const read = file === undefined ? (data ?? '{}') : await readText(file);
  const { value } = readJsonOption(option, read);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return read;
  throw new UsageError(`${option} must be a JSON object, such as {"order_id":"order-1042"}`);
}
