import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { file, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import type { Tx } from '../../db/database.ts';
import { toJson } from '../../kernel/json.ts';
import { PAPER_TYPES, paperReply } from '../../papers/reply.ts';
import { MAKE_PAPER } from '../../papers/tasks.ts';
import { note } from '../../people/audit/service.ts';
import { fileReply } from '../files/csv-export.ts';
import { archiveInvoices } from './archive.ts';
import { INVOICE_FORMATS, invoiceFile, paperOrder } from './files.ts';
import { issueInvoices } from './issue.ts';
import { issueInput } from './rates.ts';
import { invoice, issued } from './record.ts';
import { getDocument, getInvoice } from './service.ts';
import { invoiceList, listInvoices } from './store.ts';

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
      Type.Enum(['pdf', 'html', 'xml', 'ubl'], {
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
    const opened = await getDocument(db, { account, vault }, params.invoice_id);
    if (format === 'html') {
      const name = `invoice-${opened.invoice.number}`;
      return paperReply({ threads, account }, MAKE_PAPER, paperOrder(opened, format), name);
    }
    const { name, type, content } = await invoiceFile({ threads, account }, format, opened);
    return file(Readable.from(content), {
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
    });
  },
});

const downloadArchive = 'downloadInvoicesOfPayout';
export const archive = readRoute({
  operation: downloadArchive,
  path: '/v2/affiliates/payouts/{payout_id}/invoices/download',
  scope: 'affiliates',
  needs: 'files',
  secret: true,
  records: true,
  summary: 'Download the invoices of a payout',
  description:
    'A zip archive of its invoices and credit notes, each as `downloadInvoice` writes it. If some cannot be written, `skipped.csv` in it has ' +
    'their numbers, affiliates and the reasons (`invoice`, `affiliate_id`, `reason`, `message`); if none can, the request is refused for the reason of the first. ' +
    'The audit log records the download. Not for viewers.',
  query: strict({
    format: Type.Optional(
      Type.Enum(INVOICE_FORMATS, { description: 'pdf (default), xml or ubl', examples: ['ubl'] }),
    ),
  }),
  returns: { 200: 'application/zip' },
  errors: [
    'resource_missing',
    'no_current_payout',
    'no_invoices',
    'no_xml_invoice',
    'no_electronic_address',
    'tax_id_lost',
    'too_much_work',
  ],
  handle: ({ db, account, env, principal, record, requestId, params, query: { format = 'pdf' } }) => {
    const { vault, threads } = env;
    const noteDownload = (tx: Tx, target: string) =>
      note(tx, principal, { action: downloadArchive, target, requestId });
    return fileReply(
      archiveInvoices(
        { db, threads, holder: { account, vault }, record, note: noteDownload },
        params.payout_id,
        format,
      ),
    );
  },
});
