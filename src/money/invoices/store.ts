import sql, { raw } from 'sql-template-tag';
import {
  currency,
  exactly,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, InvoiceId, InvoiceTaxId, PayoutId, TaxProfileId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { isNet, onTop, taxRule, taxTerms } from '../ledger/tax-on-top.ts';
import type { TaxProfile } from '../tax-profiles/record.ts';
import type { StoredDocument } from './document.ts';
import { type Invoice, record } from './record.ts';
import type { KeptTaxId } from './tax-ids.ts';

/** A paid line whose documents do not add up to the amount paid less returns. */
export interface OpenLine {
  readonly affiliate_id: number;
  readonly currency: string;
  /** The amount to invoice, or below zero the amount to credit. */
  readonly difference: bigint;
  /** The part of it that is tax on top; null = the amount includes the tax. */
  readonly tax_difference: bigint | null;
  /** Whether the line was made without terms for its tax on top. */
  readonly is_without_tax: boolean;
  /** JSON of the terms on the day of the payment, as `TaxTerms`. Those of tax on top are the ones fixed in the line. */
  readonly terms: string;
  readonly payment_reference: string | null;
  /** Days of the account. */
  readonly supplied_on: string;
  readonly today: string;
  /** The first invoice of the line, JSON; null = none. */
  readonly first: string | null;
  /** JSON of its invoices that are not credited in full, as `OpenInvoice`, newest first. */
  readonly open: string;
  /** The tax id on the first invoice. */
  readonly first_tax_id: InvoiceTaxId | null;
  readonly profile: string | null;
  readonly profile_id: TaxProfileId | null;
  /** The tax id of the profile, sealed; null = none or lost. */
  readonly number: Buffer | null;
  /** The stored copy of that tax id, if another invoice names it. */
  readonly kept_tax_id: InvoiceTaxId | null;
  /** The id for a new copy. */
  readonly new_tax_id: InvoiceTaxId;
}

/** An invoice that is not credited in full. */
export interface OpenInvoice {
  readonly id: InvoiceId;
  readonly number: string;
  readonly issued_on: string;
  /** Minor units as text: the amount not yet credited, without tax on top, and that tax. */
  readonly rest: string;
  readonly rest_tax: string;
}

/** Which lines to read. */
export interface Lines {
  readonly account: AccountId;
  readonly payout: PayoutId;
  /** null = all. */
  readonly affiliate: number | null;
  /** Time zone of the account. */
  readonly zone: string;
}

/** The day on which a payout was paid, and today, in the time zone of the account. */
export function daysOf(tx: Tx, { account, payout, zone }: Lines): Promise<{ paidOn: string; today: string }> {
  return oneRow(
    tx,
    sql`select to_char(paid_at at time zone ${zone}, 'YYYY-MM-DD') as "paidOn",
               to_char(now() at time zone ${zone}, 'YYYY-MM-DD') as today
        from payouts where account_id = ${account} and id = ${payout}`,
  );
}

/** The tax on top of a line `t` that was paid and kept. */
const TAX_KEPT = onTop('t.tax_amount - t.carried_tax_amount - t.returned_tax_amount');
/** What an invoice of a line `t` is about: what was paid and kept, with what was withheld of it. */
const KEPT = `t.amount - t.carried_amount - t.returned_amount + ${TAX_KEPT}`;
/** The terms of a line `t`, or else of the rule that fits now. */
const TERMS = `case when t.tax_terms ? 'category' then t.tax_terms else rule.terms end`;
const taxIn = (invoice: string) => `(${invoice}.document ->> 'tax')::int8`;

/** Lines of a payout whose documents do not add up, in order, after a given line, up to a limit. JSON is text. */
export function openLines(
  tx: Tx,
  { account, payout, affiliate, zone }: Lines,
  after: { readonly affiliate: number; readonly currency: string },
  most: number,
): Promise<OpenLine[]> {
  return rows(
    tx,
    sql`select t.affiliate_id::float8 as affiliate_id, t.currency,
               ${raw(KEPT)} - s.documented as difference,
               case when ${raw(isNet('t'))} then ${raw(TAX_KEPT)} - s.tax end as tax_difference,
               coalesce(t.tax_terms ? 'reason', false) as is_without_tax, t.payment_reference, d.supplied_on, (${raw(taxTerms('d.supplied_on', TERMS))})::text as terms,
               to_char(now() at time zone ${zone}, 'YYYY-MM-DD') as today,
               f.document::text as first, f.tax_id as first_tax_id, b.open, x.id as profile_id, x.number,
               k.id as kept_tax_id, new_id() as new_tax_id,
               case when x.id is not null then json_build_object('legal_name', x.legal_name, 'country', x.country,
                 'address', x.address, 'tax_id_type', x.tax_id_type, 'siren', x.siren)::text end as profile
        from payout_line_totals t
        join payouts p on p.account_id = t.account_id and p.id = t.payout_id
        join accounts o on o.id = t.account_id
        cross join lateral (select to_char(p.paid_at at time zone ${zone}, 'YYYY-MM-DD') as supplied_on) d
        left join affiliate_tax_profiles x on x.account_id = t.account_id and x.affiliate_id = t.affiliate_id
        left join lateral ${raw(taxRule('true'))} rule on true
        cross join lateral (
          select coalesce(sum(case kind when 'invoice' then amount else -amount end), 0)::int8 as documented,
                 coalesce(sum(case kind when 'invoice' then ${raw(taxIn('i'))} else -${raw(taxIn('i'))} end), 0)::int8 as tax
          from invoices i
          where i.account_id = t.account_id and i.payout_id = t.payout_id and i.affiliate_id = t.affiliate_id
            and i.currency = t.currency) s
        left join lateral (
          select document, tax_id from invoices i
          where i.account_id = t.account_id and i.payout_id = t.payout_id and i.affiliate_id = t.affiliate_id
            and i.currency = t.currency and i.kind = 'invoice'
          order by i.id limit 1) f on true
        cross join lateral (
          select coalesce(json_agg(json_build_object('id', i.id, 'number', i.document -> 'number',
                   'issued_on', i.document -> 'issued_on', 'rest', (i.amount - c.credited - c.rest_tax)::text,
                   'rest_tax', c.rest_tax::text) order by i.id desc)
                   filter (where i.amount > c.credited), '[]')::text as open
          from invoices i
          cross join lateral (
            select coalesce(sum(n.amount), 0)::int8 as credited,
                   case when ${raw(isNet('t'))} then ${raw(taxIn('i'))} - coalesce(sum(${raw(taxIn('n'))}), 0)
                     else 0 end as rest_tax
            from invoices n
            where n.account_id = t.account_id and n.payout_id = t.payout_id and n.affiliate_id = t.affiliate_id
              and n.currency = t.currency and n.corrects_id = i.id) c
          where i.account_id = t.account_id and i.payout_id = t.payout_id and i.affiliate_id = t.affiliate_id
            and i.currency = t.currency and i.kind = 'invoice') b
        left join lateral (
          select id from invoice_tax_ids k
          where k.account_id = x.account_id and k.affiliate_id = x.affiliate_id and k.tax_id_type = x.tax_id_type
            and k.number_mark = x.number_mark
          order by k.id limit 1) k on true
        where t.account_id = ${account} and t.payout_id = ${payout} and t.is_paid
          and (${affiliate}::int8 is null or t.affiliate_id = ${affiliate})
          and (t.affiliate_id, t.currency) > (${after.affiliate}::int8, ${after.currency})
          and ${raw(KEPT)} <> s.documented
        order by t.affiliate_id, t.currency limit ${most}`,
  );
}

/** The part of a tax profile that `openLines` returns. */
export type ProfileOfLine = Pick<TaxProfile, 'legal_name' | 'country' | 'address' | 'siren'> & {
  readonly tax_id_type: string | null;
};

/** Takes the next numbers of a series and locks it until the transaction ends. Returns the first number. */
export async function takeNumbers(
  tx: Tx,
  account: AccountId,
  series: string,
  count: number,
): Promise<bigint> {
  const { first } = await oneRow<{ first: bigint }>(
    tx,
    sql`insert into invoice_series as s (account_id, name, last) values (${account}, ${series}, ${count})
        on conflict (account_id, name) do update set last = s.last + excluded.last
        returning last - ${count} + 1 as first`,
  );
  return first;
}

/** A document to insert. */
export interface NewInvoice {
  readonly series: string;
  readonly position: bigint;
  readonly affiliate: number;
  readonly currency: string;
  readonly amount: bigint;
  readonly corrects: InvoiceId | null;
  readonly taxId: InvoiceTaxId | null;
  readonly document: StoredDocument;
}

export async function insertInvoices(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  issued: readonly NewInvoice[],
): Promise<void> {
  const list = JSON.stringify(
    issued.map(({ series, position, affiliate, currency: code, amount, corrects, taxId, document }) => ({
      series,
      position: String(position),
      affiliate,
      currency: code,
      amount: String(amount),
      corrects,
      tax_id: taxId,
      document,
    })),
  );
  await rows(
    tx,
    sql`insert into invoices (account_id, kind, series, position, payout_id, affiliate_id, currency, amount, corrects_id,
          tax_id, document)
        select ${account}, document ->> 'kind', series, position, ${payout}, affiliate, currency, amount, corrects, tax_id, document
        from jsonb_to_recordset(${list}::jsonb) as g (series text, position int8, affiliate int8, currency text, amount int8,
          corrects uuid, tax_id uuid, document jsonb)
        order by position`,
  );
}

export function readInvoice(db: Reader, account: AccountId, id: InvoiceId): Promise<Json<Invoice> | null> {
  return maybeRecord(db, record, sql`invoices i where i.account_id = ${account} and i.id = ${id}`);
}

/** A stored document. */
export interface DocumentRow {
  readonly id: InvoiceId;
  /** The number of the document. */
  readonly invoice: string;
  readonly affiliate_id: number;
  readonly currency: string;
  /** A `StoredDocument` as JSON. */
  readonly document: string;
  /** The time of issue, in milliseconds since 1970. */
  readonly at: bigint;
  readonly tax_id: KeptTaxId['id'] | null;
  readonly tax_id_type: KeptTaxId['type'] | null;
  readonly number: Buffer | null;
  /** The number of the payout. */
  readonly payout: bigint;
  /** Electronic addresses as they are now; null = none. */
  readonly seller_address: string | null;
  readonly buyer_address: string | null;
}

/** Columns of `DocumentRow`, over `invoices i`. */
const documents = sql`select i.id, i.document ->> 'number' as invoice, i.affiliate_id::float8 as affiliate_id, i.currency,
    i.document::text as document, (extract(epoch from i.created_at) * 1000)::int8 as at,
    k.id as tax_id, k.tax_id_type, k.number, p.number as payout, x.electronic_address as seller_address,
    a.tax_profile ->> 'electronic_address' as buyer_address
  from invoices i join accounts a on a.id = i.account_id
  join payouts p on p.account_id = i.account_id and p.id = i.payout_id
  left join affiliate_tax_profiles x on x.account_id = i.account_id and x.affiliate_id = i.affiliate_id
  left join invoice_tax_ids k on k.account_id = i.account_id and k.id = i.tax_id`;

/** The stored document, or null. */
export const readDocument = (db: Reader, account: AccountId, id: InvoiceId): Promise<DocumentRow | null> =>
  maybeRow(db, sql`${documents} where i.account_id = ${account} and i.id = ${id}`);

/** Documents of a payout by affiliate, currency and time of issue, after a given one (null = from the first), up to a limit. */
export function readDocuments(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  after: DocumentRow | null,
  most: number,
): Promise<DocumentRow[]> {
  const rest =
    after === null
      ? sql`true`
      : sql`(i.affiliate_id, i.currency, i.id) > (${after.affiliate_id}::int8, ${after.currency}, ${after.id}::uuid)`;
  return rows(
    db,
    sql`${documents} where i.account_id = ${account} and i.payout_id = ${payout} and ${rest}
        order by i.affiliate_id, i.currency, i.id limit ${most}`,
  );
}

export const invoiceList: ListDefinition = {
  id: 'i.id',
  defaultSort: '-id',
  sort: { id: 'i.id', amount: 'i.amount' },
  filters: {
    number: exactly("i.document ->> 'number'"),
    payout_id: opaqueId('po', 'i.payout_id'),
    affiliate_id: numberId((id) => sql`i.affiliate_id = ${id}`),
    currency: currency('i.currency'),
    kind: oneOf(['invoice', 'credit_note'], (kind) => sql`i.kind = ${kind}`),
  },
};

/** A page of the documents of an account. */
export function listInvoices(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Invoice>> {
  return listPage(db, {
    list,
    name: 'invoices',
    table: 'invoices',
    alias: 'i',
    where: sql`i.account_id = ${account}`,
    record,
  });
}
