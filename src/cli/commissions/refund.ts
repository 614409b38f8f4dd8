import type { Command } from 'commander';
import type { CommissionRefund } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { COMMISSION_HELP, findCommission } from '../finders/commission.ts';
import { printable } from '../terminal/table.ts';
import {
  checkRefund,
  inDecimals,
  type RefundOptions,
  readPlain,
  refundAmounts,
  refundQuestion,
  withRefundOptions,
} from './refund-options.ts';
import { describeRefunds, money } from './view.ts';

const HELP = `
Without an amount, the rest is refunded. Refunds by --sale-amount add up; at the full sale they take the rest. An unpaid commission
is reduced, or voided if nothing is left. A paid commission stays paid, and a negative clawback goes into the next payout. Repeating an
--external-id refunds nothing.

Examples:
  $ payhook commissions refund order-1042 --external-id refund-77
  $ payhook commissions refund order-1042 --external-id refund-77 --sale-amount 25.00 --reason "one of two returned"
  $ payhook commissions refund com_0199d2c4a7f07a3b9c5d1e2f30415263 --external-id refund-78 --amount 5 --yes
`;

/** `payhook commissions refund`. */
export function addCommissionRefund(commissions: Command, cli: Cli): void {
  withRefundOptions(
    commissions
      .command('refund')
      .description('take back part of a commission, or the rest')
      .argument('<commission>', COMMISSION_HELP),
  )
    .option('--json', 'print the record (CommissionRefund)')
    .addHelpText('after', HELP)
    .action((reference: string, options: RefundOptions) => cli.run(() => refund(cli, reference, options)));
}

async function refund(
  { terminal, account }: Cli,
  reference: string,
  options: RefundOptions,
): Promise<undefined> {
  checkRefund(options);
  requireYes(terminal, options.yes);
  const made = await withClient({ terminal, account }, async (client): Promise<CommissionRefund> => {
    const commission = await findCommission(client, reference);
    const { currency } = commission;
    const amounts = refundAmounts(options, currency);
    const what = `${printable(commission.external_id)} (affiliate ${commission.affiliate_id})`;
    const all = `the remaining ${money(commission, commission.original_amount - commission.refunded_amount)}`;
    await confirm(terminal, refundQuestion({ currency, all, what }, amounts), options.yes);
    return client.commissions
      .refund(commission.id, { ...readPlain(options), ...amounts })
      .catch((error: unknown) => {
        throw inDecimals(error, [commission]);
      });
  });
  terminal.result(made, () => describeRefunds([made]));
}
