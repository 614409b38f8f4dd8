import sql from 'sql-template-tag';
import { maybeRow, oneRow, type Tx } from '../../db/connect.ts';
import { isKept } from '../../delivery/queue.ts';

export async function newEventId(tx: Tx): Promise<string> {
  return (await oneRow<{ id: string }>(tx, sql`select new_id() as id`)).id;
}

/** What was published under an `external_id` before. */
interface Earlier {
  readonly hash: Buffer;
  /** The event as it is sent. */
  readonly payload: string;
}

/**
 * Takes the `external_id` for an event (UUID) that is about to be stored; null when it is free, as it is again once the
 * event it stood for was dropped. Else what was published under it: a twin under way is waited for.
 */
export async function takeExternalId(
  tx: Tx,
  account: string,
  { id, externalId, hash }: { id: string; externalId: string; hash: Buffer },
): Promise<Earlier | null> {
  const own = sql`k.account_id = ${account} and k.external_id = ${externalId}`;
  for (;;) {
    const taken = await maybeRow(
      tx,
      sql`insert into event_keys (account_id, external_id, event_id, request_hash)
          values (${account}, ${externalId}, ${id}, ${hash}) on conflict do nothing returning 1`,
    );
    if (taken) return null;
    const earlier = await maybeRow<{ event: string; hash: Buffer; payload: string | null }>(
      tx,
      sql`select k.event_id as event, k.request_hash as hash, v.payload from event_keys k
          left join events v on v.account_id = k.account_id and v.id = k.event_id and ${isKept(sql`v.id`)}
          where ${own}`,
    );
    if (earlier && earlier.payload !== null) return { hash: earlier.hash, payload: earlier.payload };
    const takenOver = await maybeRow(
      tx,
      sql`update event_keys k set event_id = ${id}, request_hash = ${hash}
          where ${own} and event_id = ${earlier?.event} returning 1`,
    );
    if (takenOver) return null; // else the key went meanwhile, or a twin was quicker
  }
}
