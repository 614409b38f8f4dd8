import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { file, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { toJson } from '../../kernel/json.ts';
import { PAPER_TYPES, paperReply } from '../../papers/reply.ts';
import { MAKE_PAPER, PAPER_FORMATS } from '../../papers/tasks.ts';
import { attachmentOf, facturX, isExpressible } from './factur-x.ts';
import { issueInvoices } from './issue.ts';
import { invoicePaper } from './paper.ts';
import { issueInput } from './rates.ts';
import { invoice, issued } from './record.ts';
import { checkDelivery, getDocument, getInvoice } from './service.ts';
import { invoiceList, listInvoices } from './store.ts';
import { ubl } from './ubl.ts';

export const issue = writeRoute({
  operation: 'issueInvoices',
  method: 'POST',
  takesLong: true,
  path: '/v2/affiliates/payouts/{payout_id}/invoices',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Issue the invoices of a payout',
  description:
    'For each paid line of an affiliate who agreed to self-billing, issues an invoice for the payment, including tax by the rules ' +
    'of `invoicing`, and a credit note for returns since. Repeating the request issues only what is missing. A ' +
    'return of an invoiced line is credited when it is booked. Where VAT must be stated in the currency of the supplier’s ' +
    'country (members of the EU, GB) and the payment is in another, the line is skipped unless `rates` has the rate.',
  body: issueInput,
  bodyOptional: true,
  returns: { 200: issued },
  errors: ['resource_missing', 'current_is_read_only', 'payout_not_paid', 'no_invoicing'],
  handle: async ({ tx, account, env: { vault }, params, body: { rates = [] } }) =>
    ok(toJson(await issueInvoices(tx, { account, vault }, params.payout_id, { rates }))),
});

export const list = readRoute({
  operation: 'listInvoices',
  path: '/v2/affiliates/invoices',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List invoices',
  description: 'Self-billing invoices and credit notes.',
  list: invoiceList,
  returns: { 200: listOf(invoice) },
  handle: async ({ snapshot, account, list: query }) =>
    page(await snapshot((db) => listInvoices(db, account, query))),
});

export const get = readRoute({
  operation: 'getInvoice',
  path: '/v2/affiliates/invoices/{invoice_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get an invoice',
  returns: { 200: invoice },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getInvoice(db, account, params.invoice_id)),
});

export const download = readRoute({
  operation: 'downloadInvoice',
  path: '/v2/affiliates/invoices/{invoice_id}/download',
  scope: 'affiliates',
  needs: 'files',
  // it contains the whole tax id
  secret: true,
  summary: 'Download an invoice',
  description:
    'Not for viewers, because it contains the whole tax id of the affiliate. `pdf` is a PDF/A-3 with the XML in it (Factur-X, ZUGFeRD 2, profile EN 16931), `xml` that XML alone, `html` a page to print, ' +
    '`ubl` an invoice of Peppol BIS Self-Billing 3, which an access point sends to the electronic addresses of today.',
  query: strict({
    format: Type.Optional(
      Type.Enum([...PAPER_FORMATS, 'xml', 'ubl'], {
        description: 'pdf (default), html, xml or ubl',
        examples: ['xml'],
      }),
    ),
  }),
  returns: { 200: 'application/pdf' },
  alsoSends: [PAPER_TYPES.html, 'application/xml'],
  sends: ['Content-Security-Policy'],
  errors: ['resource_missing', 'no_xml_invoice', 'no_electronic_address', 'tax_id_lost', 'too_much_work'],
  handle: async ({ db, account, env: { vault, threads }, params, query: { format = 'pdf' } }) => {
    const { invoice, at, delivery } = await getDocument(db, { account, vault }, params.invoice_id);
    const name = `invoice-${invoice.number}`;
    if (format !== 'xml' && format !== 'ubl') {
      const order = { paper: invoicePaper(invoice, at), format, attachment: attachmentOf(invoice) };
      return paperReply({ threads, account }, MAKE_PAPER, order, name);
    }
    if (!isExpressible(invoice)) {
      throw fail(
        'no_xml_invoice',
        `EN 16931 has no amounts with three digits, as ${invoice.currency.toUpperCase()} has them: take the PDF`,
      );
    }
    if (format === 'ubl') checkDelivery(delivery);
    const content = format === 'ubl' ? ubl(invoice, delivery) : facturX(invoice);
    return file(Readable.from([Buffer.from(content)]), {
      'content-type': 'application/xml; charset=utf-8',
      'content-disposition': `attachment; filename="${name}${format === 'ubl' ? '-ubl' : ''}.xml"`,
    });
  },
});
