import { useState } from 'react';
import type { PaymentFileChange, Payout, PayoutLine } from '../../../src/client/api.ts';
import {
  type Change,
  changesBetween,
  nameOf,
  outdatedDownloads,
  usePaymentFiles,
  type Worth,
  worthOf,
} from '../../data/payouts.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { money } from '../../parts/format.ts';
import { Name, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.changes;
const MOST_SHOWN = 8;

/** A payout as it was at a revision. */
interface Snapshot {
  readonly revision: number;
  readonly worth: Worth;
}

/**
 * Shows how an unpaid payout changed since it was opened, until the user accepts the changes, and since a payment file was
 * downloaded, until it is downloaded again. `isCurrent`: the lines are those of this revision.
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
  const files = usePaymentFiles(payout).data?.files ?? [];
  if (!isCurrent) return null;
  const outdated = files.flatMap((file) => outdatedDownloads(file).map((each) => ({ ...file, ...each })));
  const same = outdated.filter(({ change_count }) => change_count === 0);
  const changes = changesBetween(opened.worth, worthOf(lines));
  return (
    <>
      {outdated.length > 0 && (
        <Notice tone="warn">
          <p>
            <b>{texts.sinceFile(outdated.length)}</b>
          </p>
          <ul className="changes">
            {outdated
              .filter((each) => !same.includes(each))
              .map(({ format, currency, part, by, revision, downloaded_at, ...differs }) => (
                <li key={`${format} ${currency} ${part}`}>
                  {payouts.methods[format]} · {currency.toUpperCase()}: <Time at={downloaded_at} />,{' '}
                  {payouts.files.by} <Name>{by.name ?? by.id}</Name>,{' '}
                  {revision === payout.revision
                    ? payouts.files.revision(revision)
                    : texts.revisions(revision, payout.revision)}
                  {differs.change_count !== null && (
                    <Differences
                      count={differs.change_count}
                      changes={differs.changes.map((change) => changeOfFile(change, currency))}
                    />
                  )}
                </li>
              ))}
            {same.length > 0 && (
              <li>
                {texts.sameIn(
                  same.map(
                    ({ format, currency }) => `${payouts.methods[format]} · ${currency.toUpperCase()}`,
                  ),
                )}
              </li>
            )}
          </ul>
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
          <Differences changes={changes} count={changes.length} />
        </Notice>
      )}
    </>
  );
}

const snapshotOf = ({ revision }: Payout, lines: readonly PayoutLine[]): Snapshot => ({
  revision,
  worth: worthOf(lines),
});

const changeOfFile = (change: PaymentFileChange, currency: string): Change => ({
  key: String(change.affiliate_id),
  name: nameOf(change),
  currency,
  before: change.amount_then,
  after: change.amount_now,
});

/** The first changes, and the total number. */
function Differences({ changes, count }: { changes: readonly Change[]; count: number }) {
  if (count === 0) return <p className="changes">{texts.none}</p>;
  return (
    <ul className="changes">
      {changes.slice(0, MOST_SHOWN).map(({ key, name, currency, before, after }) => (
        <li key={key}>
          <Name>{name}</Name>: {before === null ? texts.added : money({ amount: before, currency })} →{' '}
          {after === null ? texts.left : money({ amount: after, currency })}
        </li>
      ))}
      {count > MOST_SHOWN && <li>{texts.more(count - MOST_SHOWN)}</li>}
    </ul>
  );
}
