import sql, { type Sql } from 'sql-template-tag';
import type { AccountId } from '../../kernel/ids.ts';

/* Agreements that the merchant writes the invoices of an affiliate. Over `affiliate_tax_profiles x`. */

/** How many days before its end an agreement ends soon. */
export const SOON_DAYS = 90;

/** The last day of the agreement; null = it has none, or there is no agreement. */
export const AGREEMENT_ENDS = sql`(x.self_billing ->> 'expires_on')::date`;

/** Today in an account. */
export const todayIn = (account: AccountId): Sql =>
  sql`(select (now() at time zone o.time_zone)::date from accounts o where o.id = ${account})`;

/** Whether the agreement had ended on a day. */
export const endedBy = (today: Sql): Sql => sql`(${AGREEMENT_ENDS} < ${today}) is true`;

/** Whether the agreement is in force on a day and ends soon after it. */
export const endsSoonAfter = (today: Sql): Sql =>
  sql`(${AGREEMENT_ENDS} between ${today} and ${today} + ${SOON_DAYS}::int) is true`;
