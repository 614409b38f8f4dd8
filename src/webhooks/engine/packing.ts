/** A delivery that is due, as the packing of batches sees it. */
export interface Candidate {
  /** Bytes of its body. */
  readonly bytes: number;
  /** Milliseconds for which it has been due. */
  readonly ageMs: number;
  /** It goes in a request of its own: it failed in company before, or somebody asked for it by hand. */
  readonly isAlone: boolean;
}

/** How an endpoint takes batches, and how many requests may begin now. */
export interface PackingLimits {
  readonly maxEvents: number;
  /** Of the whole body, the brackets and commas of the array included. */
  readonly maxBytes: number;
  readonly maxWaitMs: number;
  readonly requests: number;
}

/** What goes in which request. */
export interface Packed<C> {
  readonly requests: readonly (readonly C[])[];
  /** Milliseconds until the rest has waited long enough for company; null = nothing waits. */
  readonly waitMs: number | null;
  /** All requests were taken: what more is due goes when one of them ends. */
  readonly isFull: boolean;
}

const BRACKETS = 2;
const COMMA = 1;

/**
 * Packs deliveries into requests, in the order they have. A request goes when it is full, or when one of its deliveries
 * has waited long enough. One that is larger than a request may be goes alone.
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
