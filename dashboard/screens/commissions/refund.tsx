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

const told = texts.refund;

/** Refunds part of a commission, or all that is left of it. */
export function RefundCommission({ commission, onClose }: { commission: Commission; onClose: () => void }) {
  const { currency, sale_amount: sale } = commission;
  const left = leftOf(commission);
  const write = useWrite('refundCommission');
  // one refund per dialog, however often the form is sent
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
          toast(told.done(money({ amount, currency })));
          onClose();
        },
      },
    );
  const action = way === 'amount' ? told.action(sum) : told.saleAction(sum);
  return (
    <Confirm
      title={told.title}
      action={isRight ? action : told.nothing}
      isDangerous
      isBusy={write.isPending}
      isDisabled={!isRight}
      error={write.error}
      onConfirm={refund}
      onClose={onClose}
    >
      <p className="form-lead">
        {told.lead(money({ amount: left, currency }))} {effectOf(commission)}
      </p>
      {sale !== null && (
        <SelectField
          label={told.by}
          value={way}
          options={optionsOf(['amount', 'sale_amount'], told.ways)}
          onChange={(next) => {
            setWay(next);
            setTyped(next === 'amount' ? formatDecimal(BigInt(left), currency) : '');
          }}
        />
      )}
      <TextField
        label={told[way](currency)}
        hint={way === 'sale_amount' ? told.saleHint(money({ amount: sale ?? 0, currency })) : undefined}
        value={typed}
        onChange={setTyped}
        hasFocus
        problem={typed.trim() !== '' && !isRight ? told.wrong(money({ amount: most, currency })) : null}
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
  status === 'paid' ? told.paid : payout ? told.inPayout : told.unpaid;
