import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { DestinationCorrection } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { nameOf } from '../../data/payouts.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name } from '../../parts/values.tsx';
import { corrections as texts } from '../../texts/corrections.ts';
import { payouts } from '../../texts/payouts.ts';

const MOST = 20;

/** A decision that was asked for. */
interface Asked {
  readonly correction: DestinationCorrection;
  readonly isAccepted: boolean;
}

/** What a correction changes, each field as it was and as the bank says. */
function ChangedFields({ correction: { changes, code } }: { correction: DestinationCorrection }) {
  return (
    <>
      {changes.map(({ field, from, to }) => (
        <span key={field} className="second">
          {texts.change(texts.fields[field], from, to)}
        </span>
      ))}
      <span className="second">{code}</span>
    </>
  );
}

/** Warns of corrections by banks that nobody decided yet, of this payout or others. Renders nothing without any. */
export function Corrections() {
  const may = useMay();
  const [asked, setAsked] = useState<Asked | null>(null);
  const stop = useCallback(() => setAsked(null), []);
  const { data } = useRead(
    'listDestinationCorrections',
    { query: { status: 'open', per_page: MOST } },
    { isLive: true },
  );
  const total = data?.pagination.total ?? 0;
  if (data === undefined || total === 0) return null;
  const columns: readonly Column<DestinationCorrection>[] = [
    {
      title: payouts.columns.affiliate,
      cell: (each) => (
        <Link to="/affiliates/$id" params={{ id: String(each.affiliate_id) }}>
          <Name>{nameOf(each)}</Name>
        </Link>
      ),
    },
    { title: texts.what, cell: (each) => <ChangedFields correction={each} /> },
    { title: texts.due, cell: ({ due_on }) => due_on },
    {
      title: texts.action,
      cell: (correction) =>
        may.write && (
          <span className="buttons">
            <Button onPress={() => setAsked({ correction, isAccepted: true })}>{texts.accept}</Button>
            <Button onPress={() => setAsked({ correction, isAccepted: false })}>{texts.dismiss}</Button>
          </span>
        ),
    },
  ];
  return (
    <Notice tone="warn">
      <p>
        <b>{texts.count(total)}</b> {texts.lead}
      </p>
      <Table label={texts.title} columns={columns} rows={data.data} keyOf={({ id }) => id} isStacked />
      {total > data.data.length && <p>{texts.more(total - data.data.length)}</p>}
      {asked && <Decide {...asked} onClose={stop} />}
    </Notice>
  );
}

function Decide({ correction, isAccepted, onClose }: Asked & { onClose: () => void }) {
  const { mutate, isPending, error } = useWrite(
    isAccepted ? 'acceptDestinationCorrection' : 'dismissDestinationCorrection',
  );
  const action = isAccepted ? texts.accept : texts.dismiss;
  const submit = () =>
    mutate(
      { path: [correction.id] },
      {
        onSuccess: () => {
          toast(isAccepted ? texts.accepted : texts.dismissed);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={action}
      action={action}
      isBusy={isPending}
      error={error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p>
        <Name>{nameOf(correction)}</Name>
        <ChangedFields correction={correction} />
      </p>
      <p className="soft">{isAccepted ? texts.revises : texts.stays}</p>
    </Confirm>
  );
}
