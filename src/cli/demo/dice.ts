/** Pseudo-random numbers: the same seed gives the same numbers, so that a demo can be repeated. */
export interface Dice {
  /** A whole number from `from` to `to`, inclusive. */
  between(from: number, to: number): number;
  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the items, by weight. */
  weighted<Item>(items: readonly Item[], weightOf: (item: Item) => number): Item;
  shuffled<Item>(items: readonly Item[]): Item[];
}

/** Dice for a 32-bit seed. The generator is mulberry32, by Tommy Ettinger. */
export function createDice(seed: number): Dice {
  let state = seed | 0;
  /** From 0 to 1, exclusive. */
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  const dice: Dice = {
    between,
    chance: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)]!,
    weighted(items, weightOf) {
      const sum = items.reduce((total, item) => total + weightOf(item), 0);
      let rest = next() * sum;
      return (
        items.find((item) => {
          rest -= weightOf(item);
          return rest < 0;
        }) ?? items.at(-1)!
      );
    },
    shuffled(items) {
      const mixed = [...items];
      for (let last = mixed.length - 1; last > 0; last -= 1) {
        const other = between(0, last);
        [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
      }
      return mixed;
    },
  };
  return dice;
}
