import type { Command } from 'commander';
import type { Client, Commission, ListRefundsQuery, Refund } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { collect } from '../command/pairs.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import {
  checkRefund,
  inDecimals,
  type RefundAmounts,
  type RefundOptions,
  readPlain,
  refundAmounts,
  refundQuestion,
  withRefundOptions,
} from '../commissions/refund-options.ts';
import { COMMISSION_HELP, findCommission } from '../finders/commission.ts';
import { amounts, count } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import { linesOf, type RefundLines, readLines } from './lines.ts';
import { describeOutcome, describeRefund, refundTable } from './view.ts';

interface OrderRefundOptions extends RefundOptions {
  readonly order: string;
  readonly product?: string;
  readonly line?: readonly string[];
  readonly currency?: string;
}

interface RefundFilters extends ListOptions {
  readonly order?: string;
  readonly externalId?: string;
  readonly commission?: string;
}

const REFUND_HELP = 'its id (ref_…), or its external_id';
const CREATE_HELP = `
Refunds the commissions of an order, or of one product in it: all or none. Without an amount, it takes the rest of each commission. An
amount is in the currency of the commission and needs an order with one sale. For an order with several, use --line with each line
(order_line_id), alone for all of it or with the refunded part of its sale. A refund waits for commissions that have not arrived yet.
Repeating an --external-id refunds nothing.

Examples:
  $ payhook refunds create --order 1042 --external-id refund-77
  $ payhook refunds create --order 1042 --external-id refund-77 --sale-amount 25.00 --reason "one of two returned"
  $ payhook refunds create --order 1042 --external-id refund-78 --line mug=12.00 --line plate --yes
`;

