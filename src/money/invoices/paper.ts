import { formatDecimal } from '../../kernel/money.ts';
import { type Fact, grouped, type Paper, type Party, type Row } from '../../papers/paper.ts';
import { type InvoiceDocument, type InvoiceParty, notesOf, REVERSE_CHARGE } from './document.ts';

const TITLES = { invoice: 'Self-billing invoice', credit_note: 'Self-billing credit note' } as const;

/** The invoice as a document. `at` is the time of issue in milliseconds since 1970. */
export function invoicePaper(invoice: InvoiceDocument, at: number): Paper {
  const { kind, number, corrects, currency, category } = invoice;
  const facts: Fact[] = [
    ['Number', number],
    ['Issued', invoice.issued_on],
    ['Supplied and paid', invoice.supplied_on],
    ...(invoice.payment_reference === null
      ? []
      : [['Payment reference', invoice.payment_reference] as const]),
    ...(corrects === null
      ? []
      : [['Corrects', `invoice ${corrects.number} of ${corrects.issued_on}`] as const]),
    ...nationalFacts(invoice),
  ];
  const code = currency.toUpperCase();
  return {
    title: TITLES[kind],
    name: `${TITLES[kind]} ${number}`,
    at,
    parties: [
      partyOf('Supplier', invoice.seller, category !== 'O'),
      partyOf('Customer, who issues this document', invoice.buyer, category !== 'O'),
    ],
    facts,
    tables: [
      {
        title: kind === 'invoice' ? `Supply in ${code}` : `Credit in ${code}`,
        columns: [
          { title: 'Description' },
          { title: 'VAT rate', isFigure: true },
          { title: 'Net', isFigure: true },
        ],
        rows: [{ cells: [invoice.description, rateOf(invoice), amountOf(invoice, BigInt(invoice.net))] }],
      },
      { title: 'Sums', columns: [{ title: 'Sum' }, { title: code, isFigure: true }], rows: sumRows(invoice) },
    ],
    notes: [
      ...notesOf(invoice),
      ...(invoice.exemption === null || invoice.exemption === REVERSE_CHARGE ? [] : [invoice.exemption]),
      kind === 'invoice' ? 'Paid: no payment is due.' : 'The payment was returned: no payment is due.',
    ],
  };
}

/** The VAT in the currency of the seller's country, and the rate. */
function nationalFacts({ currency, national }: InvoiceDocument): Fact[] {
  if (national === undefined) return [];
  const code = national.currency.toUpperCase();
  const amount = grouped(formatDecimal(BigInt(national.amount), national.currency));
  const rate = `1 ${currency.toUpperCase()} = ${national.rate} ${code}`;
  return [
    [`VAT in ${code}`, amount],
    ['Exchange rate', `${rate} (${national.source}, ${national.quoted_on})`],
  ];
}

const amountOf = ({ currency }: InvoiceDocument, amount: bigint) => grouped(formatDecimal(amount, currency));
const rateOf = ({ category, rate }: InvoiceDocument) =>
  category === 'S' || category === 'Z' ? `${formatDecimal(BigInt(rate), 'eur')} %` : '';

function sumRows(invoice: InvoiceDocument): Row[] {
  const [net, tax, rounding] = [BigInt(invoice.net), BigInt(invoice.tax), BigInt(invoice.rounding)];
  const row = (text: string, amount: bigint): Row => ({ cells: [text, amountOf(invoice, amount)] });
  return [
    row('Net', net),
    row(`VAT ${rateOf(invoice)}`.trim(), tax),
    ...(rounding === 0n ? [] : [row('Rounding', rounding)]),
    { ...row('Total', net + tax + rounding), isSum: true },
  ];
}

function partyOf(
  label: string,
  { name, address, country, vat_id, tax_number, siren }: InvoiceParty,
  isTaxed: boolean,
): Party {
  const place = [address.postal_code, address.city].filter(Boolean).join(' ');
  const lines = [
    ...[address.line1, address.line2, place, address.region, country],
    ...(isTaxed && vat_id !== null ? [`VAT id ${vat_id}`] : []),
    ...(isTaxed && tax_number !== null ? [`Tax number ${tax_number}`] : []),
    ...(siren ? [`${siren.length === 9 ? 'SIREN' : 'SIRET'} ${siren}`] : []),
  ];
  return { label, name, lines: lines.filter((line) => line !== null) };
}
