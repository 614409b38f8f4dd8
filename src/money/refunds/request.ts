import { normalised } from '../../contract/fields.ts';
import { fail } from '../../kernel/errors.ts';
import type { RefundLine } from '../refund-lines/lines.ts';
import { REFUND_FIELDS } from './fields.ts';
import type { NewRefundLine, OrderRefund, RefundOfOne } from './record.ts';
import type { RefundRequest } from './store.ts';

/** The normalised request of a refund, to distinguish it from a different one. Throws `invalid_body`. */
export function readRequest(input: RefundOfOne, target: RefundRequest = {}): RefundRequest {
  if (input.amount !== undefined && input.sale_amount !== undefined) {
    throw fail(
      'invalid_body',
      'amount and sale_amount exclude each other: send one of them, or neither to refund the rest',
    );
  }
  const { external_id: _, ...request } = normalised(REFUND_FIELDS, input);
  return { ...request, ...target };
}

/** The lines of a refund by order. Throws `invalid_body`, `duplicate_entry`. */
export function readLines(input: OrderRefund): { lines: RefundLine[]; request: RefundRequest } {
  refuseLoneCurrency(input);
  const request = readRequest(input);
  const { currency = null } = normalised(REFUND_FIELDS, input);
  if (input.lines === undefined) {
    const line = { productId: input.product_id ?? null, orderLineId: null, externalId: null, currency };
    return {
      lines: [{ ...line, amount: minor(input.amount), saleAmount: minor(input.sale_amount) }],
      request,
    };
  }
  for (const name of ['amount', 'sale_amount', 'product_id'] as const) {
    if (input[name] !== undefined && input[name] !== null) {
      throw fail(
        'invalid_body',
        `${name} and lines exclude each other: lines say what was refunded of each sale`,
      );
    }
  }
  refuseTwice(input.lines);
  return { lines: input.lines.map((line, index) => readLine(line, index, currency)), request };
}

const minor = (amount: number | undefined) => (amount === undefined ? null : BigInt(amount));

/** A currency without an amount is refused: it has no meaning, and is not a filter. */
function refuseLoneCurrency({ currency, amount, sale_amount, lines }: OrderRefund): void {
  const amounts = [amount, sale_amount, ...(lines ?? []).map((line) => line.sale_amount)];
  if (currency !== undefined && amounts.every((each) => each === undefined)) {
    throw fail('invalid_body', 'currency applies to an amount: send it with amount or sale_amount');
  }
}

function readLine(line: NewRefundLine, index: number, currency: string | null): RefundLine {
  if ((line.order_line_id === undefined) === (line.external_id === undefined)) {
    throw fail('invalid_body', `lines[${index}] must have either order_line_id or external_id`);
  }
  return {
    productId: null,
    orderLineId: line.order_line_id ?? null,
    externalId: line.external_id ?? null,
    amount: null,
    saleAmount: minor(line.sale_amount),
    currency: line.sale_amount === undefined ? null : currency,
  };
}

function refuseTwice(lines: readonly NewRefundLine[]): void {
  const seen = new Set<string>();
  for (const [index, { order_line_id, external_id }] of lines.entries()) {
    const name =
      order_line_id === undefined ? `external_id ${external_id}` : `order_line_id ${order_line_id}`;
    if (seen.has(name)) throw fail('duplicate_entry', `lines[${index}]: ${name} is listed twice`);
    seen.add(name);
  }
}
