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

/**
 * The sums from which payers report compensation to a state, in cents, where they differ from the federal one; null = nothing is
 * reported, unless the state's own tax was withheld. States change them every year, and many want a report only of what was withheld:
 * an account can set its own. `source` says where the sum was read: the text of a law, or two publishers that agree. Rhode Island is
 * left out because its sources contradict each other. Checked on 2026-11-27.
 */
const STATES: Readonly<Record<string, { readonly cents: number | null; readonly source: string }>> = {
  ...Object.fromEntries(
    ['AK', 'FL', 'NV', 'NH', 'SD', 'TN', 'TX', 'WA', 'WY'].map((state) => [
      state,
      { cents: null, source: 'no income tax on wages; taxbandits.com, waveapps.com for AK' },
    ]),
  ),
  AL: { cents: 150_000, source: 'Ala. Admin. Code 810-3-26-.01; taxbandits.com, sovos.com' },
  AR: { cents: 250_000, source: 'taxbandits.com, airwallex.com, ts1099.com' },
  DC: { cents: 60_000, source: 'taxbandits.com, 1099kstatemap.us' },
  IL: {
    cents: null,
    source: 'Publication 110 of the Illinois Department of Revenue, in boomtax.com; getthera.com',
  },
  MO: { cents: 120_000, source: 'Mo. Rev. Stat. 143.591; boomtax.com' },
  NY: { cents: null, source: 'legalclarity.org, taxbandits.com' },
};

/** The thresholds of states that differ from the federal one of a year, in cents. */
export const stateThresholds = (year: number): Readonly<Record<string, number | null>> =>
  Object.fromEntries(
    Object.entries(STATES).flatMap(([state, { cents }]) =>
      cents === federalThreshold(year) ? [] : [[state, cents]],
    ),
  );

/** The states, the District of Columbia and the territories with a postal code of the USPS. */
export const US_STATES: readonly string[] =
  'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI'.split(
    ' ',
  );
