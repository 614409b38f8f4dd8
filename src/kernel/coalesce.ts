export interface CoalesceOptions<Item> {
  /** Batches under way at once. */
  readonly inFlight?: number;
  /** Items of one batch at most. */
  readonly max?: number;
  /** What an item weighs, and what a batch may weigh at most; a single heavier item goes alone. */
  readonly weight?: { readonly of: (item: Item) => number; readonly max: number };
  /** Names that no two items of a batch may share: they would wait for each other. The later one waits for a next batch. */
  readonly apart?: (item: Item) => readonly string[];
  /**
   * Whether what failed a batch of so many items may have to do with one of them: then each is asked once more, alone, and
   * beside the batches, so that one that takes long keeps none from its start. Default: never.
   */
  readonly isOfOneItem?: (error: unknown, size: number) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes one function of many calls: what comes in while batches are under way is asked for together in the next one. No
 * timer: a call that finds room goes at the end of this turn of the event loop, so that alone it waits for nobody.
 * `run` gives one result an item, in their order; when it throws, all of its items fail, unless `isOfOneItem`. It is told
 * whether an item is asked alone after that.
 */
export function coalesce<Item, Result>(
  run: (items: readonly Item[], isAlone: boolean) => Promise<readonly Result[]>,
  {
    inFlight = 2,
    max = 500,
    weight,
    apart = () => [],
    isOfOneItem = () => false,
  }: CoalesceOptions<Item> = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || running >= inFlight || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void start(take());
      schedule();
    });
  };

  const take = () => {
    const batch: Waiting<Item, Result>[] = [];
    const names = new Set<string>();
    let sum = 0;
    const fits = ({ item }: Waiting<Item, Result>) =>
      batch.length === 0 || weight === undefined || sum + weight.of(item) <= weight.max;
    const left: Waiting<Item, Result>[] = [];
    for (const [index, one] of waiting.entries()) {
      if (batch.length === max || !fits(one)) {
        waiting = left.concat(waiting.slice(index));
        return batch;
      }
      const own = apart(one.item);
      if (own.some((name) => names.has(name))) {
        left.push(one);
        continue;
      }
      for (const name of own) names.add(name);
      sum += weight?.of(one.item) ?? 0;
      batch.push(one);
    }
    waiting = left;
    return batch;
  };

  const start = async (batch: readonly Waiting<Item, Result>[]) => {
    running += 1;
    try {
      await settle(batch);
    } finally {
      running -= 1;
      schedule();
    }
  };

  const settle = async (batch: readonly Waiting<Item, Result>[], isAlone = false): Promise<void> => {
    try {
      const results = await run(
        batch.map(({ item }) => item),
        isAlone,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (!isAlone && isOfOneItem(error, batch.length)) for (const one of batch) void settle([one], true);
      else for (const { reject } of batch) reject(error);
    }
  };

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}
