import { fail } from '../../kernel/errors.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { formatInstant, INSTANT_RULE, parseInstant } from '../../kernel/time.ts';
import type { RefundLine } from '../refund-lines/lines.ts';
import type { NewRefundLine, OrderRefund, RefundOfOne } from './record.ts';
import type { RefundRequest } from './store.ts';

/** The normalised request of a refund, to distinguish it from a different one. Throws `invalid_body`. */
export function readRequest(input: RefundOfOne, target: RefundRequest): RefundRequest {
  if (input.amount !== undefined && input.sale_amount !== undefined) {
    throw fail(
      'invalid_body',
      'amount and sale_amount exclude each other: send one of them, or neither to refund the rest',
    );
  }
  const occurred = input.occurred_at === undefined ? null : parseInstant(input.occurred_at);
  if (occurred === null && input.occurred_at !== undefined) {
    throw fail('invalid_body', `occurred_at must be ${INSTANT_RULE}`);
  }
  return {
    ...target,
    amount: input.amount ?? null,
    sale_amount: input.sale_amount ?? null,
    reason: input.reason ?? null,
    occurred_at: occurred === null ? null : formatInstant(occurred),
  };
}

/** The lines of a refund by order. Throws `invalid_body`, `duplicate_entry`. */
export function readLines(input: OrderRefund): { lines: RefundLine[]; request: RefundRequest } {
  const currency = currencyOf(input);
  const target = {
    order_id: input.order_id,
    product_id: input.product_id ?? null,
    currency,
    lines: input.lines ?? null,
  };
  const request = readRequest(input, target);
  if (input.lines === undefined) {
    const line = { productId: target.product_id, orderLineId: null, externalId: null, currency };
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
function currencyOf({ currency, amount, sale_amount, lines }: OrderRefund): string | null {
  if (currency === undefined) return null;
  const code = normalizeCurrency(currency);
  if (code === null)
    throw fail('invalid_body', `currency must be an ISO 4217 currency code, not ${currency}`);
  const amounts = [amount, sale_amount, ...(lines ?? []).map((line) => line.sale_amount)];
  if (amounts.every((each) => each === undefined)) {
    throw fail('invalid_body', 'currency applies to an amount: send it with amount or sale_amount');
  }
  return code;
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
