import type { Static } from 'typebox';
import { CURRENT_VERSION } from '../db/api-versions.ts';
import type { affiliate } from '../money/affiliates/record.ts';
import type { commission } from '../money/commissions/record.ts';
import type { importRecord } from '../money/imports/record.ts';
import type { payoutSummary } from '../money/ledger/payout-record.ts';
import type { Changes } from '../outbox/changes.ts';
import type { UpdateType } from '../outbox/event-types.ts';
import type { webhookEndpoint } from '../webhooks/endpoints/record.ts';

// One story: Ada Lovelace promotes a shop, sells a plan in August, is paid in September, and a sale is returned. The ids
// encode the times of creation, as real ones do.

export const ACCOUNT = 'acc_019b8d9969007414b322309db5c06d09';
const KEY = 'key_019b8d9b6a5072c7b0e12b7a0646f922';
const APPROVER = 'usr_019b8a3f21c4715d8a09b6e2f4d7c311';
const SALE = 'com_019fc7f12ee0759abce94fa35206f2f5';
const PAYOUT = 'po_01a0a42fef407561b21a668af448c25a';
const ENDPOINT = 'we_019b8da290c07dc7bc811b9561739d9b';
const OTHER_ENDPOINT = 'we_019b930e0e107527b688e1489509bbfe';

export const affiliateCreated: Static<typeof affiliate> = {
  id: 1815,
  object: 'affiliate',
  external_id: 'partner-7',
  email: 'ada@example.com',
  name_first: 'Ada',
  name_last: 'Lovelace',
  slug: 'ada',
  paypal_email: null,
  payout_method: null,
  commissions_are: null,
  legal_type: null,
  country: null,
  is_ready_for_payout: true,
  status: 'active',
  minimum_payout: { usd: 5000 },
  language: null,
  is_notified: true,
  metadata: { crm: 'lead-311' },
  created_at: '2026-01-12T09:00:00.000Z',
  updated_at: '2026-01-12T09:00:00.000Z',
};

export const affiliateUpdated: Static<typeof affiliate> = {
  ...affiliateCreated,
  paypal_email: 'ada.lovelace@example.com',
  payout_method: 'paypal',
  updated_at: '2026-01-13T15:20:31.045Z',
};

/** A fifth of an order of 500.00 USD, on hold for thirty days. */
export const commissionCreated: Static<typeof commission> = {
  id: SALE,
  object: 'affiliate_commission',
  external_id: 'order-1042-ada',
  affiliate_id: affiliateCreated.id,
  program_id: 3,
  type: 'sale',
  status: 'pending',
  is_paid: false,
  amount: 10000,
  original_amount: 10000,
  refunded_amount: 0,
  currency: 'usd',
  sale_amount: 50000,
  rate_bps: 2000,
  order_id: 'order-1042',
  order_line_id: 'order-1042-1',
  customer_email: 'charles@example.com',
  product_id: 'engine-yearly',
  product_name: 'Analytical Engine, one year',
  description: null,
  occurred_at: '2026-08-03T14:04:58.000Z',
  available_at: '2026-09-02T14:04:58.000Z',
  payout_id: null,
  paid_at: null,
  voided_at: null,
  void_reason: null,
  reverses_commission_id: null,
  metadata: { campaign: 'newsletter-august' },
  created_at: '2026-08-03T14:05:00.000Z',
  updated_at: '2026-08-03T14:05:00.000Z',
};

/** A quarter of the order was refunded. */
export const commissionUpdated: Static<typeof commission> = {
  ...commissionCreated,
  amount: 7500,
  refunded_amount: 2500,
  updated_at: '2026-08-20T11:30:05.780Z',
};

export const commissionVoided: Static<typeof commission> = {
  ...commissionCreated,
  id: 'com_019fcc261b247ce1b14e21c98c4b57b2',
  external_id: 'order-1051-ada',
  status: 'voided',
  amount: 4000,
  original_amount: 4000,
  sale_amount: 20000,
  order_id: 'order-1051',
  order_line_id: 'order-1051-1',
  customer_email: 'ada@example.com',
  occurred_at: '2026-08-04T09:41:15.000Z',
  available_at: '2026-09-03T09:41:15.000Z',
  voided_at: '2026-08-06T13:02:44.910Z',
  void_reason: 'her own order',
  metadata: null,
  created_at: '2026-08-04T09:41:17.220Z',
  updated_at: '2026-08-06T13:02:44.910Z',
};

