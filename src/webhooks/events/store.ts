import sql from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId, EventId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { isKept } from '../../outbox/queue.ts';
import { newEventId } from '../../outbox/running.ts';
import type { Event } from './record.ts';

/** An `external_id` under which an event is about to be stored. */
interface Wanted {
  readonly account: AccountId;
  readonly externalId: string;
  readonly hash: Buffer;
}

/** Taken for a new event (its UUID), or in use by an earlier one. */
export type Taken =
  | { readonly id: string; readonly earlier?: undefined }
  | { readonly id?: undefined; readonly earlier: Earlier };

interface Earlier {
  readonly hash: Buffer;
  /** The event as sent. */
  readonly payload: Json<Event>;
}

/**
 * Takes distinct `external_id`s for events about to be stored. Each is free unless an event has it, and becomes free when
 * that event is dropped. Waits for a transaction that is taking the same one. Results are in the order of the input.
 */
export async function takeExternalIds(tx: Tx, wanted: readonly Wanted[]): Promise<Taken[]> {
  const taken = new Map<Wanted, Taken>();
  for (let open = wanted; open.length > 0; open = wanted.filter((one) => !taken.has(one))) {
    const isTaken = await takeFree(tx, open);
    for (const [one, id] of isTaken) taken.set(one, { id });
    const others = open.filter((one) => !isTaken.has(one));
    const dropped = new Map<Wanted, EventId>();
    for (const [one, { hash, payload, event }] of others.length === 0 ? [] : await findTaken(tx, others)) {
      if (payload === null) dropped.set(one, event);
      else taken.set(one, { earlier: { hash, payload } });
    }
    const isTakenOver = dropped.size === 0 ? [] : await takeOver(tx, dropped);
    for (const [one, id] of isTakenOver) taken.set(one, { id });
    // the others were dropped meanwhile, or taken by another transaction
  }
  return wanted.map((one) => taken.get(one) as Taken);
}

const requested = (wanted: readonly Wanted[]) => sql`
  unnest(${wanted.map(({ account }) => account)}::uuid[], ${wanted.map(({ externalId }) => externalId)}::text[],
    ${wanted.map(({ hash }) => hash)}::bytea[])
    with ordinality as requested (account_id, external_id, request_hash, place)`;

/** In the order of the keys, so that two transactions that take several cannot deadlock. */
async function takeFree(tx: Tx, wanted: readonly Wanted[]): Promise<Map<Wanted, string>> {
  const found = await rows<{ place: bigint; id: string }>(
    tx,
    // reads a table of the cell, so that the ids are made where `firstUncommitted` looks for them (db/citus)
    sql`with requested as materialized (
          select *, ${newEventId(tx)} as id from ${requested(wanted)} where (select true from accounts limit 1)),
        taken as (
          insert into event_keys (account_id, external_id, event_id, request_hash)
          select account_id, external_id, id, request_hash from requested order by 1, 2
          on conflict do nothing returning account_id, external_id, event_id)
        select place, id from taken join requested using (account_id, external_id)`,
    'take_external_ids',
  );
  return new Map(found.map(({ place, id }) => [wanted[Number(place) - 1] as Wanted, id]));
}

interface Found {
  /** UUID of the event. */
  readonly event: EventId;
  readonly hash: Buffer;
  /** Null if the event was dropped. */
  readonly payload: Json<Event> | null;
}

async function findTaken(tx: Tx, wanted: readonly Wanted[]): Promise<Map<Wanted, Found>> {
  const found = await rows<Found & { place: bigint }>(
    tx,
    sql`select place, k.event_id as event, k.request_hash as hash, v.payload
        from ${requested(wanted)}
        join event_keys k using (account_id, external_id)
        left join events v on v.account_id = k.account_id and v.id = k.event_id and ${isKept(sql`v.id`)}`,
  );
  return new Map(found.map(({ place, ...one }) => [wanted[Number(place) - 1] as Wanted, one]));
}

/** Takes the keys of dropped events (UUID), in the order of the keys, except those that another transaction took. */
async function takeOver(tx: Tx, dropped: ReadonlyMap<Wanted, EventId>): Promise<Map<Wanted, string>> {
  const wanted = [...dropped.keys()];
  const found = await rows<{ place: bigint; id: string }>(
    tx,
    sql`with held as materialized (
          select k.account_id, k.external_id, requested.request_hash, place, ${newEventId(tx)} as id
          from ${requested(wanted)} join event_keys k using (account_id, external_id)
          where k.event_id = (${[...dropped.values()]}::uuid[])[place]
          order by 1, 2 for update of k),
        taken as (
          update event_keys k set event_id = held.id, request_hash = held.request_hash
          from held where k.account_id = held.account_id and k.external_id = held.external_id
          returning held.place, held.id)
        select place, id from taken`,
  );
  return new Map(found.map(({ place, id }) => [wanted[Number(place) - 1] as Wanted, id]));
}
