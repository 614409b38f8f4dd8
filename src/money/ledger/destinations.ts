import sql, { raw, type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { DESTINATION_TYPES } from '../../kernel/payments.ts';

/*
 * Where an affiliate is paid, as the statements of other nouns read it. An affiliate without a destination record is
 * paid as the fields of its own record say.
 */

/**
 * The destination in force of an affiliate in a currency, as a subquery with the columns of `affiliate_destinations`: the
 * one of the currency, else the one for all. In: SQL of the account, the affiliate and the currency.
 */
export const destinationInForce = (account: string, affiliate: string, currency: string): string => `(
  select * from affiliate_destinations f
  where f.account_id = ${account} and f.affiliate_id = ${affiliate} and f.replaced_at is null
    and (f.currency = ${currency} or f.currency is null)
  order by f.currency nulls last limit 1)`;

export const destinationTypes = Type.Enum([...DESTINATION_TYPES], { title: 'DestinationType' });

/**
 * How an affiliate is paid, the one rule for records, filters, previews, payment files and reports: by the type of the
 * destination; without one by `payout_method`; without that by PayPal if there is an address. null = nobody said how. In:
 * SQL of the type, and the alias of a row with `payout_method` and `paypal_email`.
 */
export const paidThrough = (type: string, row: string): string =>
  `coalesce(${type}, ${row}.payout_method, case when ${row}.paypal_email is not null then 'paypal' end)`;

/** A type of destination as the field `paid_through`. */
export const paidThroughField = nullable({
  ...destinationTypes,
  description:
    'how payouts pay: by the destination, else by `payout_method`, else by PayPal if there is a `paypal_email`; null: not known',
});

/** The destination of a line in a payout, as its record tells it. */
export const lineDestination = strict(
  {
    type: destinationTypes,
    last_four: nullable(
      Type.String({
        description: 'sepa, ach: the end of the IBAN or account number; 0000 once the affiliate was erased',
      }),
    ),
  },
  { title: 'PayoutLineDestination' },
);

/** A `lineDestination` of the destination `x`; null = there is none. */
const told = (x: string): string =>
  `case when ${x}.id is not null then json_build_object('type', ${x}.type, 'last_four', ${x}.last_four) end`;

/**
 * The destination of a line `t` of the payout `p`, as a subquery with the columns of `affiliate_destinations`: the one
 * in force, and once the payout is paid the one that it was paid to.
 */
export const destinationOfLine = `(
  select * from affiliate_destinations y
  where p.status = 'paid' and y.account_id = t.account_id and y.id = t.destination_id
  union all
  select * from ${destinationInForce('t.account_id', 't.affiliate_id', 't.currency')} y where p.status <> 'paid')`;

/** The same as a `lineDestination`; null = there is none. */
export const toldDestinationOfLine = `(select ${told('x')} from ${destinationOfLine} x)`;

/**
 * Joins the destinations in force to rows `t` with an affiliate and a currency: at once for all rows, where a subquery for
 * each would be too slow. `toldDestinationInForce` reads them. In: the account.
 */
export const destinationsInForce = (account: AccountId): Sql => sql`
  left join affiliate_destinations own on own.account_id = ${account} and own.affiliate_id = t.affiliate_id
    and own.replaced_at is null and own.currency = t.currency
  left join affiliate_destinations every on every.account_id = ${account} and every.affiliate_id = t.affiliate_id
    and every.replaced_at is null and every.currency is null`;

/** The destination in force of a row joined to `destinationsInForce` as a `lineDestination`; null = there is none. */
export const toldDestinationInForce = `coalesce(${told('own')}, ${told('every')})`;

/** How a row joined to `destinationsInForce` is paid, of the affiliate `a`. */
export const paidThroughInForce = paidThrough('coalesce(own.type, every.type)', 'a');

/** How an affiliate `a` is paid in a currency. In: SQL of the currency. */
const paidThroughIn = (currency: string): string =>
  paidThrough(`(select f.type from ${destinationInForce('a.account_id', 'a.id', currency)} f)`, 'a');

/** The type of the destination in force of an affiliate `a` for all currencies, else of another; null = there is none. */
export const destinationType = `(select f.type from affiliate_destinations f
  where f.account_id = a.account_id and f.affiliate_id = a.id and f.replaced_at is null
  order by f.currency nulls first limit 1)`;

/** How an affiliate `a` is paid, by the destination for all currencies, else by one for some. */
export const paidThroughInAny = paidThrough(destinationType, 'a');

/**
 * Whether it is known where an affiliate `a` is paid: PayPal pays to `paypal_email`, Wise needs a name, a bank account
 * is enough, and for other ways nothing is stored here. In: SQL of the currency; null = in any.
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
 * When the waiting time of an affiliate `a` ends whose account `o` has one, or null: counted from the last change of where a
 * currency is paid, by the destination in force `x` or its absence. In: SQL of the currency.
 */
export const waitsUntil = (currency: string): string => `case when o.destination_wait_hours > 0 then
  greatest(x.created_at, x.restored_at,
    case when coalesce(x.type, 'none') not in ('sepa', 'ach', 'other') then a.paid_to_changed_at end,
    case when x.currency is null then (
      select max(g.replaced_at) from affiliate_destinations g
      where g.account_id = a.account_id and g.affiliate_id = a.id
        and (g.currency = ${currency} or g.currency is null and x.id is null)) end)
  + make_interval(hours => o.destination_wait_hours) end`;
