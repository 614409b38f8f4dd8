import { type Command, Option } from 'commander';
import type {
  Client,
  ListRecoveriesOfWebhookEndpointQuery,
  PreviewRecoveryOfWebhookEndpointBody,
  RecoverWebhookEndpointBody,
  WebhookRecovery,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { ENDPOINT_HELP, findEndpoint } from '../finders/endpoint.ts';
import { count } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface JobOptions {
  /** Absent only with `missing`: everything that is kept. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly types?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}
interface RecoverOptions extends JobOptions {
  readonly status?: string | undefined;
  readonly missing?: boolean | undefined;
}

const SINCE = 'events created at this time or later: a day such as 2026-09-14, or an instant';
const UNTIL = 'events created before this time; a day is included as a whole; default now';
const TYPES = 'event types, separated by commas: payout.paid,order.*; default all';
const YES = 'do not ask; required without a terminal';
const DRY_RUN = 'only count the events that match';
const RECORD = 'print the record (WebhookRecovery; with --dry-run RecoveryPreview)';

const RECOVER_HELP = `
Sends every matching event of the log again with the same webhook-id, oldest first and a few at a time, so that new events do not
wait. With --missing it sends what the endpoint never got, such as events from before it was created: those that match its current event
types, filter and owner. It is a background job of the server or of payhook worker; an endpoint has one at a time.

Examples:
  $ payhook webhooks recover https://shop.example.com/payhook --since 2026-09-14
  $ payhook webhooks recover we_0199d2c4a7f07a3b9c5d1e2f30415263 --missing
  $ payhook webhooks recover https://shop.example.com/payhook --since 2026-09-14T08:00:00Z --until 2026-09-14T12:00:00Z \\
      --status failed,delivered --types 'payout.*' --yes
`;

const DISCARD_HELP = `
Cancels every matching event that waits for the endpoint, also at a disabled one, so that it is not sent. An event that is being sent has no
attempt after this one. Cancelled events stay in the log: payhook webhooks recover --status cancelled sends them. It is a background job of the
server or of payhook worker; an endpoint has one recovery or discard at a time.

Examples:
  $ payhook webhooks discard https://shop.example.com/payhook --since 2026-11-01 --types 'order.*'
  $ payhook webhooks discard https://shop.example.com/payhook --since 2026-11-01 --dry-run
`;

/** `payhook webhooks recover|discard|recoveries|cancel-recovery`. */
export function addRecover(webhooks: Command, cli: Cli): void {
  webhooks
    .command('recover')
    .description('send the events of a period to an endpoint again')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--since <when>', `${SINCE}; required without --missing`)
    .option('--until <when>', UNTIL)
    .option(
      '--status <statuses>',
      'failed, pending, delivered, cancelled, separated by commas; default failed',
    )
    .option(
      '--missing',
      'instead of a status: events that the endpoint never got, by default all that are kept',
    )
    .option('--types <types>', TYPES)
    .option('--dry-run', DRY_RUN)
    .option('-y, --yes', YES)
    .option('--json', RECORD)
    .addHelpText('after', RECOVER_HELP)
    .action((reference: string, options: RecoverOptions) => cli.run(() => recover(cli, reference, options)));
  webhooks
    .command('discard')
    .description('cancel the events of a period that wait for an endpoint')
    .argument('<endpoint>', ENDPOINT_HELP)
    .requiredOption('--since <when>', SINCE)
    .option('--until <when>', UNTIL)
    .option('--types <types>', TYPES)
    .addOption(new Option('--type <types>', 'the same as --types').hideHelp())
    .option('--dry-run', DRY_RUN)
    .option('-y, --yes', YES)
    .option('--json', RECORD)
    .addHelpText('after', DISCARD_HELP)
    .action((reference: string, { type, ...options }: JobOptions & { since: string; type?: string }) =>
      cli.run(() => discard(cli, reference, { types: type, ...options })),
    );
  withPages(
    webhooks
      .command('recoveries')
      .description('list the recoveries and discards of an endpoint with their progress, newest first')
      .argument('<endpoint>', ENDPOINT_HELP),
    { nouns: 'recoveries', sort: 'id, created_at' },
  )
    .option('--json', 'print the page (a list of WebhookRecovery)')
    .addHelpText('after', '\nExample:\n  $ payhook webhooks recoveries https://shop.example.com/payhook\n')
    .action((reference: string, options: ListOptions) => cli.run(() => list(cli, reference, options)));
  webhooks
    .command('cancel-recovery')
    .description('cancel a recovery or discard; events it already queued are still sent')
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
  if (options.since === undefined && !options.missing) {
    throw new UsageError('--since is required, unless --missing is given');
  }
  const question = (events: string) =>
    options.missing
      ? `Send ${events} ${spanOf(options)} that ${reference} never got?`
      : `Send ${events} ${spanOf(options)} to ${reference} again (${options.status ?? 'failed'})?`;
  if (options.dryRun) await preview(cli, reference, { ...bodyOf(options), action: 'recover' });
  else await startRecovery(cli, reference, options, question);
}

async function discard(
  cli: Cli,
  reference: string,
  options: JobOptions & { readonly since: string },
): Promise<undefined> {
  const body = bodyOf(options);
  const filters = { ...body, action: 'discard' } as const;
  if (options.dryRun) return preview(cli, reference, filters);
  requireYes(cli.terminal, options.yes);
  const made = await withEndpoint(cli, reference, async (client, id) => {
    if (!options.yes) {
      const { matching_count } = await client.webhookEndpoints.previewRecovery(id, filters);
      const events = count(matching_count, 'waiting event');
      await confirm(cli.terminal, `Discard ${events} ${spanOf(options)} of ${reference}?`);
    }
    return client.webhookEndpoints.discard(id, { ...body, since: options.since });
  });
  cli.terminal.result(
    made,
    () => `${made.id} cancels waiting events while a server or worker is running.\n${howToFollow(made)}`,
  );
}

const spanOf = ({ since = 'the oldest', until }: JobOptions) =>
  until === undefined ? `since ${since}` : `from ${since} until ${until}`;
// the server judges the words, and names the rule
const bodyOf = ({ since, until, status, types, missing }: RecoverOptions) =>
  ({ since, until, status: wordsOf(status), types: wordsOf(types), missing }) as RecoverWebhookEndpointBody;
const howToFollow = ({ webhook_endpoint_id }: WebhookRecovery) =>
  `To see its progress: payhook webhooks recoveries ${webhook_endpoint_id}\n`;

/** Counts what a job would take. */
async function preview(
  cli: Cli,
  reference: string,
  body: PreviewRecoveryOfWebhookEndpointBody,
): Promise<undefined> {
  const found = await withEndpoint(cli, reference, (client, id) =>
    client.webhookEndpoints.previewRecovery(id, body),
  );
  const { matching_count: matching, action } = found;
  cli.terminal.result(
    found,
    () => `It would ${action === 'recover' ? 'send' : 'cancel'} ${count(matching, 'event')}.\n`,
  );
}

/** Counts the events, starts the recovery after the question is answered, and prints how to see its progress. */
export async function startRecovery(
  cli: Cli,
  reference: string,
  options: RecoverOptions,
  question: (events: string) => string,
): Promise<undefined> {
  requireYes(cli.terminal, options.yes);
  const body = bodyOf(options);
  const made = await withEndpoint(cli, reference, async (client, id) => {
    if (!options.yes) {
      const { matching_count } = await client.webhookEndpoints.previewRecovery(id, body);
      await confirm(cli.terminal, question(count(matching_count, 'event')));
    }
    return client.webhookEndpoints.recover(id, body);
  });
  cli.terminal.result(
    made,
    () =>
      `${made.id} sends matching events${options.missing ? '' : ' again'} while a server or worker is running.\n${howToFollow(made)}`,
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
      { heading: 'ACTION' },
      { heading: 'STATUS' },
      { heading: 'QUEUED', right: true },
      { heading: 'DISCARDED', right: true },
      { heading: 'SKIPPED', right: true },
      { heading: 'SINCE' },
      { heading: 'PROCESSED UNTIL' },
      { heading: 'UNTIL' },
      { heading: 'ID' },
    ],
    recoveries.map((recovery) => [
      exactTime(recovery.created_at),
      recovery.filters.missing ? 'missing' : recovery.action,
      recovery.status,
      String(recovery.queued_count),
      String(recovery.discarded_count),
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
  const done =
    ended.action === 'recover'
      ? `it has queued ${count(ended.queued_count, 'event')}`
      : `it has cancelled ${count(ended.discarded_count, 'event')}`;
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
