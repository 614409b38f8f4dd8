import { ok, readRoute } from '../../contract/route.ts';
import { csvReply } from '../files/csv-export.ts';
import { choices } from './choices.ts';
import { FORMATS } from './formats.ts';
import { paymentFiles } from './overview.ts';
import { downloadPaymentFile, getPaymentFiles } from './service.ts';

const formats = FORMATS.map(({ name, about, choices: taken }) => {
  const takes = taken.length > 0 ? `takes ${taken.join(', ')}` : 'takes no parameters';
  return `\`${name}\`: ${about} (${takes})`;
}).join('; ');

export const overview = readRoute({
  operation: 'getPaymentFiles',
  path: '/v2/affiliates/payouts/{payout_id}/payment-files',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get the payment files that a payout needs',
  description:
    'One file for each payment method and currency: whom it pays, whom it cannot pay and why, the sums, and who ' +
    'downloaded it at which revision. A download is recorded before its first byte is sent. `in_several_files` lists affiliates whom two different files pay.',
  returns: { 200: paymentFiles },
  errors: ['resource_missing', 'no_current_payout'],
  handle: async ({ snapshot, account, params }) =>
    ok(await snapshot((db) => getPaymentFiles(db, account, params.payout_id))),
});

export const download = readRoute({
  operation: 'downloadPaymentFile',
  path: '/v2/affiliates/payouts/{payout_id}/payment-files/{format}',
  scope: 'affiliates',
  needs: 'files',
  secret: true,
  records: true,
  sends: [
    'ETag',
    'Payhook-Skipped-Affiliates',
    'Payhook-Affiliates-Above-Limit',
    'Payhook-File-Set',
    'Payhook-Replaces-File-Set',
    'Payhook-Affiliates-In-Other-Files',
  ],
  inPath: {
    format: {
      description: 'what the file is for',
      schema: { type: 'string', enum: FORMATS.map(({ name }) => name) },
    },
  },
  summary: 'Download a payment file',
  description:
    'One row per affiliate and currency: all lines of an unpaid payout, and the paid lines of a paid one. The formats: ' +
    `${formats}. The header Payhook-Skipped-Affiliates counts affiliates left out of the chosen currency, ` +
    "Payhook-Affiliates-Above-Limit those in it whose amount PayPal may refuse: see `paypal_payment_limit`. A bank's file is paid from the `debtor` " +
    'or `originator` of the account. A file keeps its bytes and its id as long as ' +
    'nothing it depends on changes: rows, debtor or originator, rows per file, day. Otherwise it belongs to another file set, which names the one ' +
    'it replaces. Payhook-Affiliates-In-Other-Files warns of affiliates whom an earlier, different file also pays. Viewers may not download ' +
    'payment files, because they contain whole account numbers.',
  query: choices,
  returns: { 200: 'text/csv' },
  alsoSends: [...new Set(FORMATS.map(({ contentType }) => contentType.split(';')[0] ?? ''))].slice(1),
  errors: [
    'resource_missing',
    'no_current_payout',
    'approval_missing',
    'several_currencies',
    'currency_not_in_payout',
    'no_payer',
    'affiliates_not_in_file',
    'empty_payment_file',
    'several_parts',
    'no_such_part',
    'amount_too_large',
    'too_many_files_today',
  ],
  handle: ({ snapshot, record, principal, env: { vault }, params, query }) =>
    csvReply(snapshot, (db) =>
      downloadPaymentFile(db, { principal, record, vault }, params.payout_id, params.format, query),
    ),
});
