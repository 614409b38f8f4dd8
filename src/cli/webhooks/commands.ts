import type { Command } from 'commander';
import type {
  ChangeWebhookEndpointBody,
  Client,
  ListEventsOfWebhookEndpointQuery,
  ListWebhookEndpointsQuery,
  NewWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointSecret,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage } from '../command/list-view.ts';
import { readInteger } from '../command/numbers.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { secretReader } from '../command/secret-option.ts';
import { withClient } from '../command/session.ts';
import { ENDPOINT_HELP, placeOf } from '../finders/endpoint.ts';
import { printable } from '../terminal/table.ts';
import { exactTime } from '../terminal/time.ts';
import { addConfirmContact } from './contact.ts';
import { addChange, type EndpointFields, goingTo, readEndpointFields, withEndpointFields } from './fields.ts';
import { addPortalLinks } from './portal-links.ts';
import { addPut } from './put.ts';
import { addRecover, withEndpoint } from './recover.ts';
import { addRetry } from './retry.ts';
import { addTestFilter } from './test-filter.ts';
import { deliveryTable, describeDelivery, describeEndpoint, endpointTable } from './view.ts';

/** Options that filter the events of an endpoint. */
const LOG_OPTIONS = ['type', 'responseStatus', 'responseClass', 'errorCode', 'event', 'externalId'] as const;
type LogOptions = { readonly [Name in (typeof LOG_OPTIONS)[number]]?: string } & { readonly owner?: string };
const LONGEST_OVERLAP = 7 * 86_400;

/** `payhook webhooks list|show|create|change|enable|disable|delete|test|secret|rotate-secret|token|retry|recover|…`. */
export function addWebhooks(webhooks: Command, cli: Cli): void {
  addList(webhooks, cli);
  addShow(webhooks, cli);
  addRetry(webhooks, cli);
  addRecover(webhooks, cli);
  addCreate(webhooks, cli);
  addChange(webhooks, cli);
  addPut(webhooks, cli);
  addSwitches(webhooks, cli);
  addDelete(webhooks, cli);
  addTest(webhooks, cli);
  addTestFilter(webhooks, cli);
  addSecrets(webhooks, cli);
  addConfirmContact(webhooks, cli);
  addToken(webhooks, cli);
  addPortalLinks(webhooks, cli);
}

function addList(webhooks: Command, cli: Cli): void {
  webhooks
    .command('list')
    .description('list the endpoints, or the events of one endpoint, newest first')
    .argument('[endpoint]', ENDPOINT_HELP)
    .option(
      '--status <status>',
      'endpoints: enabled, disabled; events: pending, held, delivered, failed, cancelled',
    )
    .option('--owner <owner>', 'endpoints: only those of this owner')
    .option('--type <type>', 'only events of this type')
    .option('--response-status <status>', 'only events whose last answer had this HTTP status, such as 503')
    .option(
      '--response-class <class>',
      'only events whose last answer had this class: 2xx, 3xx, 4xx, 5xx, or none without an answer',
    )
    .option('--error-code <code>', 'only events whose last attempt failed with this code, such as timeout')
    .option('--event <event>', 'only the event with this id (evt_…)')
    .option('--external-id <id>', 'endpoints: the one with this id of yours; events: the same')
    .option('--page <number>', 'the page')
    .option('--per-page <number>', 'lines per page, at most 100')
    .option('--json', 'print the page (a list of WebhookEndpoint; of one endpoint, of WebhookEvent)')
    .addHelpText(
      'after',
      `
Examples:
  $ payhook webhooks list
  $ payhook webhooks list https://shop.example.com/payhook
  $ payhook webhooks list we_0199d2c4a7f07a3b9c5d1e2f30415263 --status failed --json
  $ payhook webhooks list https://shop.example.com/payhook --response-class 5xx
`,
    )
    .action((reference: string | undefined, options: ListOptions & LogOptions) =>
      cli.run(() => (reference === undefined ? listEndpoints(cli, options) : list(cli, reference, options))),
    );
}

