import type { Command } from 'commander';
import type { Client } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { ENDPOINT_HELP } from '../finders/endpoint.ts';
import { count } from '../terminal/money.ts';
import { startRecovery, withEndpoint } from './recover.ts';

interface RetryOptions {
  readonly failed?: boolean;
  readonly types?: string;
  readonly yes?: boolean;
}

/** Earlier than any event. */
const THE_BEGINNING = '1970-01-01';

const HELP = `
Sends events again now with the same webhook-id, even delivered ones. Success makes an event delivered; a failure leaves its
earlier status and the rest of its schedule unchanged. --failed starts a recovery of everything that has failed so far: a job
that runs on its own, as \`payhook webhooks recover\` does for a period.

Examples:
  $ payhook webhooks retry https://shop.example.com/payhook evt_0199d2c4a7f07a3b9c5d1e2f30415263
  $ payhook webhooks retry https://shop.example.com/payhook --failed --yes
  $ payhook webhooks retry https://shop.example.com/payhook --failed --types 'payout.*'
`;

/** `payhook webhooks retry`. */
export function addRetry(webhooks: Command, cli: Cli): void {
  webhooks
    .command('retry')
    .description('send events to an endpoint again, now')
    .argument('<endpoint>', ENDPOINT_HELP)
    .argument('[events...]', 'ids of events (evt_…)')
    .option('--failed', 'all failed events of the endpoint')
    .option(
      '--types <types>',
      'with --failed: event types, separated by commas: payout.paid,order.*; default all',
    )
    .option('-y, --yes', 'with --failed: do not ask; required without a terminal')
    .option('--json', 'print {webhook_endpoint_id, retried}; with --failed the record (WebhookRecovery)')
    .addHelpText('after', HELP)
    .action((reference: string, events: readonly string[], options: RetryOptions) =>
      cli.run(() => retry(cli, { reference, events: [...new Set(events)] }, options)),
    );
}

async function retry(
  cli: Cli,
  { reference, events }: { reference: string; events: readonly string[] },
  { failed = false, types, yes = false }: RetryOptions,
): Promise<undefined> {
  if (failed === events.length > 0) throw new UsageError('name the events to retry, or give --failed');
  if (!failed && types !== undefined) throw new UsageError('--types needs --failed');
  if (failed) {
    const which = types === undefined ? 'that have failed' : `of ${types} that have failed`;
    return startRecovery(
      cli,
      reference,
      { since: THE_BEGINNING, types, yes },
      (events) => `Send ${events} ${which} to ${reference} again, now?`,
    );
  }
  const report = await withEndpoint(cli, reference, async (client, endpoint) => {
    await retryAll(client, endpoint, events);
    return { webhook_endpoint_id: endpoint, retried: events };
  });
  const verb = events.length === 1 ? 'is' : 'are';
  cli.terminal.result(
    report,
    () =>
      `${count(events.length, 'event')} ${verb} queued.\n` +
      `To see the result: payhook webhooks show ${report.webhook_endpoint_id} ${events[0]}\n`,
  );
}

/** Retries events one after another. Stops at the first refusal, with the number already queued in the message. */
async function retryAll(client: Client, endpoint: string, events: readonly string[]): Promise<void> {
  for (const [done, event] of events.entries()) {
    try {
      await client.webhookEndpoints.retry(endpoint, event);
    } catch (error) {
      if (done === 0) throw error;
      const { code, reason, message } = error as CommandError;
      throw new CommandError(`${message}; ${done} of ${events.length} were already queued`, {
        code,
        ...(reason === null ? {} : { reason }),
      });
    }
  }
}
