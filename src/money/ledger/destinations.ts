import sql, { raw, type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';

/*
 * SQL for other resources to read where an affiliate is paid. Without a destination record, the affiliate's own fields
 * apply.
 */

/**
 * Subquery for an affiliate's destination in force in a currency, with the columns of `affiliate_destinations`: the one
 * for that currency, or the one for all currencies. Takes SQL for the account, the affiliate and the currency.
 */
export const destinationInForce = (account: string, affiliate: string, currency: string): string => `(
  select * from affiliate_destinations f
  where f.account_id = ${account} and f.affiliate_id = ${affiliate} and f.replaced_at is null
    and (f.currency = ${currency} or f.currency is null)
  order by f.currency nulls last limit 1)`;

export const destinationTypes = Type.Enum([...DESTINATION_TYPES], { title: 'DestinationType' });

/**
 * How an affiliate is paid, the one rule for records, filters, previews, payment files and reports: by the destination's
 * type, or by `payout_method`, or by PayPal if there is an address. Null if unknown. Takes SQL for the type, and the
 * alias of a row with `payout_method` and `paypal_email`.
 */
export const paidThrough = (type: string, row: string): string =>
  `coalesce(${type}, ${row}.payout_method, case when ${row}.paypal_email is not null then 'paypal' end)`;

/** A type of destination as the field `paid_through`. */
export const paidThroughField = nullable({
  ...destinationTypes,
  description:
    'how the affiliate is paid: by the destination, or by `payout_method`, or by PayPal if there is a `paypal_email`; null: unknown',
});

/** The destination of a payout line, as shown in its record. */
export const lineDestination = strict(
  {
    type: destinationTypes,
    last_four: nullable(
      Type.String({
        description:
          'wise_bank, sepa, ach: the last four characters of the IBAN or account number; 0000 after the affiliate was erased',
      }),
    ),
  },
  { title: 'PayoutLineDestination' },
);

/** The `lineDestination` of the destination `x`, or null. */
const shown = (x: string): string =>
  `case when ${x}.id is not null then json_build_object('type', ${x}.type, 'last_four', ${x}.last_four) end`;

/**
 * Subquery for the destination of a line `t` of the payout `p`, with the columns of `affiliate_destinations`: the
 * destination in force, or the one that was paid to once the payout is paid.
 */
export const destinationOfLine = `(
  select * from affiliate_destinations y
  where p.status = 'paid' and y.account_id = t.account_id and y.id = t.destination_id
  union all
  select * from ${destinationInForce('t.account_id', 't.affiliate_id', 't.currency')} y where p.status <> 'paid')`;

/** `destinationOfLine` as a `lineDestination`, or null. */
export const shownDestinationOfLine = `(select ${shown('x')} from ${destinationOfLine} x)`;

/**
 * Joins the destinations in force to rows `t` with an affiliate and a currency, because a subquery per row would be too
 * slow. Read them with `shownDestinationInForce`.
 */
export const destinationsInForce = (account: AccountId): Sql => sql`
  left join affiliate_destinations own on own.account_id = ${account} and own.affiliate_id = t.affiliate_id
    and own.replaced_at is null and own.currency = t.currency
  left join affiliate_destinations every on every.account_id = ${account} and every.affiliate_id = t.affiliate_id
    and every.replaced_at is null and every.currency is null`;

/** The destination in force of a row joined to `destinationsInForce`, as a `lineDestination` or null. */
export const shownDestinationInForce = `coalesce(${shown('own')}, ${shown('every')})`;

/** How the affiliate `a` of a row joined to `destinationsInForce` is paid. */
export const paidThroughInForce = paidThrough('coalesce(own.type, every.type)', 'a');

/** How an affiliate `a` is paid in a currency, given as SQL. */
const paidThroughIn = (currency: string): string =>
  paidThrough(`(select f.type from ${destinationInForce('a.account_id', 'a.id', currency)} f)`, 'a');

/** The type of an affiliate `a`'s destination in force: the one for all currencies, or any other, or null. */
export const destinationType = `(select f.type from affiliate_destinations f
  where f.account_id = a.account_id and f.affiliate_id = a.id and f.replaced_at is null
  order by f.currency nulls first limit 1)`;

/** How an affiliate `a` is paid: by the destination for all currencies, or by any other. */
export const paidThroughInAny = paidThrough(destinationType, 'a');

/**
 * Whether the affiliate `a` can be paid: PayPal needs `paypal_email`, Wise needs a name, a bank account suffices, and
 * other methods store nothing here. Takes SQL for the currency; null = any.
 */
export function hasDestination(currency: string | null): Sql {
  const method = currency === null ? paidThroughInAny : paidThroughIn(currency);
  return sql`(case coalesce(${raw(method)}, 'none')
    when 'wise' then trim(coalesce(a.name_first, '') || coalesce(a.name_last, '')) <> ''
    when 'paypal' then a.paypal_email is not null
    when 'none' then false
    else true end)`;
}

/**
 * When the waiting period of an affiliate `a` of account `o` ends, or null. It starts at the last change of the
 * destination for a currency (SQL), where `x` is the destination in force, if any.
 */
export const waitsUntil = (currency: string): string => `case when o.destination_wait_hours > 0 then
  greatest(x.created_at, x.restored_at,
    case when coalesce(x.type, 'none') not in ('wise_bank', 'sepa', 'ach', 'other') then a.paid_to_changed_at end,
    case when x.currency is null then (
      select max(g.replaced_at) from affiliate_destinations g
      where g.account_id = a.account_id and g.affiliate_id = a.id
        and (g.currency = ${currency} or g.currency is null and x.id is null)) end)
  + make_interval(hours => o.destination_wait_hours) end`;
