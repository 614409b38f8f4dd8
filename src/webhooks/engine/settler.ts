import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/connect.ts';
import type { EndpointId } from '../../kernel/ids.ts';
import type { Claimed } from './claim.ts';
import type { Outcome } from './outcome.ts';
import { type EndpointNote, type Hopeless, noteEndpoints, type Result, settle } from './settle.ts';

/** An attempt that ended: what is to be written of it, and what it tells about its endpoint. */
export interface Finished {
  readonly delivery: Claimed;
  readonly outcome: Outcome;
  readonly result: Result;
  readonly retryAfterMs: number | null;
  /** The receiver answered 410. */
  readonly isGone: boolean;
}

interface SettlerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly leaseMs: number;
  disableEndpoint(tx: Tx, endpoint: Hopeless & { reason: 'failing' | 'gone' }): Promise<boolean>;
  onSettled(): void;
}

/** Writes results in batches: whatever piled up while the batches before were under way. */
export interface Settler {
  add(finished: Finished): void;
  /** Results that are not written yet. */
  waiting(): number;
  /** Writes what is left. */
  close(): Promise<void>;
}

const AT_ONCE = 200;
/** The second begins only when a full batch waits: full batches are cheap. */
const WRITERS = 2;
/** Results of about the same moment go together. */
const GATHER_MS = 2;
const AFTER_ERROR_MS = 200;

const QUICK_MS = 1000;
const SLOW_MS = 5000;
const BUSY = new Set([429, 502, 503, 504]);
const LONGEST_SLOW_DOWN = 6; // doublings of a second
/** Every attempt failed for five days, and at least twenty of them: nobody listens there any more. */
const PATIENCE = { ms: 120 * 3_600_000, failures: 20 };

/** Makes the settler of a worker. */
export function createSettler({ db, log, leaseMs, disableEndpoint, onSettled }: SettlerOptions): Settler {
  const pile: { finished: Finished; until: number }[] = [];
  const writers = new Set<Promise<void>>();
  let writing = 0;
  let waiting = 0;
  /** Good answers of an endpoint since its lane changed. */
  const good = new Map<string, number>();

  async function write(): Promise<void> {
    writing += 1;
    try {
      while (pile.length > 0) {
        if (pile.length < AT_ONCE) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
        const batch = pile.splice(0, AT_ONCE);
        if (batch.length === 0) break; // the other writer took them
        const hopeless = await writeBatch(batch);
        waiting -= batch.length;
        onSettled();
        for (const endpoint of hopeless) await disable(endpoint);
      }
    } finally {
      writing -= 1; // with the last look at the pile: whoever adds a result after it must begin a writer
    }
  }

  /** Writes a batch, again and again until it is written or its leases are over: then others own the rows. */
  async function writeBatch(batch: typeof pile): Promise<(Hopeless & { reason: 'failing' | 'gone' })[]> {
    for (;;) {
      try {
        return await db.engine((tx) =>
          writeAll(
            tx,
            batch.map(({ finished }) => finished),
          ),
        );
      } catch (error) {
        const last = Math.max(...batch.map(({ until }) => until));
        if (performance.now() > last) {
          log.error({ err: error, attempts: batch.length }, 'results were dropped: they are sent again');
          return [];
        }
        log.warn({ err: error }, 'writing results failed; it is tried again');
        await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
      }
    }
  }

  async function writeAll(tx: Tx, batch: readonly Finished[]) {
    const counted = new Set(
      await settle(
        tx,
        batch.map(({ result }) => result),
      ),
    );
    const told = batch.filter(({ result }) => counted.has(result) && !result.released);
    const notes = notesOf(told);
    const failing = notes.length === 0 ? [] : await noteEndpoints(tx, notes, PATIENCE);
    return [
      ...told
        .filter(({ isGone }) => isGone)
        .map(({ delivery: { account, endpoint } }) => ({ account, endpoint, reason: 'gone' as const })),
      ...failing.map((endpoint) => ({ ...endpoint, reason: 'failing' as const })),
    ];
  }

  async function disable(endpoint: Hopeless & { reason: 'failing' | 'gone' }): Promise<void> {
    try {
      const isDone = await db.engine((tx) => disableEndpoint(tx, endpoint));
      if (isDone) log.warn({ ...endpoint }, 'an endpoint was disabled');
    } catch (error) {
      log.warn(
        { err: error, endpoint: endpoint.endpoint },
        'disabling an endpoint failed; its next attempt tries again',
      );
    }
  }

  /** One note for each endpoint that there is something to write of: most answers change nothing. */
  function notesOf(batch: readonly Finished[]): EndpointNote[] {
    return [...groupByEndpoint(batch)].flatMap(([endpoint, ended]) => noteOf(endpoint, ended) ?? []);
  }

  function noteOf(endpoint: EndpointId, ended: readonly Finished[]): EndpointNote | null {
    const [first] = ended;
    if (!first) return null;
    const { account, lane, failures: failuresBefore, successIsOld } = first.delivery;
    const failures = ended.filter(({ result }) => !result.succeeded).length;
    const successes = ended.length - failures;
    const change = laneChange(endpoint, lane, ended);
    const waitMs = Math.max(0, ...ended.map(slowDown));
    const isNews =
      failures > 0 || change !== 'stay' || (successes > 0 && (successIsOld || failuresBefore > 0));
    return isNews ? { account, endpoint, succeeded: successes > 0, failures, lane: change, waitMs } : null;
  }

  // As wide again after as many good answers in a row as the lane is wide; half as wide after a bad one.
  function laneChange(endpoint: EndpointId, lane: number, ended: readonly Finished[]): EndpointNote['lane'] {
    if (ended.some(isBad)) {
      good.delete(endpoint);
      return lane > 1 ? 'shrink' : 'stay';
    }
    const inRow =
      (good.get(endpoint) ?? 0) + ended.filter(({ outcome }) => outcome.durationMs < QUICK_MS).length;
    const grows = inRow >= lane && lane < WIDEST;
    if (grows || lane === WIDEST) good.delete(endpoint);
    else good.set(endpoint, inRow);
    return grows ? 'grow' : 'stay';
  }

  return {
    add(finished) {
      pile.push({ finished, until: performance.now() + leaseMs });
      waiting += 1;
      if (writing >= WRITERS || (writing > 0 && pile.length < AT_ONCE)) return;
      const writer = write().finally(() => {
        writers.delete(writer);
      });
      writers.add(writer);
    },
    waiting: () => waiting,
    async close() {
      while (writers.size > 0) await Promise.all(writers);
    },
  };
}

const WIDEST = 64;

const isBad = ({ result, outcome }: Finished) => !result.succeeded || outcome.durationMs > SLOW_MS;

/** How long an answer asks to leave its endpoint alone, in milliseconds. */
function slowDown({ delivery, outcome, result, retryAfterMs }: Finished): number {
  if (result.succeeded) return 0;
  if (retryAfterMs !== null) return retryAfterMs;
  if (!BUSY.has(outcome.responseStatus ?? 0)) return 0;
  return 1000 * 2 ** Math.min(delivery.failures, LONGEST_SLOW_DOWN);
}

function groupByEndpoint(batch: readonly Finished[]): Map<EndpointId, Finished[]> {
  const groups = new Map<EndpointId, Finished[]>();
  for (const finished of batch) {
    const group = groups.get(finished.delivery.endpoint);
    if (group) group.push(finished);
    else groups.set(finished.delivery.endpoint, [finished]);
  }
  return groups;
}
