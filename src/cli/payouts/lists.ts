import type { Command } from 'commander';
import type {
  Client,
  ListPayoutAffiliatesQuery,
  ListPayoutExclusionsQuery,
  ListPayoutSignalsQuery,
  ListPayoutVerificationsQuery,
  Page,
} from '../../client/client.ts';
import { SIGNAL_RULE_NAMES } from '../../terms/payout-signals.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import {
  type CommissionFilters,
  readCommissionFilters,
  withCommissionFilters,
} from '../commissions/filters.ts';
import { commissionTable } from '../commissions/view.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { signalTable } from './signal-view.ts';
import { verificationTable } from './verification-view.ts';
import { exclusionTable, lineTable } from './view.ts';

interface LineFilters extends ListOptions {
  readonly affiliate?: string;
  readonly paid?: boolean;
  readonly unpaid?: boolean;
  readonly reference?: string;
}

interface VerificationFilters extends ListOptions {
  readonly mismatch?: boolean;
}

interface SignalFilters extends ListOptions {
  readonly affiliate?: string;
  readonly rule?: string;
  readonly unreviewed?: boolean;
  readonly ended?: boolean;
}

interface ExclusionFilters extends ListOptions {
  readonly affiliate?: string;
  readonly reason?: string;
}

/** `payhook payouts affiliates|commissions|excluded|signals|verifications`: the contents of a payout, a page at a time. */
export function addPayoutLists(payouts: Command, cli: Cli): void {
  const lines = payouts
    .command('affiliates')
    .description('list the affiliates of a payout, a page at a time')
    .argument('<payout>', REFERENCE_HELP)
    .option('--affiliate <affiliate>', AFFILIATE_HELP)
    .option('--paid', 'only those who were paid')
    .option('--unpaid', 'only those who were not paid, in a paid payout')
    .option('--reference <text>', 'the payment reference');
  withPages(lines, { nouns: 'affiliates', sort: 'affiliate_id, is_paid' })
    .option('--json', 'print the page (a list of PayoutLine)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook payouts affiliates current --page 2\n  $ payhook payouts affiliates 1 --unpaid\n',
    )
    .action((reference: string, options: LineFilters) => cli.run(() => listLines(cli, reference, options)));
  withCommissionFilters(
    payouts
      .command('commissions')
      .description('list the commissions of a payout, newest first')
      .argument('<payout>', REFERENCE_HELP),
  )
    .option('--json', 'print the page (a list of Commission)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook payouts commissions current\n  $ payhook payouts commissions 1 --affiliate ada@example.com --json\n',
    )
    .action((reference: string, options: CommissionFilters) =>
      cli.run(() => listCommissions(cli, reference, options)),
    );
  const excluded = payouts
    .command('excluded')
    .description('list who was left out of a payout, and why')
    .argument('<payout>', REFERENCE_HELP)
    .option('--affiliate <affiliate>', AFFILIATE_HELP)
    .option(
      '--reason <reason>',
      'below_minimum, negative_balance, on_hold, affiliate_inactive, not_ready, form_missing or form_expired',
    );
  withPages(excluded, { nouns: 'lines', sort: 'affiliate_id, amount' })
    .option('--json', 'print the page (a list of PayoutExclusion)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook payouts excluded current --reason below_minimum --sort -amount\n',
    )
    .action((reference: string, options: ExclusionFilters) =>
      cli.run(() => listExcluded(cli, reference, options)),
    );
  addSignals(payouts, cli);
  const verifications = payouts
    .command('verifications')
    .description('list what banks answered about the names of the payees of a payout')
    .argument('<payout>', REFERENCE_HELP)
    .option('--mismatch', 'only those that do not match, or could not be compared');
  withPages(verifications, { nouns: 'payees', sort: 'affiliate_id, verified_at' })
    .option('--json', 'print the page (a list of PayoutVerification)')
    .addHelpText('after', '\nExample:\n  $ payhook payouts verifications current --mismatch\n')
    .action((reference: string, options: VerificationFilters) =>
      cli.run(() => listVerifications(cli, reference, options)),
    );
}

