import sql from 'sql-template-tag';
import { maybeRow, type Reader } from '../../db/database.ts';
import { literal } from '../../db/literal.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { dayOf } from '../../kernel/zones.ts';
import { type Column, selectList } from '../files/csv-export.ts';
import { frozen } from '../ledger/payout-record.ts';
import type { WhichPayout } from '../ledger/payouts.ts';

/** What a payout file needs to know before it is streamed. */
export interface FileHead {
  readonly id: PayoutId;
  readonly number: bigint;
  readonly status: 'unpaid' | 'paid';
  readonly revision: number;
  /** The day of the cut-off in the account's time zone, `YYYY-MM-DD`. */
  readonly day: string;
}

/** The head of a payout's file, or null. */
export async function fileHead(db: Reader, account: AccountId, which: WhichPayout): Promise<FileHead | null> {
  const row = await maybeRow<Omit<FileHead, 'day'> & { as_of: string; zone: string }>(
    db,
    sql`select p.id, p.number, p.status, p.revision, iso(p.as_of) as as_of, o.time_zone as zone
        from payouts p join accounts o on o.id = p.account_id
        where p.account_id = ${account} and ${which.condition}`,
  );
  return row && { ...row, day: dayOf(Date.parse(row.as_of), row.zone) };
}

/** The name of a payout file: number, revision, day, and further marks that distinguish it. */
export function fileName(
  { number, revision, day }: FileHead,
  marks: readonly string[] = [],
  extension = 'csv',
): string {
  return `${['payout', number, `r${revision}`, day, ...marks].join('-')}.${extension}`;
}

const COLUMNS: readonly Column[] = [
  ['payout_id', `public_id('po', p.id)`],
  ['payout_status', 'p.status'],
  ['commission_id', `public_id('com', c.id)`],
  ['external_id', 'csv_text(c.external_id)'],
  ['occurred_at', 'iso(c.occurred_at)'],
  ['type', 'c.type'],
  ['status', 'p.status'],
  ['is_paid', `case when p.status = 'paid' then 'true' else 'false' end`],
  ['affiliate_id', 'c.affiliate_id'],
  ...['name_first', 'name_last', 'email', 'paypal_email'].map(
    (name) => [name, `csv_text(${frozen(name)})`] as const,
  ),
  ['program_id', 'c.program_id'],
  ['order_id', 'csv_text(c.order_id)'],
  ['product_id', 'csv_text(c.product_id)'],
  ['product_name', 'csv_text(c.product_name)'],
  ['customer_email', 'csv_text(c.customer_email)'],
  ['sale_amount', 'decimal_text(c.sale_amount, c.currency)'],
  ['amount', 'decimal_text(c.amount, c.currency)'],
  ['currency', 'upper(c.currency)'],
  ['description', 'csv_text(c.description)'],
  ['paid_at', 'iso(p.paid_at)'],
  ['order_line_id', 'csv_text(c.order_line_id)'],
];

const CELLS = `c.account_id, c.payout_id, c.id, c.external_id, c.occurred_at, c.affiliate_id, c.program_id, c.order_id,
  c.product_id, c.product_name, c.customer_email, c.sale_amount, c.currency, c.description, c.order_line_id`;

/**
 * COPY of a payout's commissions: all of an unpaid payout; of a paid one those that were paid, because the others are
 * released. An extra row per partly paid line subtracts the unpaid part, using the adjustment that owes it again, and one adds
 * the tax of a line with tax on top or subtracts what is withheld, so that the file adds up to the amount paid.
 */
export function commissionsCopy(account: AccountId, payout: PayoutId): string {
  const of = (alias: string) =>
    `${alias}.account_id = ${literal(account)} and ${alias}.payout_id = ${literal(payout)}`;
  return `copy (
    select ${selectList(COLUMNS)}
    from (
      select ${CELLS}, c.type, c.amount from commissions c where ${of('c')}
      union all
      select ${CELLS.replace('c.payout_id', 't.payout_id')}, 'carried', -t.carried_amount
      from payout_line_totals t
      join commissions c on c.account_id = t.account_id and c.id = t.carried_commission_id
      where ${of('t')} and t.carried_amount > 0
      union all
      select t.account_id, t.payout_id, null, null, null, t.affiliate_id, null, null, null, null, null, null, t.currency, null, null,
             case when t.tax_amount > 0 then 'tax' else 'withheld' end, t.tax_amount - t.carried_tax_amount
      from payout_line_totals t
      where ${of('t')} and t.tax_amount <> 0 and t.is_paid is distinct from false) c
    join payouts p on p.account_id = c.account_id and p.id = c.payout_id
    join payout_lines l on l.account_id = c.account_id and l.payout_id = c.payout_id and l.affiliate_id = c.affiliate_id
    join affiliates a on a.account_id = c.account_id and a.id = c.affiliate_id
    order by c.affiliate_id, c.currency, c.type in ('tax', 'withheld'), c.type = 'carried', c.occurred_at, c.id
  ) to stdout with (format csv, header)`;
}
