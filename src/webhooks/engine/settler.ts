import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/connect.ts';
import { idOf } from '../../kernel/ids.ts';
import { hostOf, type Notice, notify } from '../../notices/notices.ts';
import type { Finished } from './attempt.ts';
import { createGathering } from './gather.ts';
import { createNotes, groupByEndpoint } from './notes.ts';
import { type EndpointNote, type Hopeless, noteEndpoints, type Result, settle } from './settle.ts';

/** An endpoint that is to be disabled. */
type Disabling = Hopeless & { readonly reason: 'failing' | 'gone' };

interface SettlerOptions {
  readonly db: Database;
  readonly log: Logger;
  readonly leaseMs: number;
  disableEndpoint(tx: Tx, endpoint: Disabling): Promise<boolean>;
  /** Whether something may wait for the place of a result in the lane of its endpoint. */
  isAwaited(): boolean;
  /** Called when a batch was written or given up: its leases are over. */
  onSettled(batch: readonly Finished[]): void;
}

/** Writes results in batches: everything that piled up while earlier batches were being written. */
export interface Settler {
  add(finished: Finished): void;
  /** Writes soon what waits for more results. */
  hurry(): void;
  /** Results that are not written yet. */
  waiting(): number;
  /** Writes what is left. */
  close(): Promise<void>;
}

const AT_ONCE = 200;
/** The second writer begins only when a full batch is waiting: full batches are cheap. */
const WRITERS = 2;
const AFTER_ERROR_MS = 200;

/** Every attempt has failed for five days, and there were at least twenty. */
export const PATIENCE = { ms: 120 * 3_600_000, failures: 20 };

/** Makes the settler of a worker. */
export function createSettler(options: SettlerOptions): Settler {
  const { db, log, leaseMs, disableEndpoint, onSettled } = options;
  const gathering = createGathering(options.isAwaited);
  const pile: { finished: Finished; until: number }[] = [];
  const writers = new Set<Promise<void>>();
  let writing = 0;
  let waiting = 0;
  const notesOf = createNotes();

  async function write(): Promise<void> {
    writing += 1;
    try {
      while (pile.length > 0) {
        if (pile.length < AT_ONCE) await gathering.more();
        const batch = pile.splice(0, AT_ONCE);
        if (batch.length === 0) break; // the other writer took them
        const hopeless = await writeBatch(batch);
        waiting -= batch.length;
        onSettled(batch.map(({ finished }) => finished));
        for (const endpoint of hopeless) await disable(endpoint);
      }
    } finally {
      writing -= 1; // in the same step as the last look at the pile, so that whoever adds a result later starts a writer
    }
  }

  /** Writes a batch, again and again until it is written or its leases are over and others own the rows. */
  async function writeBatch(batch: typeof pile): Promise<Disabling[]> {
    for (;;) {
      try {
        return await writeAll(
          db,
          batch.map(({ finished }) => finished),
          notesOf,
        );
      } catch (error) {
        const last = Math.max(...batch.map(({ until }) => until));
        if (performance.now() > last) {
          log.error(
            { err: error, attempts: batch.length },
            'results were dropped: these events are sent again',
          );
          return [];
        }
        log.warn({ err: error }, 'writing results failed; it will be tried again');
        await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
      }
    }
  }

  async function disable(endpoint: Disabling): Promise<void> {
    try {
      const isDone = await db.engine((tx) => disableEndpoint(tx, endpoint));
      if (isDone) log.warn({ ...endpoint }, 'an endpoint was disabled');
    } catch (error) {
      log.warn(
        { err: error, endpoint: endpoint.endpoint },
        'disabling an endpoint failed; its next attempt will try again',
      );
    }
  }

  return {
    add(finished) {
      pile.push({ finished, until: performance.now() + leaseMs });
      waiting += 1;
      gathering.add(finished, pile.length);
      if (writing >= WRITERS || (writing > 0 && pile.length < AT_ONCE)) return;
      const writer = write().finally(() => {
        writers.delete(writer);
      });
      writers.add(writer);
    },
    hurry: gathering.hurry,
    waiting: () => waiting,
    async close() {
      gathering.hurry();
      while (writers.size > 0) await Promise.all(writers);
    },
  };
}

/** Returns the endpoints to disable. Without notes this is one statement. */
function writeAll(
  db: Database,
  batch: readonly Finished[],
  notesOf: (told: readonly Finished[]) => EndpointNote[],
): Promise<Disabling[]> {
  const results = batch.map(({ result }) => result);
  const notes = notesOf(batch.filter(({ result }) => !result.released));
  const write = async (tx: Tx) => {
    const settled = await settle(tx, results);
    const counted = new Set(settled.map(({ result }) => result));
    const told = batch.filter(({ result }) => counted.has(result) && !result.released);
    const certain = counted.size === batch.length ? notes : notesOf(told);
    await notify(
      tx,
      lastFailures(told, new Set(settled.flatMap(({ result, isLast }) => (isLast ? [result] : [])))),
    );
    const failing = notes.length === 0 ? [] : await noteEndpoints(tx, certain, PATIENCE);
    return [
      ...told
        .filter(({ isGone }) => isGone)
        .map(({ delivery: { account, endpoint } }) => ({ account, endpoint, reason: 'gone' as const })),
      ...failing.map((endpoint) => ({ ...endpoint, reason: 'failing' as const })),
    ];
  };
  return db.engine(write, { single: notes.length === 0 });
}

/** What people are told of deliveries that have no attempts left. A 410 disables the endpoint, which is told by itself. */
function lastFailures(told: readonly Finished[], last: ReadonlySet<Result>): Notice[] {
  const failed = told.filter(({ result, isGone }) => last.has(result) && !isGone);
  return [...groupByEndpoint(failed)].flatMap(([endpoint, [first, ...others]]) =>
    first
      ? [
          {
            account: first.delivery.account,
            kind: 'deliveries_failed' as const,
            subject: idOf('we', endpoint),
            count: 1 + others.length,
            data: { host: hostOf(first.delivery.url) },
          },
        ]
      : [],
  );
}
