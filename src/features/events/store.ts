import sql from 'sql-template-tag';
import { maybeRow, oneRow, type Tx } from '../../db/connect.ts';

export async function newEventId(tx: Tx): Promise<string> {
  return (await oneRow<{ id: string }>(tx, sql`select new_id() as id`)).id;
}

/**
 * Takes the `external_id` for an event (UUID) that is about to be stored; null when it is free. Else what was
 * published under it: a twin under way is waited for.
 */
export async function takeExternalId(
  tx: Tx,
  account: string,
  { id, externalId, hash }: { id: string; externalId: string; hash: Buffer },
): Promise<{ event: string; hash: Buffer } | null> {
  const taken = await maybeRow(
    tx,
    sql`insert into event_keys (account_id, external_id, event_id, request_hash)
        values (${account}, ${externalId}, ${id}, ${hash}) on conflict do nothing returning 1`,
  );
  if (taken) return null;
  return oneRow(
    tx,
    sql`select event_id as event, request_hash as hash from event_keys
        where account_id = ${account} and external_id = ${externalId}`,
  );
}

/** The event (UUID) as it is sent. */
export async function readPayload(tx: Tx, account: string, event: string): Promise<string> {
  const { payload } = await oneRow<{ payload: string }>(
    tx,
    sql`select payload from events where account_id = ${account} and id = ${event}`,
  );
  return payload;
}
