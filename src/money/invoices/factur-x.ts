import { escapeXml } from '../../kernel/html.ts';
import { currencyDigits, formatDecimal } from '../../kernel/money.ts';
import type { Attachment } from '../../papers/pdf.ts';
import {
  countryIn,
  type InvoiceDocument,
  type InvoiceParty,
  notesOf,
  percentOf,
  schemeOf,
  TYPE_CODES,
} from './document.ts';

/** The name of the XML file in the PDF (Factur-X 1.0, 6.2). */
const XML_NAME = 'factur-x.xml';

const NAMESPACES =
  'xmlns:rsm="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" ' +
  'xmlns:ram="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100" ' +
  'xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100" ' +
  'xmlns:udt="urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"';

const text = (name: string, value: string | null, attributes = '') =>
  value === null || value === '' ? '' : `<ram:${name}${attributes}>${escapeXml(value)}</ram:${name}>`;
const group = (name: string, ...inside: string[]) => `<ram:${name}>${inside.join('')}</ram:${name}>`;
const date = (name: string, day: string) =>
  group(name, `<udt:DateTimeString format="102">${day.replaceAll('-', '')}</udt:DateTimeString>`);

/**
 * The invoice as XML of the Cross Industry Invoice (UN/CEFACT D22B) in the profile EN 16931 of Factur-X 1.0 and ZUGFeRD
 * 2. The affiliate is the seller, and the merchant is the buyer, who issues it.
 */
