import type { Tx } from '../db/connect.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';
import type { TraceContext } from '../kernel/trace.ts';

/** The form an endpoint asks for (webhooks/forms); null = the payload as it is stored. */
export type StoredForm = 'thin' | 'cloudevents' | null;

/** A delivery that a worker may attempt until its lease ends, with everything the attempt needs. */
export interface Leased {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly event: EventId;
  /** The body: the payload in the form of the endpoint. */
  readonly payload: string;
  readonly payloadForm: StoredForm;
  /** What the event was published with; null = it belongs to no trace. */
  readonly trace: TraceContext | null;
  readonly trigger: 'scheduled' | 'manual' | 'recovery';
  /** The key it has at an ordered endpoint, whose next delivery waits for this one; null = none does. */
  readonly orderingKey: string | null;
  /** Attempts of the schedule that were already made. */
  readonly step: number;
  /** The token of an earlier lease that ended without a result; null = none. */
  readonly lost: string | null;
  readonly url: string;
  /** The machine whose loopback the operator allowed for this URL; null = the usual rules apply. */
  readonly localMachine: string | null;
  /** Its URL was chosen in a portal: networks that the operator allowed do not count. */
  readonly isPublicOnly: boolean;
  readonly signature: SealedSignature;
  /** Sent beside the first until it ends; null = none. */
  readonly secondSignature: SealedSignature | null;
  readonly headerNames: readonly string[];
  /** Sealed JSON array in the order of the names; null = no headers. */
  readonly headerValues: Buffer | null;
  /** How requests leave: sealed JSON; null = in the usual way. */
  readonly egress: Buffer | null;
  /** What was known about the endpoint when the lease began. */
  readonly lane: number;
  readonly failures: number;
  /** The last success was more than a minute ago, or there was none, so the next one is written down. */
  readonly successIsOld: boolean;
}

/** How a request is signed. */
export interface SealedSignature {
  /** The scheme as JSON; null = Standard Webhooks. */
  readonly signing: string | null;
  /** Sealed. */
  readonly secret: Buffer;
}

/** The columns that both ways to a lease return: a claim, and a publish that leases at once. */
export interface LeasedRow {
  account_id: AccountId;
  endpoint_id: EndpointId;
  event_id: EventId;
  /** Left out when no event of the statement has a key. */
  ordering_key?: string | null;
  payload_form: StoredForm;
  url: string;
  local_machine: string | null;
  public_only: boolean;
  signing: string | null;
  secret: Buffer;
  previous_signing: string | null;
  previous_secret: Buffer | null;
  header_names: string[];
  header_values: Buffer | null;
  egress_sealed: Buffer | null;
  lane: number;
  failures: number;
  success_is_old: boolean;
}

/** What an attempt needs, from the row of a statement that leased it. */
export function leasedOf(
  row: LeasedRow,
  rest: Pick<Leased, 'payload' | 'trace' | 'trigger' | 'step' | 'lost'>,
): Leased {
  return {
    account: row.account_id,
    endpoint: row.endpoint_id,
    event: row.event_id,
    payload: rest.payload,
    payloadForm: row.payload_form,
    trace: rest.trace,
    trigger: rest.trigger,
    orderingKey: row.ordering_key ?? null,
    step: rest.step,
    lost: rest.lost,
    url: row.url,
    localMachine: row.local_machine,
    isPublicOnly: row.public_only,
    signature: { signing: row.signing, secret: row.secret },
    secondSignature: row.previous_secret && { signing: row.previous_signing, secret: row.previous_secret },
    headerNames: row.header_names,
    headerValues: row.header_values,
    egress: row.egress_sealed,
    lane: row.lane,
    failures: row.failures,
    successIsOld: row.success_is_old,
  };
}

/**
 * A worker of this process that takes deliveries over from the transaction that stores them, so they need no
 * claim.
 */
export interface Courier {
  /**
   * The leases that a publish of so many events may give now; null = none. No claim begins here until the offer is
   * closed. Other offers may be open.
   */
  offer(events: number): Promise<Offer | null>;
}

export interface Offer {
  /** The number that the leases carry. */
  readonly worker: number;
  readonly leaseMs: number;
  /** How many deliveries this process can begin. */
  readonly slots: number;
  /** How many it has in flight, by endpoint. */
  readonly underWay: ReadonlyMap<EndpointId, number>;
  /** How many more may begin at each endpoint by other offers that are open. */
  readonly reserved: number;
  /** Where the process reads the queue of its endpoints from, as `knownPositions` takes it. */
  readonly positions: string;
  /** Closes the offer, once. `leased` are the leases that were certainly committed. */
  close(leased: readonly Leased[], token: string): void;
}

const couriers = new WeakMap<object, Courier>();

/**
 * From now on, what this process publishes on the database is offered to `courier`. Returns a function that
 * ends it.
 */
export function deliverHere(db: { readonly scopeKey: object }, courier: Courier): () => void {
  couriers.set(db.scopeKey, courier);
  return () => couriers.delete(db.scopeKey);
}

/**
 * What may be leased to this process in a short transaction that publishes so many events. The offer is closed when the transaction ends.
 */
export async function offerIn(tx: Tx, events: number): Promise<Offer | null> {
  return (await couriers.get(tx.scopeKey)?.offer(events)) ?? null;
}
