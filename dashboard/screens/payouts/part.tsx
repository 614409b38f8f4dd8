import { useState } from 'react';
import { formatDecimal, parseDecimal } from '../../../src/kernel/money.ts';
import { nameOf } from '../../data/payouts.ts';
import { TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { payouts } from '../../texts/payouts.ts';
import { type DueLine, leavingOf, restOf, type Ticks } from './ticks.ts';

const texts = payouts.complete.part;

/** Sets how much of a line was paid, if not all of it. */
export function PartOfLine({ line, ticks, onClose }: { line: DueLine; ticks: Ticks; onClose: () => void }) {
  const { currency, amount } = line;
  const [typed, setTyped] = useState(formatDecimal(BigInt(leavingOf(line, ticks.parts)), currency));
  const parsed = parseDecimal(typed.trim(), currency);
  const isRight = parsed !== null && parsed > 0n && parsed <= BigInt(amount);
  const left = isRight ? Number(parsed) : amount;
  const keep = () => {
    ticks.setPart(line.key, left === amount ? null : left);
    ticks.set(new Set(ticks.ticked).add(line.key));
    onClose();
  };
  return (
    <Confirm
      title={texts.title(nameOf(line))}
      action={isRight ? texts.action(money({ amount: left, currency })) : texts.nothing}
      isBusy={false}
      isDisabled={!isRight}
      onConfirm={keep}
      onClose={onClose}
    >
      <p className="form-lead">{texts.lead}</p>
      <TextField
        label={texts.amount(currency)}
        value={typed}
        onChange={setTyped}
        hasFocus
        problem={isRight ? null : texts.wrong(money({ amount, currency }))}
      />
      {isRight && left < amount && (
        <p className="hint">{texts.rest(money({ amount: restOf(line, left), currency }))}</p>
      )}
    </Confirm>
  );
}
