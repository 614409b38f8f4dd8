const JITTER = 0.1;

/** What the next attempt of the schedule depends on, besides the schedule itself. */
interface Moment {
  /** Attempts of the schedule that were made, this one too: at least 1. */
  readonly step: number;
  /** What the receiver asked for (Retry-After), in milliseconds; null = nothing. */
  readonly retryAfterMs: number | null;
  /** 0 to 1, excluded: spreads the attempts of events that failed together. */
  readonly random: number;
}

/**
 * Milliseconds from a failed attempt to the next one, or null when the schedule is used up. `delays` holds the pause
 * before each attempt, the first one's too. ±10 % of jitter; never sooner than the receiver asked.
 */
export function nextDelay(delays: readonly number[], { step, retryAfterMs, random }: Moment): number | null {
  const delay = delays[step];
  if (delay === undefined) return null;
  const spread = Math.round(delay * (1 - JITTER + 2 * JITTER * random));
  return Math.max(spread, retryAfterMs ?? 0);
}
