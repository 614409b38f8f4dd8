import type { EndpointId } from '../../kernel/ids.ts';
import { type Moment, msSince } from '../../kernel/moments.ts';
import type { Registration } from './registry.ts';
import type { Permit } from './send.ts';

/** Deliveries that a worker may attempt. Their rows in the queue carry the token. */
export interface Lease {
  readonly token: string;
  /** The number under which the worker asked for it. */
  readonly worker: number;
  /** Before PostgreSQL was asked for it: it ends so much earlier here than there. */
  readonly asked: Moment;
}

/** Says what may still be sent. */
export interface Permits {
  /** For a request to an endpoint. */
  of(lease: Lease, endpoint: EndpointId): Permit;
  /** The endpoint answered that it is gone: nothing leased before `forget` is sent there. */
  refuse(endpoint: EndpointId): void;
  /** That is written, so no lease from now on is for the endpoint unless somebody enables it. */
  forget(endpoint: EndpointId): void;
}

/** The part of a lease in which a request may begin. The rest is for the exchange and for writing its result. */
const TO_BEGIN = 1 / 2;
/** The part after which it is given up, so that it is over before another worker repeats it. */
const TO_END = 0.95;

/** Creates the permits of a worker whose leases last so many milliseconds. */
export function createPermits(leaseMs: number, registration: Registration): Permits {
  /** Leases asked for before this `performance.now()` are void. */
  const gone = new Map<EndpointId, number>();

  return {
    of: (lease, endpoint) => ({
      isGood: () =>
        msSince(lease.asked) < leaseMs * TO_BEGIN &&
        lease.worker === registration.number() &&
        registration.isSure() &&
        lease.asked.steady >= (gone.get(endpoint) ?? 0),
      endsAt: lease.asked.steady + leaseMs * TO_END,
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
