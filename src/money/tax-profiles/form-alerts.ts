import sql, { type Sql } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { rows, type Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { AffiliateNoticeKind } from '../../notices/affiliate-kinds.ts';
import { notifyAffiliates } from '../../notices/affiliates.ts';
import { notify } from '../../notices/notices.ts';
import { lapsesIn } from '../ledger/tax-forms.ts';

/**
 * Records alerts about forms that lapse at the end of the year of their account: 90, 30 and 7 days before, each step once.
 * `now` is SQL of an instant. Returns the number of accounts it looked at.
 */
export async function notifyOfForms(tx: Tx, now: Sql = sql`now()`): Promise<number> {
  const looked = await rows<{ account: AccountId; forms: number; ends: string }>(
    tx,
    sql`with due as (
          select b.account_id, d.year, d.year || ' ' || s.days as step
          from payout_books b
          join accounts o on o.id = b.account_id
          cross join lateral (select (${now} at time zone o.time_zone)::date as today) t
          cross join lateral (
            select extract(year from today)::int as year, make_date(extract(year from today)::int, 12, 31) - today as left_days) d
          cross join lateral (
            select case when left_days <= 7 then 7 when left_days <= 30 then 30 when left_days <= 90 then 90 end as days) s
          where s.days is not null and b.told_forms is distinct from d.year || ' ' || s.days
          order by b.account_id limit ${SLICE_ROWS}::int
          for no key update of b skip locked),
        noted as (
          update payout_books b set told_forms = due.step
          from due
          where b.account_id = due.account_id
          returning due.account_id, due.year)
        select n.account_id as account, n.year || '-12-31' as ends, (
          select count(*)::int from affiliate_tax_profiles x
          where x.account_id = n.account_id and ${lapsesIn(sql`n.year`)}) as forms
        from noted n`,
  );
  await notify(
    tx,
    looked
      .filter(({ forms }) => forms > 0)
      .map(({ account, forms, ends }) => ({
        account,
        kind: 'tax_forms_lapsing',
        subject: null,
        data: { forms, ends },
      })),
  );
  for (const { account, forms } of looked) if (forms > 0) await notifyOfLapsing(tx, account, now);
  return looked.length;
}

/** Notifies affiliates whose form lapses at the end of the year, once for each form. */
async function notifyOfLapsing(tx: Tx, account: AccountId, now: Sql): Promise<void> {
  const kind: AffiliateNoticeKind = 'form_lapsing';
  const lastDay = sql`make_date(extract(year from ${now} at time zone o.time_zone)::int, 12, 31)`;
  const lapsing = sql`x.account_id = ${account} and ${lapsesIn(sql`extract(year from ${now} at time zone o.time_zone)`)}`;
  await notifyAffiliates(
    tx,
    account,
    kind,
    sql`select x.affiliate_id, null::text as subject, json_build_object('form', x.form,
               'at', iso((${lastDay} + time '12:00') at time zone o.time_zone)) as data
        from affiliate_tax_profiles x join accounts o on o.id = x.account_id
        where ${lapsing} and x.told_until is distinct from ${lastDay}`,
  );
  await rows(
    tx,
    sql`update affiliate_tax_profiles x set told_until = ${lastDay} from accounts o
        where o.id = x.account_id and ${lapsing} and exists (
          select from notices n where n.account_id = x.account_id and n.affiliate_id = x.affiliate_id and n.kind = ${kind})`,
  );
}
