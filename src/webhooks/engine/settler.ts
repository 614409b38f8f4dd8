import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/connect.ts';
import { idOf } from '../../kernel/ids.ts';
import { hostOf, type Notice, notify } from '../../notices/notices.ts';
import { type HeldKey, holdKeys, letNextGo } from '../../outbox/keys.ts';
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

/** What came of a batch. */
interface Written {
  /** The endpoints to disable. */
  readonly hopeless: readonly Disabling[];
  /** Not written: somebody is publishing the next event of their ordering key. */
  readonly deferred: ReadonlySet<Finished>;
}

const NONE: ReadonlySet<Finished> = new Set();
const NOTHING_WRITTEN: Written = { hopeless: [], deferred: NONE };

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
/** A result whose ordering key a publisher holds is tried again after this time. */
const DEFERRED_MS = 20;

/** Every attempt has failed for five days, and there were at least twenty. */
export const PATIENCE = { ms: 120 * 3_600_000, failures: 20 };

/** Makes the settler of a worker. */
export function createSettler(options: SettlerOptions): Settler {
  const { db, log, leaseMs, disableEndpoint, onSettled } = options;
  const gathering = createGathering(options.isAwaited);
  const pile: { finished: Finished; until: number }[] = [];
  const deferrals = new Set<Promise<void>>();
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
        const { hopeless, deferred } = await writeBatch(batch);
        waiting -= batch.length;
        if (deferred.size > 0) defer(batch.filter(({ finished }) => deferred.has(finished)));
        onSettled(batch.flatMap(({ finished }) => (deferred.has(finished) ? [] : [finished])));
        for (const endpoint of hopeless) await disable(endpoint);
      }
    } finally {
      writing -= 1; // in the same step as the last look at the pile, so that whoever adds a result later starts a writer
    }
  }

  /** Writes a batch, again and again until it is written or its leases are over and others own the rows. */
  async function writeBatch(batch: typeof pile): Promise<Written> {
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
          return NOTHING_WRITTEN;
        }
        log.warn({ err: error }, 'writing results failed; it will be tried again');
        await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
      }
    }
  }

  /**
   * Puts results back on the pile a moment later. They do not count as waiting meanwhile, so that a publisher that hangs
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

/** Without notes and ordering keys this is one statement. */
function writeAll(
  db: Database,
  batch: readonly Finished[],
  notesOf: (told: readonly Finished[]) => EndpointNote[],
): Promise<Written> {
  return batch.some(mayLetGo)
    ? db.engine((tx) => writeInOrder(tx, batch, notesOf))
    : writeResults(db, batch, notesOf);
}

/** Whether the delivery may leave the queue with this result, and another one of its ordering key follows. */
const mayLetGo = ({ delivery, result }: Finished) =>
  delivery.orderingKey !== null && !result.released && (result.succeeded || result.retryMs === null);

/**
 * The same with the last results of ordered deliveries: the next of a key goes in the transaction that ends the one before
 * it. While somebody is publishing the next one, it is not visible: such results are left out.
 */
async function writeInOrder(
  tx: Tx,
  batch: readonly Finished[],
  notesOf: (told: readonly Finished[]) => EndpointNote[],
): Promise<Written> {
  const last = batch.filter(mayLetGo);
  const keys = await holdKeys(
    tx,
    last.map(({ delivery: { endpoint, orderingKey } }) => ({ endpoint, orderingKey: orderingKey as string })),
  );
  const deferred = new Set(last.filter((_, index) => keys[index]?.state === 'taken'));
  const free = batch.filter((finished) => !deferred.has(finished));
  if (free.length === 0) return { hopeless: [], deferred };
  const notes = notesOf(counting(free));
  const held = keys.filter(({ state }) => state !== 'taken');
  return { hopeless: await writeIn(tx, free, { notes, notesOf, keys: held }), deferred };
}

const counting = (batch: readonly Finished[]) => batch.filter(({ result }) => !result.released);

async function writeResults(
  db: Database,
  batch: readonly Finished[],
  notesOf: (told: readonly Finished[]) => EndpointNote[],
): Promise<Written> {
  const notes = notesOf(counting(batch));
  const hopeless = await db.engine((tx) => writeIn(tx, batch, { notes, notesOf, keys: [] }), {
    single: notes.length === 0,
  });
  return { hopeless, deferred: NONE };
}

interface Writing {
  readonly notes: readonly EndpointNote[];
  readonly notesOf: (told: readonly Finished[]) => EndpointNote[];
  /** The ordering keys whose delivery in front may leave the queue. */
  readonly keys: readonly HeldKey[];
}

/** Returns the endpoints to disable. */
async function writeIn(
  tx: Tx,
  batch: readonly Finished[],
  { notes, notesOf, keys }: Writing,
): Promise<Disabling[]> {
  const settled = await settle(
    tx,
    batch.map(({ result }) => result),
  );
  // rows of the queue come before those of endpoints, as in a retry by hand
  await letNextGo(tx, keys);
  const counted = new Set(settled.map(({ result }) => result));
  const told = counting(batch).filter(({ result }) => counted.has(result));
  const certain = counted.size === batch.length ? notes : notesOf(told);
  await notify(
    tx,
    lastFailures(told, new Set(settled.flatMap(({ result, isLast }) => (isLast ? [result] : [])))),
  );
  const failing = notes.length === 0 ? [] : await noteEndpoints(tx, certain, PATIENCE);
  return [
    ...told
      .filter(({ isGone, isFurther }) => isGone && !isFurther)
      .map(({ delivery: { account, endpoint } }) => ({ account, endpoint, reason: 'gone' as const })),
    ...failing.map((endpoint) => ({ ...endpoint, reason: 'failing' as const })),
  ];
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
