// How often deadlines are checked. A timer that fires later means that the event loop was blocked, and receivers are not
// blamed for that time …
const TICK_MS = 50;
// … up to this multiple of the time limit, unless `endsAt` is set.
const MOST_CREDIT = 1.9;
// Ends anything due this soon: an exchange is not started for its last few milliseconds.
const SLACK_MS = 5;

/** Something with a deadline. */
export interface Timed {
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** `Deadlines.stalledMs()` at the start. */
  readonly stalledBefore: number;
  /** Its time limit in milliseconds; undefined = the usual one. */
  readonly limitMs: number | undefined;
  /**
   * By `performance.now()`: the absolute end, even if the event loop was blocked; undefined = some time after the limit.
   */
  readonly endsAt: number | undefined;
}

export interface Deadlines<Item extends Timed> {
  /** Milliseconds that the event loop was blocked, in total. */
  stalledMs(): number;
  add(item: Item): void;
  delete(item: Item): void;
  /** The items in flight, oldest first. */
  readonly underWay: ReadonlySet<Item>;
  stop(): void;
}

/**
 * Watches deadlines with one timer. Time in which the event loop was blocked does not count, until `endsAt`, which ends
 * the item with `lost`.
 */
export function watchDeadlines<Item extends Timed>(
  timeoutMs: number,
  expired: (item: Item, why: 'late' | 'lost') => void,
): Deadlines<Item> {
  const underWay = new Set<Item>();
  let timer: NodeJS.Timeout | null = null;
  let tickedAt = 0;
  let stalledMs = 0;

  function tick(): void {
    const now = performance.now();
    const late = now - tickedAt - TICK_MS;
    if (late > TICK_MS) stalledMs += late;
    tickedAt = now;
    // after the sockets were read, so that a response in time counts however late it is checked
    if (underWay.size > 0) setImmediate(expire);
    else stop();
  }

  function expire(): void {
    const now = performance.now();
    for (const item of underWay) {
      const { limitMs = timeoutMs, endsAt = item.startedAt + limitMs * MOST_CREDIT } = item;
      const waited = now - item.startedAt - (stalledMs - item.stalledBefore);
      if (waited >= limitMs - SLACK_MS) expired(item, 'late');
      else if (now >= endsAt) expired(item, 'lost');
    }
  }

  function stop(): void {
    if (timer) clearInterval(timer);
    timer = null;
  }

  return {
    stalledMs: () => stalledMs,
    add(item) {
      underWay.add(item);
      if (timer) return;
      tickedAt = performance.now();
      timer = setInterval(tick, TICK_MS).unref();
    },
    delete(item) {
      underWay.delete(item);
    },
    underWay,
    stop,
  };
}
