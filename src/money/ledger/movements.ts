import { literal } from '../../db/literal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { paidAmount } from './payout-record.ts';

/**
 * The query of everything that changed what affiliates are owed, from the records: kind, affiliate_id, currency, at, amount
 * (minor units, below zero if it subtracts), what and reference. A refund of a paid commission counts as itself, so its
 * clawback does not; nor do adjustments of payouts and returns, because only the amount actually paid counts as paid. It
 * is text, because COPY needs text. Without an affiliate, of all.
 */
export function movements(account: AccountId, affiliate: number | null): string {
  const of = (alias: string) =>
    `${alias}.account_id = ${literal(account)}` +
    (affiliate === null ? '' : ` and ${alias}.affiliate_id = ${literal(String(affiliate))}`);
  const returns = (instant: string, sign: '' | '-') => `
    select 'returned', r.affiliate_id, r.currency, r.${instant}, ${sign}r.amount, 'payout ' || p.number, r.reference
    from payout_returns r join payouts p on p.account_id = r.account_id and p.id = r.payout_id
    where ${of('r')} and r.${instant} is not null`;
  return `
    select case c.type when 'adjustment' then 'adjusted' else 'earned' end as kind, c.affiliate_id, c.currency,
           c.occurred_at as at, c.original_amount as amount, c.external_id as what, c.order_id as reference
    from commissions c
    where ${of('c')} and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true
    union all
    select 'voided', c.affiliate_id, c.currency, c.voided_at, -(c.original_amount - c.refunded_amount), c.external_id,
           c.order_id
    from commissions c
    where ${of('c')} and c.voided_at is not null and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true and c.original_amount <> c.refunded_amount
    union all
    select 'refunded', c.affiliate_id, c.currency, r.occurred_at, -i.amount, r.external_id, c.order_id
    from commissions c
    join refund_items i on i.account_id = c.account_id and i.commission_id = c.id
    join refunds r on r.account_id = i.account_id and r.id = i.refund_id
    where ${of('c')} and r.status <> 'reversed' and i.amount > 0
    union all
    select 'paid', t.affiliate_id, t.currency, p.paid_at, -(${paidAmount('t')}), 'payout ' || p.number,
           t.payment_reference
    from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
    where ${of('t')} and t.is_paid
    union all ${returns('returned_at', '')}
    union all ${returns('undone_at', '-')}`;
}
