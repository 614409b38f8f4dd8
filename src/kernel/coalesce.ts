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
  /** Whose an item is. When more waits than a batch takes, batches take one of each owner in turn. Default: all are of one. */
  readonly ownerOf?: (item: Item) => string;
  /**
   * Whether the error of a batch of this size may be caused by a single item. If so, each item is retried alone, next to
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
 * per item, in order. When it throws, all its items fail, unless `isOfOneItem` says otherwise; `isAlone` shows `run`
 * that it is such a retry of a single item.
 */
export function coalesce<Item, Result>(
  run: (items: readonly Item[], isAlone: boolean) => Promise<readonly Result[]>,
  {
    inFlight = 2,
    max = 500,
    weight,
    apart = () => [],
    ownerOf = () => '',
    isOfOneItem = () => false,
  }: CoalesceOptions<Item> = {},
): (item: Item) => Promise<Result> {
  /** What waits, by owner, in the order in which the owners are served. */
  let queues = new Map<string, Waiting<Item, Result>[]>();
  let running = 0;
  let isScheduled = false;

  const schedule = () => {
    if (isScheduled || running >= inFlight || queues.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void start(take());
      schedule();
    });
  };

  /** One item of each owner in turn, until the batch is full. Whoever is next then is served first the next time. */
  const take = () => {
    const batch: Waiting<Item, Result>[] = [];
    const names = new Set<string>();
    let sum = 0;
    const hasRoom = ({ item }: Waiting<Item, Result>) =>
      batch.length < max &&
      (batch.length === 0 || weight === undefined || sum + weight.of(item) <= weight.max);
    const readers = [...queues].map(([owner, all]) => ({ owner, all, at: 0, left: [] as typeof all }));
    type Owner = (typeof readers)[number];
    const nextOf = (from: Owner) => {
      for (; from.at < from.all.length; from.at++) {
        const one = from.all[from.at] as Waiting<Item, Result>;
        const own = apart(one.item);
        if (!own.some((name) => names.has(name))) return { one, own };
        from.left.push(one);
      }
      return null;
    };
    let next = 0;
    for (let open = readers; open.length > 0; open = open.filter(({ at, all }) => at < all.length)) {
      const full = open.find((from) => {
        const found = nextOf(from);
        if (found === null) return false;
        if (!hasRoom(found.one)) return true;
        for (const name of found.own) names.add(name);
        sum += weight?.of(found.one.item) ?? 0;
        batch.push(found.one);
        from.at += 1;
        return false;
      });
      next = full === undefined ? 0 : readers.indexOf(full);
      if (full !== undefined) break;
    }
    const rest = [...readers.slice(next), ...readers.slice(0, next)].map(
      ({ owner, all, at, left }) => [owner, left.concat(all.slice(at))] as const,
    );
    queues = new Map(rest.filter(([, all]) => all.length > 0));
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
      const owner = ownerOf(item);
      const queue = queues.get(owner);
      const one = { item, resolve, reject };
      if (queue) queue.push(one);
      else queues.set(owner, [one]);
      schedule();
    });
}
