import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from '../../db/database.ts';
import { type EndpointId, idOf } from '../../kernel/ids.ts';
import { hostOf, type Notice, notify } from '../../notices/notices.ts';
import { type HeldKey, holdKeys, letNextGo } from '../../outbox/keys.ts';
import type { Finished } from './attempt.ts';
import { createNotes, groupByEndpoint } from './notes.ts';
import {
  type EndpointNote,
  type Hopeless,
  noteEndpoints,
  type Patience,
  type Result,
  settle,
} from './settle.ts';

/** An endpoint to disable. */
export type Disabling = Hopeless & { readonly reason: 'failing' | 'gone' | 'requested' };

/** The result of writing a batch. */
export interface Written {
  /** The endpoints disabled with it: they answered 410, or asked for it. */
  readonly disabled: readonly Disabling[];
  /** The endpoints to disable because every attempt has failed for too long. */
  readonly hopeless: readonly Hopeless[];
  /** Not written: a transaction is publishing the next event of their ordering key. */
  readonly deferred: ReadonlySet<Finished>;
}

interface WriterOptions {
  readonly db: Database;
  disableEndpoint(tx: Tx, endpoint: Disabling): Promise<boolean>;
}

interface Writing {
  readonly notes: readonly EndpointNote[];
  /** The ordering keys whose current delivery may leave the queue. */
  readonly keys: readonly HeldKey[];
}

const NONE: ReadonlySet<Finished> = new Set();

/** Every attempt has failed for five days, and there were at least twenty. */
export const PATIENCE: Patience = { ms: 120 * 3_600_000, failures: 20 };

/** Creates a function that writes a batch of results in one transaction. */
export function createWriter({
  db,
  disableEndpoint,
}: WriterOptions): (batch: readonly Finished[]) => Promise<Written> {
  const notesOf = createNotes();

  /**
   * Releases the next delivery of a key in the transaction that ends the previous one. A next delivery that is being
   * published is not visible yet: such results are deferred. For results that disable their endpoints, the same
   * transaction disables them, so that nothing more is claimed there.
   */
  async function writeInOrder(tx: Tx, batch: readonly Finished[]): Promise<Written> {
    await holdEndpoints(
      tx,
      batch.filter(({ disables }) => disables !== null),
    );
    const last = batch.filter(mayLetGo);
    const keys = await holdKeys(
      tx,
      last.map(({ delivery: { endpoint, orderingKey } }) => ({
        endpoint,
        orderingKey: orderingKey as string,
      })),
    );
    const deferred = new Set(last.filter((_, index) => keys[index]?.state === 'taken'));
    const free = batch.filter((finished) => !deferred.has(finished));
    if (free.length === 0) return { disabled: [], hopeless: [], deferred };
    const notes = notesOf(counting(free));
    const held = keys.filter(({ state }) => state !== 'taken');
    return { ...(await writeIn(tx, free, { notes, keys: held })), deferred };
  }

  async function writeResults(batch: readonly Finished[]): Promise<Written> {
    const notes = notesOf(counting(batch));
    const written = await db.engine((tx) => writeIn(tx, batch, { notes, keys: [] }), {
      single: notes.length === 0,
    });
    return { ...written, deferred: NONE };
  }

  async function writeIn(
    tx: Tx,
    batch: readonly Finished[],
    { notes, keys }: Writing,
  ): Promise<Pick<Written, 'disabled' | 'hopeless'>> {
    const settled = await settle(
      tx,
      batch.map(({ result }) => result),
    );
    // queue rows are locked before those of endpoints, as in a retry by hand
    await letNextGo(tx, keys);
    const counted = new Set(settled.map(({ result }) => result));
    const written = batch.filter(({ result }) => counted.has(result));
    const certain = counted.size === batch.length ? notes : notesOf(counting(written));
    await notify(
      tx,
      lastFailures(written, new Set(settled.flatMap(({ result, isLast }) => (isLast ? [result] : [])))),
    );
    const hopeless = notes.length === 0 ? [] : await noteEndpoints(tx, certain, PATIENCE);
    const disabled: Disabling[] = [];
    for (const endpoint of disabledBy(written))
      if (await disableEndpoint(tx, endpoint)) disabled.push(endpoint);
    if (batch.some(({ result }) => result.lost)) tx.announce(); // due again
    return { disabled, hopeless };
  }

  // without notes, ordering keys and endpoints to disable this is one statement
  return (batch) =>
    batch.some((finished) => mayLetGo(finished) || finished.disables !== null)
      ? db.engine((tx) => writeInOrder(tx, batch))
      : writeResults(batch);
}

/** Whether another delivery of its ordering key may follow: a failure also ends one that was discarded meanwhile. */
const mayLetGo = ({ delivery }: Finished) => delivery.orderingKey !== null;

/** The results that count for the endpoint. */
const counting = (batch: readonly Finished[]) => batch.filter(({ result }) => !result.lost);

/** Locks the rows of endpoints until the transaction ends, before any queue row, as requests do. */
async function holdEndpoints(tx: Tx, ending: readonly Finished[]): Promise<void> {
  if (ending.length === 0) return;
  await rows(
    tx,
    sql`select from webhook_endpoints e
        join unnest(${ending.map(({ delivery }) => delivery.account)}::uuid[],
                    ${ending.map(({ delivery }) => delivery.endpoint)}::uuid[]) as g (account_id, id)
          on e.account_id = g.account_id and e.id = g.id
        order by e.account_id, e.id for no key update of e`,
    'hold_endpoints',
  );
}

/** The endpoints to disable, each once. */
function disabledBy(written: readonly Finished[]): readonly Disabling[] {
  const ending = new Map<EndpointId, Disabling>();
  for (const { disables: reason, delivery } of written) {
    const { account, endpoint } = delivery;
    if (reason !== null) ending.set(endpoint, { account, endpoint, reason });
  }
  return [...ending.values()];
}

/** The notices of deliveries without attempts left. Disabling the endpoint has its own notice. */
function lastFailures(written: readonly Finished[], last: ReadonlySet<Result>): Notice[] {
  const failed = written.filter(({ result, disables }) => last.has(result) && disables === null);
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
