import { type Command, Option } from 'commander';
import type { ListUsersQuery, User } from '../../client/client.ts';
import { ROLE_NAMES, ROLES } from '../../contract/roles.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { accountFor } from '../command/current-account.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient, withPlatform } from '../command/session.ts';
import { findUser, USER_HELP } from '../finders/user.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

interface InviteOptions {
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly role: User['role'];
}

/** `payhook users list|invite|change|remove|erase|reset-password|setup-link`. */
export function addUsers(users: Command, cli: Cli): void {
  withPages(
    users
      .command('list')
      .description('list users, newest first')
      .addOption(new Option('--status <status>', 'only these').choices(['active', 'invited', 'removed']))
      .addOption(new Option('--role <role>', 'only these').choices(ROLE_NAMES)),
    { nouns: 'users', sort: 'id, created_at, name, email' },
  )
    .option('--json', 'print the page (a list of User)')
    .addHelpText('after', '\nRemoved users are listed only with --status removed.\n')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListUsersQuery>(options))));
  users
    .command('invite')
    .alias('create')
    .description('invite a user and print a link to join')
    .argument('[email]', 'the e-mail address to sign in with')
    .addOption(new Option('--email <email>', 'the same, as earlier versions had it').hideHelp())
    .option('--name <name>', 'the name; without it, the part of the address before the @')
    .addOption(new Option('--role <role>', 'what the user may do').choices(ROLE_NAMES).default('member'))
    .option('--json', 'print the record with its link (NewUser)')
    .addHelpText(
      'after',
      `
Roles:
${ROLE_NAMES.map((role) => `  ${role.padEnd(10)}${ROLES[role].summary}`).join('\n')}

Hand over the link, which works once, for 7 days; the server also sends it by e-mail where SMTP_URL is set. An address that
signs in to another account joins with its password. The link begins with BASE_URL (or AUTHORIZE_URL).

Examples:
  $ payhook users invite finance@example.com --role finance
  $ payhook users invite ada@example.com --name "Ada Lovelace" --role owner
`,
    )
    .action((email: string | undefined, { email: option, name, role }: InviteOptions) =>
      cli.run(() => invite(cli, { email: email ?? option, name, role })),
    );
  users
    .command('change')
    .description('change the name or the role of a user')
    .argument('<user>', USER_HELP)
    .option('--name <name>', 'the new name')
    .addOption(new Option('--role <role>', 'what the user may do from now on').choices(ROLE_NAMES))
    .option('--json', 'print the record (User)')
    .addHelpText(
      'after',
      '\nThe grants of an owner to applications end when the user is no longer an owner.\n\nExample:\n  $ payhook users change ada@example.com --role viewer\n',
    )
    .action((user: string, fields: { name?: string; role?: User['role'] }) =>
      cli.run(() => change(cli, user, fields)),
    );
  users
    .command('remove')
    .description('remove a user: their sessions, links and grants in this account end at once')
    .argument('<user>', USER_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, removed}')
    .addHelpText('after', '\nExample:\n  $ payhook users remove ada@example.com\n')
    .action((user: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, user, yes)));
  addErase(users, cli);
  users
    .command('reset-password')
    .description('print a link where a user chooses a new password')
    .argument('<user>', USER_HELP)
    .option('--json', 'print the link (PasswordReset)')
    .addHelpText(
      'after',
      '\nThe link works once, for a day. The old password stays valid until then. With an API key, it is refused for a user of\nseveral accounts, because the password is valid for all of them.\n\nExample:\n  $ payhook users reset-password ada@example.com\n',
    )
    .action((user: string) => cli.run(() => resetPassword(cli, user)));
  users
    .command('setup-link')
    .description('print a link that creates the first owner, if there is no user yet')
    .option('--json', 'print {object, url}')
    .addHelpText('after', '\nThe link works once, for a day. Earlier links stop working.\n')
    .action(() => cli.run(() => setUpLink(cli)));
}

