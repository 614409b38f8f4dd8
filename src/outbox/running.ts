import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, type Tx } from '../db/database.ts';
import { publishingSpaceOf } from '../db/locks.ts';
import type { AccountId, EventId } from '../kernel/ids.ts';

/* Which events are still to be committed: an id is made when an event is published, and seen after the commit. */

/** SQL: the id of a new event. Until the transaction ends, `firstUncommitted` returns no greater one. */
export const newEventId = (tx: Tx): Sql =>
  sql`case when (select begins_publishing(${publishingSpaceOf(tx.cell)}::int)) then new_id() end`;

/**
 * The id before which all events of an account's cell are committed, or never will be. Statements that begin later see
 * those that were. `primary` must not be a replica, which has no locks of the primary. Null = the account was deleted.
 */
export async function firstUncommitted(primary: Reader, account: AccountId): Promise<EventId | null> {
  // reads a table of the cell, so that it runs where the events are published (db/citus)
  const found = await maybeRow<{ id: EventId }>(
    primary,
    sql`select publishing_from(${publishingSpaceOf(primary.cell)}::int) as id from accounts where id = ${account}`,
    'first_uncommitted',
  );
  return found?.id ?? null;
}
