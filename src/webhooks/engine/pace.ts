import type { AccountId } from '../../kernel/ids.ts';
import { timeIn } from '../../kernel/ids.ts';
import type { Finished } from './attempt.ts';

/** Slows down publishers whose events wait to be sent, because publishing and sending take processor time from each other. */
export interface Pace {
  /** An attempt of this process has ended. */
  note(finished: Finished): void;
  /** The milliseconds by which the answer to an account that just published is delayed; 0 = not at all, at most 100. */
  pauseMs(account: AccountId): number;
}

/** Events may wait this long without slowing down their publishers. */
const ALLOWED_MS = 15;
const LONGEST_MS = 100;
/** Receivers that take longer than this cause the wait themselves, so their results say nothing about this process. */
const QUICK_MS = 100;
/** From this number of unwritten results on, this process counts as busy. Requests that receivers hold do not count. */
const BUSY = 16;

/** Creates a pace. `unwritten` is the number of results that are not written yet. */
export function createPace(unwritten: () => number): Pace {
  /** How long the event of the latest attempt of each account had waited, and when that attempt ended. */
  const waits = new Map<AccountId, { readonly waitedMs: number; readonly at: number }>();

  return {
    note(finished) {
      const { account } = finished.delivery;
      const waitedMs = waitBeforeFirst(finished);
      if (waitedMs === null || !finished.result.succeeded || finished.result.durationMs > QUICK_MS) return;
      if (waitedMs > ALLOWED_MS) waits.set(account, { waitedMs, at: performance.now() });
      else waits.delete(account);
    },
    pauseMs(account) {
      const last = waits.get(account);
      if (last === undefined) return 0;
      if (performance.now() - last.at > LONGEST_MS) waits.delete(account);
      else if (unwritten() >= BUSY) return Math.min(last.waitedMs - ALLOWED_MS, LONGEST_MS);
      return 0;
    },
  };
}

/**
 * Milliseconds from the storing of an event to its first attempt; null = not a first attempt. Both are by the database's
 * clock, whose corrections must not make a wait negative.
 */
export function waitBeforeFirst({ delivery, result }: Finished): number | null {
  if (delivery.step > 0 || delivery.trigger !== 'scheduled') return null;
  return Math.max(0, Date.parse(result.startedAt) - timeIn(delivery.event));
}
