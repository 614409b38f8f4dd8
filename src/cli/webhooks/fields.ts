import type { Command } from 'commander';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../client/client.ts';
import { ENDPOINT_FIELDS, SIGNING_SCHEMES } from '../../client/fields.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';
import { readInteger } from '../command/numbers.ts';
import { collect, readPairs } from '../command/pairs.ts';
import { optionNames, readFields, withFields } from '../command/record-fields.ts';
import { SECRET_HELP, secretReader } from '../command/secret-option.ts';
import { ENDPOINT_HELP } from '../finders/endpoint.ts';
import { type EgressOptions, readEgressFields, withEgressFields } from './egress.ts';
import { withEndpoint } from './recover.ts';
import { describeEndpoint } from './view.ts';

/** The options of an endpoint as they are typed. Options of fields with a simple value are read by `readFields`. */
export interface EndpointFields extends EgressOptions {
  readonly types?: string;
  readonly filter?: string;
  readonly header?: readonly string[];
  readonly batch?: string;
  readonly batchWait?: string;
  readonly batchBytes?: string;
  readonly signing?: string;
  readonly customSigning?: string;
  readonly secret?: string;
}

interface ChangeOptions extends EndpointFields {
  readonly url?: string;
  readonly secondUntil?: string;
}

const HELP = `
--types, --filter, --metadata, --owner and --description replace the current values. Only the named headers change; a header without a
value is removed. Header values belong to the origin of the URL: they are dropped if it changes, or if --proxy changes for an http
URL, unless you give them again. The same applies to client credentials (--token-url). With --signing or --secret, the previous
signature is also sent, for a day or until --second-until. If the new scheme cannot use the current secret, a new one is created and
printed, unless --secret gives one.

Examples:
  $ payhook webhooks change https://shop.example.com/payhook --types 'payout.*,affiliate.updated' --rate-limit 20
  $ payhook webhooks change https://shop.example.com/payhook --url https://shop.example.com/hooks/payhook
  $ payhook webhooks change https://shop.example.com/payhook --ordered
  $ payhook webhooks change https://shop.example.com/payhook --payload thin
  $ payhook webhooks change https://shop.example.com/payhook --batch 100 --batch-wait 2000
  $ payhook webhooks change https://shop.example.com/payhook --signing github --second-until 2026-12-31T00:00:00Z
  $ payhook webhooks change https://shop.example.com/payhook --proxy @proxy.txt      # http://payhook:password@proxy.example.com:3128
  $ payhook webhooks change https://shop.example.com/payhook --client-certificate client.pem --client-key client.key
  $ payhook webhooks change https://shop.example.com/payhook --token-url https://id.example.com/token --client-id payhook --client-secret @client-secret
  $ pass show payhook/shop | payhook webhooks change https://shop.example.com/payhook --secret -
  $ payhook webhooks change https://shop.example.com/payhook --header @headers.txt --header 'x-old:' --rate-limit none
${SECRET_HELP}
`;

/** Adds the options of these fields. */
export function withEndpointFields(command: Command): Command {
  const fields = command
    .option('--types <types>', 'event types, separated by commas: payout.paid,order.*; all = every type')
    .option(
      '--filter <json>',
      'only events whose payload matches: {"data.amount":{"$gte":100}}; none = no filter',
    )
    .option(
      '--header <name:value>',
      'a custom header, sent with every delivery; @file or - (standard input) has one per line; may be repeated',
      collect,
    )
    .option('--batch <number>', 'the most events in one request, as an array; none = one event per request')
    .option('--batch-wait <ms>', 'with --batch: the longest wait for more events; default 1000')
    .option('--batch-bytes <bytes>', 'with --batch: the largest body; default 1048576')
    .option(
      '--signing <scheme>',
      `how requests are signed: ${[...Object.keys(SIGNING_SCHEMES), 'custom'].join(', ')}`,
    )
    .option(
      '--custom-signing <json>',
      'with --signing custom: {"header":"x-sign","content":"{timestamp}.{body}","encoding":"hex"}',
    )
    .option(
      '--secret <secret>',
      'sign with a secret that the receiver already has, as @file or - (standard input)',
    );
  return withFields(withEgressFields(fields), ENDPOINT_FIELDS);
}

/** `payhook webhooks change`. */
export function addChange(webhooks: Command, cli: Cli): void {
  withEndpointFields(
    webhooks
      .command('change')
      .description('change the given fields of an endpoint; an empty text clears')
      .argument('<endpoint>', ENDPOINT_HELP)
      .option('--url <url>', 'the new URL, also for pending events')
      .option(
        '--second-until <when>',
        'send the previous signature too until this instant; none = not at all',
      ),
  )
    .option('--json', 'print the record (WebhookEndpoint)')
    .addHelpText('after', HELP)
    .action((reference: string, options: ChangeOptions) => cli.run(() => change(cli, reference, options)));
}

