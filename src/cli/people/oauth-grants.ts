import { type Command, Option } from 'commander';
import type { ListOAuthGrantsQuery, OAuthGrant } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { factLines } from '../terminal/facts.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

interface GrantFilters extends ListOptions {
  readonly application?: string;
}

const GRANT_HELP = 'its id (grant_…)';

/** `payhook oauth-grants list|show|revoke`. */
export function addOAuthGrants(grants: Command, cli: Cli): void {
  withPages(
    grants
      .command('list')
      .description('list grants, newest first')
      .addOption(new Option('--status <status>', 'only this status').choices(['active', 'revoked']))
      .option('--application <id>', 'only grants to the application with this id (app_…)'),
    { nouns: 'grants', sort: 'id, created_at, last_used_at' },
  )
    .option('--json', 'print the page (a list of OAuthGrant)')
    .addHelpText('after', '\nExample:\n  $ payhook oauth-grants list --status active\n')
    .action((options: GrantFilters) => cli.run(() => list(cli, options)));
  grants
    .command('show')
    .description('show a grant')
    .argument('<grant>', GRANT_HELP)
    .option('--json', 'print the record (OAuthGrant)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook oauth-grants show grant_0199d2c4a7f07a3b9c5d1e2f30415263\n',
    )
    .action((id: string) => cli.run(() => show(cli, id)));
  grants
    .command('revoke')
    .description('revoke a grant: its tokens stop working at once')
    .argument('<grant>', GRANT_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, revoked}')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook oauth-grants revoke grant_0199d2c4a7f07a3b9c5d1e2f30415263\n',
    )
    .action((id: string, { yes }: { yes?: boolean }) => cli.run(() => revoke(cli, id, yes)));
}

async function list({ terminal, account }: Cli, { application, ...rest }: GrantFilters): Promise<undefined> {
  const query = { ...queryOf<ListOAuthGrantsQuery>(rest), application_id: application };
  const page = await withClient({ terminal, account }, (client) => client.oauthGrants.list(query));
  terminal.result(page, () => describePage(page, 'grant', (data) => grantTable(data, terminal), terminal));
}

function grantTable(grants: readonly OAuthGrant[], { paint }: Terminal): string {
  return table(
    ['ID', 'APPLICATION', 'GRANTED BY', 'STATUS', 'CREATED (UTC)', 'LAST USED', 'SCOPES'].map((heading) => ({
      heading,
    })),
    grants.map((grant) => [
      grant.id,
      grant.application_name,
      grant.user_name,
      grant.status,
      shortTime(grant.created_at),
      grant.last_used_at === null ? 'never' : shortTime(grant.last_used_at),
      grant.scopes.join(', '),
    ]),
    paint.faint,
  );
}

async function show({ terminal, account }: Cli, id: string): Promise<undefined> {
  const grant = await withClient({ terminal, account }, (client) => client.oauthGrants.get(id));
  terminal.result(grant, () => describe(grant, terminal));
}

const BECAUSE: Readonly<Record<NonNullable<OAuthGrant['revoked_because']>, string>> = {
  merchant: 'this account revoked it',
  application: 'the application gave it up',
  reuse: 'a code or refresh token was used twice',
  deleted: 'the application was deleted',
  user_removed: 'the user who granted it was removed',
  user_not_owner: 'the user who granted it is no longer an owner',
};

function describe(grant: OAuthGrant, { paint }: Terminal): string {
  const status = grant.status === 'active' ? paint.good(grant.status) : paint.bad(grant.status);
  const facts = factLines([
    ['Application', `${grant.application_name} (${grant.application_id})`],
    ['Granted by', `${grant.user_name} (${grant.user_id})`],
    ['Scopes', grant.scopes.join(', ')],
    ['Last used', grant.last_used_at === null ? 'never' : exactTime(grant.last_used_at)],
    ['Revoked', grant.revoked_at && exactTime(grant.revoked_at)],
    ['Because', grant.revoked_because && BECAUSE[grant.revoked_because]],
    ['Created', `${exactTime(grant.created_at)} (UTC)`],
  ]);
  return `${paint.strong(grant.id)}  ${status}\n${facts}`;
}

async function revoke({ terminal, account }: Cli, id: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const grant = await withClient({ terminal, account }, async (client) => {
    const found = await client.oauthGrants.get(id);
    const application = printable(found.application_name);
    await confirm(
      terminal,
      `Revoke the grant ${id} to ${application}? Its tokens stop working at once.`,
      yes,
    );
    await client.oauthGrants.revoke(id);
    return found;
  });
  terminal.result(
    { id, object: 'oauth_grant', revoked: true },
    () => `Revoked ${id}: it no longer gives ${printable(grant.application_name)} access.\n`,
  );
}