/** The rest of the order was returned after it was paid: the next payout settles it. */
export const commissionClawedBack: Static<typeof commission> = {
  ...commissionCreated,
  id: 'com_01a0c2f63d5c706dbeac5b8d4a128e25',
  external_id: `payhook:clawback:refund-88:com_01a0c2f63d5c706dbeac5b8d4a128e25`,
  type: 'clawback',
  status: 'unpaid',
  amount: -7500,
  original_amount: -7500,
  sale_amount: null,
  rate_bps: null,
  description: 'sent back within the guarantee',
  occurred_at: '2026-09-21T07:55:12.604Z',
  available_at: '2026-09-21T07:55:12.604Z',
  reverses_commission_id: SALE,
  metadata: null,
  created_at: '2026-09-21T07:55:12.604Z',
  updated_at: '2026-09-21T07:55:12.604Z',
};

/** A file of four lines, one of them already known. */
export const commissionsImported = {
  object: 'commission_import' as const,
  source: 'file' as const,
  created: 3,
  unchanged: 1,
  failed: 0,
  totals: [{ currency: 'usd', amount: 12000, count: 4 }],
};
export const IMPORTED_AT = '2026-08-10T06:15:22.337Z';

export const UNDONE_AT = '2026-08-10T06:31:40.118Z';
export const importUndone: Static<typeof importRecord> = {
  id: 'imp_019fea4fbde1756c8e4a3b0d1f6272a0',
  object: 'import',
  kind: 'commissions',
  status: 'undone',
  file: {
    name: 'commissions.csv',
    bytes: 412,
    digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  dialect: {
    encoding: 'utf-8',
    separator: 'comma',
    line_end: 'crlf',
    decimal: 'point',
    dates: 'iso',
    last_line: 'ended',
  },
  mapping: {
    'Affiliate Email': 'affiliate_email',
    Commission: 'amount',
    'Order ID': 'order_id',
    Notes: 'ignore',
  },
  guessed: [],
  lines: 4,
  created: 3,
  updated: 0,
  unchanged: 1,
  skipped: 0,
  failed: 0,
  payouts: 0,
  totals: commissionsImported.totals,
  created_by: 'usr_019b8a3f21c4715d8a09b6e2f4d7c311',
  created_at: IMPORTED_AT,
  undone_by: 'usr_019b8a3f21c4715d8a09b6e2f4d7c311',
  undone_at: UNDONE_AT,
  undo_ended_at: null,
};

/** What Ada sold in August: the sale above, less its refund, and one of 40.00 USD. */
export const payoutCreated: Static<typeof payoutSummary> = {
  id: PAYOUT,
  object: 'affiliate_payout',
  number: 42,
  status: 'unpaid',
  filters: { currency: { eq: 'usd' } },
  search: null,
  as_of: '2026-09-15T08:30:00.000Z',
  currency: 'usd',
  amount: 11500,
  totals: [
    {
      currency: 'usd',
      amount: 11500,
      commission_count: 2,
      affiliate_count: 1,
      paid_amount: 0,
      paid_count: 0,
      carried_amount: 0,
      released_amount: 0,
      released_count: 0,
    },
  ],
  affiliate_count: 1,
  commission_count: 2,
  metadata: { run: 'september' },
  revision: 1,
  created_by: KEY,
  schedule_id: null,
  created_at: '2026-09-15T08:30:00.000Z',
  updated_at: '2026-09-15T08:30:00.000Z',
  paid_at: null,
  paid_by: null,
  approval: { status: 'waiting', decided_by: null, decided_at: null, note: null },
};

/** The second commission was reduced by a refund of 10.00 USD. */
export const payoutUpdated: Static<typeof payoutSummary> = {
  ...payoutCreated,
  amount: 10500,
  totals: payoutCreated.totals.map((total) => ({ ...total, amount: 10500 })),
  revision: 2,
  updated_at: '2026-09-15T16:47:09.128Z',
};

export const payoutApproved: Static<typeof payoutSummary> = {
  ...payoutUpdated,
  updated_at: '2026-09-16T08:20:15.072Z',
  approval: { status: 'approved', decided_by: APPROVER, decided_at: '2026-09-16T08:20:15.072Z', note: null },
};

export const payoutRejected: Static<typeof payoutSummary> = {
  ...payoutUpdated,
  updated_at: '2026-09-15T17:02:41.800Z',
  approval: {
    status: 'rejected',
    decided_by: APPROVER,
    decided_at: '2026-09-15T17:02:41.800Z',
    note: 'The refund of order 1042 is missing.',
  },
};

export const payoutPaid: Static<typeof payoutSummary> = {
  ...payoutApproved,
  status: 'paid',
  totals: payoutUpdated.totals.map((total) => ({ ...total, paid_amount: 10500, paid_count: 2 })),
  revision: 3,
  updated_at: '2026-09-16T10:05:33.500Z',
  paid_at: '2026-09-16T10:05:33.500Z',
  paid_by: KEY,
};

/** The attempt of the previous day, created without the filter. */
export const payoutDeleted: Static<typeof payoutSummary> = {
  ...payoutCreated,
  id: 'po_01a0a0b129ec7916b58526d76bbcf9ce',
  number: 41,
  filters: null,
  as_of: '2026-09-14T16:12:40.300Z',
  created_at: '2026-09-14T16:12:40.300Z',
  updated_at: '2026-09-14T16:12:40.300Z',
};
export const DELETED_AT = '2026-09-14T16:20:03.871Z';

export const endpointDisabled: Static<typeof webhookEndpoint> = {
  id: OTHER_ENDPOINT,
  object: 'webhook_endpoint',
  delivery: 'push',
  url: 'https://books.example.com/hooks/payhook',
  description: 'bookkeeping',
  owner: null,
  external_id: 'shop-7-orders',
  contact_email: null,
  contact_status: 'confirmed',
  event_types: ['payout.paid', 'commission.*'],
  filter: null,
  status: 'disabled',
  disabled_reason: 'failing',
  disabled_at: '2026-09-26T04:11:52.093Z',
  ordered: false,
  batch: null,
  rate_limit: 20,
  max_age: null,
  headers: ['X-Tenant'],
  payload: 'full',
  api_version: CURRENT_VERSION,
  signing: 'standard',
  custom_signing: null,
  second_signature: null,
  proxy: null,
  client_certificate: null,
  client_credentials: null,
  metadata: { team: 'finance' },
  paused_until: null,
  next_attempt_at: null,
  first_failure_at: '2026-09-21T04:10:07.655Z',
  last_claimed_at: null,
  last_success_at: '2026-09-20T22:36:18.240Z',
  created_at: '2026-01-06T11:25:30.512Z',
  updated_at: '2026-09-26T04:11:52.093Z',
};

export const endpointTest = {
  object: 'webhook_test' as const,
  webhook_endpoint_id: ENDPOINT,
  message: 'This is a test event from Payhook.',
};
export const TESTED_AT = '2026-01-05T10:12:26.019Z';

const { amount, totals, revision } = payoutCreated;
const decided = { added: {}, updated: { approval: payoutUpdated.approval }, removed: {} };
/** How the records of updates differ from what they were before. */
export const CHANGES: Readonly<Record<UpdateType, Changes>> = {
  'payout.updated': { added: {}, updated: { amount, totals, revision }, removed: {} },
  'payout.approved': decided,
  'payout.rejected': decided,
  'payout.paid': {
    added: { paid_at: payoutPaid.paid_at, paid_by: payoutPaid.paid_by },
    updated: { status: 'unpaid', totals: payoutApproved.totals, revision: payoutApproved.revision },
    removed: {},
  },
  'commission.updated': { added: {}, updated: { amount: 10000, refunded_amount: 0 }, removed: {} },
  'commission.voided': {
    added: { voided_at: commissionVoided.voided_at, void_reason: commissionVoided.void_reason },
    updated: { status: 'pending' },
    removed: {},
  },
  'affiliate.updated': {
    added: { paypal_email: affiliateUpdated.paypal_email, payout_method: affiliateUpdated.payout_method },
    updated: {},
    removed: {},
  },
  'import.undone': {
    added: { undone_by: importUndone.undone_by, undone_at: importUndone.undone_at },
    updated: { status: 'completed' },
    removed: {},
  },
  'webhook_endpoint.disabled': {
    added: { disabled_reason: endpointDisabled.disabled_reason, disabled_at: endpointDisabled.disabled_at },
    updated: { status: 'enabled' },
    removed: {},
  },
};
