import fc from 'fast-check';
import type { Command, Entry, Filters, Line, Sale, State } from './model.ts';

export const AFFILIATES = 3;
export const CURRENCIES = ['usd', 'jpy', 'kwd'] as const;

/** For a line: nothing, not paid, paid, or paid in part; 2 is more than it is worth. */
type PaidChoice = boolean | number | null;

/** A command before its rows and payouts are known: numbers choose among them. */
export type Wish =
  | {
      readonly do: 'take in';
      readonly sales: readonly (readonly [number, number, number, boolean])[];
      readonly again: boolean;
    }
  | { readonly do: 'preview' | 'create'; readonly filters: Filters }
  | {
      readonly do: 'complete';
      readonly pick: number;
      readonly paid: readonly (PaidChoice | readonly PaidChoice[])[];
      readonly stranger: boolean;
    }
  | { readonly do: 'delete'; readonly pick: number }
  | { readonly do: 'undo'; readonly pick: number }
  | {
      readonly do: 'return';
      readonly pick: number;
      readonly affiliate: number;
      readonly currency: number | null;
      readonly amount: number | null;
    }
  | {
      readonly do: 'change';
      readonly affiliate: number;
      readonly active?: boolean;
      readonly ready?: boolean;
      readonly minimum?: number | null;
      readonly destination?: boolean;
    }
  | { readonly do: 'settings'; readonly minimum: number }
  | { readonly do: 'refund'; readonly pick: number; readonly amount: number | null }
  | { readonly do: 'void' | 'hold' | 'unhold'; readonly pick: number }
  | { readonly do: 'adjust'; readonly affiliate: number; readonly amount: number; readonly currency: number };

const pick = fc.nat(40);
const affiliate = fc.nat(AFFILIATES - 1);
const currency = fc.nat(CURRENCIES.length - 1);
const filters: fc.Arbitrary<Filters> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Filters>({}) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        currency: fc.subarray([...CURRENCIES], { minLength: 1 }),
        affiliates: fc.record({
          not: fc.boolean(),
          which: fc.subarray([...Array(AFFILIATES).keys()], { minLength: 1 }),
        }),
        type: fc.constantFrom('sale' as const, 'bonus' as const),
        ignoreMinimum: fc.boolean(),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Filters>,
  },
  {
    weight: 1,
    arbitrary: fc.record({
      currency: fc.constant(['usd'] as const),
      totalAtLeast: fc.integer({ min: 1, max: 900 }),
    }),
  },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take in' as const),
      sales: fc.array(fc.tuple(affiliate, fc.integer({ min: 1, max: 500 }), currency, fc.boolean()), {
        minLength: 1,
        maxLength: 4,
      }),
      again: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('create' as const), filters }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('preview' as const), filters }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      pick,
      paid: fc.array(
        fc.oneof(
          fc.constantFrom<PaidChoice>(true, true, false, null),
          fc.array(fc.constantFrom<PaidChoice>(true, true, 0.01, 0.5, 1, 2, false, null), {
            minLength: CURRENCIES.length,
            maxLength: CURRENCIES.length,
          }),
        ),
        { minLength: AFFILIATES, maxLength: AFFILIATES },
      ),
      stranger: fc.nat(9).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('return' as const),
      pick,
      affiliate,
      currency: fc.option(currency),
      amount: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ do: fc.constant('change' as const), affiliate, active: fc.boolean() }),
      fc.record({ do: fc.constant('change' as const), affiliate, ready: fc.boolean() }),
      fc.record({ do: fc.constant('change' as const), affiliate, destination: fc.boolean() }),
      fc.record({ do: fc.constant('settings' as const), minimum: fc.constantFrom(0, 300, 700) }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      affiliate,
      minimum: fc.option(fc.integer({ min: 1, max: 1200 })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      pick,
      amount: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('void' as const, 'hold', 'unhold'), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('adjust' as const),
      affiliate,
      amount: fc.integer({ min: -600, max: 300 }).filter((amount) => amount !== 0),
      currency,
    }),
  },
);

