import { type Amount, money } from './format.ts';

/** A sum in one currency, and the number of items. */
export interface Sum extends Amount {
  readonly count: number;
}

/** Sums by currency; `count` is the number of items with an amount in it. */
export function sumsOf(things: readonly { readonly totals: readonly Amount[] }[]): Sum[] {
  const sums = new Map<string, { amount: number; count: number }>();
  for (const { totals } of things) {
    for (const { currency, amount } of totals) {
      const sum = sums.get(currency) ?? { amount: 0, count: 0 };
      sums.set(currency, { amount: sum.amount + amount, count: sum.count + 1 });
    }
  }
  return [...sums]
    .map(([currency, sum]) => ({ currency, ...sum }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** `1,525.84 USD and 75.00 EUR`, as parts of a sentence. */
export const sumTexts = (amounts: readonly Amount[]): string[] => amounts.map(money);
