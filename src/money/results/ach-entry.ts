import type { DestinationId } from '../../kernel/ids.ts';
import type { AchEntry } from './answers.ts';
import type { ProblemKind } from './record.ts';

/** What an entry of a bank is compared with. */
export interface KnownPayments {
  /** The payments of a line in NACHA files that were downloaded, by trace number. */
  readonly entries: readonly { readonly trace: string; readonly amount: number }[];
  /** The accounts in the United States that the affiliate has or had. */
  readonly accounts: readonly KnownAccount[];
}

interface KnownAccount {
  readonly id: DestinationId;
  readonly routing_number: string;
  readonly last_four: string;
}

export type Fault = { readonly kind: ProblemKind; readonly message: string };

/**
 * The account that an entry of a bank was sent to, or why it is not a payment of this line: its trace number must be that of a payment to
 * the affiliate in a NACHA file that was downloaded here for this payout. `amount` in minor units; null = any.
 */
export function accountOfEntry(
  { trace, bank, lastFour }: AchEntry,
  { entries, accounts }: KnownPayments,
  amount: number | null,
): KnownAccount | Fault {
  const traced = entries.filter((each) => each.trace === trace);
  if (traced.length === 0)
    return {
      kind: 'unknown_file',
      message: `the trace number ${trace} is not that of this payment in a NACHA file downloaded here for this payout`,
    };
  if (amount !== null && !traced.some((each) => each.amount === amount))
    return { kind: 'other_amount', message: `the payment with the trace number ${trace} has another amount` };
  return (
    accounts.find(
      ({ routing_number, last_four }) => routing_number.startsWith(bank) && last_four === lastFour,
    ) ?? {
      kind: 'other_payee',
      message: `it went to an account that ends in ${lastFour}, at the bank ${bank}, which the affiliate never had`,
    }
  );
}