/** The fields for the API. Throws a UsageError that names the option, CommandError for an unreadable file. */
export async function readEndpointFields(
  options: EndpointFields,
): Promise<Omit<ChangeWebhookEndpointBody, 'url' | 'status'>> {
  const { types, filter, header, batch, batchWait, batchBytes, signing, customSigning, secret } = options;
  const secrets = secretReader();
  const lines: string[] = [];
  for (const typed of header ?? []) lines.push(...(await secrets.lines('--header', typed)));
  const headers = Object.entries(readPairs('--header', lines, ':') ?? {});
  return {
    ...readFields(ENDPOINT_FIELDS, options),
    event_types: types === 'all' ? null : types?.split(',').map((type) => type.trim()),
    filter: filter === undefined ? undefined : readFilter(filter),
    headers:
      headers.length === 0
        ? undefined
        : Object.fromEntries(headers.map(([name, value]) => [name, value || null])),
    batch: readBatch(batch, batchWait, batchBytes),
    // the server validates the word
    signing: signing as ChangeWebhookEndpointBody['signing'],
    custom_signing:
      customSigning === undefined
        ? undefined
        : (readJsonOption('--custom-signing', customSigning)
            .value as ChangeWebhookEndpointBody['custom_signing']),
    secret: secret === undefined ? undefined : await secrets.one('--secret', secret),
    ...(await readEgressFields(options, secrets)),
  };
}

/** Where the events of an endpoint go: to its URL, or to consumers. Throws UsageError unless exactly one is given. */
export function goingTo(
  url: string | undefined,
  pull: true | undefined,
): { readonly delivery: 'pull' } | { readonly url: string | undefined } {
  if (pull && url !== undefined) throw new UsageError('--pull needs no URL: leave one of them out');
  if (!pull && url === undefined) throw new UsageError('give the URL of the receiver, or --pull');
  return pull ? { delivery: 'pull' } : { url };
}

/** The filter for the API; null for `none`. Throws UsageError. */
export const readFilter = (text: string) =>
  text === 'none'
    ? null
    : (readJsonOption('--filter', text).value as NonNullable<ChangeWebhookEndpointBody['filter']>);

function readBatch(
  events: string | undefined,
  wait: string | undefined,
  bytes: string | undefined,
): ChangeWebhookEndpointBody['batch'] {
  const limit = wait === undefined ? bytes && '--batch-bytes' : '--batch-wait';
  if (events === undefined && limit === undefined) return undefined;
  if (events === undefined || (events === 'none' && limit !== undefined)) {
    throw new UsageError(`${limit} needs --batch with a number of events`);
  }
  if (events === 'none') return null;
  return {
    max_events: readInteger('--batch', events, { from: 2, to: 1000 }),
    max_wait_ms: wait === undefined ? undefined : readInteger('--batch-wait', wait, { from: 0, to: 60_000 }),
    max_bytes:
      bytes === undefined ? undefined : readInteger('--batch-bytes', bytes, { from: 16_384, to: 4_194_304 }),
  };
}

const secondUntil = (when: string | undefined): ChangeWebhookEndpointBody['second_signature'] => {
  if (when === undefined) return undefined;
  return when === 'none' ? null : { expires_at: when };
};

async function change(
  cli: Cli,
  reference: string,
  { url, secondUntil: when, ...fields }: ChangeOptions,
): Promise<undefined> {
  const { terminal } = cli;
  const body = { url, ...(await readEndpointFields(fields)), second_signature: secondUntil(when) };
  if (Object.values(body).every((value) => value === undefined)) {
    // enable and disable are commands, and the delivery stays
    const { status: _, delivery: __, ...fields } = ENDPOINT_FIELDS;
    throw new UsageError(`nothing to change: give ${optionNames(fields)}`);
  }
  const { before, endpoint } = await withEndpoint(cli, reference, async (client, id) => ({
    before: await client.webhookEndpoints.get(id),
    endpoint: await client.webhookEndpoints.change(id, body),
  }));
  if (endpoint.secret === null) {
    terminal.note(
      `The response with the new secret was lost. Get it with: payhook webhooks secret ${endpoint.id}`,
    );
  }
  terminal.result(endpoint, () => describeEndpoint(endpoint, terminal));
  const dropped = droppedOf(before, endpoint, Object.keys(body.headers ?? {}));
  if (dropped.length > 0) {
    terminal.note(`Headers of the previous origin were dropped; set them again: ${dropped.join(', ')}`);
  }
  if (before.client_credentials && !endpoint.client_credentials && body.client_credentials === undefined) {
    terminal.note('The client credentials of the previous origin were dropped; set them again: --token-url');
  }
}

/** The names of headers that were dropped with the origin and not given again. */
function droppedOf(before: WebhookEndpoint, after: WebhookEndpoint, named: readonly string[]): string[] {
  const known = new Set([...after.headers, ...named].map((name) => name.toLowerCase()));
  return before.headers.filter((name) => !known.has(name.toLowerCase()));
}
