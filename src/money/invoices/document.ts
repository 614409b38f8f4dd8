import type { Address } from '../../contract/addresses.ts';
import { formatDecimal } from '../../kernel/money.ts';
import type { TaxCategory } from '../../terms/taxes.ts';
import type { NationalTax } from './rates.ts';

/** The seller or buyer, with the data that the law requires. */
export interface InvoiceParty {
  readonly name: string;
  readonly address: Address;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly vat_id: string | null;
  readonly tax_number: string | null;
  /** SIREN or SIRET; older documents have none. */
  readonly siren?: string | null;
}

/** The content of an invoice or credit note. */
export interface InvoiceDocument extends Terms {
  /** The affiliate, who earned the commissions. */
  readonly seller: InvoiceParty;
}

/** How an electronic invoice is delivered. Addresses are `scheme:id`; they are not part of the document and may change. */
export interface Delivery {
  readonly seller: string | null;
  readonly buyer: string | null;
  /** What the buyer finds the payment by (EN 16931, BT-10). */
  readonly reference: string;
}

/** The part stored at issue, which never changes. The affiliate's tax id is sealed separately. */
export interface StoredDocument extends Terms {
  readonly seller: Omit<InvoiceParty, 'vat_id' | 'tax_number'>;
}

interface Terms {
  readonly kind: 'invoice' | 'credit_note';
  readonly number: string;
  /** The invoice that a credit note corrects; null for an invoice. */
  readonly corrects: { readonly number: string; readonly issued_on: string } | null;
  /** `YYYY-MM-DD`, a day of the account. */
  readonly issued_on: string;
  /** The day of the payment, which is the day of supply. */
  readonly supplied_on: string;
  readonly affiliate_id: number;
  /** The merchant, who issues the invoice. */
  readonly buyer: InvoiceParty;
  readonly description: string;
  readonly currency: string;
  /** Minor units, not below zero. */
  readonly net: string;
  readonly tax: string;
  readonly rounding: string;
  readonly category: TaxCategory;
  /** Hundredths of a percent. */
  readonly rate: number;
  /** Why no tax is due; null if a rate applies. */
  readonly exemption: string | null;
  /** What the law of the seller's country requires in addition to `SELF_BILLING`; older documents have none. */
  readonly wording?: readonly string[];
  readonly payment_reference: string | null;
  /** The tax in the currency of the seller's country, if that differs. */
  readonly national?: NationalTax;
}

/** The wording that EU 2006/112 requires (article 226, points 10a and 11a). That of countries is in `src/terms/self-billing.ts`. */
const SELF_BILLING = 'Self-billing';
export const REVERSE_CHARGE = 'Reverse charge';

// UNTDID 1001: self-billed invoice, self-billed credit note
export const TYPE_CODES = { invoice: '389', credit_note: '261' } as const;

/** ISO 6523: SIREN or SIRET. */
export const schemeOf = (siren: string) => (siren.length === 9 ? '0002' : '0009');

/** EN 16931 uses 1A for Kosovo, because XK is not in ISO 3166-1 (BR-CL-14). */
export const countryIn = (country: string) => (country === 'XK' ? '1A' : country);

/** A rate in percent, such as 19.00; null outside the scope of VAT, where there is no rate (BR-O-05). */
export const percentOf = ({ category, rate }: Terms): string | null =>
  category === 'O' ? null : formatDecimal(BigInt(rate), 'eur');

/** The notes of a document on its kind, in order. */
export const notesOf = ({ wording = [], category }: Terms): string[] => [
  SELF_BILLING,
  ...wording,
  ...(category === 'AE' ? [REVERSE_CHARGE] : []),
];

/** `SB-2026-000001` */
export const numberOf = (series: string, position: bigint) => `${series}${String(position).padStart(6, '0')}`;
