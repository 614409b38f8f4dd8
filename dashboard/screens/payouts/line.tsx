import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { Commission, Payout, PayoutLine } from '../../../src/client/api.ts';
import { parseDecimal } from '../../../src/kernel/money.ts';
import { useMay } from '../../data/me.ts';
import { nameOf } from '../../data/payouts.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { titleOf } from '../../parts/commissions.tsx';
import { Id } from '../../parts/copy.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { exampleAmount } from '../../parts/format.ts';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm, ConfirmEnd, Drawer } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import type { Column } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Money, Time } from '../../parts/values.tsx';
import { commissions as commissionTexts } from '../../texts/commissions.ts';
import { payouts } from '../../texts/payouts.ts';
import { LineFile } from './line-file.tsx';
import { LineStatus } from './lines.tsx';
import { Destination } from './preview.tsx';
import { LineAmounts } from './with-tax.tsx';

const route = getRouteApi('/payouts/$id');
const texts = payouts.line;

const COLUMNS: readonly Column<Commission>[] = [
  {
    title: payouts.columns.order,
    cell: (commission) => (
      <>
        {titleOf(commission)}
        {commission.product_name !== null && <span className="second">{commission.product_name}</span>}
      </>
    ),
  },
  { title: payouts.columns.type, isWide: true, cell: ({ type }) => commissionTexts.type[type] },
  {
    title: payouts.columns.occurred,
    isWide: true,
    cell: ({ occurred_at }) => <Time at={occurred_at} isAbsolute />,
  },
  {
    title: payouts.columns.amount,
    isFigure: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
];

/** A line in a drawer: the affiliate, the amount, the commissions, and returned payments if it is paid. */
export function Line({ payout, line }: { payout: Payout; line: PayoutLine }) {
  const navigate = route.useNavigate();
  const may = useMay();
  const [page, setPage] = useState<number>();
  const [isBooking, setBooking] = useState(false);
  const { affiliate_id } = line;
  const close = useCallback(
    () => void navigate({ search: (now) => ({ ...now, line: undefined }), resetScroll: false }),
    [navigate],
  );
  const stop = useCallback(() => setBooking(false), []);
  const commissions = useList('listPayoutCommissions', {
    path: [payout.id],
    filters: { affiliate_id },
    place: { page },
    onPlace: (next) => setPage(next.page),
    isLive: false,
  });
  const isPaid = line.totals.some(({ is_paid }) => is_paid);
  return (
    <Drawer title={nameOf(line)} onClose={close}>
      <Card>
        <Facts
          rows={[
            [payouts.columns.amount, <LineAmounts key="amount" totals={line.totals} isStrong />],
            [payouts.columns.destination, <Destination key="destination" line={line} />],
            payout.status === 'paid'
              ? [payouts.columns.status, <LineStatus key="status" line={line} />]
              : [texts.file, <LineFile key="file" payout={payout} line={line} />],
            ...(line.payment_reference === null
              ? []
              : [[payouts.columns.reference, <Id key="reference">{line.payment_reference}</Id>] as const]),
          ]}
        />
      </Card>
      {isPaid && (
        <Returns payout={payout} line={line} onBook={may.write ? () => setBooking(true) : undefined} />
      )}
      <h3 className="section">{texts.commissions}</h3>
      <Listing
        {...commissions}
        label={texts.commissions}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<Empty icon="commissions" title={payouts.commissions(0)} />}
      />
      {isBooking && <Book payout={payout} line={line} onClose={stop} />}
    </Drawer>
  );
}

function Returns({
  payout,
  line,
  onBook,
}: {
  payout: Payout;
  line: PayoutLine;
  onBook: (() => void) | undefined;
}) {
  const { data } = useRead('listPayoutReturns', { path: [payout.id, line.affiliate_id] });
  const [undoing, setUndoing] = useState<string>();
  const stop = useCallback(() => setUndoing(undefined), []);
  return (
    <Card title={texts.returns} actions={onBook && <Button onPress={onBook}>{texts.book}</Button>}>
      {data?.data.length === 0 && <p className="soft">{texts.noReturns}</p>}
      <ul className="send">
        {data?.data.map(
          ({ id, amount, tax_amount, withheld_amount, currency, reason, returned_at, undone_at }) => (
            <li key={id}>
              <div>
                {reason}
                <span className="second">
                  {undone_at === null ? <Time at={returned_at} /> : texts.undone}
                </span>
              </div>
              <Money amount={amount + tax_amount - withheld_amount} currency={currency} />
              {onBook && undone_at === null && (
                <Button kind="quiet" onPress={() => setUndoing(id)}>
                  {texts.undo}
                </Button>
              )}
            </li>
          ),
        )}
      </ul>
      {undoing && (
        <ConfirmEnd
          title={texts.undoTitle}
          action={texts.undo}
          operation="deletePayoutReturn"
          input={{ path: [payout.id, line.affiliate_id, undoing] }}
          done={texts.undoDone}
          onClose={stop}
        >
          <p className="soft">{texts.undoLead}</p>
        </ConfirmEnd>
      )}
    </Card>
  );
}

/** The form that records a returned payment. */
function Book({ payout, line, onClose }: { payout: Payout; line: PayoutLine; onClose: () => void }) {
  const paid = line.totals.filter(({ is_paid }) => is_paid);
  const [currency, setCurrency] = useState(paid[0]?.currency ?? '');
  const [amount, setAmount] = useState('');
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState('');
  const book = useWrite('returnPayoutLine');
  const minor = amount.trim() === '' ? undefined : parseDecimal(amount.trim(), currency);
  const submit = () =>
    book.mutate(
      {
        path: [payout.id, line.affiliate_id],
        body: {
          currency,
          reason: reason.trim(),
          ...(minor === undefined || minor === null ? {} : { amount: Number(minor) }),
          ...(reference.trim() === '' ? {} : { reference: reference.trim() }),
        },
      },
      {
        onSuccess: () => {
          toast(texts.booked);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.book}
      action={texts.book}
      isBusy={book.isPending}
      isDisabled={reason.trim() === '' || minor === null}
      error={book.error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p className="soft">{texts.bookLead}</p>
      {paid.length > 1 && (
        <SelectField
          label={payouts.columns.amount}
          value={currency}
          options={paid.map((total) => ({ value: total.currency, label: total.currency.toUpperCase() }))}
          onChange={setCurrency}
        />
      )}
      <TextField
        label={texts.amount(currency.toUpperCase())}
        hint={texts.amountHint}
        isOptional
        value={amount}
        problem={minor === null ? texts.badAmount(exampleAmount(currency)) : null}
        onChange={setAmount}
      />
      <TextField label={texts.reason} value={reason} maxLength={500} onChange={setReason} />
      <TextField
        label={texts.reference}
        isOptional
        value={reference}
        maxLength={255}
        onChange={setReference}
      />
    </Confirm>
  );
}
