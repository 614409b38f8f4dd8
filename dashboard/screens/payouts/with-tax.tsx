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

/** The facts about the tax on top of net commissions; none where commissions include the tax. */
export function taxFacts(totals: readonly Total[]): (readonly [string, ReactNode])[] {
  const taxed = totals.flatMap(({ currency, with_tax }) =>
    with_tax === undefined ? [] : [{ currency, amount: with_tax.tax_amount }],
  );
  if (taxed.length === 0) return [];
  return [
    [texts.tax, <Moneys key="tax" amounts={taxed} />],
    [texts.toPay, <Moneys key="pay" amounts={amountsToPay(totals)} isStrong />],
  ];
}

/** The fact what was paid with the tax; none where commissions include the tax. */
export function paidWithTax(totals: readonly Total[]): (readonly [string, ReactNode])[] {
  if (totals.every(({ with_tax }) => with_tax === undefined)) return [];
  const paid = totals.map(({ currency, paid_amount, with_tax }) => ({
    currency,
    amount: with_tax?.paid_amount ?? paid_amount,
  }));
  return [[texts.paid, <Moneys key="paid" amounts={paid} />]];
}

/** Why a line has no tax, or the tax and what is paid. */
function taxOf({ currency, with_tax }: LineTotal): string | null {
  if (with_tax === undefined) return null;
  const { amount, tax_amount, exemption, reason } = with_tax;
  if (reason !== null) return texts.none(texts.reasons[reason]);
  if (exemption !== null) return texts.none(exemption);
  return texts.plus(money({ currency, amount: tax_amount }), money({ currency, amount }));
}

/** The amounts of a line, with the tax on top of each. */
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
