import { channel } from 'node:diagnostics_channel';

/*
 * Steps of the engine and of the chores, as channels of Node (`node:diagnostics_channel`) named `payhook.<signal>`. A step that
 * nobody subscribed to costs one comparison. Tests wait for a signal instead of asking again and again.
 */

/** What each signal says; its message has how many rows the step handled, unless it says otherwise. */
const SIGNALS = {
  /** A publish leased deliveries to the worker of its own process. */
  leased: channel('payhook.leased'),
  /** The answer to a publish is delayed; its message has by how many milliseconds. */
  delayed: channel('payhook.delayed'),
  /** A claim leased deliveries. */
  claimed: channel('payhook.claimed'),
  /** A worker looked where the dead rows of endpoints end; its message has how many positions it made. */
  positioned: channel('payhook.positioned'),
  /** A consumer waits for events of a pull endpoint. */
  awaited: channel('payhook.awaited'),
  /** The results of attempts were written. */
  settled: channel('payhook.settled'),
  /** A chore that adds up notes or moves rows finished a round. */
  folded: channel('payhook.folded'),
  /** Rows that nobody needs any more were removed. */
  swept: channel('payhook.swept'),
} as const;

export type Signal = keyof typeof SIGNALS;

/** Notifies the subscribers of a signal that its step was done, with the number of rows that it handled. */
export function signal(name: Signal, count: number): void {
  if (SIGNALS[name].hasSubscribers) SIGNALS[name].publish({ count });
}
