import type { Command } from 'commander';
import type { Cli } from './command/cli.ts';
import { type PlaceOption, takesNo } from './command/option-rules.ts';
import type { Exit } from './system/serve.ts';

/** Commands that go together below one name: `payhook payouts list|show|…`. */
interface Group {
  readonly name: string;
  readonly about: string;
  readonly takesNo?: readonly PlaceOption[];
  /** Reads the file that adds them to the command of the group. */
  readonly load: () => Promise<(group: Command, cli: Cli) => void>;
}

/** A file of commands that stand alone. It is light: the help of the program reads it. */
interface Alone {
  readonly load: () => Promise<(program: Command, cli: Cli, exit: Exit) => void>;
}

/**
 * All commands in the order of the help. A command is described in its own file only; what it needs is loaded when
 * it runs.
 */
const COMMANDS: readonly (Group | Alone)[] = [
  { load: async () => (await import('./system/commands.ts')).addSystem },
  {
    name: 'secret-key',
    about: 'change the key that encrypts secrets, or give up a lost one',
    takesNo: ['--account'],
    load: async () => (await import('./system/secret-key.ts')).addSecretKey,
  },
  {
    name: 'service',
    about: 'make this program a service of the machine',
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
    about: 'who is signed in, in browsers',
    load: async () => (await import('./people/sessions.ts')).addSessions,
  },
  {
    name: 'oauth-applications',
    about: 'applications that merchants can grant access to',
    load: async () => (await import('./people/oauth-applications.ts')).addOAuthApplications,
  },
  {
    name: 'oauth-grants',
    about: 'what this account has granted to applications of any account',
    load: async () => (await import('./people/oauth-grants.ts')).addOAuthGrants,
  },
  {
    name: 'alerts',
    about: 'what people are told by e-mail, and channels by webhook or in Slack',
    load: async () => (await import('./people/alerts.ts')).addAlerts,
  },
  {
    name: 'audit-log',
    about: 'what was done, and by whom',
    load: async () => (await import('./people/audit-log.ts')).addAuditLog,
  },
  {
    name: 'account',
    about: 'the account and its settings: hold, minimums, currency, time zone',
    load: async () => (await import('./people/account.ts')).addAccount,
  },
  {
    name: 'affiliates',
    about: 'affiliates: who is paid',
    load: async () => (await import('./affiliates/commands.ts')).addAffiliates,
  },
  {
    name: 'programs',
    about: 'programs: holds of their own',
    load: async () => (await import('./programs/commands.ts')).addPrograms,
  },
  {
    name: 'commissions',
    about: 'commissions: what is owed',
    load: async () => (await import('./commissions/commands.ts')).addCommissions,
  },
  {
    name: 'imports',
    about: 'imports: files that came in, and taking one back',
    load: async () => (await import('./imports/commands.ts')).addImports,
  },
  {
    name: 'refunds',
    about: 'refunds, by the order in the shop',
    load: async () => (await import('./refunds/commands.ts')).addRefunds,
  },
  {
    name: 'payouts',
    about: 'payouts: who gets how much',
    load: async () => (await import('./payouts/commands.ts')).addPayouts,
  },
  {
    name: 'invoices',
    about: 'invoices in the name of affiliates, and credit notes',
    load: async () => (await import('./invoices/commands.ts')).addInvoices,
  },
  {
    name: 'schedules',
    about: 'schedules that prepare payouts',
    load: async () => (await import('./schedules/commands.ts')).addSchedules,
  },
  {
    name: 'reports',
    about: 'reports, for the books',
    load: async () => (await import('./reports/commands.ts')).addReports,
  },
  {
    name: 'analytics',
    about: 'sums over time: what was earned and paid, how deliveries went',
    load: async () => (await import('./analytics/commands.ts')).addAnalytics,
  },
  {
    name: 'events',
    about: 'events: publish your own, see what became of all, watch them being delivered',
    load: async () => (await import('./webhooks/events.ts')).addEvents,
  },
  {
    name: 'webhooks',
    about: 'webhook endpoints: where events go, what arrived, and sending events again',
    load: async () => (await import('./webhooks/commands.ts')).addWebhooks,
  },
  { load: async () => (await import('./webhooks/listen.ts')).addListen },
  { load: async () => (await import('./demo/command.ts')).addDemo },
  { load: async () => (await import('./completion/command.ts')).addCompletion },
];

/** Whether a command line, without its options, needs a group's file. No command but `completion` needs all. */
function needsOf(words: readonly string[] | undefined): (group: string) => boolean {
  const [first, second] = words ?? ['completion'];
  if (first === 'completion') return () => true;
  return (name) => name === (first === 'help' ? second : first);
}

/** Adds the commands to a program: those that `words` need, and the names of the other groups. */
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
