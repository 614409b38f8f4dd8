import sql from 'sql-template-tag';
import { type Database, maybeRow } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import type { Threads } from '../../threads/pool.ts';
import { draftStatement } from './statement-paper.ts';
import { MAKE_STATEMENT } from './tasks.ts';

/**
 * The statement of an affiliate as PDF, with its file name, from the day after the payment before to the day of the payment
 * in a payout; null if the payout did not pay the affiliate. Throws `invalid_query` for too many entries, `too_much_work`.
 */
export async function statementOf(
  { db, threads }: { db: Database; threads: Threads },
  { account, affiliate, payout }: { account: AccountId; affiliate: number; payout: PayoutId },
): Promise<{ name: string; content: Buffer } | null> {
  const period = await maybeRow<{ first: string | null; last: string }>(
    db.reader,
    sql`select case when before.day is not null then least(before.day + 1, p.day)::text end as first, p.day::text as last
        from (select p.id, p.paid_at, (p.paid_at at time zone o.time_zone)::date as day, o.time_zone
              from payouts p join accounts o on o.id = p.account_id
              where p.account_id = ${account} and p.id = ${payout} and p.paid_at is not null) p
        left join lateral (
          select (q.paid_at at time zone p.time_zone)::date as day
          from payout_line_totals t join payouts q on q.account_id = t.account_id and q.id = t.payout_id
          where t.account_id = ${account} and t.affiliate_id = ${affiliate} and t.is_paid and q.id <> p.id and q.paid_at < p.paid_at
          order by q.paid_at desc limit 1) before on true`,
  );
  if (period === null) return null;
  const { first, last } = period;
  const { draft, name } = await db.snapshot((reader) =>
    draftStatement(reader, account, String(affiliate), {
      ...(first === null ? {} : { from: first }),
      to: last,
    }),
  );
  const made = await threads.run(MAKE_STATEMENT, { draft, format: 'pdf' }, { account, inTurn: true });
  return { name: `${name}.pdf`, content: Buffer.from(made) };
}
