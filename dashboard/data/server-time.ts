/** Smaller differences come from the network and from the whole seconds of the header. */
const TOLERANCE_MS = 60_000;
let ahead = 0;

/** Takes the `Date` header of an answer: the clock of this machine may be wrong by days. */
export function hearTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

/** The time at the server, in milliseconds since 1970. */
export const serverNow = (): number => Date.now() + ahead;

/** Whether a day YYYY-MM-DD is over, everywhere on Earth. */
export const isPast = (day: string): boolean => Date.parse(`${day}T23:59:59-12:00`) < serverNow();

const SOON_MS = 30 * 86_400_000;

/** Whether an instant is in the past or within 30 days. */
export const endsSoon = (at: string): boolean => Date.parse(at) - serverNow() <= SOON_MS;
