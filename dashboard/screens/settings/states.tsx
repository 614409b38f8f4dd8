import type { Account } from '../../../src/client/api.ts';
import { formatDecimal, parseDecimal } from '../../../src/kernel/money.ts';
import { TextArea } from '../../parts/field.tsx';
import { settings } from '../../texts/settings.ts';

const texts = settings.account;
const NONE = 'none';

/** The thresholds of states as text: `CA 600.00` a line, `none` for a state that nothing is reported to. */
export const typedStates = ({ state_thresholds }: Account): string =>
  Object.entries(state_thresholds)
    .map(([state, cents]) => `${state} ${cents === null ? NONE : formatDecimal(BigInt(cents), 'usd')}`)
    .join('\n');

/** Cents by state; null when a line is not a state and an amount. The server knows the states. */
export function statesFrom(typed: string): Record<string, number | null> | null {
  const lines = typed.split('\n').filter((line) => line.trim() !== '');
  const entries = lines.map((line) => {
    const [state = '', text = '', ...more] = line.trim().split(/\s+/);
    const cents = text.toLowerCase() === NONE ? null : parseDecimal(text, 'usd');
    const isGood = more.length === 0 && (cents !== null || text.toLowerCase() === NONE);
    return isGood ? ([state, cents === null ? null : Number(cents)] as const) : null;
  });
  const good = entries.filter((entry) => entry !== null);
  const isUnique = new Set(good.map(([state]) => state.toUpperCase())).size === good.length;
  return isUnique && good.length === entries.length ? Object.fromEntries(good) : null;
}

/** From which sum of a year the account reports to states. */
export function StatesField({ typed, onChange }: { typed: string; onChange: (typed: string) => void }) {
  return (
    <TextArea
      label={texts.states}
      hint={texts.statesHint}
      value={typed}
      onChange={onChange}
      problem={statesFrom(typed) === null ? texts.badStates : null}
      rows={3}
      isCode
      isOptional
    />
  );
}
