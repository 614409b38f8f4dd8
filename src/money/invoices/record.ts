import { type Static, Type } from 'typebox';
import { address } from '../../contract/addresses.ts';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict, taxCategory, timestamp } from '../../contract/schemas.ts';
import { CHANNELS } from '../../terms/e-invoicing.ts';
import { NO_TAX_REASONS } from '../ledger/tax-on-top.ts';

const named = {
  name: Type.String(),
  address,
  country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
  siren: nullable(Type.String({ description: 'SIREN or SIRET of a French business' })),
};
const buyer = strict(
  {
    ...named,
    vat_id: nullable(Type.String()),
    tax_number: nullable(Type.String({ description: 'its end, such as …6789; the file has all of it' })),
  },
  { title: 'InvoiceBuyer' },
);
const seller = strict(
  {
    ...named,
    tax_id: nullable(
      strict(
        {
          type: Type.Enum(['vat', 'other'], { title: 'InvoiceTaxIdType' }),
          ending: Type.String({
            description: 'the last four characters, or three of a short one; the file has all of it',
          }),
          is_lost: Type.Boolean({ description: 'it was lost with the secret key, so no file can be made' }),
        },
        { title: 'InvoiceTaxId' },
      ),
    ),
  },
  { title: 'InvoiceSeller' },
);
const kind = Type.Enum(['invoice', 'credit_note'], { title: 'InvoiceKind' });

/** A self-billing invoice, or a credit note for a return. */
export const invoice = strict(
  {
    id: Type.String({ examples: ['inv_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('invoice'),
    kind,
    number: Type.String({ description: 'without gaps within its series', examples: ['SB-2026-000001'] }),
    payout_id: Type.String(),
    affiliate_id: Type.Integer(),
    currency: currencyCode,
    amount: { ...amount, description: 'the amount paid or returned: net, tax and rounding' },
    net_amount: amount,
    tax_amount: amount,
    rounding_amount: { ...amount, description: '0 or 1: the unit that no net amount plus its tax reaches' },
    tax_category: taxCategory,
    tax_rate: Type.Integer({ description: 'hundredths of a percent: 1900 = 19 %' }),
    exemption: nullable(Type.String({ description: 'why no tax is due' })),
    wording: Type.Array(Type.String(), {
      description: 'what the country of the seller requires in addition to "Self-billing"',
    }),
    corrects_id: nullable(Type.String({ description: 'the invoice that a credit note corrects' })),
    issued_on: Type.String({ description: 'YYYY-MM-DD in the time zone of the account' }),
    supplied_on: Type.String({ description: 'the day of the payment' }),
    channel: nullable(
      Type.Enum([...new Set(Object.values(CHANNELS).map(({ channel }) => channel))], {
        title: 'InvoiceChannel',
        description:
          'both sides are registered for VAT in one country where a PDF is not an invoice between businesses: what takes it there',
      }),
    ),
    seller,
    buyer,
    description: Type.String(),
    payment_reference: nullable(Type.String()),
    national_tax: {
      ...nullable(
        strict(
          {
            currency: currencyCode,
            amount,
            rate: Type.String({
              description: 'the value of one unit of `currency` of the invoice',
              examples: ['0.8675'],
            }),
            quoted_on: Type.String({ description: 'YYYY-MM-DD' }),
            source: Type.String({ description: 'who published the rate', examples: ['ECB'] }),
          },
          { title: 'InvoiceNationalTax' },
        ),
      ),
      description: "the tax in the currency of the seller's country",
    },
    created_at: timestamp,
  },
  { title: 'Invoice' },
);
export type Invoice = Static<typeof invoice>;

const fromDocument = (name: string) => `i.document -> '${name}'`;
const sum = (name: string) => `(i.document ->> '${name}')::int8`;

/** Its columns, over `invoices i`. */
export const record = columnsOf(invoice, {
  id: "public_id('inv', i.id)",
  object: "'invoice'",
  kind: 'i.kind',
  number: fromDocument('number'),
  payout_id: "public_id('po', i.payout_id)",
  affiliate_id: 'i.affiliate_id',
  currency: 'i.currency',
  amount: 'i.amount',
  net_amount: sum('net'),
  tax_amount: sum('tax'),
  rounding_amount: sum('rounding'),
  tax_category: fromDocument('category'),
  tax_rate: fromDocument('rate'),
  exemption: fromDocument('exemption'),
  wording: `coalesce(i.document -> 'wording', '[]')`,
  corrects_id: "case when i.corrects_id is not null then public_id('inv', i.corrects_id) end",
  issued_on: fromDocument('issued_on'),
  supplied_on: fromDocument('supplied_on'),
  channel: `(select case i.document -> 'seller' ->> 'country' ${Object.entries(CHANNELS)
    .map(
      ([country, { channel, since }]) =>
        `when '${country}' then case when i.document ->> 'issued_on' >= '${since}' then '${channel}' end`,
    )
    .join(' ')} end
    where i.document -> 'seller' ->> 'country' = i.document -> 'buyer' ->> 'country'
      and i.document -> 'buyer' ->> 'vat_id' is not null
      and exists (select from invoice_tax_ids k where k.account_id = i.account_id and k.id = i.tax_id and k.tax_id_type = 'vat'))`,
  // older documents have no SIREN
  seller: `'{"siren": null}' || (i.document -> 'seller') || jsonb_build_object('tax_id', (
    select jsonb_build_object('type', k.tax_id_type, 'ending', k.ending, 'is_lost', k.number is null)
    from invoice_tax_ids k where k.account_id = i.account_id and k.id = i.tax_id))`,
  buyer: `'{"siren": null}' || (i.document -> 'buyer') || jsonb_build_object('tax_number', (
    select '…' || right(n, least(4, length(n) / 2)) from (select i.document -> 'buyer' ->> 'tax_number' as n) b))`,
  description: fromDocument('description'),
  payment_reference: fromDocument('payment_reference'),
  national_tax: `(i.document -> 'national') || jsonb_build_object('amount', (i.document -> 'national' ->> 'amount')::int8)`,
  created_at: 'iso(i.created_at)',
});

/** Why a paid line got no invoice. */
export const SKIP_REASONS = {
  no_agreement: 'the affiliate had not agreed to self-billing when it was paid',
  agreement_expired: 'the agreement had ended before the payment',
  no_rule: NO_TAX_REASONS.no_rule,
  no_rate: 'the law wants the tax in `national_currency`: issue again with a rate',
  no_tax_id: NO_TAX_REASONS.no_tax_id,
  tax_not_paid: 'the commissions are net, and their line was made without the tax that its rule now wants',
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

/** The result of issuing. */
export const issued = strict(
  {
    object: Type.Literal('issued_invoices'),
    issued: Type.Integer({ description: 'the number issued by this request' }),
    skipped: Type.Array(
      strict({
        affiliate_id: Type.Integer(),
        currency: currencyCode,
        reason: Type.Enum(Object.keys(SKIP_REASONS) as SkipReason[], {
          title: 'InvoiceSkipReason',
          description: Object.entries(SKIP_REASONS)
            .map(([name, meaning]) => `${name}: ${meaning}`)
            .join('; '),
        }),
        national_currency: Type.Optional({ ...currencyCode, description: 'only with `no_rate`' }),
      }),
      { description: 'paid lines without an invoice, the first 1,000' },
    ),
    has_more: Type.Boolean({ description: 'there are more lines than one request handles: repeat it' }),
  },
  { title: 'IssuedInvoices' },
);
export type Issued = Static<typeof issued>;
