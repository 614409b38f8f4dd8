import { type Command, Option } from 'commander';
import type {
  ChangeOAuthApplicationBody,
  CreateOAuthApplicationBody,
  ListOAuthApplicationsQuery,
  NewOAuthApplication,
  OAuthApplication,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { collect } from '../command/pairs.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { APPLICATION_HELP, findApplication } from '../finders/application.ts';
import { factLines } from '../terminal/facts.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

interface Fields {
  readonly name?: string;
  readonly redirectUri?: readonly string[];
  readonly scope?: readonly string[];
}

const HELP = `
Prints the secret, which is shown only once, and the id, which is the client_id. Redirect URIs must match exactly. They use https, or
http on a loopback host; public applications may also use private-use schemes, such as com.example.app:/callback.

Examples:
  $ payhook oauth-applications create --name "Shop Sync" --redirect-uri https://sync.example.com/callback \\
      --scope affiliates,webhooks
  $ payhook oauth-applications create --name "Desk" --public --redirect-uri http://127.0.0.1/callback --scope reports
`;

/** `payhook oauth-applications list|show|create|change|rotate-secret|delete`. */
export function addOAuthApplications(applications: Command, cli: Cli): void {
  addReading(applications, cli);
  withFields(
    applications
      .command('create')
      .description('register an application; the secret is shown once')
      .requiredOption('--name <name>', 'the name merchants see when asked for access'),
  )
    .option('--public', 'it runs on a device, has no secret and uses PKCE')
    .option('--json', 'print the record with its secret (NewOAuthApplication)')
    .addHelpText('after', HELP)
    .action((options: Fields & { name: string; public?: boolean }) => cli.run(() => create(cli, options)));
  withFields(
    applications
      .command('change')
      .description('change the given fields of an application; lists are replaced as a whole')
      .argument('<application>', APPLICATION_HELP)
      .option('--name <name>', 'the name merchants see when asked for access'),
  )
    .option('--json', 'print the record (OAuthApplication)')
    .addHelpText(
      'after',
      `
Removed scopes can no longer be granted; existing grants keep them.

Example:
  $ payhook oauth-applications change "Shop Sync" --scope affiliates --scope reports
`,
    )
    .action((reference: string, fields: Fields) => cli.run(() => change(cli, reference, fields)));
  addEnding(applications, cli);
}

function addReading(applications: Command, cli: Cli): void {
  withPages(
    applications
      .command('list')
      .description('list applications, newest first')
      .addOption(new Option('--kind <kind>', 'only this kind').choices(['confidential', 'public'])),
    { nouns: 'applications', sort: 'id, created_at, name' },
  )
    .option('--json', 'print the page (a list of OAuthApplication)')
    .action((options: ListOptions & { kind?: 'confidential' | 'public' }) =>
      cli.run(() => list(cli, queryOf<ListOAuthApplicationsQuery>(options))),
    );
  applications
    .command('show')
    .description('show an application, without its secret')
    .argument('<application>', APPLICATION_HELP)
    .option('--json', 'print the record (OAuthApplication)')
    .addHelpText('after', '\nExample:\n  $ payhook oauth-applications show "Shop Sync"\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
}

function addEnding(applications: Command, cli: Cli): void {
  applications
    .command('rotate-secret')
    .description('create a new secret and print it; the old one stops working at once, tokens stay valid')
    .argument('<application>', APPLICATION_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record with its secret (NewOAuthApplication)')
    .addHelpText('after', '\nExample:\n  $ payhook oauth-applications rotate-secret "Shop Sync" --yes\n')
    .action((reference: string, { yes }: { yes?: boolean }) => cli.run(() => rotate(cli, reference, yes)));
  applications
    .command('delete')
    .description('delete an application; all its grants end, in every account')
    .argument('<application>', APPLICATION_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook oauth-applications delete "Shop Sync"\n')
    .action((reference: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, reference, yes)));
}

function withFields(command: Command): Command {
  const collectList = (value: string, before: readonly string[] = []) => [
    ...before,
    ...value.split(',').map((scope) => scope.trim()),
  ];
  return command
    .option('--redirect-uri <uri>', 'where merchants are sent back to; may be repeated', collect)
    .option(
      '--scope <scopes>',
      'the most scopes it can be granted, separated by commas; may be repeated',
      collectList,
    );
}

/** The fields for the API, which validates the scopes. */
function fieldsOf({ name, redirectUri, scope }: Fields): ChangeOAuthApplicationBody {
  return { name, redirect_uris: redirectUri, scopes: scope as ChangeOAuthApplicationBody['scopes'] };
}

async function list({ terminal, account }: Cli, query: ListOAuthApplicationsQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.oauthApplications.list(query));
  terminal.result(page, () =>
    describePage(page, 'OAuth application', (data) => applicationTable(data, terminal), terminal),
  );
}

function applicationTable(applications: readonly OAuthApplication[], { paint }: Terminal): string {
  return table(
    ['ID', 'NAME', 'KIND', 'CREATED (UTC)', 'SCOPES'].map((heading) => ({ heading })),
    applications.map(({ id, name, kind, created_at, scopes }) => [
      id,
      name,
      kind,
      shortTime(created_at),
      scopes.join(', '),
    ]),
    paint.faint,
  );
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const application = await withClient({ terminal, account }, (client) => findApplication(client, reference));
  terminal.result(application, () => describe(application, terminal));
}

function describe(application: OAuthApplication, { paint }: Terminal): string {
  const { id, name, kind, redirect_uris, scopes, client_secret_hint, created_at } = application;
  const facts = factLines([
    ...redirect_uris.map((uri) => ['Redirect URI', uri] as const),
    ['Scopes', scopes.join(', ')],
    ['Secret', client_secret_hint],
    ['Created', `${exactTime(created_at)} (UTC)`],
  ]);
  return `${paint.strong(printable(name))}  ${id}  ${kind}\n${facts}`;
}

async function create(
  { terminal, account }: Cli,
  { public: isPublic = false, ...fields }: Fields & { name: string; public?: boolean },
): Promise<undefined> {
  const { redirectUri, scope } = fields;
  if (redirectUri === undefined)
    throw new UsageError('--redirect-uri is required: where merchants are sent back to');
  if (scope === undefined)
    throw new UsageError('--scope is required: the most the application can be granted');
  const body = { ...fieldsOf(fields), kind: isPublic ? 'public' : 'confidential' };
  const made = await withClient({ terminal, account }, (client) =>
    client.oauthApplications.create(body as CreateOAuthApplicationBody),
  );
  tellSecret(terminal, made);
}

/** Prints a new secret. Throws CommandError if the response that contained it was lost. */
function tellSecret(terminal: Terminal, made: NewOAuthApplication): void {
  const { id, kind, client_secret: secret } = made;
  const name = printable(made.name);
  if (secret === null && kind === 'confidential') {
    throw new CommandError(
      `the response with the secret was lost: create another one with payhook oauth-applications rotate-secret ${id}`,
    );
  }
  terminal.result(made, () =>
    secret === null
      ? `${terminal.paint.strong(id)}\n${name} is registered with this client_id. It is public: it has no secret and uses PKCE.\n`
      : `${terminal.paint.strong(secret)}\n${name} (${id}, the client_id). The secret is shown only once.\n`,
  );
}

async function change({ terminal, account }: Cli, reference: string, fields: Fields): Promise<undefined> {
  const changes = fieldsOf(fields);
  if (Object.values(changes).every((value) => value === undefined)) {
    throw new UsageError('nothing to change: give --name, --redirect-uri or --scope');
  }
  const changed = await withClient({ terminal, account }, async (client) =>
    client.oauthApplications.change((await findApplication(client, reference)).id, changes),
  );
  terminal.result(changed, () => describe(changed, terminal));
}

async function rotate({ terminal, account }: Cli, reference: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const made = await withClient({ terminal, account }, async (client) => {
    const found = await findApplication(client, reference);
    const question = `Create a new secret for ${printable(found.name)} (${found.id})? The old one stops working at once.`;
    await confirm(terminal, question, yes);
    return client.oauthApplications.rotateSecret(found.id);
  });
  tellSecret(terminal, made);
}

async function remove({ terminal, account }: Cli, reference: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const { id, name } = await withClient({ terminal, account }, async (client) => {
    const found = await findApplication(client, reference);
    const question = `Delete ${printable(found.name)} (${found.id})? All its grants end, in every account.`;
    await confirm(terminal, question, yes);
    await client.oauthApplications.delete(found.id);
    return found;
  });
  terminal.result(
    { id, object: 'oauth_application', deleted: true },
    () => `Deleted ${printable(name)} (${id}).\n`,
  );
}
