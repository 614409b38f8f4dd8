import { Link } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { Payout, PayoutPreview, PayoutSelection, PayoutSignal } from '../../../src/client/api.ts';
import { SIGNAL_RULES, signalReason } from '../../../src/terms/payout-signals.ts';
import { useMay } from '../../data/me.ts';
import { nameOf } from '../../data/payouts.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Money, Name, Status, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.signals;

/** At most this many signals are shown. */
const MOST = 20;
/** At first only these, if there are more than one more: the lines to pay are below them. */
const FIRST = 3;

const COLUMNS: readonly Column<PayoutSignal>[] = [
  {
    title: payouts.columns.affiliate,
    cell: (signal) => (
      <Link to="/affiliates/$id" params={{ id: String(signal.affiliate_id) }}>
        <Name>{nameOf(signal)}</Name>
      </Link>
    ),
  },
  { title: payouts.columns.amount, cell: (signal) => <Money {...signal} /> },
  {
    title: texts.reason,
    cell: (signal) => (
      <>
        <Status tone={signal.blocks ? 'bad' : 'warn'} label={SIGNAL_RULES[signal.rule].label} />
        <span className="second">{signalReason(signal)}</span>
      </>
    ),
  },
];

const keyOf = ({ affiliate_id, currency, rule }: PayoutSignal) => `${affiliate_id} ${currency} ${rule}`;

/** What may point to fraud in what would be created. Renders nothing if there is none. */
export function PreviewSignals({ preview, body }: { preview: PayoutPreview; body: PayoutSelection }) {
  const { data } = useRead(
    'previewPayoutSignals',
    { body, query: { per_page: MOST } },
    { isEnabled: preview.signals.length > 0, keepsPrevious: true },
  );
  if (data === undefined || preview.signals.length === 0) return null;
  const { total } = data.pagination;
  return (
    <Notice tone="warn">
      <p>
        <b>{texts.title(total)}</b> {texts.lead}
      </p>
      <Rows columns={COLUMNS} signals={data.data} total={total} />
    </Notice>
  );
}

interface RowsProps {
  readonly columns: readonly Column<PayoutSignal>[];
  readonly signals: readonly PayoutSignal[];
  /** Of all signals, also of those that are not in `signals`. */
  readonly total: number;
}

/** The first signals, with a button that shows the others. */
function Rows({ columns, signals, total }: RowsProps) {
  const [isOpen, setOpen] = useState(false);
  const isLong = signals.length > FIRST + 1;
  const rows = isLong && !isOpen ? signals.slice(0, FIRST) : signals;
  return (
    <>
      <Table label={texts.label} columns={columns} rows={rows} keyOf={keyOf} isStacked />
      {rows === signals && total > signals.length && <p>{texts.more(total - signals.length)}</p>}
      {isLong && (
        <Button onPress={() => setOpen(!isOpen)}>{isOpen ? texts.fewer : texts.show(total - FIRST)}</Button>
      )}
    </>
  );
}

/** The signals of an unpaid payout, with a button to review them. Renders nothing if there is none. */
export function Signals({ payout, isReadOnly = false }: { payout: Payout; isReadOnly?: boolean }) {
  const may = useMay();
  const [asked, setAsked] = useState<PayoutSignal | null>(null);
  const stop = useCallback(() => setAsked(null), []);
  const { data } = useRead(
    'listPayoutSignals',
    { path: [payout.id], query: { is_ended: false, sort: 'is_reviewed', per_page: MOST } },
    { isLive: true, isEnabled: payout.signals.length > 0 },
  );
  if (data === undefined || payout.signals.length === 0) return null;
  const { total } = data.pagination;
  const isBlocked = payout.signals.some(({ blocking_count }) => blocking_count > 0);
  const review: Column<PayoutSignal> = {
    title: texts.review,
    cell: (signal) =>
      signal.reviewed_by !== null ? (
        <>
          <Actor id={signal.reviewed_by} />, <Time at={signal.reviewed_at} isFocusable />
          {signal.review_note !== null && <span className="second">{signal.review_note}</span>}
        </>
      ) : (
        may.approve && !isReadOnly && <Button onPress={() => setAsked(signal)}>{texts.review}</Button>
      ),
  };
  const hasReviews = !isReadOnly || data.data.some(({ reviewed_by }) => reviewed_by !== null);
  return (
    <Notice tone={isBlocked ? 'bad' : 'warn'}>
      <p>
        <b>{texts.title(total)}</b> {isBlocked ? texts.blocked : texts.lead}
      </p>
      <Rows columns={hasReviews ? [...COLUMNS, review] : COLUMNS} signals={data.data} total={total} />
      {!isReadOnly && <SignalsFile payout={payout} />}
      {asked && <Review payout={payout} signal={asked} onClose={stop} />}
    </Notice>
  );
}

/** A link to the signals as CSV. */
export function SignalsFile({ payout }: { payout: Payout }) {
  return (
    <a className="button plain" href={`/v2/affiliates/payouts/${payout.id}/signals/download`} download>
      <Icon name="download" />
      {texts.csv}
    </a>
  );
}

function Review({ payout, signal, onClose }: { payout: Payout; signal: PayoutSignal; onClose: () => void }) {
  const [note, setNote] = useState('');
  const { mutate, isPending, error } = useWrite('reviewPayoutSignals');
  const { rule, affiliate_id, currency } = signal;
  const submit = () =>
    mutate(
      {
        path: [payout.id],
        body: {
          revision: payout.revision,
          rule,
          affiliate_id,
          currency,
          ...(note.trim() === '' ? {} : { note: note.trim() }),
        },
      },
      {
        onSuccess: () => {
          toast(texts.reviewed);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.review}
      action={texts.review}
      isBusy={isPending}
      error={error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p>
        {signal.name ?? `#${affiliate_id}`}: {signalReason(signal)}
      </p>
      <TextArea label={texts.note} value={note} onChange={setNote} rows={3} isOptional />
    </Confirm>
  );
}
