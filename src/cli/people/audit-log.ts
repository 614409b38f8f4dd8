import type { Command } from 'commander';
import type { AuditEntry, Client, ListAuditLogQuery } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { findNames, type Names } from '../finders/actors.ts';
import { findUser } from '../finders/user.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface AuditFilters extends ListOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: string;
  readonly before?: string;
}

const KINDS: readonly string[] = ['key', 'user', 'application', 'operator', 'portal'];

const HELP = `
The operator uses the command line on the server's machine. Commissions and events sent by programs are not listed here: they have
their own records. USER is the person on whose behalf an application acted. --json includes the ids.

Examples:
  $ payhook audit-log list --since 2026-09-01
  $ payhook audit-log list --action completePayout
  $ payhook audit-log list --actor ada@example.com --json | jq -r '.data[] | [.created_at, .action, .target] | @tsv'
`;

/** `payhook audit-log list`. */
export function addAuditLog(log: Command, cli: Cli): void {
  withPages(
    log
      .command('list')
      .description('list every change by a person, a key or an application, newest first')
      .option('--actor <actor>', `${KINDS.join(', ')}; or an id, or the e-mail address of a user`)
      .option('--action <operation>', 'the operationId in docs/openapi.json, such as completePayout')
      .option('--target <id>', 'the id of the changed record')
      .option('--since <when>', 'at this time or later: a day such as 2026-09-01, or an instant')
      .option('--before <when>', 'earlier'),
    { nouns: 'entries', sort: 'id, created_at' },
  )
    .option('--json', 'print the page (a list of AuditEntry)')
    .addHelpText('after', HELP)
    .action((options: AuditFilters) => cli.run(() => list(cli, options)));
}

async function list({ terminal, account }: Cli, options: AuditFilters): Promise<undefined> {
  const { actor, since, before, ...rest } = options;
  await withClient({ terminal, account }, async (client) => {
    const page = await client.auditLog.list({
      ...queryOf<ListAuditLogQuery>(rest),
      ...(await readActor(client, actor)),
      'created_at[gte]': since,
      'created_at[lt]': before,
    });
    const ids = page.data.flatMap((entry) => [entry.actor.id, entry.user_id]);
    const names = await findNames(client, ids, terminal);
    terminal.result(page, () =>
      describePage(page, 'change', (data) => auditTable(data, names, terminal), terminal),
    );
  });
}

async function readActor(client: Client, actor: string | undefined): Promise<ListAuditLogQuery> {
  if (actor === undefined) return {};
  if (KINDS.includes(actor)) return { actor_kind: actor as AuditEntry['actor']['kind'] };
  return { actor_id: actor.includes('@') ? await findUser(client, actor) : actor };
}

function auditTable(entries: readonly AuditEntry[], names: Names, { paint }: Terminal): string {
  return table(
    ['WHEN (UTC)', 'ACTION', 'TARGET', 'BY', 'USER'].map((heading) => ({ heading })),
    entries.map(({ created_at, action, target, actor, user_id }) => [
      exactTime(created_at),
      action,
      target ?? '',
      names(actor.id),
      user_id === null || user_id === actor.id ? '' : names(user_id),
    ]),
    paint.faint,
  );
}
