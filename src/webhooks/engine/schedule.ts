const JITTER = 0.1;

/** What determines the next attempt, besides the schedule. */
interface Moment {
  /** The number of scheduled attempts so far, including this one: at least 1. */
  readonly step: number;
  /** The receiver's Retry-After in milliseconds; null = none. */
  readonly retryAfterMs: number | null;
  /** At least 0 and below 1: spreads the attempts of events that failed together. */
  readonly random: number;
}

/**
 * Milliseconds from a failed attempt to the next one, or null at the end of the schedule. `delays` holds the pause before
 * each attempt, including the first. Adds ±10 % of jitter, and never returns less than the receiver asked for.
 */
export function nextDelay(delays: readonly number[], { step, retryAfterMs, random }: Moment): number | null {
  const delay = delays[step];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 - JITTER + 2 * JITTER * random));
  return Math.max(spread, retryAfterMs ?? 0);
}