function addErase(users: Command, cli: Cli): void {
  users
    .command('erase')
    .description('remove a user and erase the person behind it; the id stays')
    .argument('<user>', `${USER_HELP}; for a removed user, the id`)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (User)')
    .addHelpText(
      'after',
      '\nThe name, the e-mail address and the addresses of sessions are permanently erased in this account. The audit log keeps the id.\n\nExamples:\n  $ payhook users erase ada@example.com\n  $ payhook users erase usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e --yes\n',
    )
    .action((user: string, { yes }: { yes?: boolean }) => cli.run(() => erase(cli, user, yes)));
}

async function list({ terminal, account }: Cli, query: ListUsersQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.users.list(query));
  terminal.result(page, () => describePage(page, 'user', (data) => userTable(data, terminal), terminal));
}

function userTable(users: readonly User[], { paint }: Terminal): string {
  return table(
    ['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATUS', 'CREATED (UTC)'].map((heading) => ({ heading })),
    users.map((user) => [user.id, user.email, user.name, user.role, user.status, shortTime(user.created_at)]),
    paint.faint,
  );
}

async function invite({ terminal, account }: Cli, { email, name, role }: InviteOptions): Promise<undefined> {
  if (email === undefined)
    throw new UsageError('name the e-mail address of the user: payhook users invite <email>');
  const made = await withClient({ terminal, account }, (client) =>
    client.users.create({ email, name: name ?? email.replace(/@.*/, ''), role }),
  );
  const link = made.invitation_url;
  if (link === null) throw lostLink(made.id);
  terminal.result(
    made,
    () =>
      `${terminal.paint.strong(link)}\nFor ${printable(made.name)} (${made.id}) to choose a password. The link works once, for 7 days.\n${emailed(made)}`,
  );
}

const emailed = ({ is_emailed }: { is_emailed: boolean }) =>
  is_emailed ? 'It is also sent by e-mail.\n' : '';

const lostLink = (id: string) =>
  new CommandError(
    `the response with the link was lost: create another one with payhook users reset-password ${id}`,
  );

async function change(
  { terminal, account }: Cli,
  wanted: string,
  { name, role }: { name?: string; role?: User['role'] },
): Promise<undefined> {
  if (name === undefined && role === undefined)
    throw new UsageError('nothing to change: give --name or --role');
  const user = await withClient({ terminal, account }, async (client) =>
    client.users.change(await findUser(client, wanted), { name, role }),
  );
  terminal.result(user, () => `${printable(user.name)} (${user.id}) is ${user.role} now.\n`);
}

async function remove({ terminal, account }: Cli, wanted: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const id = await withClient({ terminal, account }, async (client) => {
    const user = await findUser(client, wanted);
    await confirm(terminal, `Remove ${printable(wanted)}? Sessions end at once.`, yes);
    await client.users.delete(user);
    return user;
  });
  terminal.result({ id, object: 'user', removed: true }, () => `Removed ${id}.\n`);
}

async function erase({ terminal, account }: Cli, wanted: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const erased = await withClient({ terminal, account }, async (client) => {
    const user = await findUser(client, wanted);
    await confirm(terminal, `Erase the person behind ${printable(wanted)}? This cannot be undone.`, yes);
    return client.users.erase(user);
  });
  terminal.result(erased, () => `Erased ${erased.id}.\n`);
}

async function resetPassword({ terminal, account }: Cli, wanted: string): Promise<undefined> {
  const reset = await withClient({ terminal, account }, async (client) =>
    client.users.resetPassword(await findUser(client, wanted)),
  );
  const link = reset.reset_url;
  if (link === null) throw lostLink(reset.user_id);
  terminal.result(
    reset,
    () =>
      `${terminal.paint.strong(link)}\nIt works once, until ${shortTime(reset.expires_at)} UTC.\n${emailed(reset)}`,
  );
}

async function setUpLink({ terminal, account }: Cli): Promise<undefined> {
  const link = await withPlatform(terminal, async ({ accounts, config }) => {
    const { uuid } = accountFor(await accounts.list(), account(), config.dataDir);
    return accounts.setUpLink(uuid);
  });
  if (link === null) {
    throw new CommandError('the account already has users: invite others with payhook users invite');
  }
  terminal.result(
    { object: 'set_up_link', url: link },
    () => `${terminal.paint.strong(link)}\nIt creates the first owner. The link works once, for 24 hours.\n`,
  );
}
