import fc from 'fast-check';
import { affiliatesIn, type Command, type Line, type Sale, type State } from './refunds-model.ts';

export const AFFILIATES = 2;

const order = fc.constantFrom('o', 'p');
const orderLine = fc.constantFrom(null, 'a', 'b');
const pick = fc.nat(40);
const part = fc.constantFrom(1, 250, 333, 995, 1200);
const sale = fc.record({
  ...{ order, line: orderLine, affiliate: fc.nat(AFFILIATES - 1) },
  currency: fc.constantFrom('usd', 'usd', 'usd', 'jpy'),
  amount: fc.constantFrom(1, 3, 149, 299, 1000),
  sale: fc.constantFrom(1000, 1990),
  holdEnds: fc.constantFrom(-1, -1, -1, 5),
  future: fc.nat(5),
});
const howMuch = fc.oneof(
  fc.record({ amount: fc.constant(null), sale: part }),
  fc.record({ amount: fc.constant(null), sale: fc.constant(null) }),
  fc.record({ amount: fc.constantFrom(1, 40, 300), sale: fc.constant(null) }),
);
const wish = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('take in' as const),
      sales: fc.array(sale, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('refund all' as const), order, what: howMuch }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund lines' as const),
      order,
      lines: fc.array(fc.record({ line: orderLine, pick, future: fc.boolean(), sale: fc.option(part) }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('refund' as const), pick, what: howMuch }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('reverse' as const), pick }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('void' as const, 'hold', 'end hold'), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('minimum' as const), minimum: fc.constantFrom(0, 400) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('complete' as const, 'complete', 'delete'), pick }),
  },
);
export type Wish = typeof wish extends fc.Arbitrary<infer Value> ? Value : never;

/** Resolves what a wish chooses; null when there is none to choose. */
export function resolve(state: State, wish: Wish, name: string): Command | null {
  const oneOf = <Item>(items: readonly Item[], at: number) => items[at % Math.max(items.length, 1)];
  switch (wish.do) {
    case 'take in': {
      const used = new Set(state.rows.map((row) => row.name));
      const sales = wish.sales.map(({ future, ...rest }, index): Sale => {
        const promised = `future-${future}`;
        const isFree = index === 0 && !used.has(promised) && !name.endsWith('-1');
        return { ...rest, name: isFree ? promised : `s${name}-${index}` };
      });
      return { do: 'take in', sales };
    }
    case 'refund all': {
      const line = { line: null, commission: null, ...wish.what };
      return { do: 'refund order', name: `r${name}`, order: wish.order, lines: [line] };
    }
    case 'refund lines': {
      const own = state.rows.filter((row) => !row.isClawback);
      const lines = wish.lines.map(({ line, pick: at, future, sale: part_ }): Line => {
        const commission = future ? `future-${at % 6}` : (oneOf(own, at)?.name ?? 'future-0');
        return { line, commission: line === null ? commission : null, amount: null, sale: part_ };
      });
      const names = lines.map(({ line, commission }) => `${line} ${commission}`);
      if (new Set(names).size < names.length) return null;
      return { do: 'refund order', name: `r${name}`, order: wish.order, lines };
    }
    case 'refund': {
      const row = oneOf(state.rows, wish.pick);
      const what = { line: null, commission: null, ...wish.what };
      return row ? { do: 'refund', name: `r${name}`, row: row.name, what } : null;
    }
    case 'reverse': {
      const refund = oneOf(state.refunds, wish.pick);
      return refund ? { do: 'reverse', refund: refund.name } : null;
    }
    case 'complete':
    case 'delete': {
      const payout = oneOf(state.payouts.filter(({ paid }) => !paid).concat(state.payouts), wish.pick);
      if (!payout) return null;
      const { number } = payout;
      return wish.do === 'delete'
        ? { do: 'delete', payout: number }
        : { do: 'complete', payout: number, affiliates: affiliatesIn(state, number) };
    }
    case 'void':
    case 'hold':
    case 'end hold': {
      const row = oneOf(state.rows, wish.pick);
      return row ? { do: wish.do, row: row.name } : null;
    }
    default:
      return wish;
  }
}

/** Wishes one after the other, some of them two at once. */
export const phases: fc.Arbitrary<readonly (readonly Wish[])[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.tuple(wish) }, { weight: 1, arbitrary: fc.tuple(wish, wish) }),
  { minLength: 6, maxLength: 24 },
);
