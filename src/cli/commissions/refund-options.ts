import type { Command } from 'commander';
import type { Commission, RefundCommissionBody } from '../../client/client.ts';
import { REFUND_FIELDS } from '../../client/fields.ts';
import { nameSome } from '../../kernel/errors.ts';
import { DECIMAL_HELP, readAmount } from '../command/amounts.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readFields, withFields } from '../command/record-fields.ts';
import { money } from './view.ts';

// the currency of amounts is that of the commission, and an order is named in another way
const {
  order_id: _order,
  product_id: _product,
  currency: _currency,
  lines: _lines,
  amount: _amount,
  sale_amount: _sale,
  ...PLAIN
} = REFUND_FIELDS;

/** The fields of a refund without its amounts and its target. */
export const readPlain = (options: RefundOptions) =>
  readFields(PLAIN, options) as unknown as Omit<RefundCommissionBody, 'amount' | 'sale_amount'>;

/** The options of a refund that `readPlain` does not read. */
export interface RefundOptions {
  readonly amount?: string;
  readonly saleAmount?: string;
  readonly yes?: boolean;
}

/** Adds the options of every refund. */
export function withRefundOptions(command: Command): Command {
  return withFields(command, PLAIN, { isNew: true })
    .option('--amount <amount>', `how much commission to take back, ${DECIMAL_HELP}, in its currency`)
    .option('--sale-amount <amount>', 'how much of the sale was refunded; the commission follows pro rata')
    .option('-y, --yes', 'do not ask; required without a terminal');
}

/** Throws a UsageError if both amounts are given. */
export function checkRefund({ amount, saleAmount }: RefundOptions): void {
  if (amount !== undefined && saleAmount !== undefined) {
    throw new UsageError('give --amount or --sale-amount, or neither to refund the rest');
  }
}

/** The refund in minor units; without both fields, the rest. */
export interface RefundAmounts {
  readonly amount: number | undefined;
  readonly sale_amount: number | undefined;
}

/** The amounts of a refund in minor units of the currency. Throws a UsageError for an invalid amount. */
export function refundAmounts({ amount, saleAmount }: RefundOptions, currency: string): RefundAmounts {
  const read = (option: string, text: string | undefined) =>
    text === undefined ? undefined : readAmount(option, text, { currency, from: 1 });
  return { amount: read('--amount', amount), sale_amount: read('--sale-amount', saleAmount) };
}

/** The question before a refund. */
export function refundQuestion(
  { currency, all, what }: { currency: string; all: string; what: string },
  { amount, sale_amount }: RefundAmounts,
): string {
  const rest = 'What was already paid is deducted from the next payout.';
  if (amount !== undefined) {
    return `Take back ${money({ currency }, amount)} of the commission of ${what}? ${rest}`;
  }
  if (sale_amount !== undefined) {
    return `Take back commission for ${money({ currency }, sale_amount)} of the sale of ${what}? ${rest}`;
  }
  return `Take back ${all} for ${what}? ${rest}`;
}

/** Restates the refusal of a refund above the remaining amount in decimals; returns other errors unchanged. */
export function inDecimals(error: unknown, commissions: readonly Commission[]): unknown {
  const { name, code, reason } = error as CommandError;
  if (name !== 'ApiError' || reason !== 'refund_exceeds_rest') return error;
  const left = commissions.map((each) => {
    const sale = each.sale_amount === null ? '' : `, of a sale of ${money(each, each.sale_amount)}`;
    return `${money(each, each.original_amount - each.refunded_amount)} of ${each.external_id}${sale}`;
  });
  return new CommandError(`the refund exceeds the remaining amount: ${nameSome(left)}`, { code, reason });
}
