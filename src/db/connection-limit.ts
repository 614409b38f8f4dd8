/** A pool of connections, as the limit sees it. */
export interface LimitedPool {
  /** Connections that are open and not in use. */
  idle(): number;
  /** Closes one that is not in use; resolves once it is closed, or if there is none. */
  closeIdle(): Promise<void>;
}

/** The limit on the connections of a process to all its cells. Without other cells a process cannot reach it. */
export interface ConnectionLimit {
  /** Adds a pool; the first ones lose their idle connections last. Returns a function that removes it, to be called when it ends. */
  add(pool: LimitedPool): () => void;
  /**
   * Lets a pool open a connection, at once or later. Meanwhile an idle connection of another pool is closed. Gives a function that
   * must be called once the connection was opened, and counted, or was not needed; undefined = the pool has an idle one.
   * Throws after `ms` milliseconds.
   */
  admit(pool: LimitedPool, ms: number): (() => void) | Promise<(() => void) | undefined>;
  /** Counts a connection that was opened (1) or closed (-1). */
  count(change: 1 | -1): void;
  /** A connection of a pool is no longer in use. */
  onIdle(pool: LimitedPool): void;
}

/** Creates a limit of `most` connections. */
export function createConnectionLimit(most: number): ConnectionLimit {
  const pools: LimitedPool[] = [];
  const waiting: { readonly pool: LimitedPool; go(leave: (() => void) | undefined): void }[] = [];
  let open = 0;
  let admitted = 0;
  /** Pools that close an idle connection at the moment: at most one each, and at most one for each that waits. */
  const closing = new Set<LimitedPool>();

  const isFree = () => open + admitted < most;

  function proceed(): void {
    while (waiting.length > 0 && isFree()) {
      admitted += 1;
      waiting.shift()?.go(leave);
    }
    while (closing.size < waiting.length) {
      // the pools of the newest cells first: cell 0 is used by all
      const pool = pools.findLast((one) => !closing.has(one) && one.idle() > 0);
      if (pool === undefined) return;
      closing.add(pool);
      void pool.closeIdle().finally(() => closed(pool));
    }
  }

  function closed(pool: LimitedPool): void {
    if (closing.delete(pool)) proceed();
  }

  function leave(): void {
    admitted -= 1;
    proceed();
  }

  return {
    add(pool) {
      pools.push(pool);
      return () => {
        pools.splice(pools.indexOf(pool), 1);
        // a pool that ends never answers a request for its idle connection
        closed(pool);
      };
    },
    admit(pool, ms) {
      if (isFree()) {
        admitted += 1;
        return leave;
      }
      return new Promise((resolve, reject) => {
        const waiter = {
          pool,
          go(left: (() => void) | undefined) {
            clearTimeout(timer);
            resolve(left);
          },
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(new LimitError(most));
        }, ms);
        waiting.push(waiter);
        proceed();
      });
    },
    count(change) {
      open += change;
      if (change === -1) proceed();
    },
    onIdle(pool) {
      const index = waiting.findIndex((waiter) => waiter.pool === pool);
      if (index === -1) proceed();
      else waiting.splice(index, 1)[0]?.go(undefined);
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
