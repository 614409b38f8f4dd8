const JITTER = 0.1;

/** What decides about the next attempt, besides the schedule itself. */
interface Moment {
  /** Attempts of the schedule made so far, including this one: at least 1. */
  readonly step: number;
  /** What the receiver asked for (Retry-After), in milliseconds; null = nothing. */
  readonly retryAfterMs: number | null;
  /** At least 0 and below 1: spreads the attempts of events that failed together. */
  readonly random: number;
}

/**
 * Milliseconds from a failed attempt to the next one, or null when the schedule is used up. `delays` holds the
 * pause before each attempt, including the first. ±10 % of jitter; never sooner than the receiver asked.
 */
export function nextDelay(delays: readonly number[], { step, retryAfterMs, random }: Moment): number | null {
  const delay = delays[step];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 - JITTER + 2 * JITTER * random));
  return Math.max(spread, retryAfterMs ?? 0);
}
