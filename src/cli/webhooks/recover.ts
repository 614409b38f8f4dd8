import type { Command } from 'commander';
import type {
  Client,
  ListRecoveriesOfWebhookEndpointQuery,
  RecoverWebhookEndpointBody,
  WebhookRecovery,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { ENDPOINT_HELP, findEndpoint } from '../finders/endpoint.ts';
import { count } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface RecoverOptions {
  readonly since: string;
  readonly until?: string | undefined;
  readonly status?: string | undefined;
  readonly types?: string | undefined;
  readonly yes?: boolean | undefined;
}

const RECOVER_HELP = `
Sends every matching event of the log again with the same webhook-id, oldest first and a few at a time, so that new events do not
wait. It is a background job of the server or of payhook worker; an endpoint has one at a time.

Examples:
  $ payhook webhooks recover https://shop.example.com/payhook --since 2026-09-14
  $ payhook webhooks recover https://shop.example.com/payhook --since 2026-09-14T08:00:00Z --until 2026-09-14T12:00:00Z \\
      --status failed,delivered --types 'payout.*' --yes
`;

/** `payhook webhooks recover|recoveries|cancel-recovery`. */
export function addRecover(webhooks: Command, cli: Cli): void {
  webhooks
    .command('recover')
    .description('send the events of a period to an endpoint again')
    .argument('<endpoint>', ENDPOINT_HELP)
    .requiredOption(
      '--since <when>',
      'events created at this time or later: a day such as 2026-09-14, or an instant',
    )
    .option('--until <when>', 'events created before this time; a day is included as a whole; default now')
    .option('--status <statuses>', 'failed, pending, delivered, separated by commas; default failed')
    .option('--types <types>', 'event types, separated by commas: payout.paid,order.*; default all')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (WebhookRecovery)')
    .addHelpText('after', RECOVER_HELP)
    .action((reference: string, options: RecoverOptions) => cli.run(() => recover(cli, reference, options)));
  withPages(
    webhooks
      .command('recoveries')
      .description('list the recoveries of an endpoint with their progress, newest first')
      .argument('<endpoint>', ENDPOINT_HELP),
    { nouns: 'recoveries', sort: 'id, created_at' },
  )
    .option('--json', 'print the page (a list of WebhookRecovery)')
    .addHelpText('after', '\nExample:\n  $ payhook webhooks recoveries https://shop.example.com/payhook\n')
    .action((reference: string, options: ListOptions) => cli.run(() => list(cli, reference, options)));
  webhooks
    .command('cancel-recovery')
    .description('cancel a recovery; events it already queued are still sent')
    .argument('<endpoint>', ENDPOINT_HELP)
    .argument('<recovery>', 'its id (rec_…)')
    .option('--json', 'print the record (WebhookRecovery)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook webhooks cancel-recovery https://shop.example.com/payhook rec_0199d2c4a7f07a3b9c5d1e2f30415263\n',
    )
    .action((reference: string, id: string) => cli.run(() => cancel(cli, reference, id)));
}

const wordsOf = (text: string | undefined) => text?.split(',').map((word) => word.trim());

async function recover(cli: Cli, reference: string, options: RecoverOptions): Promise<undefined> {
  const { since, until, status } = options;
  requireYes(cli.terminal, options.yes);
  const span = until === undefined ? `since ${since}` : `from ${since} until ${until}`;
  await startRecovery(
    cli,
    reference,
    options,
    `Send events ${span} to ${reference} again (${status ?? 'failed'})?`,
  );
}

/** Starts the recovery after the question is answered, and prints how to see its progress. */
export async function startRecovery(
  cli: Cli,
  reference: string,
  { since, until, status, types, yes }: RecoverOptions,
  question: string,
): Promise<undefined> {
  // the server judges the words, and names the rule
  const body = { since, until, status: wordsOf(status), types: wordsOf(types) } as RecoverWebhookEndpointBody;
  const made = await withEndpoint(cli, reference, async (client, id) => {
    await confirm(cli.terminal, question, yes);
    return client.webhookEndpoints.recover(id, body);
  });
  cli.terminal.result(
    made,
    () =>
      `${made.id} sends matching events again while a server or worker is running.\n` +
      `To see its progress: payhook webhooks recoveries ${made.webhook_endpoint_id}\n`,
  );
}

async function list(cli: Cli, reference: string, options: ListOptions): Promise<undefined> {
  const query = queryOf<ListRecoveriesOfWebhookEndpointQuery>(options);
  const page = await withEndpoint(cli, reference, async (client, id) =>
    client.webhookEndpoints.recoveries(id, query),
  );
  const { terminal } = cli;
  terminal.result(page, () =>
    // avoids the plural "recoverys"
    page.pagination.total === 0
      ? 'No recoveries found.\n'
      : describePage(page, 'job', (data) => recoveryTable(data, terminal), terminal),
  );
}

function recoveryTable(recoveries: readonly WebhookRecovery[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'CREATED (UTC)' },
      { heading: 'STATUS' },
      { heading: 'QUEUED', right: true },
      { heading: 'SKIPPED', right: true },
      { heading: 'SINCE' },
      { heading: 'PROCESSED UNTIL' },
      { heading: 'UNTIL' },
      { heading: 'ID' },
    ],
    recoveries.map((recovery) => [
      exactTime(recovery.created_at),
      recovery.status,
      String(recovery.queued_count),
      String(recovery.skipped_count),
      exactTime(recovery.filters.since),
      recovery.processed_until === null ? '' : exactTime(recovery.processed_until),
      exactTime(recovery.filters.until),
      recovery.id,
    ]),
    paint.faint,
  );
}

async function cancel(cli: Cli, reference: string, recovery: string): Promise<undefined> {
  const ended = await withEndpoint(cli, reference, async (client, id) => {
    await client.webhookEndpoints.cancelRecovery(id, recovery);
    return client.webhookEndpoints.recovery(id, recovery);
  });
  const done = `it has queued ${count(ended.queued_count, 'event')}`;
  cli.terminal.result(ended, () => `Cancelled ${ended.id}; ${done}.\n`);
}

/** Runs `work` with a client and the id of the endpoint. */
export function withEndpoint<Result>(
  { terminal, account }: Cli,
  reference: string,
  work: (client: Client, id: string) => Promise<Result>,
): Promise<Result> {
  return withClient({ terminal, account }, async (client) =>
    work(client, await findEndpoint(client, reference)),
  );
}
