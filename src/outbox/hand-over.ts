import type { Tx } from '../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../kernel/ids.ts';
import { signal } from '../kernel/signals.ts';
import type { TraceContext } from '../kernel/trace.ts';

/** The form an endpoint wants (webhooks/forms); null = the payload as stored. */
export type StoredForm = 'thin' | 'cloudevents' | null;

/** Why a waiting delivery is cancelled; stored as its `last_error_code`. */
export type Unwanted = 'expired' | 'discarded';

/** A delivery that a worker may attempt until its lease ends, with everything the attempt needs. */
export interface Leased {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly event: EventId;
  /** The body: the payload in the form of the endpoint. */
  readonly payload: string;
  readonly payloadForm: StoredForm;
  /** The version of the API that the body belongs to. */
  readonly apiVersion: string;
  /** The trace context the event was published with; null = none. */
  readonly trace: TraceContext | null;
  readonly trigger: 'scheduled' | 'manual' | 'recovery';
  /** Its ordering key at an ordered endpoint, if another delivery waits for this one; null = none. */
  readonly orderingKey: string | null;
  /** Scheduled attempts already made. */
  readonly step: number;
  /** The token of an earlier lease that ended without a result; null = none. */
  readonly lost: string | null;
  /** Its endpoint no longer wants it, for this reason: it is cancelled instead of sent; null = it does. */
  readonly unwanted: Unwanted | null;
  readonly url: string;
  /** The machine whose loopback the operator allowed for this URL; null = the usual rules. */
  readonly localMachine: string | null;
  /** Its URL was chosen in a portal, so networks that the operator allowed do not count. */
  readonly isPublicOnly: boolean;
  readonly signature: SealedSignature;
  /** Sent in addition to the first until it expires; null = none. */
  readonly secondSignature: SealedSignature | null;
  readonly headerNames: readonly string[];
  /** Sealed JSON array in the order of the header names; null = no headers. */
  readonly headerValues: Buffer | null;
  /** The egress route of requests: sealed JSON; null = the usual one. */
  readonly egress: Buffer | null;
  /** The state of the endpoint when the lease began. */
  readonly lane: number;
  readonly failures: number;
  /** The last success was more than a minute ago, or there was none, so the next one is stored. */
  readonly successIsOld: boolean;
}

/** How a request is signed. */
export interface SealedSignature {
  /** The scheme as JSON; null = Standard Webhooks. */
  readonly signing: string | null;
  /** Sealed. */
  readonly secret: Buffer;
}

/** The columns returned by both ways to lease: a claim, and a publish that leases at once. */
export interface LeasedRow {
  account_id: AccountId;
  endpoint_id: EndpointId;
  event_id: EventId;
  /** Absent if no event of the statement has a key. */
  ordering_key?: string | null;
  /** Absent if it was just published. */
  unwanted?: Unwanted | null;
  payload_form: StoredForm;
  api_version: string;
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

/** Builds a `Leased` from the row of a statement that leased it. */
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
    apiVersion: row.api_version,
    trace: rest.trace,
    trigger: rest.trigger,
    orderingKey: row.ordering_key ?? null,
    step: rest.step,
    lost: rest.lost,
    unwanted: row.unwanted ?? null,
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

/** A worker of this process that takes over deliveries from the transaction that stores them, without a claim. */
export interface Courier {
  /**
   * The leases that a publish of a number of events may give now; null = none. No claim begins here until the offer is
   * closed. Other offers may be open.
   */
  offer(events: number): Promise<Offer | null>;
  /** The milliseconds by which the answer to an account that just published is delayed; 0 = not at all. */
  pauseMs(account: AccountId): number;
}

export interface Offer {
  /** The worker number in the leases. */
  readonly worker: number;
  readonly leaseMs: number;
  /** Other workers exist, so the lane of an endpoint must be locked before it is counted. */
  readonly isShared: boolean;
  /** How many deliveries this process can begin. */
  readonly slots: number;
  /** The deliveries in flight, by endpoint. */
  readonly underWay: ReadonlyMap<EndpointId, number>;
  /** The deliveries that other open offers may begin at each endpoint. */
  readonly reserved: number;
  /** Where the process begins to read the queue of its endpoints, for `knownPositions`. */
  readonly positions: string;
  /** Closes the offer, once. `leased` are the leases that were certainly committed. */
  close(leased: readonly Leased[], token: string): void;
}

const couriers = new WeakMap<object, Courier>();

/**
 * Offers everything that this process publishes on the database to `courier` from now on. Returns a function that stops
 * it.
 */
export function deliverHere(db: { readonly scopeKey: object }, courier: Courier): () => void {
  couriers.set(db.scopeKey, courier);
  return () => couriers.delete(db.scopeKey);
}

/**
 * The leases that a short transaction that publishes a number of events may give to this process. The offer is closed
 * when the transaction ends.
 */
export async function offerIn(tx: Tx, events: number): Promise<Offer | null> {
  return (await couriers.get(tx.scopeKey)?.offer(events)) ?? null;
}

/**
 * Waits before an account gets the answer to what it published, while this process sends its earlier events. Waits at most
 * 100 ms, and not for receivers.
 */
export async function letSendingCatchUp(
  db: { readonly scopeKey: object },
  account: AccountId,
): Promise<void> {
  const pauseMs = couriers.get(db.scopeKey)?.pauseMs(account) ?? 0;
  if (pauseMs <= 0) return;
  signal('delayed', pauseMs);
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
