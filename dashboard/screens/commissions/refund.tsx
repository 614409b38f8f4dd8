import { useState } from 'react';
import type { Commission } from '../../../src/client/api.ts';
import { formatDecimal, MAX_AMOUNT, parseDecimal } from '../../../src/kernel/money.ts';
import { useWrite } from '../../data/queries.ts';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { leftOf } from './acts.ts';

const labels = texts.refund;

/** Refunds part or all of the remaining amount of a commission. */
export function RefundCommission({ commission, onClose }: { commission: Commission; onClose: () => void }) {
  const { currency, sale_amount: sale } = commission;
  const left = leftOf(commission);
  const write = useWrite('refundCommission');
  // one refund per dialog, even if the form is sent twice
  const [externalId] = useState(() => `refund-${crypto.randomUUID()}`);
  const [way, setWay] = useState<'amount' | 'sale_amount'>('amount');
  const [typed, setTyped] = useState(formatDecimal(BigInt(left), currency));
  const [reason, setReason] = useState('');
  const most = way === 'amount' ? left : (sale ?? MAX_AMOUNT);
  const parsed = parseDecimal(typed.trim(), currency);
  const isRight = parsed !== null && parsed > 0n && parsed <= BigInt(most);
  const sum = isRight ? money({ amount: Number(parsed), currency }) : '';
  const refund = () =>
    write.mutate(
      {
        path: [commission.id],
        body: { external_id: externalId, [way]: Number(parsed), reason: reason.trim() || null },
      },
      {
        onSuccess: ({ amount }) => {
          toast(labels.done(money({ amount, currency })));
          onClose();
        },
      },
    );
  const action = way === 'amount' ? labels.action(sum) : labels.saleAction(sum);
  return (
    <Confirm
      title={labels.title}
      action={isRight ? action : labels.nothing}
      isDangerous
      isBusy={write.isPending}
      isDisabled={!isRight}
      error={write.error}
      onConfirm={refund}
      onClose={onClose}
    >
      <p className="form-lead">
        {labels.lead(money({ amount: left, currency }))} {effectOf(commission)}
      </p>
      {sale !== null && (
        <SelectField
          label={labels.by}
          value={way}
          options={optionsOf(['amount', 'sale_amount'], labels.ways)}
          onChange={(next) => {
            setWay(next);
            setTyped(next === 'amount' ? formatDecimal(BigInt(left), currency) : '');
          }}
        />
      )}
      <TextField
        label={labels[way](currency)}
        hint={way === 'sale_amount' ? labels.saleHint(money({ amount: sale ?? 0, currency })) : undefined}
        value={typed}
        onChange={setTyped}
        hasFocus
        problem={typed.trim() !== '' && !isRight ? labels.wrong(money({ amount: most, currency })) : null}
      />
      <TextField
        label={texts.reason}
        hint={texts.reasonHint}
        isOptional
        value={reason}
        onChange={setReason}
      />
    </Confirm>
  );
}

const effectOf = ({ status, payout_id: payout }: Commission) =>
  status === 'paid' ? labels.paid : payout ? labels.inPayout : labels.unpaid;
