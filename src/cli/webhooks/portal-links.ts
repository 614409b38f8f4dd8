import type { Command } from 'commander';
import type {
  CreatePortalLinkBody,
  ListPortalLinksQuery,
  NewPortalLink,
  PortalLink,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { readInteger } from '../command/numbers.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { ENDPOINT_HELP } from '../finders/endpoint.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';
import { withEndpoint } from './recover.ts';

const LONGEST_TTL = 86_400;

interface LinkOptions {
  readonly owner?: boolean;
  readonly readOnly?: boolean;
  readonly types?: string;
  readonly ttl?: string;
}

const HELP = `
The link opens the portal once, in a browser or in a frame of a page whose origin is allowed with payhook account change
--portal-origins. The portal shows the endpoint with its log and secret, and nothing else of the account. It ends after an hour.

Examples:
  $ payhook webhooks portal-link https://shop.example.com/payhook
  $ payhook webhooks portal-link https://shop.example.com/payhook --owner --types 'order.*' --ttl 60 --json | jq -r .url
`;

/** `payhook webhooks portal-link|portal-links|revoke-portal-link`. */
export function addPortalLinks(webhooks: Command, cli: Cli): void {
  webhooks
    .command('portal-link')
    .description('create a link that opens a portal for the customer who receives at an endpoint')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--owner', 'a portal for all endpoints with the same owner')
    .option('--read-only', 'a portal that cannot change or send anything and shows no secret')
    .option(
      '--types <types>',
      'the event types that can be chosen there; all = every type; default the current types',
    )
    .option('--ttl <seconds>', 'how long the link can be opened; default 300, at most a day')
    .option('--json', 'print the record with the link (NewPortalLink)')
    .addHelpText('after', HELP)
    .action((reference: string, options: LinkOptions) => cli.run(() => create(cli, reference, options)));
  withPages(
    webhooks
      .command('portal-links')
      .description('list the portal links of the last month, newest first')
      .option('--status <status>', 'unused, open, ended, expired, revoked')
      .option('--owner <owner>', 'only portals for all endpoints of this owner'),
    { nouns: 'links', sort: 'id, created_at' },
  )
    .option('--json', 'print the page (a list of PortalLink)')
    .addHelpText('after', '\nExample:\n  $ payhook webhooks portal-links --status open\n')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListPortalLinksQuery>(options))));
  webhooks
    .command('revoke-portal-link')
    .description('revoke a portal link; an open portal ends at once')
    .argument('<link>', 'its id (pl_…)')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, revoked}')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook webhooks revoke-portal-link pl_0199d2c4a7f07a3b9c5d1e2f30415263 --yes\n',
    )
    .action((id: string, { yes }: { yes?: boolean }) => cli.run(() => revoke(cli, id, yes)));
}

async function create(
  cli: Cli,
  reference: string,
  { owner, readOnly, types, ttl }: LinkOptions,
): Promise<undefined> {
  const body: CreatePortalLinkBody = {
    all_of_owner: owner,
    read_only: readOnly,
    event_types: types === 'all' ? null : types?.split(',').map((type) => type.trim()),
    ttl_seconds: ttl === undefined ? undefined : readInteger('--ttl', ttl, { from: 10, to: LONGEST_TTL }),
  };
  const made = await withEndpoint(cli, reference, (client, id) =>
    client.webhookEndpoints.createPortalLink(id, body),
  );
  if (made.url === null) {
    throw new CommandError(`the response with the link was lost: create another one, and revoke ${made.id}`);
  }
  cli.terminal.result(made, () => describeNew(made));
}

function describeNew({ id, url, owner, expires_at }: NewPortalLink): string {
  const what = owner === null ? 'one endpoint' : 'all endpoints of its owner';
  return `${url}\n${id} opens a portal for ${what}, once, until ${exactTime(expires_at)} (UTC).\n`;
}

async function list({ terminal, account }: Cli, query: ListPortalLinksQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.portalLinks.list(query));
  terminal.result(page, () =>
    describePage(page, 'portal link', (data) => linkTable(data, terminal), terminal),
  );
}

function linkTable(links: readonly PortalLink[], { paint }: Terminal): string {
  return table(
    ['ID', 'STATUS', 'CREATED (UTC)', 'ENDS', 'READ-ONLY', 'OF'].map((heading) => ({ heading })),
    links.map((link) => [
      link.id,
      link.status,
      shortTime(link.created_at),
      shortTime(link.ends_at ?? link.expires_at),
      link.read_only ? 'yes' : '',
      link.owner ?? link.webhook_endpoint_id,
    ]),
    paint.faint,
  );
}

async function revoke({ terminal, account }: Cli, id: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  await withClient({ terminal, account }, async (client) => {
    await confirm(terminal, `Revoke ${id}? An open portal ends at once.`, yes);
    await client.portalLinks.revoke(id);
  });
  terminal.result({ id, object: 'portal_link', revoked: true }, () => `Revoked ${id}.\n`);
}