function addShow(webhooks: Command, cli: Cli): void {
  webhooks
    .command('show')
    .description('show an endpoint, or one of its events with the request and answer of every attempt')
    .argument('<endpoint>', ENDPOINT_HELP)
    .argument('[event]', 'the id of the event (evt_…), which the receiver sees as webhook-id')
    .option('--json', 'print the record (WebhookEndpoint; of an event, WebhookEventWithAttempts)')
    .addHelpText(
      'after',
      `
Examples:
  $ payhook webhooks show https://shop.example.com/payhook
  $ payhook webhooks show https://shop.example.com/payhook evt_0199d2c4a7f07a3b9c5d1e2f30415263
`,
    )
    .action((reference: string, event: string | undefined) =>
      cli.run(() => (event === undefined ? showEndpoint(cli, reference) : showEvent(cli, reference, event))),
    );
}

function addCreate(webhooks: Command, cli: Cli): void {
  withEndpointFields(
    webhooks
      .command('create')
      .description('create an endpoint: events from now on are sent there, or wait there for consumers')
      .argument('[url]', 'http or https, at a public address; none with --pull'),
  )
    .option('--pull', 'without a URL: consumers claim its events')
    .option('--json', 'print the record with its secret (NewWebhookEndpoint)')
    .addHelpText(
      'after',
      `
Prints the id and the secret that signs deliveries. payhook webhooks secret prints the secret again. With --pull, payhook webhooks token
creates the token with which consumers claim events.

Examples:
  $ payhook webhooks create https://shop.example.com/payhook --types 'payout.*,affiliate.updated'
  $ payhook webhooks create --pull --types 'order.*' --description 'the queue of the warehouse'
  $ payhook webhooks create http://127.0.0.1:9000 --json | jq -r .secret
`,
    )
    .action((url: string | undefined, fields: NewEndpointFields) => cli.run(() => create(cli, url, fields)));
}

function addSwitches(webhooks: Command, cli: Cli): void {
  const about = {
    enable: 'enable an endpoint: held events are sent, with a new schedule',
    disable: 'disable an endpoint: events for it are held until it is enabled',
  } as const;
  const examples = {
    enable: `
Examples:
  $ payhook webhooks enable https://shop.example.com/payhook
  $ payhook webhooks enable https://shop.example.com/payhook --held discard
`,
    disable: `
Example:
  $ payhook webhooks disable https://shop.example.com/payhook
`,
  };
  for (const verb of ['enable', 'disable'] as const) {
    const command = webhooks.command(verb).description(about[verb]).argument('<endpoint>', ENDPOINT_HELP);
    if (verb === 'enable')
      command.option('--held <what>', 'what happens to held events: send or discard; default send');
    command
      .option('--json', 'print the record (WebhookEndpoint)')
      .addHelpText('after', examples[verb])
      .action((reference: string, { held }: { held?: string }) =>
        cli.run(() => turn(cli, reference, `${verb}d`, held)),
      );
  }
}

function addDelete(webhooks: Command, cli: Cli): void {
  webhooks
    .command('delete')
    .description('delete an endpoint: its pending events fail, its log stays readable')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook webhooks delete http://127.0.0.1:9000 --yes\n')
    .action((reference: string, { yes }: { yes?: boolean }) =>
      cli.run(() => remove(cli, reference, yes ?? false)),
    );
}

function addTest(webhooks: Command, cli: Cli): void {
  webhooks
    .command('test')
    .description('send webhook_endpoint.test to an endpoint, whatever types it receives')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--json', 'print the record of the log (WebhookEvent)')
    .addHelpText('after', '\nExample:\n  $ payhook webhooks test http://127.0.0.1:9000\n')
    .action((reference: string) => cli.run(() => sendTest(cli, reference)));
}

