import type { Command } from 'commander';
import type { PutWebhookEndpointByExternalIdBody } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { withClient } from '../command/session.ts';
import { type EndpointFields, goingTo, readEndpointFields, withEndpointFields } from './fields.ts';
import { describeEndpoint } from './view.ts';

const HELP = `
Creates the endpoint with this id of yours, or gives it exactly these settings: what is left out gets the value of a new
endpoint, and headers that are not named are removed. Its status and its secret stay. The same command again changes nothing, so
it can run at every deployment.

Examples:
  $ payhook webhooks put shop-7 https://shop.example.com/payhook --types 'payout.*,order.*' --rate-limit 20
  $ payhook webhooks put shop-7 https://shop.example.com/payhook --header @headers.txt --json | jq -r '.secret // empty'
  $ payhook webhooks put warehouse --pull --types 'order.*'
`;

/** `payhook webhooks put`. */
export function addPut(webhooks: Command, cli: Cli): void {
  withEndpointFields(
    webhooks
      .command('put')
      .description('create an endpoint by your own id, or give it exactly these settings')
      .argument('<id>', 'your own id of the endpoint')
      .argument('[url]', 'http or https, at a public address; none with --pull'),
  )
    .option('--pull', 'without a URL: consumers claim its events')
    .option('--json', 'print the record, with its secret if this created it (ChangedWebhookEndpoint)')
    .addHelpText('after', HELP)
    .action((id: string, url: string | undefined, fields: PutFields) =>
      cli.run(() => put(cli, { id, url, fields })),
    );
}

interface PutFields extends EndpointFields {
  readonly externalId?: string;
  readonly pull?: true;
}

async function put(
  { terminal, account }: Cli,
  { id, url, fields: { pull, ...fields } }: { id: string; url: string | undefined; fields: PutFields },
): Promise<undefined> {
  if (fields.externalId !== undefined)
    throw new UsageError('the first argument is the id: leave out --external-id');
  const body = {
    ...goingTo(url, pull),
    ...(await readEndpointFields(fields)),
  } as PutWebhookEndpointByExternalIdBody;
  const endpoint = await withClient({ terminal, account }, (client) =>
    client.webhookEndpoints.putByExternalId(id, body),
  );
  terminal.result(endpoint, () => describeEndpoint(endpoint, terminal));
}
