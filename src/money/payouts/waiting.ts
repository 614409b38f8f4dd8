import sql, { raw } from 'sql-template-tag';
import { arrayText } from '../../db/array-text.ts';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { destinationInForce, waitsUntil } from '../ledger/destinations.ts';
import type { Entry } from './settlement.ts';

/**
 * Throws `destination_waiting` if an affiliate of a line listed as paid changed their destination within the account's
 * waiting period. The caller has locked the books, which every such change also locks.
 */
export async function refuseWaiting(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[],
): Promise<void> {
  const setting = await maybeRow<{ hours: number }>(
    tx,
    sql`select destination_wait_hours as hours from accounts where id = ${account} and destination_wait_hours > 0`,
  );
  if (setting === null) return;
  const paid = entries.filter(({ isPaid }) => isPaid);
  const affiliates = await arrayText(paid.map(({ affiliateId }) => affiliateId));
  const currencies = await arrayText(paid.map(({ currency }) => currency));
  const found = await rows<{ affiliate_id: bigint; until: string }>(
    tx,
    sql`select w.affiliate_id, iso(max(w.until)) as until from (
          select t.affiliate_id, ${raw(waitsUntil('t.currency'))} as until
          from payout_line_totals t
          join unnest(${affiliates}::int8[], ${currencies}::text[])
            as e (affiliate_id, currency)
            on e.affiliate_id = t.affiliate_id and (e.currency is null or e.currency = t.currency)
          join accounts o on o.id = t.account_id
          join affiliates a on a.account_id = t.account_id and a.id = t.affiliate_id
          left join lateral (select * from ${raw(destinationInForce('t.account_id', 't.affiliate_id', 't.currency'))} y) x on true
          where t.account_id = ${account} and t.payout_id = ${payout}) w
        where w.until > now() group by w.affiliate_id order by w.affiliate_id`,
  );
  const [first] = found;
  if (first === undefined) return;
  const last = found.reduce((latest, { until }) => (until > latest ? until : latest), first.until);
  const names = found.slice(0, 20).map(({ affiliate_id }) => String(affiliate_id));
  throw fail(
    'destination_waiting',
    `commissions: the destination changed less than ${setting.hours} hours ago: affiliates ` +
      `${nameSome(names, found.length)}. List them as not paid, or complete the payout after ${last}`,
  );
}
