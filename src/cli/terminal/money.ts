import { formatDecimal } from '../../kernel/money.ts';

interface Money {
  readonly currency: string;
  readonly amount: number;
}

/** Minor units as a decimal: 3190 usd -> `31.90`. */
export function decimal({ amount, currency }: Money): string {
  return formatDecimal(BigInt(amount), currency);
}

/** Amounts in one line: `31.90 USD, 500 JPY`. */
export function amounts(list: readonly Money[]): string {
  return list.map((money) => `${decimal(money)} ${money.currency.toUpperCase()}`).join(', ') || 'nothing';
}

/** `1 affiliate`, `2 affiliates`; `plural` if it does not end in s. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
