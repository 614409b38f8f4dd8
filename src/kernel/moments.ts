/** A moment, by two clocks of this machine. */
export interface Moment {
  /**
   * `performance.now()`, which is CLOCK_MONOTONIC: nobody sets it, and it goes on while the process is stopped (SIGSTOP), but
   * not while the whole machine is suspended.
   */
  readonly steady: number;
  /** Milliseconds since 1970: goes on in both cases, and may be set. */
  readonly wall: number;
}

/** The present one. */
export const thisMoment = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/**
 * Milliseconds since a moment, with those in which the process was stopped or the machine suspended. There may be more of
 * them, if the clock of the machine was set ahead.
 */
export const msSince = ({ steady, wall }: Moment): number =>
  Math.max(performance.now() - steady, Date.now() - wall);
