export interface CoalesceOptions<Item> {
  /** Concurrent batches. */
  readonly inFlight?: number;
  /** The most items in a batch. */
  readonly max?: number;
  /** The weight of an item, and the most a batch may weigh; a single heavier item goes alone. */
  readonly weight?: { readonly of: (item: Item) => number; readonly max: number };
  /**
   * Keys that no two items of a batch may share, since they would wait for each other. The later item waits for the
   * next batch.
   */
  readonly apart?: (item: Item) => readonly string[];
  /**
   * Whether the error of a batch of this size may be caused by a single item. If so, each item is retried alone, beside
   * the regular batches, so that a slow one does not delay them. Default: never.
   */
  readonly isOfOneItem?: (error: unknown, size: number) => boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines concurrent calls into batches: what arrives while batches are running goes into the next one. There is no
 * timer: with a batch slot free, a call runs at the end of the current turn of the event loop. `run` returns one result
 * per item, in order. When it throws, all its items fail, unless `isOfOneItem` says otherwise; `isAlone` tells `run`
 * that it is such a retry of a single item.
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
