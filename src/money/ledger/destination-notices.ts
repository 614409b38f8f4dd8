import sql, { raw, type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { notifyAffiliates } from '../../notices/affiliates.ts';
import { destinationInForce, paidThrough } from './destinations.ts';

/**
 * Notifies affiliates that where they are paid, or their e-mail address, was changed: at their address, and at the `former` ones, so
 * that somebody who took over the payments cannot hide it. `changed` is SQL of rows (affiliate_id int8, currency text, former
 * text[]), one for each affiliate. A notice has the type of the destination in force and the last four characters, no number.
 */
export async function notifyOfDestinations(tx: Tx, account: AccountId, changed: Sql): Promise<void> {
  await notifyAffiliates(
    tx,
    account,
    'destination_changed',
    sql`select c.affiliate_id, null::text as subject, json_strip_nulls(json_build_object(
                 'at', iso(now()), 'to', f.address, 'email', a.email, 'currency', c.currency, 'last_four', x.last_four,
                 'paid_through', ${raw(paidThrough('x.type', 'a'))})) as data
        from (${changed}) c
        join affiliates a on a.account_id = ${account} and a.id = c.affiliate_id
        left join lateral ${raw(destinationInForce('a.account_id', 'a.id', 'c.currency'))} x on true
        cross join lateral (
          select null::text as address
          union all (select distinct on (lower(address)) address from unnest(c.former) address
                     where lower(address) <> lower(a.email) and lower(address) not like '%.invalid')) f`,
  );
}

/**
 * Creates the temporary table of the affiliates whose payment details one statement after the other changes. `notifyOfCollected`
 * makes one notice of all changes of an affiliate.
 */
export async function collectRedirected(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`create temporary table redirected (affiliate_id int8 not null, former text[] not null) on commit drop`,
  );
}

/** Notifies the affiliates in `redirected`. */
export async function notifyOfCollected(tx: Tx, account: AccountId): Promise<void> {
  await notifyOfDestinations(
    tx,
    account,
    sql`select r.affiliate_id, null::text as currency, array_agg(address) filter (where address is not null) as former
        from redirected r left join lateral unnest(r.former) address on true group by r.affiliate_id`,
  );
}

/**
 * SQL of the addresses that a change of an affiliate takes away: null if neither the e-mail address nor how the affiliate is paid
 * changes. Who was paid in no way before has nothing to lose. `before` is the alias of the row, `after` SQL of the new value of a column.
 */
export function formerAddresses(before: string, after: (column: string) => string): Sql {
  const isReaddressed = `lower(${before}.email) <> lower(${after('email')})`;
  const isPaypal = `lower(${before}.paypal_email) is distinct from lower(${after('paypal_email')})`;
  return raw(`case
    when ${isReaddressed} or coalesce(${before}.payout_method, ${before}.paypal_email) is not null
      and (${isPaypal} or ${before}.payout_method is distinct from ${after('payout_method')})
    then array_remove(array[case when ${isReaddressed} then ${before}.email end,
      case when ${isPaypal} then ${before}.paypal_email end], null) end`);
}
