import { fail } from '../../kernel/errors.ts';
import type { Payer } from '../../people/accounts/record.ts';
import { type PaymentFormat, payingFrom } from './format.ts';

/**
 * A format with the limits of an account and a request. Throws `invalid_query` if `rows_per_file` exceeds the format's
 * maximum.
 */
export function settled(format: PaymentFormat, payer: Payer, rowsPerFile?: number): PaymentFormat {
  const most = format.payer === null ? (format.maxRows ?? 0) : Number.POSITIVE_INFINITY;
  if (rowsPerFile !== undefined && rowsPerFile > most)
    throw fail('invalid_query', `rows_per_file must be at most ${most} for the ${format.title}`);
  return { ...format, maxRows: rowsPerFile ?? payingFrom(format, payer)?.rows_per_file ?? format.maxRows };
}
