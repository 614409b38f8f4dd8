import { nameOf } from '../../data/payouts.ts';
import { Notice } from '../../parts/feedback.tsx';
import { sumsOf, sumTexts } from '../../parts/sums.ts';
import { Money, Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import type { Answers } from './answers.tsx';
import { type DueLine, leavingOf, type Ticks } from './ticks.ts';

const texts = payouts.complete;

/** At most this many are named. */
const MOST = 5;

/** Warns of ticked lines that no downloaded file pays and no bank reports as paid. */
export function TickedWithoutFile({
  lines,
  ticks,
  answers,
}: {
  lines: readonly DueLine[];
  ticks: Ticks;
  answers: Answers;
}) {
  const found = lines.filter(
    ({ key, isInFile }) => !isInFile && ticks.ticked.has(key) && !answers.lines.has(key),
  );
  if (found.length === 0) return null;
  const leaving = found.map((line) => ({
    totals: [{ currency: line.currency, amount: leavingOf(line, ticks.parts) }],
  }));
  return (
    <Notice tone="bad">
      <p>{texts.tickedWithoutFile(found.length, sumTexts(sumsOf(leaving)))}</p>
      <ul>
        {found.slice(0, MOST).map((line) => (
          <li key={line.key}>
            <Name>{nameOf(line)}</Name>:{' '}
            <Money amount={leavingOf(line, ticks.parts)} currency={line.currency} />
          </li>
        ))}
        {found.length > MOST && <li>{payouts.changes.more(found.length - MOST)}</li>}
      </ul>
    </Notice>
  );
}
