import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { ENDPOINT_HELP, findEndpoint } from '../endpoint-reference.ts';
import { CommandError, UsageError } from '../errors.ts';
import { count } from '../money.ts';
import { readInteger } from '../numbers.ts';
import { startCounter } from '../progress.ts';
import { withClient } from '../session.ts';

interface RetryOptions {
  readonly failed?: boolean;
  readonly limit?: string;
  readonly yes?: boolean;
}

const DEFAULT_LIMIT = 1000;
const MOST = 100_000;
const PAGE_SIZE = 100;
const AT_ONCE = 4;

const HELP = `
An event is sent again now with the same webhook-id, also one that was delivered. Success makes it delivered; after a
failure its earlier status and the rest of its schedule stand. --failed takes the oldest first, ${DEFAULT_LIMIT} at most unless
--limit says otherwise.

Examples:
  $ payhook webhooks retry https://shop.example.com/payhook evt_0199d2c4a7f07a3b9c5d1e2f30415263
  $ payhook webhooks retry https://shop.example.com/payhook --failed --yes
`;

/** `payhook webhooks retry`. */
export function addRetry(webhooks: Command, cli: Cli): void {
  webhooks
    .command('retry')
    .description('send events to an endpoint again, now')
    .argument('<endpoint>', ENDPOINT_HELP)
    .argument('[events...]', 'ids of events (evt_…)')
    .option('--failed', 'all events that have failed there')
    .option('--limit <number>', `with --failed: how many at most, ${DEFAULT_LIMIT} without it`)
    .option('-y, --yes', 'with --failed: do not ask; needed where there is no terminal')
    .option('--json', 'print {webhook_endpoint_id, retried, left}')
    .addHelpText('after', HELP)
    .action((reference: string, events: readonly string[], options: RetryOptions) =>
      cli.run(() => retry(cli, { reference, events: [...new Set(events)] }, options)),
    );
}

async function retry(
  { terminal, account }: Cli,
  { reference, events }: { reference: string; events: readonly string[] },
  { failed = false, limit, yes = false }: RetryOptions,
): Promise<undefined> {
  if (failed === events.length > 0) throw new UsageError('name the events to retry, or say --failed');
  if (!failed && limit !== undefined) throw new UsageError('--limit goes with --failed');
  const most = readInteger('--limit', limit ?? String(DEFAULT_LIMIT), { from: 1, to: MOST });
  if (failed) requireYes(terminal, yes);
  const report = await withClient({ terminal, account: account() }, async (client) => {
    const endpoint = await findEndpoint(client, reference);
    const chosen = failed ? await failedOf(client, endpoint, most) : { ids: events, total: events.length };
    if (failed && chosen.ids.length > 0) {
      const which = chosen.total > chosen.ids.length ? `the oldest ${chosen.ids.length} of ` : '';
      const what = `${which}${count(chosen.total, 'failed event')}`;
      await confirm(terminal, `Send ${what} to ${endpoint} again, now?`, yes);
    }
    const { stop, update } = await startCounter(terminal, 'retrying', chosen.ids.length);
    try {
      await retryAll(client, endpoint, { ids: chosen.ids, onDone: update });
    } finally {
      stop();
    }
    return { webhook_endpoint_id: endpoint, retried: chosen.ids, left: chosen.total - chosen.ids.length };
  });
  terminal.result(report, () => describe(report, failed));
}

/** The oldest failed events of an endpoint, and how many there are in all. */
async function failedOf(client: Client, endpoint: string, most: number) {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const query = { status: 'failed', sort: 'id', per_page: PAGE_SIZE, page } as const;
    const { data, pagination } = await client.webhookEndpoints.events(endpoint, query);
    ids.push(...data.slice(0, most - ids.length).map(({ id }) => id));
    if (ids.length === most || page >= pagination.pages) {
      return { ids, total: Math.max(pagination.total, ids.length) };
    }
  }
}

/** Retries in order, a few at once. The first refusal ends it, with a message that says how many went before. */
async function retryAll(
  client: Client,
  endpoint: string,
  { ids, onDone }: { ids: readonly string[]; onDone: (done: number) => void },
): Promise<void> {
  let done = 0;
  let failure: unknown = null;
  const rest = ids.values();
  const lane = async () => {
    for (const id of rest) {
      if (failure !== null) return;
      try {
        await client.webhookEndpoints.retry(endpoint, id);
        done += 1;
        onDone(done);
      } catch (error) {
        failure ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (failure === null) return;
  const { code, reason, message } = failure as CommandError;
  if (done === 0) throw failure;
  throw new CommandError(`${message}; ${done} of ${ids.length} were put into work before`, {
    code,
    ...(reason === null ? {} : { reason }),
  });
}

interface Report {
  readonly webhook_endpoint_id: string;
  readonly retried: readonly string[];
  readonly left: number;
}

function describe({ retried, left, webhook_endpoint_id: endpoint }: Report, failed: boolean): string {
  if (retried.length === 0) return `Nothing has failed at ${endpoint}.\n`;
  const verb = retried.length === 1 ? 'is' : 'are';
  const rest = left > 0 ? ` ${left} more have failed and were left.` : '';
  const look = failed ? `list ${endpoint} --status failed` : `show ${endpoint} ${retried[0]}`;
  const done = `${count(retried.length, 'event')} ${verb} put into work.${rest}`;
  return `${done}\nWhat comes of it: payhook webhooks ${look}\n`;
}
