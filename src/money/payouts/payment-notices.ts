import sql, { raw } from 'sql-template-tag';
import type { Tx } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { notifyAffiliates } from '../../notices/affiliates.ts';
import { duePaid, withheld } from '../ledger/tax-on-top.ts';

/** Who agreed to self-billing gets the invoice with the notice, if it is issued within this time. */
const FOR_INVOICE = sql`case
  when o.invoicing is not null and exists (
    select from affiliate_tax_profiles x
    where x.account_id = a.account_id and x.affiliate_id = a.id and x.self_billing is not null)
  then interval '1 hour' else interval '1 minute' end`;

/** Notifies the affiliates that a payout has just paid: one notice for each, with all currencies. */
export async function notifyOfPayments(tx: Tx, account: AccountId, payout: PayoutId): Promise<void> {
  await notifyAffiliates(
    tx,
    account,
    'paid',
    sql`select t.affiliate_id, public_id('po', p.id) as subject,
               json_build_object('payout', p.number, 'at', iso(p.paid_at),
                 'amounts', json_agg(json_build_object('currency', t.currency, 'amount', ${raw(duePaid('t'))},
                   'carried', t.carried_amount, 'withheld', ${raw(withheld('t.tax_amount - t.carried_tax_amount'))})
                   order by t.currency),
                 'references', coalesce(json_agg(distinct t.payment_reference) filter (where t.payment_reference is not null), '[]'))
               as data
        from payouts p
        join payout_line_totals t on t.account_id = p.account_id and t.payout_id = p.id and t.is_paid
        where p.account_id = ${account} and p.id = ${payout}
        group by t.affiliate_id, p.id, p.number, p.paid_at`,
    FOR_INVOICE,
  );
}