/** Resolves the rows and payouts that a wish chooses; null when there is none to choose. */
export function resolve(state: State, wish: Wish, name: string): Command | null {
  const oneOf = <Item>(items: readonly Item[], at: number) => items[at % Math.max(items.length, 1)];
  switch (wish.do) {
    case 'take in': {
      const known = wish.again ? oneOf(state.rows, wish.sales[0]?.[1] ?? 0) : undefined;
      const sales = wish.sales.map(([who, amount, which, bonus], index) => ({
        name: index === 0 && known && /^s/.test(known.name) ? known.name : `s${name}-${index}`,
        affiliate: who,
        amount,
        currency: CURRENCIES[which] ?? 'usd',
        type: bonus ? ('bonus' as const) : ('sale' as const),
      }));
      return { do: 'take in', sales };
    }
    case 'complete': {
      const payout = oneOf(
        state.payouts.filter(({ status }) => status === 'unpaid').concat(state.payouts),
        wish.pick,
      );
      if (!payout) return null;
      const entries = entriesOf(payout.lines, wish.paid, wish.stranger);
      return entries.length === 0 ? null : { do: 'complete', payout: payout.number, entries };
    }
    case 'delete': {
      const payout = oneOf(state.payouts, wish.pick);
      return payout ? { do: 'delete', payout: payout.number } : null;
    }
    case 'return': {
      const payout = oneOf(state.payouts, wish.pick);
      const code = wish.currency === null ? null : (CURRENCIES[wish.currency] ?? null);
      const { affiliate: who, amount } = wish;
      return payout ? { do: 'return', payout: payout.number, affiliate: who, currency: code, amount } : null;
    }
    case 'undo': {
      const found = oneOf(state.returns, wish.pick);
      return found ? { do: 'undo', name: found.name } : null;
    }
    case 'refund': {
      const row = oneOf(state.rows, wish.pick);
      if (!row) return null;
      return {
        do: 'refund',
        row: row.name,
        name: `r${name}`,
        ...(wish.amount === null ? {} : { amount: wish.amount }),
      };
    }
    case 'void':
    case 'hold':
    case 'unhold': {
      const row = oneOf(state.rows, wish.pick);
      return row ? { do: wish.do, row: row.name } : null;
    }
    case 'adjust': {
      const { affiliate: who, amount, currency: which } = wish;
      return { do: 'adjust', affiliate: who, name: `a${name}`, amount, currency: CURRENCIES[which] ?? 'usd' };
    }
    default:
      return wish;
  }
}

/** The entries for each affiliate, or for each currency of one: of existing lines, and with `stranger` of others. */
function entriesOf(
  lines: readonly Line[],
  paid: readonly (PaidChoice | readonly PaidChoice[])[],
  stranger: boolean,
): Entry[] {
  return paid.flatMap((payment, who): Entry[] => {
    const own = lines.filter((line) => line.affiliate === who);
    if (!Array.isArray(payment)) {
      const isListed = payment !== null && (own.length > 0 || stranger);
      return isListed ? [{ affiliate: who, currency: null, isPaid: payment === true, amount: null }] : [];
    }
    return (payment as readonly PaidChoice[]).flatMap((each, index) => {
      const currency = CURRENCIES[index] ?? 'usd';
      const line = own.find((one) => one.currency === currency);
      if (each === null || (!line && !stranger)) return [];
      const amount = typeof each === 'number' ? Math.max(1, Math.floor((line?.amount ?? 1) * each)) : null;
      return [{ affiliate: who, currency, isPaid: each !== false, amount }];
    });
  });
}

/** Wishes one after the other, some of them several at once. */
export const phases: fc.Arbitrary<readonly (readonly Wish[])[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.tuple(wish) },
    { weight: 1, arbitrary: fc.array(wish, { minLength: 2, maxLength: 3 }) },
  ),
  { minLength: 6, maxLength: 24 },
);

/** What every affiliate has earned before the first wish. */
export const FIRST_SALES: readonly Sale[] = [0, 1, 2].flatMap((who) =>
  [250, 400].map((amount, index) => ({
    ...{ name: `s-${who}-${index}`, affiliate: who, amount, type: 'sale' as const },
    currency: CURRENCIES[(who + index) % 2] ?? 'usd',
  })),
);
