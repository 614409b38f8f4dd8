import type { Page, Payout, PayoutResultVerification, PayoutVerification } from '../../client/client.ts';
import { count } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The answers of a bank, in words. */
export const RESULT_WORDS: Readonly<Record<PayoutVerification['result'], string>> = {
  match: 'match',
  close_match: 'close match',
  no_match: 'no match',
  not_possible: 'not possible',
  name_used: 'name of the bank used',
};
export const VERIFICATIONS = ['match', 'close_match', 'no_match', 'not_possible'] as const;

/** What banks answered about payees, with the name of the bank next to ours. */
export function verificationTable(
  all: readonly (PayoutResultVerification | PayoutVerification)[],
  faint: (text: string) => string,
): string {
  return table(
    [
      { heading: 'AFFILIATE', right: true },
      { heading: 'RESULT' },
      { heading: 'ACCOUNT HOLDER', most: 40 },
      { heading: 'NAME AT THE BANK', most: 40 },
      { heading: 'REASON', most: 60 },
    ],
    all.map(({ affiliate_id, result, account_holder, bank_name, reason }) => [
      String(affiliate_id),
      RESULT_WORDS[result],
      account_holder ?? '',
      bank_name ?? '',
      reason ?? '',
    ]),
    faint,
  );
}

/** The number of mismatches that the view of a payout has. */
export const MISMATCHES_SHOWN = 20;

/** The payees of a payout whose names do not match, with what to do; empty if there are none. */
export function describeMismatches(
  { number }: Payout,
  page: Page<PayoutVerification> | null,
  { paint }: Terminal,
): string {
  const total = page?.pagination.total ?? 0;
  if (page === null || total === 0) return '';
  const more =
    total > page.data.length ? `All of them: payhook payouts verifications ${number} --mismatch\n` : '';
  return (
    `${paint.warning('Check:')} by their banks, the names of ${count(total, 'payee')} do not match the accounts:\n` +
    verificationTable(page.data, paint.faint) +
    more +
    'To use the name that a bank gives: payhook affiliates destination use-name <affiliate>\n'
  );
}
