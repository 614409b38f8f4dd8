import type { Invoice, IssuedInvoices } from '../../client/client.ts';
import { factLines } from '../terminal/facts.ts';
import { amounts, count } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

const KINDS = { invoice: 'invoice', credit_note: 'credit note' } as const;

/** A page of invoices, one line each. The total of a credit note is the amount it takes back. */
export function invoiceTable(invoices: readonly Invoice[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'NUMBER' },
      { heading: 'KIND' },
      { heading: 'ISSUED' },
      { heading: 'AFFILIATE', right: true },
      { heading: 'TOTAL', right: true },
      { heading: 'NAME' },
    ],
    invoices.map((each) => [
      each.number,
      KINDS[each.kind],
      each.issued_on,
      String(each.affiliate_id),
      amounts([each]),
      printable(each.seller.name),
    ]),
    paint.faint,
  );
}

/** One invoice as text. */
export function describeInvoice(invoice: Invoice, { paint }: Terminal): string {
  const { currency, seller, buyer } = invoice;
  const sum = (amount: number) => amounts([{ amount, currency }]);
  const taxId = seller.tax_id;
  return (
    `${paint.strong(invoice.number)}  ${KINDS[invoice.kind]} over ${sum(invoice.amount)}\n` +
    factLines([
      ['Id', invoice.id],
      ['Issued', invoice.issued_on],
      ['Paid', invoice.supplied_on],
      ['Affiliate', `${invoice.affiliate_id}, ${printable(seller.name)}`],
      ['Tax id', taxId && (taxId.is_lost ? 'lost with the secret key' : `…${taxId.ending} (${taxId.type})`)],
      ['SIREN', seller.siren],
      ['Customer', printable(buyer.name)],
      ['Net', sum(invoice.net_amount)],
      ['Tax', `${sum(invoice.tax_amount)}  ${taxOf(invoice)}`],
      ['Tax in the country', nationalTax(invoice)],
      ['Rounding', invoice.rounding_amount === 0 ? null : sum(invoice.rounding_amount)],
      ['Why no tax', invoice.exemption && printable(invoice.exemption)],
      ['Wording', invoice.wording.length === 0 ? null : invoice.wording.join('; ')],
      ['Channel', invoice.channel && CHANNELS[invoice.channel]],
      ['Corrects', invoice.corrects_id],
      ['Payout', invoice.payout_id],
      ['Reference', invoice.payment_reference && printable(invoice.payment_reference)],
      ['Created', `${exactTime(invoice.created_at)} (UTC)`],
    ])
  );
}

function nationalTax({ currency, national_tax: national }: Invoice): string | null {
  if (national === null) return null;
  const rate = `1 ${currency.toUpperCase()} = ${national.rate} ${national.currency.toUpperCase()}`;
  return `${amounts([national])}  (${rate}, ${printable(national.source)}, ${national.quoted_on})`;
}

const taxOf = ({ tax_category: category, tax_rate: rate }: Invoice) =>
  category === 'S' ? `${rate / 100} %` : `category ${category}`;

const CHANNELS = {
  peppol: 'send it through Peppol (payhook invoices ubl): in BE a PDF is not an invoice between businesses',
  approved_platform: 'send it through an approved platform: in FR a PDF is not an invoice between businesses',
  ksef: 'send it through KSeF: in PL a PDF is not an invoice between businesses',
} as const;

const REASONS = {
  no_agreement: 'had not agreed to self-billing by the day of the payment',
  agreement_expired:
    'had an agreement that ended before the payment: payhook affiliates tax set … --self-billing-until',
  no_rate: 'needs an exchange rate',
  no_rule: 'matches no tax rule of the account: payhook account change --invoicing',
  tax_not_paid: 'has net commissions, and was not paid the tax that its rule now requires',
  no_tax_id: 'lacks the tax id that its tax rule requires: payhook affiliates tax set',
} as const;

/** The server lists at most this many. */
const MOST_SKIPPED = 1000;

/** The result of issuing invoices as text. */
export function describeIssued({ issued, skipped }: IssuedInvoices): string {
  const more = skipped.length === MOST_SKIPPED ? 'There may be more lines without an invoice.\n' : '';
  const lines = skipped.map(
    ({ affiliate_id, currency, reason, national_currency: national }) =>
      `  affiliate ${affiliate_id}, ${currency.toUpperCase()}: ${REASONS[reason]}${national ? `: --rate ${currency}/${national}=…` : ''}\n`,
  );
  const none = lines.length === 0 ? '' : `Without an invoice:\n${lines.join('')}`;
  return `${count(issued, 'invoice')} issued.\n${none}${more}`;
}
