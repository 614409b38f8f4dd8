import sql, { type Sql } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { AffiliateNoticeKind } from '../../notices/affiliate-kinds.ts';
import { notifyAffiliates } from '../../notices/affiliates.ts';
import { notify } from '../../notices/notices.ts';
import { AGREEMENT_ENDS, endsSoonAfter, SOON_DAYS } from '../ledger/agreements.ts';

/** How many days before the end of an agreement an alert is sent. */
const STEPS: readonly number[] = [SOON_DAYS, 30, 7];

/**
 * Records alerts about self-billing agreements that end, 90, 30 and 7 days before. Each account is looked at once a day, for what came
 * within one of these steps since it was looked at before. `now` is SQL of an instant. Returns the number of accounts it looked at.
 */
export async function notifyOfAgreements(tx: Tx, now: Sql = sql`now()`): Promise<number> {
  const looked = await rows<{
    account: AccountId;
    today: string;
    agreements: number;
    ends: string | null;
  }>(
    tx,
    sql`with due as (
          select b.account_id, b.told_agreements as before, t.today
          from payout_books b
          join accounts o on o.id = b.account_id
          cross join lateral (select (${now} at time zone o.time_zone)::date as today) t
          where b.told_agreements is null or b.told_agreements < t.today
          order by b.account_id limit ${SLICE_ROWS}::int
          for no key update of b skip locked),
        noted as (
          update payout_books b set told_agreements = due.today
          from due
          where b.account_id = due.account_id
          returning due.account_id, due.before, due.today)
        select n.account_id as account, n.today::text as today, e.agreements, e.ends::text as ends
        from noted n cross join lateral (
          select count(*)::int as agreements, min(${AGREEMENT_ENDS}) as ends
          from affiliate_tax_profiles x
          where x.account_id = n.account_id and ${endsSoonAfter(sql`n.today`)}
            and exists (select from unnest(${STEPS}::int[]) step
              where ${AGREEMENT_ENDS} - n.today <= step and (n.before is null or ${AGREEMENT_ENDS} - n.before > step))) e`,
  );
  const ending = looked.flatMap(({ ends, ...each }) => (ends === null ? [] : [{ ...each, ends }]));
  await notify(
    tx,
    ending.map(({ account, agreements, ends }) => ({
      account,
      kind: 'agreements_ending',
      subject: null,
      data: { agreements, ends },
    })),
  );
  for (const { account, today } of ending) await notifyOfEnding(tx, account, today);
  return looked.length;
}

/** Notifies affiliates whose agreement ends soon, once for each last day. */
async function notifyOfEnding(tx: Tx, account: AccountId, today: string): Promise<void> {
  const kind: AffiliateNoticeKind = 'agreement_ending';
  const ending = sql`x.account_id = ${account} and ${endsSoonAfter(sql`${today}::date`)}`;
  await notifyAffiliates(
    tx,
    account,
    kind,
    sql`select x.affiliate_id, null::text as subject,
               json_build_object('at', iso((${AGREEMENT_ENDS} + time '12:00') at time zone o.time_zone)) as data
        from affiliate_tax_profiles x join accounts o on o.id = x.account_id
        where ${ending} and x.told_agreement is distinct from ${AGREEMENT_ENDS}`,
  );
  await rows(
    tx,
    sql`with noted as materialized (
          select x.account_id, x.id, ${AGREEMENT_ENDS} as ends from affiliate_tax_profiles x
          where ${ending} and exists (
            select from notices n where n.account_id = x.account_id and n.affiliate_id = x.affiliate_id and n.kind = ${kind}))
        update affiliate_tax_profiles x set told_agreement = n.ends
        from noted n where x.account_id = n.account_id and x.id = n.id`,
  );
}
