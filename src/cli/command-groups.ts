import type { Command } from 'commander';
import type { Cli } from './cli.ts';
import type { Exit } from './commands/serve.ts';

/** Adds the commands of one file to the program. */
type AddCommands = (program: Command, cli: Cli, exit: Exit) => void;

/** Which file has which commands; what they are is said there. Their order is that of the help. */
interface Group {
  readonly commands: readonly string[];
  readonly load: () => Promise<AddCommands>;
}

/** Every command of the program, by the file it is in: a file is read when one of its commands is typed. */
export const GROUPS: readonly Group[] = [
  {
    commands: ['serve', 'worker', 'init', 'migrate', 'doctor', 'config'],
    load: async () => (await import('./commands/system.ts')).addSystem,
  },
  { commands: ['secret-key'], load: async () => (await import('./commands/secret-key.ts')).addSecretKey },
  { commands: ['accounts'], load: async () => (await import('./commands/accounts.ts')).addAccounts },
  { commands: ['keys'], load: async () => (await import('./commands/keys.ts')).addKeys },
  { commands: ['users'], load: async () => (await import('./commands/users.ts')).addUsers },
  { commands: ['sessions'], load: async () => (await import('./commands/sessions.ts')).addSessions },
  {
    commands: ['oauth-applications'],
    load: async () => (await import('./commands/oauth-applications.ts')).addOAuthApplications,
  },
  {
    commands: ['oauth-grants'],
    load: async () => (await import('./commands/oauth-grants.ts')).addOAuthGrants,
  },
  { commands: ['audit-log'], load: async () => (await import('./commands/audit-log.ts')).addAuditLog },
  { commands: ['account'], load: async () => (await import('./commands/account.ts')).addAccount },
  { commands: ['affiliates'], load: async () => (await import('./commands/affiliates.ts')).addAffiliates },
  { commands: ['programs'], load: async () => (await import('./commands/programs.ts')).addPrograms },
  { commands: ['commissions'], load: async () => (await import('./commands/commissions.ts')).addCommissions },
  { commands: ['refunds'], load: async () => (await import('./commands/refunds.ts')).addRefunds },
  { commands: ['payouts'], load: async () => (await import('./commands/payouts.ts')).addPayouts },
  { commands: ['reports'], load: async () => (await import('./commands/reports.ts')).addReports },
  { commands: ['events'], load: async () => (await import('./commands/events.ts')).addEvents },
  { commands: ['webhooks'], load: async () => (await import('./commands/webhooks.ts')).addWebhooks },
  { commands: ['listen'], load: async () => (await import('./commands/listen.ts')).addListen },
  { commands: ['demo'], load: async () => (await import('./commands/demo.ts')).addDemo },
  { commands: ['completion'], load: async () => (await import('./commands/completion.ts')).addCompletion },
];

// The script of `completion` tells of all commands.
const NEED_ALL = new Set(['completion']);

/** The groups that a command line needs whose first word is `first`: one, or all where the help or a refusal names them. */
export function groupsFor(first: string | undefined): readonly Group[] {
  if (first === undefined || NEED_ALL.has(first)) return GROUPS;
  const group = GROUPS.find(({ commands }) => commands.includes(first));
  return group === undefined ? GROUPS : [group];
}
