import type { Payout } from '../../../src/client/api.ts';
import { nameOf, usePaymentFiles } from '../../data/payouts.ts';
import { Notice } from '../../parts/feedback.tsx';
import { Money, Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import type { Answers } from './answers.tsx';
import type { DueLine, Ticks } from './ticks.ts';

/** How many of them are named. */
const MOST = 5;

/** Lines that are ticked though a payment file that was downloaded left them out, and no bank says that they were paid. */
export function TickedUnsent({
  payout,
  lines,
  ticks,
  answers,
}: {
  payout: Payout;
  lines: readonly DueLine[];
  ticks: Ticks;
  answers: Answers;
}) {
  const { data } = usePaymentFiles(payout);
  const files = (data?.files ?? []).filter(({ downloads }) => downloads.length > 0);
  const leftOut = new Set(
    files.flatMap(({ currency, skipped }) =>
      skipped.map(({ affiliate_id }) => `${affiliate_id} ${currency}`),
    ),
  );
  const ticked = lines.filter(({ key }) => ticks.ticked.has(key) && !answers.lines.has(key));
  const found = ticked.filter(({ key }) => leftOut.has(key));
  // an answer names the first of them only
  const unnamed = files.reduce((sum, { skipped, skipped_count: all }) => sum + all - skipped.length, 0);
  const isUnknown = unnamed > 0 && ticked.length > found.length;
  if (found.length === 0) {
    return isUnknown ? <Notice tone="warn">{payouts.complete.unsentUnnamed(unnamed)}</Notice> : null;
  }
  return (
    <Notice tone="bad">
      <p>{payouts.complete.unsent}</p>
      <ul>
        {found.slice(0, MOST).map((line) => (
          <li key={line.key}>
            <Name>{nameOf(line)}</Name>: <Money amount={line.amount} currency={line.currency} />
          </li>
        ))}
        {found.length > MOST && <li>{payouts.changes.more(found.length - MOST)}</li>}
      </ul>
      {isUnknown && <p>{payouts.complete.unsentUnnamed(unnamed)}</p>}
    </Notice>
  );
}
