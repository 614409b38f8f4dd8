import type { Command } from 'commander';
import type { Client, ListWebhookEventsQuery, WebhookEvent } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { follow } from '../command/follow.ts';
import { readInteger } from '../command/numbers.ts';
import { queryOf } from '../command/query.ts';
import { ENDPOINT_HELP, findEndpoint } from '../finders/endpoint.ts';
import { aborted, untilStopped } from '../terminal/interrupt.ts';
import { deliveryLine } from './view.ts';

interface TailOptions {
  readonly type?: string;
  readonly endpoint?: string;
  readonly status?: string;
  readonly owner?: string;
  readonly tag?: string;
  readonly lines: string;
}

const POLL_MS = 1000;
const PAGE_SIZE = 100;
const MOST_PAGES = 10;
const REMEMBERED = 5000;

const HELP = `
Prints a line for every new record, and for every attempt or change of status of the newest ${PAGE_SIZE}: time, status, attempts, last
answer, type, event, endpoint. With --json, each line is a record of the API. Ctrl-C stops it.

Examples:
  $ payhook events tail
  $ payhook events tail --endpoint https://shop.example.com/payhook --status failed --lines 50
  $ payhook events tail --json | jq -r 'select(.status == "failed") | .id'
`;

/** `payhook events tail`. */
export function addTail(events: Command, cli: Cli): void {
  events
    .command('tail')
    .description('follow the delivery log until it is stopped')
    .option('--type <type>', 'only events of this type')
    .option('--endpoint <endpoint>', `only events of one endpoint: ${ENDPOINT_HELP}`)
    .option('--owner <owner>', 'only events at the endpoints of this owner')
    .option('--tag <tag>', 'only events with this tag')
    .option('--status <status>', 'only pending, held, delivered, failed or cancelled')
    .option('--lines <number>', `how many of the newest to show first, at most ${PAGE_SIZE}`, '10')
    .option('--json', 'print each record (WebhookEvent), one per line')
    .addHelpText('after', HELP)
    .action((options: TailOptions) => cli.run(() => tail(cli, options)));
}

async function tail(cli: Cli, { lines, endpoint, ...filters }: TailOptions): Promise<undefined> {
  const first = readInteger('--lines', lines, { from: 0, to: PAGE_SIZE });
  const watch = createWatch(cli, first);
  const poll = async (client: Client) => {
    const only = endpoint === undefined ? undefined : await findEndpoint(client, endpoint);
    await watch(client, { ...queryOf<ListWebhookEventsQuery>(filters), webhook_endpoint_id: only });
    return false;
  };
  const stopped = aborted(untilStopped());
  // Stopping does not wait for a slow response: open requests end with the process.
  const trouble = (text: string) => text !== '' && cli.terminal.note(text);
  await Promise.race([follow(cli, { everyMs: POLL_MS, poll, trouble }), stopped]);
}

/** Each call prints the changes of the log since the previous call. */
function createWatch({ terminal }: Cli, first: number) {
  const known = new Map<string, string>();
  let isFirst = true;

  function isNews(event: WebhookEvent): boolean {
    const key = `${event.id} ${event.webhook_endpoint_id}`;
    const { status, attempt_count, last_attempt_at } = event;
    const state = `${status} ${attempt_count} ${last_attempt_at}`;
    const before = known.get(key);
    known.delete(key); // moved to the end: the most recently seen is forgotten last
    known.set(key, state);
    return before !== state;
  }

  return async (client: Client, query: ListWebhookEventsQuery): Promise<void> => {
    let news: WebhookEvent[] = [];
    for (let page = 1; ; page += 1) {
      const { data } = await client.webhookEvents.list({
        ...query,
        sort: '-created_at',
        per_page: PAGE_SIZE,
        page,
      });
      const isKnown = data.map(({ id, webhook_endpoint_id }) => known.has(`${id} ${webhook_endpoint_id}`));
      news.push(...data.filter(isNews));
      if (isFirst || data.length < PAGE_SIZE || isKnown.some(Boolean)) break;
      if (page === MOST_PAGES) {
        terminal.note(`More than ${MOST_PAGES * PAGE_SIZE} records are new: the older ones are not shown.`);
        break;
      }
    }
    if (isFirst) news = news.slice(0, first);
    isFirst = false;
    for (const event of news.reverse()) terminal.result(event, () => deliveryLine(event, terminal));
    for (const key of known.keys()) {
      if (known.size <= REMEMBERED) break;
      known.delete(key);
    }
  };
}
