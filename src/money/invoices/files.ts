import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { PAPER_TYPES } from '../../papers/reply.ts';
import { MAKE_PAPER, type PaperFormat, type PaperOrder } from '../../papers/tasks.ts';
import type { Threads } from '../../threads/pool.ts';
import type { Delivery, InvoiceDocument } from './document.ts';
import { attachmentOf, facturX, isExpressible } from './factur-x.ts';
import { invoicePaper } from './paper.ts';
import { ubl } from './ubl.ts';

export const INVOICE_FORMATS = ['pdf', 'xml', 'ubl'] as const;
export type InvoiceFormat = (typeof INVOICE_FORMATS)[number];

/** An invoice with the affiliate's tax id in clear. */
export interface OpenedDocument {
  readonly invoice: InvoiceDocument;
  /** The time of issue, in milliseconds since 1970. */
  readonly at: number;
  readonly delivery: Delivery;
}

/** An invoice as a file of its own. */
export interface InvoiceFile {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The invoice as a file. Throws `no_xml_invoice`, `no_electronic_address`, `too_much_work`. */
export async function invoiceFile(
  { threads, account }: { readonly threads: Threads; readonly account: AccountId },
  format: InvoiceFormat,
  opened: OpenedDocument,
): Promise<InvoiceFile> {
  const name = `invoice-${opened.invoice.number}`;
  if (format === 'pdf') {
    const made = await threads.run(MAKE_PAPER, paperOrder(opened, format), { account, inTurn: true });
    return { name: `${name}.pdf`, type: PAPER_TYPES.pdf, content: Buffer.from(made) };
  }
  const content = Buffer.from(xml(format, opened));
  return {
    name: format === 'xml' ? `${name}.xml` : `${name}-ubl.xml`,
    type: 'application/xml; charset=utf-8',
    content,
  };
}

/** What a thread needs to draw the invoice. */
export const paperOrder = ({ invoice, at }: OpenedDocument, format: PaperFormat): PaperOrder => ({
  paper: invoicePaper(invoice, at),
  format,
  attachment: attachmentOf(invoice),
});

function xml(format: 'xml' | 'ubl', { invoice, delivery }: OpenedDocument): string {
  if (!isExpressible(invoice)) {
    throw fail(
      'no_xml_invoice',
      `EN 16931 has no amounts with three digits, as ${invoice.currency.toUpperCase()} has them: take the PDF`,
    );
  }
  if (format === 'xml') return facturX(invoice);
  checkDelivery(delivery);
  return ubl(invoice, delivery);
}

/** Throws `no_electronic_address`, naming the field to set. */
function checkDelivery({ seller, buyer }: Delivery): void {
  if (seller === null)
    throw fail('no_electronic_address', 'set electronic_address of the tax profile of the affiliate first');
  if (buyer === null)
    throw fail('no_electronic_address', 'set electronic_address of tax_profile of the account first');
}