/** `payhook refunds list|show|create|reverse`. */
export function addRefunds(refunds: Command, cli: Cli): void {
  addList(refunds, cli);
  refunds
    .command('show')
    .description('show a refund: the amounts it took, and the lines that are waiting')
    .argument('<refund>', REFUND_HELP)
    .option('--json', 'print the record (Refund)')
    .addHelpText('after', '\nExample:\n  $ payhook refunds show refund-77\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  withRefundOptions(
    refunds
      .command('create')
      .description('take back part of the commission of an order, or the rest')
      .requiredOption('--order <order>', 'the id of the order in the shop')
      .option('--product <product>', 'only the commissions of this product (product_id)')
      .option(
        '--line <line[=amount]>',
        'a line of the order, and how much of its sale; may be repeated',
        collect,
      )
      .option('--currency <currency>', 'currency of the amounts, if there is no commission yet'),
  )
    .option('--json', 'print the refund (Refund)')
    .addHelpText('after', CREATE_HELP)
    .action((options: OrderRefundOptions) => cli.run(() => create(cli, options)));
  refunds
    .command('reverse')
    .description('undo a mistaken refund; a waiting one is withdrawn')
    .argument('<refund>', REFUND_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (Refund)')
    .addHelpText('after', '\nExample:\n  $ payhook refunds reverse refund-77\n')
    .action((reference: string, { yes }: { yes?: boolean }) => cli.run(() => reverse(cli, reference, yes)));
}

function addList(refunds: Command, cli: Cli): void {
  const list = refunds
    .command('list')
    .description('list refunds, newest first')
    .option('--status <status>', 'waiting, applied or reversed')
    .option('--order <order>', 'the id of the order in the shop')
    .option('--external-id <id>', 'the id you gave it')
    .option('--commission <commission>', COMMISSION_HELP)
    .option('--currency <currency>', 'that took something back in this currency');
  withPages(list, { nouns: 'refunds', sort: 'id, created_at, occurred_at' })
    .option('--json', 'print the page (a list of Refund)')
    .addHelpText('after', '\nExample:\n  $ payhook refunds list --status waiting\n')
    .action((options: RefundFilters) => cli.run(() => listRefunds(cli, options)));
}

async function listRefunds({ terminal, account }: Cli, options: RefundFilters): Promise<undefined> {
  const { order, externalId, commission, ...rest } = options;
  const page = await withClient({ terminal, account }, async (client) =>
    client.refunds.list({
      ...queryOf<ListRefundsQuery>(rest),
      order_id: order,
      external_id: externalId,
      commission_id: commission === undefined ? undefined : (await findCommission(client, commission)).id,
    }),
  );
  terminal.result(page, () => describePage(page, 'refund', (data) => refundTable(data, terminal), terminal));
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const refund = await withClient({ terminal, account }, (client) => client.refunds.get(reference));
  terminal.result(refund, () => describeRefund(refund, terminal));
}

async function reverse({ terminal, account }: Cli, reference: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const reversed = await withClient({ terminal, account }, async (client) => {
    const { id, external_id } = await client.refunds.get(reference);
    const what = `Reverse the refund ${printable(external_id)}? The amounts it took are owed again.`;
    await confirm(terminal, what, yes);
    return client.refunds.reverse(id);
  });
  terminal.result(reversed, () => `Reversed ${printable(reversed.external_id)}.\n`);
}

async function create({ terminal, account }: Cli, options: OrderRefundOptions): Promise<undefined> {
  checkRefund(options);
  if (options.line && (options.product ?? options.amount ?? options.saleAmount) !== undefined) {
    throw new UsageError('--line cannot be combined with --product, --amount or --sale-amount');
  }
  if (options.currency !== undefined && !hasAmount(options)) {
    throw new UsageError('--currency has no effect without an amount: the rest is refunded');
  }
  requireYes(terminal, options.yes);
  const made = await withClient({ terminal, account }, async (client): Promise<Refund> => {
    const commissions = await refundable(client, options);
    const given = amountsOf(commissions, options);
    await confirm(terminal, question(commissions, options, given), options.yes);
    const { order, product } = options;
    const target = { order_id: order, product_id: product, ...readPlain(options) };
    return client.refunds.create({ ...target, ...given }).catch((error: unknown) => {
      throw inDecimals(error, commissions);
    });
  });
  terminal.result(made, () => describeOutcome(made));
}

function hasAmount({ amount, saleAmount, line = [] }: OrderRefundOptions): boolean {
  return (amount ?? saleAmount ?? linesOf(line).find((each) => each.amount !== undefined)) !== undefined;
}

/**
 * The commissions of the order that a refund would reduce, if any exist yet. If nothing is left of any, returns all of
 * them: the request may repeat the refund that took everything.
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
  return left.length > 0 ? left : found;
}

/** The refund in minor units. Throws a UsageError if a currency is ambiguous. */
function amountsOf(
  commissions: readonly Commission[],
  options: OrderRefundOptions,
): RefundAmounts & RefundLines {
  if (options.line) {
    const lines = linesOf(options.line);
    return { amount: undefined, sale_amount: undefined, ...readLines(lines, commissions, options.currency) };
  }
  const isGiven = options.amount !== undefined || options.saleAmount !== undefined;
  if (!isGiven) return { amount: undefined, sale_amount: undefined };
  const { currency } = readLines([], commissions, options.currency);
  if (currency === undefined) {
    throw new UsageError('the order has no commission yet: give the --currency of the amount');
  }
  return { ...refundAmounts(options, currency), currency };
}

function question(
  commissions: readonly Commission[],
  { order, product, line }: OrderRefundOptions,
  given: RefundAmounts,
): string {
  const of = product === undefined ? '' : `product ${product} in `;
  const what = printable(`${of}order ${order}`);
  if (commissions.length === 0) {
    return `There is no commission of ${what} yet. Refund it when it arrives?`;
  }
  if (line) return `Take back the commission of ${printable(line.join(', '))} in ${what}?`;
  const left = new Map<string, number>();
  for (const { currency, original_amount, refunded_amount } of commissions) {
    left.set(currency, (left.get(currency) ?? 0) + original_amount - refunded_amount);
  }
  const sums = amounts([...left].map(([currency, amount]) => ({ currency, amount })));
  const [currency = ''] = left.keys();
  const all = `the remaining ${sums} of ${count(commissions.length, 'commission')}`;
  return refundQuestion({ currency, all, what }, given);
}
