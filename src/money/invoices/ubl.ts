import { escapeXml } from '../../kernel/html.ts';
import { formatDecimal } from '../../kernel/money.ts';
import {
  countryIn,
  type Delivery,
  type InvoiceDocument,
  type InvoiceParty,
  notesOf,
  percentOf,
  schemeOf,
  TYPE_CODES,
} from './document.ts';

const ROOTS = { invoice: 'Invoice', credit_note: 'CreditNote' } as const;
const CUSTOMIZATION = 'urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:selfbilling:3.0';
const PROFILE = 'urn:fdc:peppol.eu:2017:poacc:selfbilling:01:1.0';
/** UNTDID 4461: the means of payment are not stated. */
const ANY_MEANS = '1';

const text = (name: string, value: string | null | undefined, attributes = '') =>
  value === null || value === undefined || value === ''
    ? ''
    : `<cbc:${name}${attributes}>${escapeXml(value)}</cbc:${name}>`;
const group = (name: string, ...inside: string[]) => `<cac:${name}>${inside.join('')}</cac:${name}>`;
const money = (name: string, amount: bigint, currency: string) =>
  text(name, formatDecimal(amount, currency), ` currencyID="${currency.toUpperCase()}"`);
const VAT_SCHEME = group('TaxScheme', text('ID', 'VAT'));

/**
 * The invoice as UBL 2.1 of Peppol BIS Self-Billing 3 (release of May 2026). The affiliate is the supplier, and the merchant, who
 * issues it, the customer. Both must have an electronic address.
 */
export function ubl(invoice: InvoiceDocument, delivery: Delivery): string {
  const root = ROOTS[invoice.kind];
  const { national, corrects, category, currency } = invoice;
  // outside the scope of VAT an invoice has no VAT id (BR-O-02)
  const isTaxed = category !== 'O';
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="urn:oasis:names:specification:ubl:schema:xsd:${root}-2" ` +
    'xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2" ' +
    'xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">' +
    text('CustomizationID', CUSTOMIZATION) +
    text('ProfileID', PROFILE) +
    text('ID', invoice.number) +
    text('IssueDate', invoice.issued_on) +
    text(`${root}TypeCode`, TYPE_CODES[invoice.kind]) +
    // one note at most (PEPPOL-EN16931-R002)
    text('Note', notesOf(invoice).join('. ')) +
    text('DocumentCurrencyCode', currency.toUpperCase()) +
    text('TaxCurrencyCode', national?.currency.toUpperCase()) +
    text('BuyerReference', delivery.reference) +
    (corrects === null
      ? ''
      : group(
          'BillingReference',
          group(
            'InvoiceDocumentReference',
            text('ID', corrects.number),
            text('IssueDate', corrects.issued_on),
          ),
        )) +
    group(
      'AccountingSupplierParty',
      party(invoice.seller, { isTaxed, address: delivery.seller, number: String(invoice.affiliate_id) }),
    ) +
    group(
      'AccountingCustomerParty',
      party(invoice.buyer, { isTaxed, address: delivery.buyer, number: null }),
    ) +
    group('Delivery', text('ActualDeliveryDate', invoice.supplied_on)) +
    (invoice.payment_reference === null
      ? ''
      : group(
          'PaymentMeans',
          text('PaymentMeansCode', ANY_MEANS),
          text('PaymentID', invoice.payment_reference),
        )) +
    sums(invoice) +
    line(invoice) +
    `</${root}>\n`
  );
}

interface PartyOptions {
  readonly isTaxed: boolean;
  /** `scheme:id` */
  readonly address: string | null;
  /** The number of the affiliate at the merchant: without a VAT id, another id is required (BR-CO-26). */
  readonly number: string | null;
}

function party(of: InvoiceParty, { isTaxed, address: electronic, number }: PartyOptions): string {
  const { name, address, country, vat_id, tax_number, siren } = of;
  const [scheme = '', id = ''] = electronic?.split(':') ?? [];
  return group(
    'Party',
    text('EndpointID', id, ` schemeID="${scheme}"`),
    number === null ? '' : group('PartyIdentification', text('ID', number)),
    group(
      'PostalAddress',
      text('StreetName', address.line1),
      text('AdditionalStreetName', address.line2),
      text('CityName', address.city),
      text('PostalZone', address.postal_code),
      text('CountrySubentity', address.region),
      group('Country', text('IdentificationCode', countryIn(country))),
    ),
    isTaxed && vat_id !== null ? group('PartyTaxScheme', text('CompanyID', vat_id), VAT_SCHEME) : '',
    // the buyer has no second tax number in EN 16931
    isTaxed && tax_number !== null && number !== null
      ? group('PartyTaxScheme', text('CompanyID', tax_number), group('TaxScheme', text('ID', 'TAX')))
      : '',
    group(
      'PartyLegalEntity',
      text('RegistrationName', name),
      siren ? text('CompanyID', siren, ` schemeID="${schemeOf(siren)}"`) : '',
    ),
  );
}

function sums(invoice: InvoiceDocument): string {
  const { currency, category, exemption, national } = invoice;
  const [net, tax, rounding] = [BigInt(invoice.net), BigInt(invoice.tax), BigInt(invoice.rounding)];
  const amount = (name: string, value: bigint) => money(name, value, currency);
  return (
    group(
      'TaxTotal',
      amount('TaxAmount', tax),
      group(
        'TaxSubtotal',
        amount('TaxableAmount', net),
        amount('TaxAmount', tax),
        group(
          'TaxCategory',
          text('ID', category),
          text('Percent', percentOf(invoice)),
          text('TaxExemptionReasonCode', category === 'AE' ? 'VATEX-EU-AE' : null),
          text('TaxExemptionReason', exemption),
          VAT_SCHEME,
        ),
      ),
    ) +
    (national === undefined
      ? ''
      : group('TaxTotal', money('TaxAmount', BigInt(national.amount), national.currency))) +
    group(
      'LegalMonetaryTotal',
      amount('LineExtensionAmount', net),
      amount('TaxExclusiveAmount', net),
      amount('TaxInclusiveAmount', net + tax),
      amount('PrepaidAmount', net + tax + rounding),
      rounding === 0n ? '' : amount('PayableRoundingAmount', rounding),
      amount('PayableAmount', 0n),
    )
  );
}

function line(invoice: InvoiceDocument): string {
  const { kind, currency, category, description } = invoice;
  const net = BigInt(invoice.net);
  return group(
    `${ROOTS[kind]}Line`,
    text('ID', '1'),
    text(kind === 'invoice' ? 'InvoicedQuantity' : 'CreditedQuantity', '1', ' unitCode="C62"'),
    money('LineExtensionAmount', net, currency),
    group(
      'Item',
      text('Name', description),
      group('ClassifiedTaxCategory', text('ID', category), text('Percent', percentOf(invoice)), VAT_SCHEME),
    ),
    group('Price', money('PriceAmount', net, currency)),
  );
}
