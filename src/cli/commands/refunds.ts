import type { Command } from 'commander';
import type { Client, Commission, OrderRefund } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { describeRefunds } from '../commission-view.ts';
import { CommandError, UsageError } from '../errors.ts';
import { amounts, count } from '../money.ts';
import {
  checkRefund,
  inDecimals,
  type RefundAmounts,
  type RefundOptions,
  refundAmounts,
  refundQuestion,
  withRefundOptions,
} from '../refund-options.ts';
import { withClient } from '../session.ts';
import { printable } from '../table.ts';

interface OrderRefundOptions extends RefundOptions {
  readonly order: string;
  readonly product?: string;
}

const HELP = `
Refunds all commissions of the order, or of one product in it: all or none. Without an amount the rest of each; an amount
is in the currency of the commission, and needs an order that leaves no doubt which one is meant. The same --external-id
again refunds nothing twice.

Examples:
  $ payhook refunds create --order 1042 --external-id refund-77
  $ payhook refunds create --order 1042 --external-id refund-77 --sale-amount 25.00 --reason "one of two returned"
  $ payhook refunds create --order 1042 --product mug --external-id refund-78 --amount 1.20 --yes
`;

/** `payhook refunds create`. */
export function addRefunds(program: Command, cli: Cli): void {
  const refunds = program.command('refunds').description('refunds, by the order in the shop');
  withRefundOptions(
    refunds
      .command('create')
      .description('take the commission of an order back, in part or the rest')
      .requiredOption('--order <order>', 'the id of the order in the shop')
      .option('--product <product>', 'only the commissions of this product (product_id)'),
  )
    .option('--json', 'print the refunds (OrderRefund)')
    .addHelpText('after', HELP)
    .action((options: OrderRefundOptions) => cli.run(() => create(cli, options)));
}

async function create({ terminal, account }: Cli, options: OrderRefundOptions): Promise<undefined> {
  checkRefund(options);
  requireYes(terminal, options.yes);
  const made = await withClient({ terminal, account: account() }, async (client): Promise<OrderRefund> => {
    const commissions = await refundable(client, options);
    const given = amountsOf(commissions, options);
    await confirm(terminal, question(commissions, options, given), options.yes);
    const { order, product, externalId, reason } = options;
    const target = { order_id: order, product_id: product, external_id: externalId };
    return client.refunds.create({ ...target, reason, ...given }).catch((error: unknown) => {
      throw inDecimals(error, commissions);
    });
  });
  terminal.result(made, () => describeRefunds(made.refunds));
}

/**
 * The commissions that a refund of the order concerns. When nothing is left of any, all of them: it may be the refund
 * that took it, sent again. Throws CommandError when there are none.
 */
async function refundable(client: Client, { order, product }: OrderRefundOptions): Promise<Commission[]> {
  const found: Commission[] = [];
  for await (const commission of client.commissions.list({ order_id: order })) {
    const isSale = ['sale', 'recurring', 'bonus'].includes(commission.type);
    if (isSale && (product === undefined || commission.product_id === product)) found.push(commission);
  }
  const left = found.filter(
    (each) => each.status !== 'voided' && each.refunded_amount < each.original_amount,
  );
  if (found.length > 0) return left.length > 0 ? left : found;
  const what = product === undefined ? `order ${order}` : `product ${product} in order ${order}`;
  throw new CommandError(`there is no commission of ${what}`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}

/** The amounts in minor units. Throws a UsageError when the commissions are in several currencies. */
function amountsOf(commissions: readonly Commission[], options: OrderRefundOptions) {
  const [currency = '', ...others] = new Set(commissions.map((each) => each.currency));
  const isGiven = options.amount !== undefined || options.saleAmount !== undefined;
  if (isGiven && others.length > 0) {
    const codes = [currency, ...others].map((code) => code.toUpperCase()).join(', ');
    throw new UsageError(
      `the order has commissions in ${codes}: choose with --product, or refund each with payhook commissions refund`,
    );
  }
  return refundAmounts(options, currency);
}

function question(
  commissions: readonly Commission[],
  { order, product }: OrderRefundOptions,
  given: RefundAmounts,
): string {
  const left = new Map<string, number>();
  for (const { currency, original_amount, refunded_amount } of commissions) {
    left.set(currency, (left.get(currency) ?? 0) + original_amount - refunded_amount);
  }
  const sums = amounts([...left].map(([currency, amount]) => ({ currency, amount })));
  const of = product === undefined ? '' : `product ${product} in `;
  const [currency = ''] = left.keys();
  return refundQuestion(
    {
      currency,
      all: `all that is left of ${count(commissions.length, 'commission')}, ${sums},`,
      what: printable(`${of}order ${order}`),
    },
    given,
  );
}
