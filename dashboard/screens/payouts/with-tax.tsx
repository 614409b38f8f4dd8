import type { ReactNode } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { toPay } from '../../../src/terms/with-tax.ts';
import { type Amount, money } from '../../parts/format.ts';
import { Moneys } from '../../parts/values.tsx';
import { withTax as texts } from '../../texts/with-tax.ts';

type Total = Payout['totals'][number];
type LineTotal = PayoutLine['totals'][number];

/** What leaves the bank, by currency. */
export const amountsToPay = (totals: readonly (Amount & Pick<Total, 'with_tax'>)[]): Amount[] =>
  totals.map((total) => ({ currency: total.currency, amount: toPay(total) }));

/** The facts about the tax on top and what is withheld; none where the commissions are what is paid. */
export function taxFacts(totals: readonly Total[]): (readonly [string, ReactNode])[] {
  const taxed = totals.flatMap(({ currency, with_tax }) => (with_tax ? [{ currency, ...with_tax }] : []));
  if (taxed.length === 0) return [];
  const sums = (field: 'tax_amount' | 'withheld_amount') =>
    taxed.map(({ currency, [field]: amount }) => ({ currency, amount }));
  const withholds = taxed.some(({ withheld_amount }) => withheld_amount > 0);
  const hasTax = !withholds || taxed.some(({ tax_amount }) => tax_amount > 0);
  return [
    ...(hasTax ? [[texts.tax, <Moneys key="tax" amounts={sums('tax_amount')} />] as const] : []),
    ...(withholds
      ? [[texts.withheld, <Moneys key="withheld" amounts={sums('withheld_amount')} />] as const]
      : []),
    [texts.toPay, <Moneys key="pay" amounts={amountsToPay(totals)} isStrong />],
  ];
}

/** The fact what left the bank; none where the commissions are what is paid. */
export function paidWithTax(totals: readonly Total[]): (readonly [string, ReactNode])[] {
  if (totals.every(({ with_tax }) => with_tax === undefined)) return [];
  const paid = totals.map(({ currency, paid_amount, with_tax }) => ({
    currency,
    amount: with_tax?.paid_amount ?? paid_amount,
  }));
  return [[texts.paid, <Moneys key="paid" amounts={paid} />]];
}

/** Why a line has no tax, or the tax or what is withheld, and what is paid. */
function taxOf({ currency, with_tax }: LineTotal): string | null {
  if (with_tax === undefined) return null;
  const { amount, tax_amount, withheld_amount, withholding_rate, exemption, reason } = with_tax;
  if (withholding_rate !== null)
    return texts.less(money({ currency, amount: withheld_amount }), money({ currency, amount }));
  if (reason !== null) return texts.none(texts.reasons[reason]);
  if (exemption !== null) return texts.none(exemption);
  return texts.plus(money({ currency, amount: tax_amount }), money({ currency, amount }));
}

/** The amounts of a line, with the tax on top of each or what is withheld. */
export function LineAmounts({
  totals,
  isStrong = false,
}: {
  totals: readonly LineTotal[];
  isStrong?: boolean;
}) {
  return (
    <>
      <Moneys amounts={totals} isStrong={isStrong} />
      {totals.map((total) => {
        const text = taxOf(total);
        return (
          text !== null && (
            <span key={total.currency} className="second">
              {text}
            </span>
          )
        );
      })}
    </>
  );
}
