import type { Command } from 'commander';
import type { Client, Commission, ListCommissionsQuery } from '../../client/client.ts';
import { AFFILIATE_HELP, findAffiliate } from '../affiliate-reference.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { COMMISSION_HELP, findCommission } from '../commission-reference.ts';
import { commissionTable, describeCommission, money } from '../commission-view.ts';
import { describePage, withPages } from '../list-view.ts';
import { findPayout } from '../payout-reference.ts';
import { findProgram } from '../program-reference.ts';
import { type ListOptions, queryOf } from '../query.ts';
import { withClient } from '../session.ts';
import { printable } from '../table.ts';
import { addCommissionRefund } from './commissions-refund.ts';
import { addCommissionImport } from './imports.ts';

interface CommissionFilters extends ListOptions {
  readonly affiliate?: string;
  readonly program?: string;
  readonly payout?: string;
  readonly currency?: string;
  readonly type?: string;
  readonly order?: string;
  readonly externalId?: string;
  readonly since?: string;
  readonly before?: string;
}

/** `payhook commissions import|list|show|refund|void|hold|unhold`. */
export function addCommissions(program: Command, cli: Cli): void {
  const commissions = program.command('commissions').description('commissions: what is owed');
  addCommissionImport(commissions, cli);
  addList(commissions, cli);
  commissions
    .command('show')
    .description('show a commission')
    .argument('<commission>', COMMISSION_HELP)
    .option('--json', 'print the record (Commission)')
    .addHelpText('after', '\nExample:\n  $ payhook commissions show order-1042\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  addCommissionRefund(commissions, cli);
  addVoid(commissions, cli);
  addHolds(commissions, cli);
}

function addList(commissions: Command, cli: Cli): void {
  const list = commissions
    .command('list')
    .description('list commissions, the newest first')
    .option('--status <status>', 'pending, unpaid, paid or voided')
    .option('--affiliate <affiliate>', AFFILIATE_HELP)
    .option('--program <program>', 'its id, or its name')
    .option('--payout <payout>', 'its id (po_…), its number or current; none for those in no payout')
    .option('--currency <currency>', 'such as eur')
    .option('--type <type>', 'sale, recurring, bonus, adjustment or clawback')
    .option('--order <order>', 'the id of the order in the shop')
    .option('--external-id <id>', 'the id you gave it')
    .option('--since <when>', 'that occurred then or later: a day such as 2026-09-01, or an instant')
    .option('--before <when>', 'that occurred earlier');
  withPages(list, { nouns: 'commissions', sort: 'id, created_at, occurred_at' })
    .option('--json', 'print the page (a list of Commission)')
    .addHelpText(
      'after',
      `
Examples:
  $ payhook commissions list --status unpaid --affiliate ada@example.com
  $ payhook commissions list --payout current --type clawback
  $ payhook commissions list --since 2026-09-01 --before 2026-10-01 --json | jq '.pagination.total'
`,
    )
    .action((options: CommissionFilters) => cli.run(() => listCommissions(cli, options)));
}

function addVoid(commissions: Command, cli: Cli): void {
  commissions
    .command('void')
    .description('void a commission that is not paid; it also leaves the unpaid payout')
    .argument('<commission>', COMMISSION_HELP)
    .requiredOption('--reason <text>', 'why; it stays with the commission')
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'print the record (Commission)')
    .addHelpText('after', '\nExample:\n  $ payhook commissions void order-1042 --reason "self-referral"\n')
    .action((reference: string, options: { reason: string; yes?: boolean }) =>
      cli.run(() => voidOne(cli, reference, options)),
    );
}

function addHolds(commissions: Command, cli: Cli): void {
  const about = {
    hold: 'hold a commission for review: it is in no payout until unhold, and leaves the unpaid one',
    unhold: 'end the review of a commission: it is owed again, from the day it was going to be',
  } as const;
  for (const verb of ['hold', 'unhold'] as const) {
    commissions
      .command(verb)
      .description(about[verb])
      .argument('<commission>', COMMISSION_HELP)
      .option('--json', 'print the record (Commission)')
      .addHelpText('after', `\nExample:\n  $ payhook commissions ${verb} order-1042\n`)
      .action((reference: string) => cli.run(() => review(cli, verb, reference)));
  }
}

async function listCommissions({ terminal, account }: Cli, options: CommissionFilters): Promise<undefined> {
  const page = await withClient({ terminal, account: account() }, async (client) =>
    client.commissions.list(await readQuery(client, options)),
  );
  terminal.result(page, () =>
    describePage(page, 'commission', (data) => commissionTable(data, terminal), terminal),
  );
}

async function readQuery(client: Client, options: CommissionFilters): Promise<ListCommissionsQuery> {
  const { affiliate, program, payout, order, externalId, since, before, ...rest } = options;
  return {
    ...queryOf<ListCommissionsQuery>(rest),
    affiliate_id: affiliate === undefined ? undefined : await findAffiliate(client, affiliate),
    program_id: program === undefined ? undefined : await findProgram(client, program),
    payout_id: payout === undefined ? undefined : await payoutId(client, payout),
    order_id: order,
    external_id: externalId,
    'occurred_at[gte]': since,
    'occurred_at[lt]': before,
  };
}

async function payoutId(client: Client, reference: string): Promise<string> {
  return reference === 'none' ? reference : (await findPayout(client, reference)).id;
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const commission = await withClient({ terminal, account: account() }, (client) =>
    findCommission(client, reference),
  );
  terminal.result(commission, () => describeCommission(commission, terminal));
}

async function voidOne(
  { terminal, account }: Cli,
  reference: string,
  { reason, yes }: { reason: string; yes?: boolean },
): Promise<undefined> {
  requireYes(terminal, yes);
  const voided = await withClient({ terminal, account: account() }, async (client) => {
    const found = await findCommission(client, reference);
    await confirm(terminal, `Void ${nameOf(found)}? Nobody is paid for it any more.`, yes);
    return client.commissions.void(found.id, { reason });
  });
  terminal.result(voided, () => `${nameOf(voided)} is voided.\n`);
}

async function review(
  { terminal, account }: Cli,
  verb: 'hold' | 'unhold',
  reference: string,
): Promise<undefined> {
  const changed = await withClient({ terminal, account: account() }, async (client) => {
    const { id } = await findCommission(client, reference);
    return client.commissions[verb](id);
  });
  const effect = verb === 'hold' ? 'held for review: payhook commissions unhold ends it' : changed.status;
  terminal.result(changed, () => `${nameOf(changed)} is ${effect}.\n`);
}

/** `31.90 EUR of order-1042 (sale, affiliate 7)`. */
function nameOf(commission: Commission): string {
  const { amount, external_id, type, affiliate_id } = commission;
  return `${money(commission, amount)} of ${printable(external_id)} (${type}, affiliate ${affiliate_id})`;
}
