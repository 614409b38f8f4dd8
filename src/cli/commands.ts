import type { Command } from 'commander';
import type { Cli } from './command/cli.ts';
import { type PlaceOption, takesNo } from './command/option-rules.ts';
import type { Exit } from './system/running.ts';

/** Commands below one name: `payhook payouts list|show|…`. */
interface Group {
  readonly name: string;
  readonly about: string;
  readonly takesNo?: readonly PlaceOption[];
  /** Loads the file that adds them to the command of the group. */
  readonly load: () => Promise<(group: Command, cli: Cli) => void>;
}

/** A file of commands without a group. Keep it light: the help of the program loads it. */
interface Alone {
  readonly load: () => Promise<(program: Command, cli: Cli, exit: Exit) => void>;
}

/**
 * All commands in the order of the help. Only a command's own file describes it. Its dependencies are loaded when it
 * runs.
 */
const COMMANDS: readonly (Group | Alone)[] = [
  { load: async () => (await import('./system/commands.ts')).addSystem },
  {
    name: 'secret-key',
    about: 'change the key that encrypts secrets, or abandon a lost one',
    takesNo: ['--account'],
    load: async () => (await import('./system/secret-key.ts')).addSecretKey,
  },
  {
    name: 'service',
    about: 'install this program as a systemd service',
    takesNo: ['--account', '--data-dir', '--env-file'],
    load: async () => (await import('./system/service.ts')).addService,
  },
  {
    name: 'accounts',
    about: 'accounts (merchants) on this installation',
    takesNo: ['--account'],
    load: async () => (await import('./people/accounts.ts')).addAccounts,
  },
  {
    name: 'cells',
    about: 'the databases and schemas that hold the accounts',
    takesNo: ['--account'],
    load: async () => (await import('./system/cells.ts')).addCellCommands,
  },
  {
    name: 'keys',
    about: 'API keys of an account',
    load: async () => (await import('./people/keys.ts')).addKeys,
  },
  {
    name: 'users',
    about: 'people who sign in, and what they may do',
    load: async () => (await import('./people/users.ts')).addUsers,
  },
  {
    name: 'sessions',
    about: 'browsers that are signed in',
    load: async () => (await import('./people/sessions.ts')).addSessions,
  },
  {
    name: 'oauth-applications',
    about: 'applications that merchants can grant access to',
    load: async () => (await import('./people/oauth-applications.ts')).addOAuthApplications,
  },
  {
    name: 'oauth-grants',
    about: 'access that this account has granted to applications',
    load: async () => (await import('./people/oauth-grants.ts')).addOAuthGrants,
  },
  {
    name: 'alerts',
    about: 'alerts by e-mail, webhook and Slack',
    load: async () => (await import('./people/alerts.ts')).addAlerts,
  },
  {
    name: 'audit-log',
    about: 'every change, and who made it',
    load: async () => (await import('./people/audit-log.ts')).addAuditLog,
  },
  {
    name: 'account',
    about: 'the account and its settings: hold, minimums, currency, time zone',
    load: async () => (await import('./people/account.ts')).addAccount,
  },
  {
    name: 'affiliates',
    about: 'affiliates, whom you pay',
    load: async () => (await import('./affiliates/commands.ts')).addAffiliates,
  },
  {
    name: 'programs',
    about: 'programs, which can have their own hold',
    load: async () => (await import('./programs/commands.ts')).addPrograms,
  },
  {
    name: 'commissions',
    about: 'commissions, which are owed to affiliates',
    load: async () => (await import('./commissions/commands.ts')).addCommissions,
  },
  {
    name: 'imports',
    about: 'imported files, and undoing an import',
    load: async () => (await import('./imports/commands.ts')).addImports,
  },
  {
    name: 'refunds',
    about: 'refunds, by the order in the shop',
    load: async () => (await import('./refunds/commands.ts')).addRefunds,
  },
  {
    name: 'payouts',
    about: 'payouts, and the files that pay them',
    load: async () => (await import('./payouts/commands.ts')).addPayouts,
  },
  {
    name: 'invoices',
    about: 'self-billed invoices and credit notes',
    load: async () => (await import('./invoices/commands.ts')).addInvoices,
  },
  {
    name: 'schedules',
    about: 'schedules that prepare payouts',
    load: async () => (await import('./schedules/commands.ts')).addSchedules,
  },
  {
    name: 'reports',
    about: 'reports for accounting and taxes',
    load: async () => (await import('./reports/commands.ts')).addReports,
  },
  {
    name: 'analytics',
    about: 'commissions and deliveries over time',
    load: async () => (await import('./analytics/commands.ts')).addAnalytics,
  },
  {
    name: 'events',
    about: 'events: publish your own, list them, follow their delivery',
    load: async () => (await import('./webhooks/events.ts')).addEvents,
  },
  {
    name: 'webhooks',
    about: 'webhook endpoints, the delivery log, and retries',
    load: async () => (await import('./webhooks/commands.ts')).addWebhooks,
  },
  { load: async () => (await import('./webhooks/listen.ts')).addListen },
  { load: async () => (await import('./relay/command.ts')).addRelay },
  { load: async () => (await import('./demo/command.ts')).addDemo },
  { load: async () => (await import('./mcp/command.ts')).addMcp },
  { load: async () => (await import('./completion/command.ts')).addCompletion },
];

/** Whether a command line, without its options, needs a group's file. Only `completion` needs all. */
function needsOf(words: readonly string[] | undefined): (group: string) => boolean {
  const [first, second] = words ?? ['completion'];
  if (first === 'completion') return () => true;
  return (name) => name === (first === 'help' ? second : first);
}

/** Adds to a program the commands that `words` need, and the names of the other groups. */
export async function addCommands(
  program: Command,
  { cli, exit, words }: { cli: Cli; exit: Exit; words: readonly string[] | undefined },
): Promise<void> {
  const isNeeded = needsOf(words);
  const isGroup = COMMANDS.some((each) => 'name' in each && each.name === words?.[0]);
  const files = await Promise.all(
    COMMANDS.map(async (each) => {
      if ('name' in each) return { group: each, add: isNeeded(each.name) ? await each.load() : null };
      return { add: isGroup ? null : await each.load() };
    }),
  );
  for (const { group, add } of files) {
    if (group === undefined) add?.(program, cli, exit);
    else {
      const command = program.command(group.name).description(group.about);
      takesNo(command, ...(group.takesNo ?? []));
      add?.(command, cli);
    }
  }
}
