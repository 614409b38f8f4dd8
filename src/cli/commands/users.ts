import { type Command, Option } from 'commander';
import { type Client, everyItem } from '../../client/client.ts';
import type { Role, User } from '../../client/types.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { CommandError } from '../errors.ts';
import { chooseAccount, withClient, withPlatform } from '../session.ts';
import { printable, table } from '../table.ts';
import { shortTime } from '../time.ts';

const ROLES = ['owner', 'member', 'viewer'];

/** `payhook users list|create|remove|reset-password|setup-link`. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command('users').description('people who sign in, and what they may do');
  users
    .command('list')
    .description('list the users')
    .action(() => cli.run(() => list(cli)));
  users
    .command('create')
    .description('invite a user; prints a link where a password is chosen')
    .requiredOption('--email <email>', 'the e-mail address to sign in with')
    .requiredOption('--name <name>', 'the name')
    .addOption(new Option('--role <role>', 'what the user may do').choices(ROLES).default('member'))
    .addHelpText(
      'after',
      `
Owners may do everything; members everything but API keys, users and applications; viewers may read. Nothing is mailed:
hand over the link, which works once, for 7 days. BASE_URL (or AUTHORIZE_URL) is the address it begins with.

Example:
  $ payhook users create --email ada@example.com --name "Ada Lovelace" --role owner
`,
    )
    .action((user: { email: string; name: string; role: Role }) => cli.run(() => create(cli, user)));
  users
    .command('remove')
    .description('remove a user: sessions and links end at once')
    .argument('<user>', 'the id (usr_…) or the e-mail address')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  $ payhook users remove ada@example.com\n')
    .action((user: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, user, yes)));
  users
    .command('reset-password')
    .description('print a link where a user chooses a new password')
    .argument('<user>', 'the id (usr_…) or the e-mail address')
    .addHelpText('after', '\nThe link works once, for a day; the old password stays until it is used.\n')
    .action((user: string) => cli.run(() => resetPassword(cli, user)));
  users
    .command('setup-link')
    .description('print a link that makes the first owner, while there is no user')
    .addHelpText('after', '\nThe link works once, for a day; the ones before it end.\n')
    .action(() => cli.run(() => setUpLink(cli)));
}

const everyUser = (client: Client) => everyItem((query) => client.listUsers({ ...query, sort: 'id' }));

async function list({ terminal, account }: Cli): Promise<undefined> {
  const users: User[] = [];
  await withClient({ terminal, account: account() }, async (client) => {
    for await (const user of everyUser(client)) users.push(user);
  });
  terminal.result({ data: users }, () =>
    table(
      ['ID', 'E-MAIL', 'NAME', 'ROLE', 'STATUS', 'CREATED'].map((heading) => ({ heading })),
      users.map((user) => [
        user.id,
        user.email,
        user.name,
        user.role,
        user.status,
        shortTime(user.created_at),
      ]),
      terminal.paint.faint,
    ),
  );
}

async function create(
  { terminal, account }: Cli,
  user: { email: string; name: string; role: Role },
): Promise<undefined> {
  const { email, name, role } = user;
  const made = await withClient({ terminal, account: account() }, (client) =>
    client.createUser({ email, name, role }),
  );
  const link = made.invitation_url;
  if (link === null) throw lostLink(made.id);
  terminal.result(
    made,
    () =>
      `${terminal.paint.strong(link)}\nFor ${printable(made.name)} (${made.id}) to choose a password. The link works once, for 7 days.\n`,
  );
}

const lostLink = (id: string) =>
  new CommandError(
    `the answer with the link was lost on the way: make another one with payhook users reset-password ${id}`,
  );

async function remove({ terminal, account }: Cli, wanted: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const id = await withClient({ terminal, account: account() }, async (client) => {
    const user = await userId(client, wanted);
    await confirm(terminal, `This removes ${printable(wanted)}; sessions end at once.`, yes);
    await client.removeUser(user);
    return user;
  });
  terminal.result({ id, object: 'user', removed: true }, () => `${id} is removed.\n`);
}

async function resetPassword({ terminal, account }: Cli, wanted: string): Promise<undefined> {
  const reset = await withClient({ terminal, account: account() }, async (client) =>
    client.resetUserPassword(await userId(client, wanted)),
  );
  const link = reset.reset_url;
  if (link === null) throw lostLink(reset.user_id);
  terminal.result(
    reset,
    () => `${terminal.paint.strong(link)}\nIt works once, until ${shortTime(reset.expires_at)} UTC.\n`,
  );
}

async function userId(client: Client, wanted: string): Promise<string> {
  if (wanted.startsWith('usr_')) return wanted;
  const { data } = await client.listUsers({ email: wanted });
  const [user] = data;
  if (user) return user.id;
  throw new CommandError(`there is no user with the e-mail address ${wanted}`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}

async function setUpLink({ terminal, account }: Cli): Promise<undefined> {
  const link = await withPlatform(terminal, async ({ accounts }) => {
    const { uuid } = chooseAccount(await accounts.list(), account());
    return accounts.setUpLink(uuid);
  });
  if (link === null) {
    throw new CommandError('the account has users already: invite others with payhook users create');
  }
  terminal.result(
    { object: 'set_up_link', url: link },
    () => `${terminal.paint.strong(link)}\nIt makes the first owner. The link works once, for 24 hours.\n`,
  );
}
