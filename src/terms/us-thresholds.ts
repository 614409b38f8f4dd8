/**
 * The sum of a calendar year from which a payer files Form 1099-NEC, in cents, by the first year it applies to: 26 USC
 * 6041(a), and since 2026 Public Law 119-21, section 70433, which indexes it to inflation from 2027 on. Checked on 2026-11-27.
 */
const FEDERAL: readonly (readonly [since: number, cents: number])[] = [
  [2026, 200_000],
  [2020, 60_000],
];
/** The last year whose threshold is known. */
export const LAST_KNOWN = 2026;
/** The first year of Form 1099-NEC. */
export const FIRST_YEAR = 2020;

/** The threshold of a year in cents; of a later year than the last known, the last one; undefined before the form existed. */
export const federalThreshold = (year: number): number | undefined =>
  FEDERAL.find(([since]) => since <= year)?.[1];
