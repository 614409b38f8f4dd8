import { literal } from '../../db/literal.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { paidThrough } from './destinations.ts';
import { paidAmount } from './payout-record.ts';

/** How a payment was made: SQL over a line's totals `t`. It is a subquery, so that it costs nothing where it is not selected. */
const method = `(
  select ${paidThrough('d.type', 'l')} from payout_lines l
  left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id
  where l.account_id = t.account_id and l.payout_id = t.payout_id and l.affiliate_id = t.affiliate_id)`;

/** The payout `p` of a payment or return, with the tax that was paid on top or came back, or what was withheld: SQL. */
const payoutOf = (tax: string, currency: string) => `concat('payout ', p.number,
  case when ${tax} > 0 then concat(', plus ', decimal_text(${tax}, ${currency}), ' of tax')
       when ${tax} < 0 then concat(', of which ', decimal_text(-(${tax}), ${currency}), ' of tax withheld') end)`;

/** The columns that name the records of a movement, as values where there is no such record. */
const NO_PROGRAM = 'null::bigint';
const NO_METHOD = 'null::text';
const NO_ID = 'null::uuid';

/**
 * The query of everything that changed what affiliates are owed, from the records: kind, affiliate_id, currency, at, amount
 * (minor units, below zero if it subtracts), what and reference; key (unique); program_id of a commission, method of a payment
 * or return; commission_id, refund_id, payout_id. A refund of a paid commission counts as itself, so its
 * clawback does not; nor do adjustments of payouts and returns, because only the amount actually paid counts as paid. It
 * is text, because COPY needs text. Without an affiliate, of all.
 */
export function movements(account: AccountId, affiliate: number | null): string {
  const of = (alias: string) =>
    `${alias}.account_id = ${literal(account)}` +
    (affiliate === null ? '' : ` and ${alias}.affiliate_id = ${literal(String(affiliate))}`);
  const ofCommission = (refund: string) => `c.program_id, ${NO_METHOD}, c.id, ${refund}, ${NO_ID}`;
  const returns = (instant: string, sign: '' | '-') => `
    select 'returned', r.affiliate_id, r.currency, r.${instant}, ${sign}r.amount, ${payoutOf('r.tax_amount', 'r.currency')}, r.reference,
           '${instant} ' || r.id, ${NO_PROGRAM}, (
             select ${method} from payout_line_totals t
             where t.account_id = r.account_id and t.payout_id = r.payout_id and t.affiliate_id = r.affiliate_id
               and t.currency = r.currency),
           ${NO_ID}, ${NO_ID}, r.payout_id
    from payout_returns r join payouts p on p.account_id = r.account_id and p.id = r.payout_id
    where ${of('r')} and r.${instant} is not null`;
  return `
    select case c.type when 'adjustment' then 'adjusted' else 'earned' end as kind, c.affiliate_id, c.currency,
           c.occurred_at as at, c.original_amount as amount, c.external_id as what, c.order_id as reference,
           'made ' || c.id as key, c.program_id, ${NO_METHOD} as method, c.id as commission_id, ${NO_ID} as refund_id,
           ${NO_ID} as payout_id
    from commissions c
    where ${of('c')} and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true
    union all
    select 'voided', c.affiliate_id, c.currency, c.voided_at, -(c.original_amount - c.refunded_amount), c.external_id,
           c.order_id, 'voided ' || c.id, ${ofCommission(NO_ID)}
    from commissions c
    where ${of('c')} and c.voided_at is not null and c.type <> 'clawback' and c.returns_payout_id is null
      and (c.external_id like 'payhook:undone:%') is not true and c.original_amount <> c.refunded_amount
    union all
    select 'refunded', c.affiliate_id, c.currency, r.occurred_at, -i.amount, r.external_id, c.order_id,
           'refunded ' || r.id || c.id, ${ofCommission('r.id')}
    from commissions c
    join refund_items i on i.account_id = c.account_id and i.commission_id = c.id
    join refunds r on r.account_id = i.account_id and r.id = i.refund_id
    where ${of('c')} and r.status <> 'reversed' and i.amount > 0
    union all
    select 'paid', t.affiliate_id, t.currency, p.paid_at, -(${paidAmount('t')}),
           ${payoutOf('t.tax_amount - t.carried_tax_amount', 't.currency')}, t.payment_reference, 'paid ' || p.id || t.affiliate_id || t.currency, ${NO_PROGRAM}, ${method}, ${NO_ID}, ${NO_ID},
           p.id
    from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
    where ${of('t')} and t.is_paid
    union all ${returns('returned_at', '')}
    union all ${returns('undone_at', '-')}`;
}
