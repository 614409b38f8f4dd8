import sql from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId, PayoutId } from '../../kernel/ids.ts';
import { recomputeLastPaid } from '../ledger/balance-folding.ts';
import { noteClaimed, notePaid } from '../ledger/balances.ts';
import { refreshTotals } from '../ledger/payout-totals.ts';
import { noteSeries } from '../ledger/series.ts';

/**
 * Creates paid payouts for the commissions of an import that were paid elsewhere (staged lines with `paid_at`): one per
 * day in the account's time zone, and another if an affiliate was paid twice on a day under two references. Publishes no
 * event, because this is history. The caller has locked the books. Returns the number of payouts created.
 */
export async function createImportedPayouts(
  tx: Tx,
  account: AccountId,
  { importId, actor, zone }: { importId: ImportId; actor: string; zone: string },
): Promise<number> {
  await rows(
    tx,
    sql`create temporary table paid_elsewhere on commit drop as
        select c.id as commission_id, c.affiliate_id, c.currency, c.amount, s.payment_reference,
               date_trunc('day', s.paid_at at time zone ${zone}) at time zone ${zone} as paid_at,
               dense_rank() over (
                 partition by date_trunc('day', s.paid_at at time zone ${zone}), c.affiliate_id, c.currency
                 order by s.payment_reference nulls first) as part
        from (select distinct on (external_id) * from staged order by external_id, line) s
        join commissions c on c.account_id = ${account} and c.external_id = s.external_id
        where s.paid_at is not null and c.import_id = ${importId} and c.payout_id is null and c.voided_at is null
          and c.amount > 0`,
  );
  // an id encodes its creation time: here the time of payment
  await rows(
    tx,
    sql`create temporary table imported_payouts on commit drop as
        select (substr(id_floor(paid_at)::text, 1, 13) || substr(new_id()::text, 14))::uuid as id, paid_at, part,
               row_number() over (order by paid_at, part) as place
        from paid_elsewhere group by paid_at, part`,
  );
  const { count } = await oneRow<{ count: number }>(
    tx,
    sql`select count(*)::int as count from imported_payouts`,
  );
  if (count > 0) await writePayouts(tx, account, importId, actor);
  return count;
}

async function writePayouts(tx: Tx, account: AccountId, importId: ImportId, actor: string): Promise<void> {
  await rows(
    tx,
    sql`with book as (
          update payout_books set next_number = next_number + (select count(*) from imported_payouts)
          where account_id = ${account}
          returning next_number - (select count(*) from imported_payouts) as first)
        insert into payouts (account_id, id, number, status, as_of, created_by, paid_by, paid_at, import_id)
        select ${account}, id, book.first + place - 1, 'paid', paid_at, ${actor}, ${actor}, paid_at, ${importId}
        from imported_payouts, book order by place`,
  );
  await rows(
    tx,
    sql`insert into payout_lines (account_id, payout_id, affiliate_id, name_first, name_last, email, paypal_email,
          payout_method, legal_type, is_ready_for_payout)
        select distinct ${account}::uuid, p.id, a.id, a.name_first, a.name_last, a.email, a.paypal_email, a.payout_method,
          a.legal_type, a.is_ready_for_payout
        from paid_elsewhere join imported_payouts p using (paid_at, part)
        join affiliates a on a.account_id = ${account} and a.id = paid_elsewhere.affiliate_id`,
  );
  await rows(
    tx,
    sql`insert into payout_line_totals (account_id, payout_id, affiliate_id, currency, amount, commission_count, is_paid,
          payment_reference)
        select ${account}, p.id, paid_elsewhere.affiliate_id, paid_elsewhere.currency, sum(paid_elsewhere.amount), count(*), true,
          max(paid_elsewhere.payment_reference)
        from paid_elsewhere join imported_payouts p using (paid_at, part) group by 2, 3, 4`,
  );
  await rows(
    tx,
    sql`with claimed as (
          update commissions c set payout_id = p.id, updated_at = clock_time()
          from paid_elsewhere join imported_payouts p using (paid_at, part)
          where c.account_id = ${account} and c.id = paid_elsewhere.commission_id
          returning c.affiliate_id, c.currency, c.available_at, c.amount),
        balanced as (${noteClaimed(account)})
        select 1`,
  );
  await rows(tx, notePaid(account, sql`select affiliate_id, currency, amount, paid_at from paid_elsewhere`));
  const happened = sql`
    select 'paid' as kind, affiliate_id, null::int8 as program_id, currency, paid_at as at, amount, 1 as count
    from paid_elsewhere`;
  await rows(tx, noteSeries(account, happened));
  const made = await rows<{ id: PayoutId }>(tx, sql`select id from imported_payouts order by place`);
  for (const { id } of made) await refreshTotals(tx, account, id);
}

/** Deletes the imported payouts of an import after their commissions were released. The caller has locked the books. */
export async function deleteImportedPayouts(tx: Tx, account: AccountId, importId: ImportId): Promise<void> {
  await rows(
    tx,
    sql`create temporary table imported_lines on commit drop as
        select t.payout_id, t.affiliate_id, t.currency, t.amount, t.commission_count, p.paid_at
        from payouts p join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id
        where p.account_id = ${account} and p.import_id = ${importId}`,
  );
  await rows(
    tx,
    notePaid(
      account,
      sql`select affiliate_id, currency, -amount as amount, null::timestamptz as paid_at from imported_lines`,
    ),
  );
  await rows(
    tx,
    noteSeries(
      account,
      sql`select 'paid' as kind, affiliate_id, null::int8 as program_id, currency, paid_at as at, -amount as amount,
                 -commission_count as count
          from imported_lines`,
    ),
  );
  await rows(tx, sql`delete from payouts where account_id = ${account} and import_id = ${importId}`);
  await recomputeLastPaid(tx, account, sql`select affiliate_id from imported_lines`);
}