function addToken(webhooks: Command, cli: Cli): void {
  webhooks
    .command('token')
    .description('create the token with which consumers claim the events of a pull endpoint, and print it')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--overlap <seconds>', 'how long the previous token still works; default 0, at most 7 days')
    .option('--json', 'print the token (WebhookEndpointToken)')
    .addHelpText(
      'after',
      '\nExample:\n  $ export PAYHOOK_ENDPOINT_TOKEN=$(payhook webhooks token we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e)\n',
    )
    .action((reference: string, { overlap = '0' }: { overlap?: string }) =>
      cli.run(async () => {
        const seconds = readInteger('--overlap', overlap, { from: 0, to: LONGEST_OVERLAP });
        const made = await withEndpoint(cli, reference, (client, id) =>
          client.webhookEndpoints.createToken(id, { overlap_seconds: seconds }),
        );
        if (made.token === null)
          cli.terminal.note('The response with the token was lost: run the command again');
        cli.terminal.result(made, () => `${made.token ?? ''}\n`);
      }),
    );
}

function addSecrets(webhooks: Command, cli: Cli): void {
  webhooks
    .command('secret')
    .description(
      'print what the receiver of an endpoint verifies with: the secret, or with --signing ed25519 the public key',
    )
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--json', 'print the secret (WebhookEndpointSecret)')
    .addHelpText(
      'after',
      '\nExample:\n  $ export PAYHOOK_WEBHOOK_SECRET=$(payhook webhooks secret http://127.0.0.1:9000)\n',
    )
    .action((reference: string) =>
      cli.run(() => secret(cli, reference, (client, id) => client.webhookEndpoints.secret(id))),
    );
  webhooks
    .command('rotate-secret')
    .description('create a new secret and print it; the old one also signs for a day')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--overlap <seconds>', 'how long the old secret also signs; 0 if it has leaked, at most 7 days')
    .option('--secret <secret>', 'a secret to use, as @file or - (standard input); default a new one')
    .option('--json', 'print the secret (WebhookEndpointSecret)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook webhooks rotate-secret https://shop.example.com/payhook --overlap 3600\n',
    )
    .action((reference: string, { overlap, secret: given }: { overlap?: string; secret?: string }) =>
      cli.run(async () => {
        const seconds =
          overlap === undefined
            ? undefined
            : readInteger('--overlap', overlap, { from: 0, to: LONGEST_OVERLAP });
        const taken = given === undefined ? undefined : await secretReader().one('--secret', given);
        return secret(cli, reference, (client, id) =>
          client.webhookEndpoints.rotateSecret(id, { overlap_seconds: seconds, secret: taken }),
        );
      }),
    );
}

async function listEndpoints(
  { terminal, account }: Cli,
  options: ListOptions & LogOptions,
): Promise<undefined> {
  for (const name of LOG_OPTIONS) {
    if (name === 'externalId') continue;
    const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (options[name] !== undefined) {
      throw new UsageError(`--${option} filters events: name an endpoint`);
    }
  }
  const { externalId, ...rest } = options;
  const query = { ...queryOf<ListWebhookEndpointsQuery>(rest), external_id: externalId };
  const page = await withClient({ terminal, account }, (client) => client.webhookEndpoints.list(query));
  terminal.result(page, () =>
    describePage(page, 'endpoint', (data) => endpointTable(data, terminal), terminal),
  );
}

async function list(cli: Cli, reference: string, options: ListOptions & LogOptions): Promise<undefined> {
  const { terminal } = cli;
  const { responseStatus, responseClass, errorCode, event, externalId, owner, ...rest } = options;
  if (owner !== undefined) throw new UsageError('--owner filters endpoints: do not name one');
  const query = {
    ...rest,
    response_status: responseStatus,
    response_class: responseClass,
    error_code: errorCode,
    event_id: event,
    external_id: externalId,
  };
  const page = await withEndpoint(cli, reference, (client, id) =>
    client.webhookEndpoints.events(id, queryOf<ListEventsOfWebhookEndpointQuery>(query)),
  );
  terminal.result(page, () => describePage(page, 'event', (data) => deliveryTable(data, terminal), terminal));
}

