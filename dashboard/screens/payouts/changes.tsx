import { useState } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { type Change, changesBetween, downloads, type Snapshot, worthOf } from '../../data/payouts.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { money } from '../../parts/format.ts';
import { Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.changes;
const MOST_SHOWN = 8;

/**
 * Tells that an unpaid payout is another one than it was: since it was opened, until that is accepted; and since a payment
 * file was downloaded, until that file is downloaded again. `isCurrent` says that the lines are those of this revision.
 */
export function Changes({
  payout,
  lines,
  isCurrent,
}: {
  payout: Payout;
  lines: readonly PayoutLine[];
  isCurrent: boolean;
}) {
  const [opened, setOpened] = useState<Snapshot>(() => snapshotOf(payout, lines));
  if (!isCurrent) return null;
  const inFile = downloads.oldest(payout.id);
  const now = worthOf(lines);
  return (
    <>
      {inFile && inFile.revision !== payout.revision && (
        <Notice tone="warn">
          <p>
            <b>{texts.sinceFile(inFile.revision, payout.revision)}</b>
          </p>
          <Differences changes={changesBetween(inFile.worth, now)} />
        </Notice>
      )}
      {opened.revision !== payout.revision && (
        <Notice
          tone="warn"
          actions={<Button onPress={() => setOpened(snapshotOf(payout, lines))}>{texts.accept}</Button>}
        >
          <p>
            <b>{texts.sinceOpened(opened.revision, payout.revision)}</b>
          </p>
          <Differences changes={changesBetween(opened.worth, now)} />
        </Notice>
      )}
    </>
  );
}

const snapshotOf = ({ revision, updated_at }: Payout, lines: readonly PayoutLine[]): Snapshot => ({
  revision,
  at: updated_at,
  worth: worthOf(lines),
});

function Differences({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return <p className="changes">{texts.none}</p>;
  return (
    <ul className="changes">
      {changes.slice(0, MOST_SHOWN).map(({ key, name, currency, before, after }) => (
        <li key={key}>
          <Name>{name}</Name>: {before === null ? texts.added : money({ amount: before, currency })} →{' '}
          {after === null ? texts.left : money({ amount: after, currency })}
        </li>
      ))}
      {changes.length > MOST_SHOWN && <li>{texts.more(changes.length - MOST_SHOWN)}</li>}
    </ul>
  );
}
