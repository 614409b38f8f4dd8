// How often deadlines are checked. A timer that is later than this means the event loop stood still, and
// receivers do not pay for that …
const TICK_MS = 50;
// … up to a certain moment. Beyond that it is our fault. The usual one:
const MOST_CREDIT = 1.9;
// Anything due this soon ends now: an exchange is not sent for the few milliseconds it has left.
const SLACK_MS = 5;

/** Something with a deadline. */
export interface Timed {
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** `Deadlines.stalledMs()` when it began. */
  readonly stalledBefore: number;
  /** Milliseconds that it has; undefined = the usual time limit. */
  readonly limitMs: number | undefined;
  /** By `performance.now()`: it is given up then, whoever stood still; undefined = some time after the limit. */
  readonly endsAt: number | undefined;
}

export interface Deadlines<Item extends Timed> {
  /** Milliseconds that the event loop has stood still, in total. */
  stalledMs(): number;
  add(item: Item): void;
  delete(item: Item): void;
  /** What is in flight, oldest first. */
  readonly underWay: ReadonlySet<Item>;
  stop(): void;
}

/**
 * Watches deadlines with one timer. Time in which the event loop stood still is not counted, until `endsAt`: `lost`
 * says that it has come.
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
    // after the sockets were read, so that what came in time counts, however late it is checked
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