export function facturX(invoice: InvoiceDocument): string {
  const { kind, number, issued_on } = invoice;
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice ${NAMESPACES}>` +
    '<rsm:ExchangedDocumentContext>' +
    group('GuidelineSpecifiedDocumentContextParameter', text('ID', 'urn:cen.eu:en16931:2017')) +
    '</rsm:ExchangedDocumentContext><rsm:ExchangedDocument>' +
    text('ID', number) +
    text('TypeCode', TYPE_CODES[kind]) +
    date('IssueDateTime', issued_on) +
    notesOf(invoice)
      .map((note) => group('IncludedNote', text('Content', note)))
      .join('') +
    '</rsm:ExchangedDocument><rsm:SupplyChainTradeTransaction>' +
    line(invoice) +
    group(
      'ApplicableHeaderTradeAgreement',
      party('SellerTradeParty', invoice.seller, invoice),
      party('BuyerTradeParty', invoice.buyer, invoice),
    ) +
    group(
      'ApplicableHeaderTradeDelivery',
      group('ActualDeliverySupplyChainEvent', date('OccurrenceDateTime', invoice.supplied_on)),
    ) +
    settlement(invoice) +
    '</rsm:SupplyChainTradeTransaction></rsm:CrossIndustryInvoice>\n'
  );
}

const decimalOf = (invoice: InvoiceDocument) => (amount: bigint) => formatDecimal(amount, invoice.currency);

const rateOf = (invoice: InvoiceDocument) => text('RateApplicablePercent', percentOf(invoice));

function line(invoice: InvoiceDocument): string {
  const net = decimalOf(invoice)(BigInt(invoice.net));
  return group(
    'IncludedSupplyChainTradeLineItem',
    group('AssociatedDocumentLineDocument', text('LineID', '1')),
    group('SpecifiedTradeProduct', text('Name', invoice.description)),
    group('SpecifiedLineTradeAgreement', group('NetPriceProductTradePrice', text('ChargeAmount', net))),
    group('SpecifiedLineTradeDelivery', text('BilledQuantity', '1', ' unitCode="C62"')),
    group(
      'SpecifiedLineTradeSettlement',
      group(
        'ApplicableTradeTax',
        text('TypeCode', 'VAT'),
        text('CategoryCode', invoice.category),
        rateOf(invoice),
      ),
      group('SpecifiedTradeSettlementLineMonetarySummation', text('LineTotalAmount', net)),
    ),
  );
}

function party(
  name: string,
  { name: called, address, country, vat_id, tax_number, siren }: InvoiceParty,
  { category, affiliate_id }: InvoiceDocument,
): string {
  // outside the scope of VAT an invoice has no VAT id (BR-O-02)
  const vat = category === 'O' ? null : vat_id;
  const number = name === 'SellerTradeParty' && category !== 'O' ? tax_number : null;
  const registered = (id: string | null, scheme: string) =>
    id === null ? '' : group('SpecifiedTaxRegistration', text('ID', id, ` schemeID="${scheme}"`));
  return group(
    name,
    // the seller's number at the buyer: without a VAT id, another id is required (BR-CO-26)
    name === 'SellerTradeParty' ? text('ID', String(affiliate_id)) : '',
    text('Name', called),
    siren ? group('SpecifiedLegalOrganization', text('ID', siren, ` schemeID="${schemeOf(siren)}"`)) : '',
    group(
      'PostalTradeAddress',
      text('PostcodeCode', address.postal_code),
      text('LineOne', address.line1),
      text('LineTwo', address.line2),
      text('CityName', address.city),
      text('CountryID', countryIn(country)),
      text('CountrySubDivisionName', address.region),
    ),
    registered(vat, 'VA'),
    registered(number, 'FC'),
  );
}

function settlement(invoice: InvoiceDocument): string {
  const decimal = decimalOf(invoice);
  const [net, tax, rounding] = [BigInt(invoice.net), BigInt(invoice.tax), BigInt(invoice.rounding)];
  const currency = invoice.currency.toUpperCase();
  const { corrects, exemption, category, payment_reference, national } = invoice;
  return group(
    'ApplicableHeaderTradeSettlement',
    text('PaymentReference', payment_reference),
    text('TaxCurrencyCode', national?.currency.toUpperCase() ?? null),
    text('InvoiceCurrencyCode', currency),
    group(
      'ApplicableTradeTax',
      text('CalculatedAmount', decimal(tax)),
      text('TypeCode', 'VAT'),
      text('ExemptionReason', exemption),
      text('BasisAmount', decimal(net)),
      text('CategoryCode', category),
      category === 'AE' ? text('ExemptionReasonCode', 'VATEX-EU-AE') : '',
      rateOf(invoice),
    ),
    group(
      'SpecifiedTradeSettlementHeaderMonetarySummation',
      text('LineTotalAmount', decimal(net)),
      text('TaxBasisTotalAmount', decimal(net)),
      text('TaxTotalAmount', decimal(tax), ` currencyID="${currency}"`),
      national === undefined
        ? ''
        : text(
            'TaxTotalAmount',
            formatDecimal(BigInt(national.amount), national.currency),
            ` currencyID="${national.currency.toUpperCase()}"`,
          ),
      rounding === 0n ? '' : text('RoundingAmount', decimal(rounding)),
      text('GrandTotalAmount', decimal(net + tax)),
      text('TotalPrepaidAmount', decimal(net + tax + rounding)),
      text('DuePayableAmount', decimal(0n)),
    ),
    corrects === null
      ? ''
      : group(
          'InvoiceReferencedDocument',
          text('IssuerAssignedID', corrects.number),
          group(
            'FormattedIssueDateTime',
            `<qdt:DateTimeString format="102">${corrects.issued_on.replaceAll('-', '')}</qdt:DateTimeString>`,
          ),
        ),
  );
}

// The schema that PDF/A requires for custom metadata, and the metadata (Factur-X 1.0, 6.4)
const PROPERTIES = ['DocumentFileName', 'DocumentType', 'Version', 'ConformanceLevel'];
const METADATA = `
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
  xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
    <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
    <pdfaSchema:prefix>fx</pdfaSchema:prefix>
    <pdfaSchema:property><rdf:Seq>${PROPERTIES.map(
      (name) => `<rdf:li rdf:parseType="Resource"><pdfaProperty:name>${name}</pdfaProperty:name>
      <pdfaProperty:valueType>Text</pdfaProperty:valueType><pdfaProperty:category>external</pdfaProperty:category>
      <pdfaProperty:description>${name} of the XML invoice</pdfaProperty:description></rdf:li>`,
    ).join('')}</rdf:Seq></pdfaSchema:property>
  </rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
  <fx:DocumentType>INVOICE</fx:DocumentType><fx:DocumentFileName>${XML_NAME}</fx:DocumentFileName>
  <fx:Version>1.0</fx:Version><fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
</rdf:Description>`;

/** Whether the profile can express the invoice: its amounts have at most two decimals (BR-DEC-01 and similar rules). */
export const isExpressible = ({ currency }: InvoiceDocument) => currencyDigits(currency) <= 2;

/** The XML as the attachment that Factur-X requires, or undefined if the profile cannot express the invoice. */
export function attachmentOf(invoice: InvoiceDocument): Attachment | undefined {
  if (!isExpressible(invoice)) return undefined;
  return {
    name: XML_NAME,
    type: 'text/xml',
    description: 'Factur-X invoice',
    content: Buffer.from(facturX(invoice)),
    metadata: METADATA,
  };
}
