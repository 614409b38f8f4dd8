import { formatDecimal, parseDecimal } from '../../../src/kernel/money.ts';
import { useMe } from '../../data/me.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { CurrencyField } from '../../parts/currency.tsx';
import { TextField } from '../../parts/field.tsx';
import { settings } from '../../texts/settings.ts';
import './settings.css';

const texts = settings.account;

/** Amounts by currency during editing; `line` identifies them. */
export type Amounts = readonly {
  readonly line: number;
  readonly currency: string;
  readonly amount: string;
}[];

/** Amounts as they are edited. */
export const amountsOf = (minor: Readonly<Record<string, number>>): Amounts =>
  Object.entries(minor).map(([currency, amount], line) => ({
    line,
    currency,
    amount: formatDecimal(BigInt(amount), currency),
  }));

/** Minor units by currency; null when an amount is invalid. */
export function minorOf(amounts: Amounts): Record<string, number> | null {
  const entries = amounts.map(({ currency, amount }) => {
    const code = currency.trim().toLowerCase();
    return [code, parseDecimal(amount.trim(), code)] as const;
  });
  if (entries.some(([code, minor]) => code === '' || minor === null)) return null;
  return Object.fromEntries(entries.map(([code, minor]) => [code, Number(minor)]));
}

/** Fields for amounts in several currencies. */
export function AmountsField({
  hint,
  amounts,
  onChange,
}: {
  hint: string;
  amounts: Amounts;
  onChange: (amounts: Amounts) => void;
}) {
  const ownCurrency = useMe().data?.account.default_currency ?? 'usd';
  const set = (line: number, next: Partial<Amounts[number]>) =>
    onChange(amounts.map((each) => (each.line === line ? { ...each, ...next } : each)));
  const next = Math.max(0, ...amounts.map(({ line }) => line)) + 1;
  return (
    <>
      <p className="hint">{hint}</p>
      {amounts.map(({ line, currency, amount }) => (
        <div key={line} className="amount-line">
          <CurrencyField
            label={texts.code}
            value={currency}
            likely={[ownCurrency]}
            onChange={(chosen) => set(line, { currency: chosen })}
          />
          <TextField
            label={texts.amount}
            value={amount}
            onChange={(text) => set(line, { amount: text })}
            problem={
              amount === '' || parseDecimal(amount.trim(), currency) !== null
                ? null
                : texts.badAmount(currency)
            }
          />
          <IconButton
            icon="trash"
            label={texts.remove(currency)}
            onPress={() => onChange(amounts.filter((each) => each.line !== line))}
          />
        </div>
      ))}
      <div className="buttons">
        <Button icon="plus" onPress={() => onChange([...amounts, { line: next, currency: '', amount: '' }])}>
          {texts.addCurrency}
        </Button>
      </div>
    </>
  );
}
