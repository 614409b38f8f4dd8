/** A due delivery to pack. */
export interface Candidate {
  /** The size of its body in bytes. */
  readonly bytes: number;
  /** How long it has been due, in milliseconds. */
  readonly ageMs: number;
  /** It is sent in a request of its own: it failed in a batch before, or was retried by hand. */
  readonly isAlone: boolean;
}

/** An endpoint's batch settings, and the number of requests that may begin now. */
export interface PackingLimits {
  readonly maxEvents: number;
  /** The size of the whole body, including the brackets and commas of the array. */
  readonly maxBytes: number;
  readonly maxWaitMs: number;
  readonly requests: number;
}

/** The packed requests. */
export interface Packed<C> {
  readonly requests: readonly (readonly C[])[];
  /** Milliseconds until the rest has waited long enough; null = nothing waits. */
  readonly waitMs: number | null;
  /** All requests are used: further due deliveries are sent when one of them ends. */
  readonly isFull: boolean;
}

const BRACKETS = 2;
const COMMA = 1;

/**
 * Packs deliveries into requests, in their order. A request is complete when it is full, or when one of its deliveries
 * has waited long enough. A delivery larger than a request is sent alone.
 */
export function pack<C extends Candidate>(
  candidates: readonly C[],
  { maxEvents, maxBytes, maxWaitMs, requests: most }: PackingLimits,
): Packed<C> {
  const ready: C[][] = [];
  let open: C[] = [];
  let bytes = BRACKETS;
  const close = () => {
    if (open.length > 0) ready.push(open);
    open = [];
    bytes = BRACKETS;
  };
  for (const candidate of candidates) {
    if (candidate.isAlone) {
      ready.push([candidate]);
      continue;
    }
    if (bytes + candidate.bytes > maxBytes) close();
    open.push(candidate);
    bytes += candidate.bytes + COMMA;
    if (open.length === maxEvents) close();
  }
  const waitMs = open.length === 0 ? null : maxWaitMs - Math.max(...open.map(({ ageMs }) => ageMs));
  const isOver = waitMs !== null && waitMs <= 0;
  if (isOver) close();
  return { requests: ready.slice(0, most), waitMs: isOver ? null : waitMs, isFull: ready.length >= most };
}
