import sql, { raw, type Sql } from 'sql-template-tag';
import type { AccountId } from '../../kernel/ids.ts';
import { LAPSING_FORMS, YEARS_VALID } from '../../terms/taxes.ts';

/* Forms lapse at the end of a year, so the year of the signature decides. Over `affiliate_tax_profiles x`. */

const lapsing = `x.form in (${LAPSING_FORMS.map((form) => `'${form}'`).join(', ')})`;

/** The last day on which the form is valid; null = it does not lapse, or there is none. */
export const VALID_UNTIL = `case when ${lapsing}
  then make_date(extract(year from x.signed_on)::int + ${YEARS_VALID}, 12, 31) end`;

/** The current year of an account. */
export const yearNow = (account: AccountId): Sql =>
  sql`(select extract(year from now() at time zone o.time_zone) from accounts o where o.id = ${account})`;

/** Whether the form had lapsed when a calendar year began. */
export const lapsedBefore = (year: Sql): Sql =>
  sql`(${raw(lapsing)} and x.signed_on < make_date(${year}::int - ${YEARS_VALID}::int, 1, 1)) is true`;

/** Whether the form lapses at the end of a calendar year. */
export const lapsesIn = (year: Sql): Sql =>
  sql`(${raw(lapsing)} and extract(year from x.signed_on)::int = ${year}::int - ${YEARS_VALID}::int) is true`;

/** `lapsedBefore` of a given year. */
export const isLapsedIn = (year: number): Sql => lapsedBefore(sql`${year}`);

/** Where the affiliate `a` pays taxes in a year: by a form that has not lapsed, else by the country. `us`, `foreign` or `unknown`. */
export const residenceIn = (year: number): Sql => sql`
  case when x.form = 'w9' then 'us' when x.form like 'w8%' and not ${isLapsedIn(year)} then 'foreign'
       when coalesce(x.country, a.country) = 'US' then 'us'
       when coalesce(x.country, a.country) is not null then 'foreign' else 'unknown' end`;
