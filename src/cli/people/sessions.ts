import type { Command } from 'commander';
import type { Client, ListSessionsQuery, Session } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { findUser, USER_HELP } from '../finders/user.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

interface SessionFilters extends ListOptions {
  readonly user?: string;
}

/** `payhook sessions list|end`. */
export function addSessions(sessions: Command, cli: Cli): void {
  withPages(
    sessions
      .command('list')
      .description('list active sessions, newest first')
      .option('--user <user>', `only sessions of a user: ${USER_HELP}`),
    { nouns: 'sessions', sort: 'id, created_at, last_seen_at' },
  )
    .option('--json', 'print the page (a list of Session)')
    .addHelpText('after', '\nExample:\n  $ payhook sessions list --user ada@example.com\n')
    .action((options: SessionFilters) => cli.run(() => list(cli, options)));
  sessions
    .command('end')
    .description('end a session at once; its user can sign in again')
    .argument('<session>', 'its id (ses_…)')
    .option('--json', 'print {id, object, ended}')
    .addHelpText('after', '\nExample:\n  $ payhook sessions end ses_0199d2c4a7f07a3b9c5d1e2f30415263\n')
    .action((id: string) => cli.run(() => end(cli, id)));
}

async function list({ terminal, account }: Cli, { user, ...rest }: SessionFilters): Promise<undefined> {
  const [page, emails] = await withClient({ terminal, account }, async (client) => {
    const user_id = user === undefined ? undefined : await findUser(client, user);
    const found = await client.sessions.list({ ...queryOf<ListSessionsQuery>(rest), user_id });
    const named =
      terminal.json || found.data.length === 0 ? new Map<string, string>() : await emailsOf(client);
    return [found, named] as const;
  });
  terminal.result(page, () =>
    describePage(page, 'session', (data) => sessionTable(data, emails, terminal), terminal),
  );
}

async function emailsOf(client: Client): Promise<Map<string, string>> {
  const emails = new Map<string, string>();
  for await (const { id, email } of client.users.list()) emails.set(id, email);
  return emails;
}

/** One line per session. The browser is last, because its name may be long. */
function sessionTable(
  sessions: readonly Session[],
  emails: ReadonlyMap<string, string>,
  { paint }: Terminal,
): string {
  return table(
    ['ID', 'USER', 'ADDRESS', 'CREATED (UTC)', 'LAST SEEN', 'ENDS', 'BROWSER'].map((heading) => ({
      heading,
    })),
    sessions.map((session) => [
      session.id,
      emails.get(session.user_id) ?? session.user_id,
      session.address ?? '',
      shortTime(session.created_at),
      shortTime(session.last_seen_at),
      shortTime(session.expires_at),
      session.user_agent ?? '',
    ]),
    paint.faint,
  );
}

async function end({ terminal, account }: Cli, id: string): Promise<undefined> {
  await withClient({ terminal, account }, (client) => client.sessions.end(id));
  terminal.result({ id, object: 'session', ended: true }, () => `Ended ${id}.\n`);
}
