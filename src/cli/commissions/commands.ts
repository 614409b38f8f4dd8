import type { Command } from 'commander';
import type { Client, Commission, ListCommissionsQuery } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage } from '../command/list-view.ts';
import { withClient } from '../command/session.ts';
import { COMMISSION_HELP, findCommission } from '../finders/commission.ts';
import { findPayout } from '../finders/payout.ts';
import { addCommissionImport } from '../imports/imports.ts';
import { printable } from '../terminal/table.ts';
import { addCommissionCreate } from './create.ts';
import { type CommissionFilters, readCommissionFilters, withCommissionFilters } from './filters.ts';
import { addCommissionRefund } from './refund.ts';
import { commissionTable, describeCommission, money } from './view.ts';

interface ListFilters extends CommissionFilters {
  readonly payout?: string;
}

/** `payhook commissions import|create|list|show|refund|void|hold|unhold`. */
export function addCommissions(commissions: Command, cli: Cli): void {
  addCommissionImport(commissions, cli);
  addCommissionCreate(commissions, cli);
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
    .description('list commissions, newest first')
    .option('--status <status>', 'pending, unpaid, paid or voided')
    .option('--payout <payout>', 'its id (po_…), its number or current; none for those in no payout');
  withCommissionFilters(list)
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
    .action((options: ListFilters) => cli.run(() => listCommissions(cli, options)));
}

function addVoid(commissions: Command, cli: Cli): void {
  commissions
    .command('void')
    .description('void a commission that is not paid; it also leaves the unpaid payout')
    .argument('<commission>', COMMISSION_HELP)
    .requiredOption('--reason <text>', 'the reason, stored with the commission')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (Commission)')
    .addHelpText('after', '\nExample:\n  $ payhook commissions void order-1042 --reason "self-referral"\n')
    .action((reference: string, options: { reason: string; yes?: boolean }) =>
      cli.run(() => voidOne(cli, reference, options)),
    );
}

function addHolds(commissions: Command, cli: Cli): void {
  const about = {
    hold: 'hold a commission for review: it leaves the unpaid payout and stays out of payouts until unhold',
    unhold: 'end the review of a commission: it is owed again from its original day',
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

async function listCommissions({ terminal, account }: Cli, options: ListFilters): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) =>
    client.commissions.list(await readQuery(client, options)),
  );
  terminal.result(page, () =>
    describePage(page, 'commission', (data) => commissionTable(data, terminal), terminal),
  );
}

async function readQuery(client: Client, { payout, ...filters }: ListFilters): Promise<ListCommissionsQuery> {
  return {
    ...(await readCommissionFilters(client, filters)),
    payout_id: payout === undefined ? undefined : await payoutId(client, payout),
  };
}

async function payoutId(client: Client, reference: string): Promise<string> {
  return reference === 'none' ? reference : (await findPayout(client, reference)).id;
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const commission = await withClient({ terminal, account }, (client) => findCommission(client, reference));
  terminal.result(commission, () => describeCommission(commission, terminal));
}

async function voidOne(
  { terminal, account }: Cli,
  reference: string,
  { reason, yes }: { reason: string; yes?: boolean },
): Promise<undefined> {
  requireYes(terminal, yes);
  const voided = await withClient({ terminal, account }, async (client) => {
    const found = await findCommission(client, reference);
    await confirm(terminal, `Void ${nameOf(found)}? It will no longer be paid.`, yes);
    return client.commissions.void(found.id, { reason });
  });
  terminal.result(voided, () => `Voided ${nameOf(voided)}.\n`);
}

async function review(
  { terminal, account }: Cli,
  verb: 'hold' | 'unhold',
  reference: string,
): Promise<undefined> {
  const changed = await withClient({ terminal, account }, async (client) => {
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
