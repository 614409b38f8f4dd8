import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/database.ts';
import type { Finished } from './attempt.ts';
import { createGathering } from './gather.ts';
import { createWriter, type Disabling, type Written } from './write.ts';

interface SettlerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly leaseMs: number;
  disableEndpoint(tx: Tx, endpoint: Disabling): Promise<boolean>;
  /** Whether a delivery may wait for a result's slot in the lane of its endpoint. */
  isAwaited(): boolean;
  /** Called when a batch was written or dropped: its leases are over. */
  onSettled(batch: readonly Finished[]): void;
}

const NONE: ReadonlySet<Finished> = new Set();
const NOTHING_WRITTEN: Written = { disabled: [], hopeless: [], deferred: NONE };

/** Writes results in batches: everything that accumulated while earlier batches were being written. */
export interface Settler {
  add(finished: Finished): void;
  /** Soon writes the results that wait for others. */
  hurry(): void;
  /** The number of results not written yet. */
  waiting(): number;
  /** Writes the remaining results. */
  close(): Promise<void>;
}

const AT_ONCE = 200;
/** The second writer starts only when a full batch is waiting: full batches are cheap. */
const WRITERS = 2;
const AFTER_ERROR_MS = 200;
/** When a result is tried again whose ordering key a publisher holds. */
const DEFERRED_MS = 20;

/** Creates the settler of a worker. */
export function createSettler(options: SettlerOptions): Settler {
  const { db, log, leaseMs, disableEndpoint, onSettled } = options;
  const gathering = createGathering(options.isAwaited);
  const pile: { finished: Finished; until: number }[] = [];
  const deferrals = new Set<Promise<void>>();
  const writers = new Set<Promise<void>>();
  let writing = 0;
  let waiting = 0;
  const writeAll = createWriter(options);

  async function write(): Promise<void> {
    writing += 1;
    try {
      while (pile.length > 0) {
        if (pile.length < AT_ONCE) await gathering.more();
        const batch = pile.splice(0, AT_ONCE);
        if (batch.length === 0) break; // the other writer took them
        const { disabled, hopeless, deferred } = await writeBatch(batch);
        for (const endpoint of disabled) logDisabled(endpoint);
        waiting -= batch.length;
        if (deferred.size > 0) defer(batch.filter(({ finished }) => deferred.has(finished)));
        onSettled(batch.flatMap(({ finished }) => (deferred.has(finished) ? [] : [finished])));
        for (const endpoint of hopeless) await disable({ ...endpoint, reason: 'failing' });
      }
    } finally {
      writing -= 1; // in the same step as the last check of the pile, so that a result added later starts a writer
    }
  }

  /** Writes a batch, retrying until it is written or its leases are over and other workers own the rows. */
  async function writeBatch(batch: typeof pile): Promise<Written> {
    for (;;) {
      try {
        return await writeAll(batch.map(({ finished }) => finished));
      } catch (error) {
        const last = Math.max(...batch.map(({ until }) => until));
        if (performance.now() > last) {
          log.error(
            { err: error, attempts: batch.length },
            'results were dropped: these events are sent again',
          );
          return NOTHING_WRITTEN;
        }
        log.warn({ err: error }, 'writing results failed; it will be retried');
        await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
      }
    }
  }

  /**
   * Puts results back on the pile after a moment. Meanwhile they do not count as waiting, so that a publisher that hangs
   * holds up nothing else.
   */
  function defer(results: typeof pile): void {
    const kept = results.filter(({ until }) => performance.now() <= until);
    const late = results.filter((one) => !kept.includes(one));
    if (late.length > 0) {
      log.error(
        { attempts: late.length },
        'results were dropped, because a publisher held their ordering keys: these events are sent again',
      );
      onSettled(late.map(({ finished }) => finished));
    }
    if (kept.length === 0) return;
    const deferral = new Promise((resolve) => setTimeout(resolve, DEFERRED_MS)).then(() => {
      deferrals.delete(deferral);
      waiting += kept.length;
      pile.push(...kept);
      gathering.hurry();
      begin();
    });
    deferrals.add(deferral);
  }

  function begin(): void {
    if (writing >= WRITERS || (writing > 0 && pile.length < AT_ONCE)) return;
    const writer = write().finally(() => {
      writers.delete(writer);
    });
    writers.add(writer);
  }

  function logDisabled(endpoint: Disabling): void {
    log.warn({ ...endpoint }, 'an endpoint was disabled');
  }

  async function disable(endpoint: Disabling): Promise<void> {
    try {
      const isDone = await db.engine((tx) => disableEndpoint(tx, endpoint));
      if (isDone) logDisabled(endpoint);
    } catch (error) {
      log.warn(
        { err: error, endpoint: endpoint.endpoint },
        'disabling an endpoint failed; its next attempt will retry it',
      );
    }
  }

  return {
    add(finished) {
      pile.push({ finished, until: performance.now() + leaseMs });
      waiting += 1;
      gathering.add(finished, pile.length);
      begin();
    },
    hurry: gathering.hurry,
    waiting: () => waiting,
    async close() {
      gathering.hurry();
      while (writers.size + deferrals.size > 0) await Promise.all([...writers, ...deferrals]);
    },
  };
}
