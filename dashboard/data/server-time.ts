/** Differences below this are the network's, and the header's whole seconds. */
const TOLERANCE_MS = 60_000;
let ahead = 0;

/** Takes the `Date` header of an answer: the clock of this machine may be wrong by days. */
export function hearTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

/** The time at the server, in milliseconds since 1970. */
export const serverNow = (): number => Date.now() + ahead;
