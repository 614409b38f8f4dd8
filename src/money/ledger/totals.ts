import { fail } from '../../kernel/errors.ts';
import { MAX_JSON_INTEGER } from '../../kernel/money.ts';

/** Throws `amount_too_large` for a sum (minor units) that JSON clients would round. */
export function refuseInexact(largest: bigint): void {
  if (largest <= MAX_JSON_INTEGER) return;
  throw fail(
    'amount_too_large',
    `a total of ${largest} minor units is above the maximum of ${MAX_JSON_INTEGER}: split it`,
  );
}
