import sql, { raw } from 'sql-template-tag';
import { oneRow, type Reader, rows } from '../../db/database.ts';
import { literal } from '../../db/literal.ts';
import { currencyDigits } from '../../kernel/money.ts';
import { EEA } from '../../terms/eea.ts';
import { selectList } from '../files/csv-export.ts';
import { destinationOfLine, waitsUntil } from '../ledger/destinations.ts';
import { frozen } from '../ledger/payout-record.ts';
import { IS_BLOCKED } from '../ledger/signal-record.ts';
import { duePaid } from '../ledger/tax-on-top.ts';
import type { FilePart, PaymentFormat, Payments } from './format.ts';

const DESTINATION = ['name_first', 'name_last', 'email', 'paypal_email', 'payout_method', 'legal_type'];

/**
 * The query of payments, one row per affiliate and currency: all lines of an unpaid payout, and the paid lines of a paid
 * one as they were paid. It is text, because COPY needs text, and the statement that judges the rows uses it too.
 */
export function paymentRows(
  { account, payout, format, wholeUnits }: Payments,
  sourceCurrency = 'null',
): string {
  const due = duePaid('t');
  const amount = wholeUnits ? `${due} - ${fraction(due, format.wholeCurrencies)}` : due;
  return `
    select p.id as payout_id, p.number as payout_number, p.status as payout_status, p.paid_at,
           concat('P', p.number, '-A', l.affiliate_id) as reference, l.affiliate_id, t.payment_reference,
           t.currency, ${amount} as amount, t.commission_count, coalesce(${sourceCurrency}, t.currency) as source_currency,
           (o.paypal_payment_limit ->> t.currency)::int8 as paypal_payment_limit,
           p.status = 'unpaid' and not a.is_ready_for_payout
             and not coalesce(p.filters ? 'is_ready_for_payout', false) as is_switched_off,
           case when p.status = 'unpaid' then ${waitsUntil('t.currency')} end as waits_until, o.destination_wait_hours, o.time_zone,
           p.status = 'unpaid' and ${IS_BLOCKED} as is_blocked,
           x.id as destination_id, x.type as destination_type, x.account_holder, x.holder_in_files, x.number, x.bic,
           x.routing_number, x.account_type, x.country as account_country,
           case when x.type = 'wise_bank' or x.type = 'sepa' and x.country <> all(${literalList(EEA)})
             then tp.address || jsonb_build_object('country', tp.country) end as payee_address,
           d.*, nullif(trim(concat_ws(' ', d.name_first, d.name_last)), '') as name
    from payouts p
    join payout_lines l on l.account_id = p.account_id and l.payout_id = p.id
    join payout_line_totals t on t.account_id = l.account_id and t.payout_id = l.payout_id
      and t.affiliate_id = l.affiliate_id and t.is_paid is distinct from false
    join accounts o on o.id = p.account_id
    join affiliates a on a.account_id = l.account_id and a.id = l.affiliate_id
    left join lateral ${destinationOfLine} x on true
    left join affiliate_tax_profiles tp on tp.account_id = l.account_id and tp.affiliate_id = l.affiliate_id
    cross join lateral (select ${selectList(DESTINATION.map((name) => [name, frozen(name)]))}) d
    where p.account_id = ${literal(account)} and p.id = ${literal(payout)}`;
}

const literalList = (codes: readonly string[]) => `array[${codes.map((code) => `'${code}'`)}]`;

/** The fraction of a whole unit in an amount, for currencies without fractions. */
function fraction(amount: string, currencies: readonly string[]): string {
  const units = currencies.map((code) => `when '${code}' then ${10 ** currencyDigits(code)}`);
  return units.length === 0 ? '0' : `mod(${amount}, case t.currency ${units.join(' ')} else 1 end)`;
}

/** Affiliates with the same result in a file: included, or left out for the same reason. */
export interface PaymentGroup {
  readonly currency: string;
  /** Why they cannot be in the file; null = they are in it. */
  readonly refusal: string | null;
  readonly count: number;
  /** The ids of the first 20. */
  readonly first: readonly string[];
  /** The number of them whose payment exceeds the provider's limit. */
  readonly above: number;
}

/** The result of each payment of a payout in a format, by currency. */
export function paymentGroups(db: Reader, payments: Payments): Promise<PaymentGroup[]> {
  return rows(
    db,
    sql`select currency, refusal, count(*)::int as count,
               (array_agg(affiliate_id order by affiliate_id))[1:20] as first,
               count(*) filter (where is_above)::int as above
        from (select r.currency, r.affiliate_id, ${raw(payments.format.refusal)} as refusal,
                     ${raw(payments.format.aboveLimit)} as is_above
              from (${raw(paymentRows(payments))}) r) judged
        group by currency, refusal order by currency, refusal`,
  );
}

/** SQL for the row order of a format. */
export const orderOf = ({ order }: PaymentFormat): string => `${order ?? 'r.affiliate_id'}, r.currency`;

/** The query of a payment file's rows in order. `columns` is SQL over rows `r`. */
export function rowsInFile(
  payments: Payments,
  { currency, sourceCurrency, span }: FilePart,
  columns: string,
): string {
  const { refusal } = payments.format;
  const rest = span === null ? '' : `limit ${span.count} offset ${span.offset}`;
  const source = sourceCurrency === null ? undefined : literal(sourceCurrency);
  return `
    select ${columns} from (${paymentRows(payments, source)}) r
    where (${refusal}) is null ${currency === null ? '' : `and r.currency = ${literal(currency)}`}
    order by ${orderOf(payments.format)} ${rest}`;
}

/** The payees of a file and their amounts in minor units, at the same index. */
export interface Payees {
  readonly affiliates: readonly bigint[];
  readonly amounts: readonly bigint[];
}

/** The payees of a file, in its order. */
export async function payeesInFile(db: Reader, payments: Payments, file: FilePart): Promise<Payees> {
  const columns = `r.affiliate_id, r.amount, row_number() over (order by ${orderOf(payments.format)}) as place`;
  const { affiliates, amounts } = await oneRow<{ affiliates: string[]; amounts: string[] }>(
    db,
    sql`select coalesce(array_agg(affiliate_id::text order by place), '{}') as affiliates,
               coalesce(array_agg(amount::text order by place), '{}') as amounts
        from (${raw(rowsInFile(payments, file, columns))}) r`,
  );
  return { affiliates: affiliates.map(BigInt), amounts: amounts.map(BigInt) };
}
