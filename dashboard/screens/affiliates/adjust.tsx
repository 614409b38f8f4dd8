import { useState } from 'react';
import type { AffiliateWithBalance } from '../../../src/client/api.ts';
import { MAX_AMOUNT, parseDecimal } from '../../../src/kernel/money.ts';
import { nameOf } from '../../data/affiliates.ts';
import { useMe } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { CurrencyField } from '../../parts/currency.tsx';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { exampleAmount, money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';

const adjustment = texts.adjust;

/** Creates an adjustment for an affiliate: a commission of type adjustment. */
export function Adjust({ affiliate, onClose }: { affiliate: AffiliateWithBalance; onClose: () => void }) {
  const ownCurrency = useMe().data?.account.default_currency ?? 'usd';
  const write = useWrite('createAdjustment');
  // one adjustment per dialog, even if the form is sent twice
  const [externalId] = useState(() => `adjustment-${crypto.randomUUID()}`);
  const [direction, setDirection] = useState<'add' | 'take'>('add');
  const [typed, setTyped] = useState('');
  const [currency, setCurrency] = useState(affiliate.balance[0]?.currency ?? ownCurrency);
  const [description, setDescription] = useState('');
  const parsed = parseDecimal(typed.trim(), currency);
  const isRight = parsed !== null && parsed > 0n && parsed <= BigInt(MAX_AMOUNT);
  const amount = isRight ? Number(parsed) : 0;
  const signed = direction === 'add' ? amount : -amount;
  const unpaid = affiliate.balance.find((each) => each.currency === currency)?.unpaid ?? 0;
  const book = () =>
    write.mutate(
      {
        path: [affiliate.id],
        body: {
          external_id: externalId,
          amount: signed,
          currency,
          description: description.trim() || null,
        },
      },
      {
        onSuccess: () => {
          toast(adjustment.done(money({ amount: signed, currency })));
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={adjustment.title(nameOf(affiliate))}
      action={isRight ? adjustment[direction](money({ amount, currency })) : adjustment.nothing}
      isBusy={write.isPending}
      isDisabled={!isRight}
      error={write.error}
      onConfirm={book}
      onClose={onClose}
    >
      <p className="soft form-lead">{adjustment.lead}</p>
      <div className="form-grid">
        <SelectField
          label={adjustment.direction}
          value={direction}
          options={optionsOf(['add', 'take'], adjustment.directions)}
          onChange={setDirection}
        />
        <CurrencyField
          label={adjustment.currency}
          value={currency}
          likely={affiliate.balance.map((each) => each.currency)}
          onChange={setCurrency}
        />
        <TextField
          label={adjustment.amount}
          value={typed}
          onChange={setTyped}
          hasFocus
          problem={
            typed.trim() !== '' && !isRight ? adjustment.wrong(currency, exampleAmount(currency)) : null
          }
        />
        <TextField
          label={adjustment.description}
          hint={adjustment.descriptionHint}
          isOptional
          value={description}
          onChange={setDescription}
        />
      </div>
      {isRight && (
        <p className="form-lead">
          {adjustment.after(
            money({ amount: unpaid, currency }),
            money({ amount: unpaid + signed, currency }),
          )}
        </p>
      )}
    </Confirm>
  );
}