async function showEndpoint(cli: Cli, reference: string): Promise<undefined> {
  const endpoint = await withEndpoint(cli, reference, (client, id) => client.webhookEndpoints.get(id));
  cli.terminal.result(endpoint, () => describeEndpoint(endpoint, cli.terminal));
}

async function showEvent(cli: Cli, reference: string, event: string): Promise<undefined> {
  const found = await withEndpoint(cli, reference, (client, id) => client.webhookEndpoints.event(id, event));
  cli.terminal.result(found, () => describeDelivery(found, cli.terminal));
}

interface NewEndpointFields extends EndpointFields {
  readonly pull?: true;
}

async function create(
  { terminal, account }: Cli,
  url: string | undefined,
  { pull, ...fields }: NewEndpointFields,
): Promise<undefined> {
  const body = { ...goingTo(url, pull), ...(await readEndpointFields(fields)) };
  const made = await withClient({ terminal, account }, (client) => client.webhookEndpoints.create(body));
  if (made.secret === null) {
    terminal.note(`The response with the secret was lost. Get it with: payhook webhooks secret ${made.id}`);
  }
  terminal.result(made, () => describeNew(made));
}

function describeNew({ id, secret: made, event_types }: NewWebhookEndpoint): string {
  const what = event_types === null ? 'every event' : printable(event_types.join(', '));
  return `${id}\n${made ?? ''}\nReceives ${what}. The second line is the secret that signs deliveries.\n`;
}

async function turn(
  cli: Cli,
  reference: string,
  status: WebhookEndpoint['status'],
  held?: string,
): Promise<undefined> {
  // the server judges the word, and names the rule
  const body = { status, held } as ChangeWebhookEndpointBody;
  const endpoint = await withEndpoint(cli, reference, (client, id) =>
    client.webhookEndpoints.change(id, body),
  );
  const enabled = held === 'discard' ? 'held events are cancelled' : 'held events are being sent';
  const effect = status === 'enabled' ? enabled : 'events for it are held';
  cli.terminal.result(endpoint, () => `${endpoint.id} is ${status}: ${effect}.\n`);
}

async function remove(cli: Cli, reference: string, yes: boolean): Promise<undefined> {
  requireYes(cli.terminal, yes);
  const id = await withEndpoint(cli, reference, async (client, found) => {
    const endpoint = await client.webhookEndpoints.get(found);
    const question = `Delete ${found} (${printable(placeOf(endpoint))})? Its pending events fail.`;
    await confirm(cli.terminal, question, yes);
    await client.webhookEndpoints.delete(found);
    return found;
  });
  cli.terminal.result({ id, object: 'webhook_endpoint', deleted: true }, () => `Deleted ${id}.\n`);
}

async function sendTest(cli: Cli, reference: string): Promise<undefined> {
  const event = await withEndpoint(cli, reference, (client, id) => client.webhookEndpoints.test(id));
  cli.terminal.result(
    event,
    () =>
      `${event.id}\nIt is on its way. To see the result: ` +
      `payhook webhooks show ${event.webhook_endpoint_id} ${event.id}\n`,
  );
}

async function secret(
  cli: Cli,
  reference: string,
  ask: (client: Client, id: string) => Promise<WebhookEndpointSecret>,
): Promise<undefined> {
  const got = await withEndpoint(cli, reference, async (client, id) => {
    const answer = await ask(client, id);
    // the replay of a rotation whose first response was lost does not contain it
    return answer.secret === null ? client.webhookEndpoints.secret(id) : answer;
  });
  cli.terminal.result(got, () => `${got.secret ?? ''}\n`);
  const until = got.previous_secret_expires_at;
  if (got.public_keys_url !== null)
    cli.terminal.note(`Receivers find the public keys at ${got.public_keys_url}`);
  if (until !== null) cli.terminal.note(`The previous secret also signs until ${exactTime(until)} (UTC).`);
}
