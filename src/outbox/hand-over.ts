import type { Tx } from '../db/connect.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';

/** A delivery that a worker may attempt until its lease ends, with all that the attempt needs. */
export interface Leased {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly event: EventId;
  readonly payload: string;
  readonly trigger: 'scheduled' | 'manual' | 'recovery';
  /** Attempts of the schedule made before. */
  readonly step: number;
  readonly url: string;
  /** The machine on whose loopback the operator allowed the URL; null = the usual rules hold. */
  readonly localMachine: string | null;
  /** Sealed; one, or two while a rotation overlaps. */
  readonly secrets: readonly Buffer[];
  readonly headerNames: readonly string[];
  /** Sealed JSON array in the order of the names; null = no headers. */
  readonly headerValues: Buffer | null;
  /** What was known of the endpoint when it was leased. */
  readonly lane: number;
  readonly failures: number;
  /** The last success is more than a minute ago, or there was none: worth writing down again. */
  readonly successIsOld: boolean;
}

/** The columns that both ways to a lease return: a claim, and a publish that hands over. */
export interface LeasedRow {
  account_id: AccountId;
  endpoint_id: EndpointId;
  event_id: EventId;
  url: string;
  local_machine: string | null;
  secret: Buffer;
  previous_secret: Buffer | null;
  header_names: string[];
  header_values: Buffer | null;
  lane: number;
  failures: number;
  success_is_old: boolean;
}

/** What an attempt needs, from the row of a statement that leased it. */
export function leasedOf(row: LeasedRow, rest: Pick<Leased, 'payload' | 'trigger' | 'step'>): Leased {
  return {
    account: row.account_id,
    endpoint: row.endpoint_id,
    event: row.event_id,
    payload: rest.payload,
    trigger: rest.trigger,
    step: rest.step,
    url: row.url,
    localMachine: row.local_machine,
    secrets: row.previous_secret ? [row.secret, row.previous_secret] : [row.secret],
    headerNames: row.header_names,
    headerValues: row.header_values,
    lane: row.lane,
    failures: row.failures,
    successIsOld: row.success_is_old,
  };
}

/**
 * A worker of this process that takes deliveries over from the transaction that stores them, instead of looking for
 * them: what is published in the process that delivers needs no claim.
 */
export interface Courier {
  /** Leases this process may give now; null = none. Nothing else is leased here until the offer is closed. */
  offer(): Promise<Offer | null>;
}

export interface Offer {
  /** The number that leases carry. */
  readonly worker: number;
  readonly leaseMs: number;
  /** Deliveries that this process can begin. */
  readonly slots: number;
  /** How many it has under way, by endpoint. */
  readonly underWay: ReadonlyMap<EndpointId, number>;
  /** Closes the offer, once: `leased` is stored for certain. */
  close(leased: readonly Leased[], token: string): void;
}

const couriers = new WeakMap<object, Courier>();

/** From here on what is published in this process on the database is offered to `courier`. Returns what ends it. */
export function deliverHere(db: { readonly home: object }, courier: Courier): () => void {
  couriers.set(db.home, courier);
  return () => couriers.delete(db.home);
}

/** What may be leased to this process in a transaction that is short: the offer is closed when the transaction ends. */
export async function offerIn(tx: Tx): Promise<Offer | null> {
  return (await couriers.get(tx.home)?.offer()) ?? null;
}