function addSignals(payouts: Command, cli: Cli): void {
  const signals = payouts
    .command('signals')
    .description('list what may point to fraud in a payout, with the reasons and who reviewed it')
    .argument('<payout>', REFERENCE_HELP)
    .option('--affiliate <affiliate>', AFFILIATE_HELP)
    .option('--rule <rule>', SIGNAL_RULE_NAMES.join(', '))
    .option('--unreviewed', 'only those that nobody has reviewed')
    .option('--ended', 'only those that a change of the payout ended; default those that hold');
  withPages(signals, { nouns: 'signals', sort: 'affiliate_id, amount, is_reviewed' })
    .option('--json', 'print the page (a list of PayoutSignal)')
    .addHelpText(
      'after',
      '\nAll of them as CSV: payhook payouts export <payout> --format signals\n' +
        '\nExample:\n  $ payhook payouts signals current --unreviewed\n',
    )
    .action((reference: string, options: SignalFilters) =>
      cli.run(() => listSignals(cli, reference, options)),
    );
}

async function listSignals(cli: Cli, reference: string, options: SignalFilters): Promise<undefined> {
  const { affiliate, rule, unreviewed, ended, ...rest } = options;
  const query = {
    ...queryOf<ListPayoutSignalsQuery>(rest),
    rule: rule as ListPayoutSignalsQuery['rule'],
    is_ended: ended ?? false,
    ...(unreviewed ? { is_reviewed: false } : {}),
  };
  const page = await within(cli, { reference, affiliate }, (client, id, affiliate_id) =>
    client.payouts.signals(id, { ...query, affiliate_id }),
  );
  const { terminal } = cli;
  terminal.result(page, () => describePage(page, 'signal', (data) => signalTable(data, terminal), terminal));
}

async function listVerifications(
  cli: Cli,
  reference: string,
  { mismatch, ...rest }: VerificationFilters,
): Promise<undefined> {
  const query = {
    ...queryOf<ListPayoutVerificationsQuery>(rest),
    ...(mismatch ? { is_mismatch: true } : {}),
  };
  const page = await within(cli, { reference, affiliate: undefined }, (client, id) =>
    client.payouts.verifications(id, query),
  );
  const { terminal } = cli;
  terminal.result(page, () =>
    describePage(page, 'verification', (data) => verificationTable(data, terminal.paint.faint), terminal),
  );
}

async function listLines(cli: Cli, reference: string, options: LineFilters): Promise<undefined> {
  const { affiliate, paid, unpaid, reference: payment, ...rest } = options;
  if (paid && unpaid) throw new UsageError('give --paid or --unpaid, not both');
  const query = {
    ...queryOf<ListPayoutAffiliatesQuery>(rest),
    is_paid: paid ? true : unpaid ? false : undefined,
    payment_reference: payment,
  };
  const page = await within(cli, { reference, affiliate }, (client, id, affiliate_id) =>
    client.payouts.affiliates(id, { ...query, affiliate_id }),
  );
  const { terminal } = cli;
  terminal.result(page, () => describePage(page, 'affiliate', (data) => lineTable(data, terminal), terminal));
}

async function listCommissions(
  { terminal, account }: Cli,
  reference: string,
  options: CommissionFilters,
): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) => {
    const { id } = await findPayout(client, reference);
    return client.payouts.commissions(id, await readCommissionFilters(client, options));
  });
  terminal.result(page, () =>
    describePage(page, 'commission', (data) => commissionTable(data, terminal), terminal),
  );
}

async function listExcluded(cli: Cli, reference: string, options: ExclusionFilters): Promise<undefined> {
  const { affiliate, reason, ...rest } = options;
  const query = {
    ...queryOf<ListPayoutExclusionsQuery>(rest),
    reason: reason as ListPayoutExclusionsQuery['reason'],
  };
  const page = await within(cli, { reference, affiliate }, (client, id, affiliate_id) =>
    client.payouts.excluded(id, { ...query, affiliate_id }),
  );
  const { terminal } = cli;
  terminal.result(page, () =>
    describePage(page, 'exclusion', (data) => exclusionTable(data, terminal), terminal),
  );
}

/** A page of the contents of a payout, optionally of one affiliate. */
function within<Item>(
  { terminal, account }: Cli,
  { reference, affiliate }: { reference: string; affiliate: string | undefined },
  list: (client: Client, payout: string, affiliate: number | undefined) => PromiseLike<Page<Item>>,
): Promise<Page<Item>> {
  return withClient({ terminal, account }, async (client) => {
    const { id } = await findPayout(client, reference);
    return list(client, id, affiliate === undefined ? undefined : await findAffiliate(client, affiliate));
  });
}
