/** A pool of connections, as the limit sees it. */
export interface LimitedPool {
  /** Connections that are open and not in use. */
  idle(): number;
  /** Closes one that is not in use. */
  closeIdle(): Promise<void>;
}

/** The limit on the connections of a process to all its cells. Without other cells a process cannot reach it. */
export interface ConnectionLimit {
  /** Adds a pool; the first ones lose their idle connections last. Returns a function that removes it. */
  add(pool: LimitedPool): () => void;
  /**
   * Waits until a pool may open a connection. Meanwhile idle connections of other pools are closed. Returns a function that
   * must be called once the connection was opened, and counted, or was not needed. Throws after `ms` milliseconds.
   */
  admit(ms: number): Promise<() => void>;
  /** Counts a connection that was opened (1) or closed (-1). */
  count(change: 1 | -1): void;
  /** A connection is no longer in use. */
  onIdle(): void;
}

/** Creates a limit of `most` connections. */
export function createConnectionLimit(most: number): ConnectionLimit {
  const pools: LimitedPool[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;
  let admitted = 0;

  const isFree = () => open + admitted < most;

  function proceed(): void {
    while (waiting.length > 0 && isFree()) {
      admitted += 1;
      waiting.shift()?.();
    }
    // the pools of the newest cells first: cell 0 is used by all
    if (waiting.length > 0) void pools.findLast((pool) => pool.idle() > 0)?.closeIdle();
  }

  function leave(): void {
    admitted -= 1;
    proceed();
  }

  return {
    add(pool) {
      pools.push(pool);
      return () => void pools.splice(pools.indexOf(pool), 1);
    },
    async admit(ms) {
      if (isFree()) {
        admitted += 1;
        return leave;
      }
      await new Promise<void>((resolve, reject) => {
        const go = () => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(new LimitError(most));
        }, ms);
        waiting.push(go);
        proceed();
      });
      return leave;
    },
    count(change) {
      open += change;
      if (change === -1) proceed();
    },
    onIdle() {
      if (waiting.length > 0) proceed();
    },
  };
}

/** All connections that the process may have are in use. */
class LimitError extends Error {
  override name = 'LimitError';
  /** To the caller, PostgreSQL cannot be reached at the moment (faults.ts). */
  readonly code = '53300';

  constructor(most: number) {
    super(`all ${most} connections to the cells are in use (DATABASE_CONNECTIONS)`);
  }
}
