import type { Command } from 'commander';
import type { EventText, PublishEventBody } from '../../client/client.ts';
import { membersOf } from '../../kernel/json-parts.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';
import { withClient } from '../command/session.ts';
import { readText } from '../command/source-file.ts';
import { count } from '../terminal/money.ts';

const MOST_EVENTS = 1000;

const HELP = `
Each line of the file is an event as JSON: type and data, optionally external_id, ordering_key, owner and tags. All are published, or none. Ordered
endpoints receive the events of a key in the order of the lines. data is passed on unchanged. Prints the ids of the events, one per
line. With an external_id on each line, a file can be published again: known events are not sent twice.

Examples:
  $ payhook events publish-batch orders.jsonl
  $ jq -c '.[] | {type: "order.created", data: ., external_id: .id}' shop.json | payhook events publish-batch -
  $ split -l ${MOST_EVENTS} many.jsonl part- && for part in part-*; do payhook events publish-batch "$part" || break; done
`;

/** A line of the file, and its number. */
interface Line {
  readonly number: number;
  readonly event: PublishEventBody | EventText;
}

/** `payhook events publish-batch`. */
export function addBatch(events: Command, cli: Cli): void {
  events
    .command('publish-batch')
    .description(`publish up to ${count(MOST_EVENTS, 'event')} from a file, all or none`)
    .argument('<file>', 'one line of JSON per event; - is standard input')
    .option('--json', 'print the result of each event (EventBatch)')
    .addHelpText('after', HELP)
    .action((path: string) => cli.run(() => publishBatch(cli, path)));
}

async function publishBatch({ terminal, account }: Cli, path: string): Promise<undefined> {
  const lines = linesOf(await readText(path), path === '-' ? 'standard input' : path);
  const batch = await withClient({ terminal, account }, (client) =>
    client.events.publishMany(lines.map(({ event }) => event)),
  ).catch((error: unknown) => {
    throw namingLines(error, lines);
  });
  terminal.result(batch, () => batch.items.map(({ event }) => `${event.id}\n`).join(''));
}

/** The events of a file. Blank lines are ignored. */
function linesOf(text: string, name: string): Line[] {
  const lines = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : { text: line, number: index + 1 }));
  if (lines.length === 0) throw new UsageError(`${name} has no events`);
  if (lines.length > MOST_EVENTS) {
    throw new UsageError(
      `${name} has ${count(lines.length, 'event')}, and a batch at most ${count(MOST_EVENTS, 'event')}: split it`,
    );
  }
  return lines.map((line) => ({
    number: line.number,
    event: readEvent(line.text, `line ${line.number} of ${name}`),
  }));
}

function readEvent(text: string, name: string): PublishEventBody | EventText {
  const { value } = readJsonOption(name, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${name} must be a JSON object, such as {"type":"order.created","data":{}}`);
  }
  const { data, ...rest } = value as PublishEventBody;
  const dataText = membersOf(text).get('data');
  // the server reports missing data
  return dataText === undefined ? (value as PublishEventBody) : { ...rest, dataText };
}

/** A refusal that names lines of the file instead of positions in the request. */
function namingLines(error: unknown, lines: readonly Line[]): unknown {
  const { name, code, reason, message } = error as CommandError;
  if (name !== 'ApiError') return error;
  // for several fields of the same event in a row, only the first names the line
  const restated = message.replaceAll(
    /(unknown field |, )?\bevents\[(\d+)\]\.?/g,
    (_, before: string | undefined, at: string) =>
      before === ', ' ? before : `line ${lines[Number(at)]?.number}: ${before ?? ''}`,
  );
  return new CommandError(restated, { code, ...(reason === null ? {} : { reason }) });
}
