import type { Command } from 'commander';
import type { ListEventsQuery, PublishedEvent, PublishedEventWhole } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { placeOf } from '../finders/endpoint.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';
import { block, deliveryLine } from './view.ts';

interface EventFilters extends ListOptions {
  readonly type?: string;
  readonly externalId?: string;
  readonly owner?: string;
  readonly tag?: string;
  readonly since?: string;
  readonly before?: string;
}

const PAYLOAD_LINES = 40;

const REASONS: Readonly<Record<PublishedEventWhole['not_sent_to'][number]['reason'], string>> = {
  filtered: 'its filter did not match',
  other_owner: 'the event was for another owner',
  made_later: 'the endpoint was created later',
  not_addressed: 'the event was for another endpoint',
  not_subscribed: 'it does not receive this type',
  subscribed_later: 'it receives this type now, but did not then',
};

/** `payhook events list|show`. */
export function addPublished(events: Command, cli: Cli): void {
  withPages(
    events
      .command('list')
      .description('list published events, newest first')
      .option('--type <type>', 'a type such as payout.paid, or a prefix such as payout.*')
      .option('--external-id <id>', 'the id you gave it')
      .option('--owner <owner>', 'only events that were published for this owner')
      .option('--tag <tag>', 'only events with this tag')
      .option('--since <when>', 'at this time or later: a day such as 2026-09-01, or an instant')
      .option('--before <when>', 'earlier'),
    { nouns: 'events', sort: 'id, created_at' },
  )
    .option('--json', 'print the page (a list of PublishedEvent)')
    .action((options: EventFilters) => cli.run(() => list(cli, options)));
  events
    .command('show')
    .description('show an event: its payload, its deliveries, and why other endpoints did not receive it')
    .argument('<event>', 'its id (evt_…), the webhook-id of receivers')
    .option('--json', 'print the record (PublishedEventWhole)')
    .addHelpText('after', '\nExample:\n  $ payhook events show evt_0197…\n')
    .action((id: string) => cli.run(() => show(cli, id)));
}

async function list({ terminal, account }: Cli, options: EventFilters): Promise<undefined> {
  const { externalId, since, before, ...rest } = options;
  const page = await withClient({ terminal, account }, (client) =>
    client.events.list({
      ...queryOf<ListEventsQuery>(rest),
      external_id: externalId,
      'created_at[gte]': since,
      'created_at[lt]': before,
    }),
  );
  terminal.result(page, () => describePage(page, 'event', (data) => eventTable(data, terminal), terminal));
}

/** `2 delivered, 1 failed`: the deliveries of an event as text. */
function fateOf({ deliveries }: Pick<PublishedEvent, 'deliveries'>): string {
  const parts = Object.entries(deliveries).filter(([, count]) => count > 0);
  return parts.map(([status, count]) => `${count} ${status}`).join(', ') || 'not sent';
}

function eventTable(events: readonly PublishedEvent[], { paint }: Terminal): string {
  return table(
    ['WHEN (UTC)', 'TYPE', 'DELIVERIES', 'ID', 'EXTERNAL ID'].map((heading) => ({ heading })),
    events.map((event) => [
      exactTime(event.created_at),
      event.type,
      fateOf(event),
      event.id,
      event.external_id ?? '',
    ]),
    paint.faint,
  );
}

async function show({ terminal, account }: Cli, id: string): Promise<undefined> {
  const event = await withClient({ terminal, account }, (client) => client.events.get(id));
  terminal.result(event, () => describe(event, terminal));
}

function describe(event: PublishedEventWhole, terminal: Terminal): string {
  const { paint } = terminal;
  const own = event.external_id === null ? '' : `  ${printable(event.external_id)}`;
  const others = event.not_sent_to.map(
    ({ webhook_endpoint_id, url, reason }) =>
      `  ${webhook_endpoint_id}  ${REASONS[reason]}  ${printable(placeOf({ url }))}\n`,
  );
  return [
    `${paint.strong(event.id)}  ${printable(event.type)}${own}\n`,
    `Published ${exactTime(event.created_at)} (UTC): ${fateOf(event)}\n`,
    event.owner === null ? '' : `For the endpoints of ${printable(event.owner)}\n`,
    event.ordering_key === null ? '' : `Ordering key ${printable(event.ordering_key)}\n`,
    event.tags.length === 0 ? '' : `Tags ${printable(event.tags.join(', '))}\n`,
    `\n${paint.strong('Payload')}\n${block(JSON.stringify(event.payload, null, 2), PAYLOAD_LINES)}`,
    event.sent_to.length === 0 ? '' : `\n${paint.strong('Sent to')}\n`,
    ...event.sent_to.map((delivery) => `  ${deliveryLine(delivery, terminal)}`),
    others.length === 0 ? '' : `\n${paint.strong('Not sent to')}\n`,
    ...others,
  ].join('');
}
