import type { EndpointId } from '../../kernel/ids.ts';
import { type Moment, msSince } from '../../kernel/moments.ts';
import type { Registration } from './registry.ts';
import type { Permit } from './send.ts';

/** The lease of deliveries that a worker may attempt. Their queue rows carry the token. */
export interface Lease {
  readonly token: string;
  /** The worker number with which it was requested. */
  readonly worker: number;
  /** Taken before the request to PostgreSQL, so the lease ends earlier here than there. */
  readonly requestedAt: Moment;
}

/** Decides what may still be sent. */
export interface Permits {
  /** The permit for a request to an endpoint. */
  of(lease: Lease, endpoint: EndpointId): Permit;
  /** A response disables the endpoint: nothing leased before `forget` is sent there. */
  refuse(endpoint: EndpointId): void;
  /** The result was written, so later leases concern the endpoint only if a user enabled it again. */
  forget(endpoint: EndpointId): void;
}

/** The part of a lease in which a request may begin. The rest is for the exchange and for writing its result. */
const TO_BEGIN = 1 / 2;
/** The part of a lease after which the exchange is aborted, so that it is over before another worker repeats it. */
const TO_END = 0.95;

/** Creates the permits of a worker with leases of `leaseMs` milliseconds. */
export function createPermits(leaseMs: number, registration: Registration): Permits {
  /** Leases requested before this `performance.now()` are void. */
  const gone = new Map<EndpointId, number>();

  return {
    of: (lease, endpoint) => ({
      isGood: () =>
        msSince(lease.requestedAt) < leaseMs * TO_BEGIN &&
        lease.worker === registration.number() &&
        registration.isSure() &&
        lease.requestedAt.steady >= (gone.get(endpoint) ?? 0),
      endsAt: lease.requestedAt.steady + leaseMs * TO_END,
    }),
    refuse(endpoint) {
      gone.set(endpoint, Number.POSITIVE_INFINITY);
    },
    forget(endpoint) {
      const now = performance.now();
      for (const [other, until] of gone) if (until < now - leaseMs) gone.delete(other);
      if (gone.has(endpoint)) gone.set(endpoint, now);
    },
  };
}
