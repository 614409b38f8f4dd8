import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { Payout, PayoutVerification } from '../../../src/client/api.ts';
import { call } from '../../data/api.ts';
import { useMay } from '../../data/me.ts';
import { queries, useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ChooseFile } from '../../parts/drop.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.verifications;
const MOST = 20;
const TONES = {
  match: 'good',
  close_match: 'warn',
  no_match: 'bad',
  not_possible: 'info',
  name_used: 'info',
} as const;

/** Warns of payees of an unpaid payout whose names do not match their accounts. Renders nothing if all do. */
export function Mismatches({ payout }: { payout: Payout }) {
  const may = useMay();
  const [asked, setAsked] = useState<PayoutVerification | null>(null);
  const stop = useCallback(() => setAsked(null), []);
  const { data } = useRead(
    'listPayoutVerifications',
    { path: [payout.id], query: { is_mismatch: true, per_page: MOST } },
    { isLive: true },
  );
  const total = data?.pagination.total ?? 0;
  if (data === undefined || total === 0) return null;
  const columns: readonly Column<PayoutVerification>[] = [
    {
      title: payouts.columns.affiliate,
      cell: ({ affiliate_id, name }) => (
        <Link to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
          <Name>{name ?? `#${affiliate_id}`}</Name>
        </Link>
      ),
    },
    {
      title: texts.result,
      cell: ({ result, reason }) => (
        <>
          <Status tone={TONES[result]} label={texts.results[result]} />
          {reason !== null && <span className="second">{reason}</span>}
        </>
      ),
    },
    { title: texts.ours, cell: ({ account_holder }) => <Name>{account_holder ?? ''}</Name> },
    { title: texts.theirs, cell: ({ bank_name }) => bank_name !== null && <Name>{bank_name}</Name> },
    { title: texts.at, isWide: true, cell: ({ verified_at }) => <Time at={verified_at} /> },
    {
      title: texts.action,
      cell: (each) =>
        may.write && each.bank_name !== null && <Button onPress={() => setAsked(each)}>{texts.use}</Button>,
    },
  ];
  return (
    <Notice tone="warn">
      <p>
        <b>{texts.mismatches(total)}</b> {texts.lead}
      </p>
      <Table
        label={texts.title}
        columns={columns}
        rows={data.data}
        keyOf={({ affiliate_id, last_four }) => `${affiliate_id} ${last_four}`}
        isStacked
      />
      {total > data.data.length && <p>{texts.more(total - data.data.length)}</p>}
      {asked && <UseName verification={asked} onClose={stop} />}
    </Notice>
  );
}

function UseName({ verification, onClose }: { verification: PayoutVerification; onClose: () => void }) {
  const { mutate, isPending, error } = useWrite('useVerifiedName');
  const { affiliate_id, account_holder, bank_name, currency } = verification;
  const submit = () =>
    mutate(
      { path: [affiliate_id], body: { name: bank_name ?? '', ...(currency === null ? {} : { currency }) } },
      {
        onSuccess: () => {
          toast(texts.used);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.use}
      action={texts.use}
      isBusy={isPending}
      error={error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p>{texts.replaces(account_holder ?? '', bank_name ?? '')}</p>
      <p className="soft">{texts.revises}</p>
    </Confirm>
  );
}

/** Reads the verification of payees from a file of the bank. */
export function ReadVerification({ payout }: { payout: Payout }) {
  const [error, setError] = useState<Error | null>(null);
  const [notes, setNotes] = useState<readonly string[]>([]);
  const read = async (file: File) => {
    setError(null);
    try {
      const { verifications, problems } = await call('takePayoutResult', { path: [payout.id], file });
      setNotes(problems.map(({ message }) => message));
      toast(texts.read(verifications.length));
    } catch (refused) {
      setError(refused as Error);
    }
    await queries.invalidateQueries();
  };
  return (
    <>
      {error && <Problem error={error} />}
      {notes.length > 0 && (
        <Notice tone="warn">
          {notes.slice(0, MOST).map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Notice>
      )}
      <div className="buttons">
        <ChooseFile
          label={texts.choose}
          accept=".xml,.psr,text/xml,application/xml"
          onFile={(file) => void read(file)}
        />
      </div>
    </>
  );
}
