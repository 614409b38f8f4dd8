import type { ChoreName } from './chores.ts';

/*
 * Every table, with the reason for its size. A new migration adds its tables here. test/operations/tables.test.ts compares
 * this list with a database, `payhook doctor` warns by it, and docs/sizes.md is made from it.
 */

/** How much there is of something: for one merchant, and for a platform with 2,000 accounts. */
interface Amount {
  readonly merchant: number;
  readonly platform: number;
  /** More of it comes every year; otherwise it is there once. */
  readonly isYearly?: true;
  /** The table that has a row for each. */
  readonly table?: string;
}

/** The units that tables grow with. A merchant has a million commissions and ten million events a year, a platform ten times as many. */
export const UNITS = {
  installation: { merchant: 1, platform: 1 },
  account: { merchant: 1, platform: 2000, table: 'accounts' },
  person: { merchant: 20, platform: 4000, table: 'people' },
  application: { merchant: 10, platform: 100, table: 'oauth_applications' },
  endpoint: { merchant: 5, platform: 4000, table: 'webhook_endpoints' },
  program: { merchant: 10, platform: 4000, table: 'affiliate_programs' },
  affiliate: { merchant: 10_000, platform: 200_000, table: 'affiliates' },
  commission: { merchant: 1e6, platform: 1e7, isYearly: true, table: 'commissions' },
  'sum of a quarter hour, hour or day': { merchant: 400_000, platform: 2e7, isYearly: true },
  'month of an affiliate': { merchant: 120_000, platform: 2.4e6, isYearly: true },
  'month of a country': { merchant: 1000, platform: 500_000, isYearly: true },
  refund: { merchant: 50_000, platform: 500_000, isYearly: true, table: 'refunds' },
  payout: { merchant: 52, platform: 24_000, isYearly: true, table: 'payouts' },
  'payout line': { merchant: 100_000, platform: 1e6, isYearly: true, table: 'payout_line_totals' },
  'affiliate left out of a payout': { merchant: 200_000, platform: 2e6, isYearly: true },
  invoice: { merchant: 100_000, platform: 1e6, isYearly: true },
  'returned payment': { merchant: 500, platform: 5000, isYearly: true },
  event: { merchant: 1e7, platform: 1e8, isYearly: true, table: 'events' },
  delivery: { merchant: 1e7, platform: 1e8, isYearly: true },
  attempt: { merchant: 1e7, platform: 1e8, isYearly: true },
  'sum of a minute or hour of the log': { merchant: 1.1e6, platform: 1.6e8, isYearly: true },
  'request with an Idempotency-Key': { merchant: 1.2e6, platform: 1.2e7, isYearly: true },
  'audited request': { merchant: 200_000, platform: 2e6, isYearly: true },
  'sign-in': { merchant: 5000, platform: 500_000, isYearly: true },
  grant: { merchant: 100, platform: 10_000, isYearly: true },
  token: { merchant: 50_000, platform: 1e6, isYearly: true },
  portal: { merchant: 5000, platform: 500_000, isYearly: true },
  // also one for each payment to an affiliate, where the account sends them
  notice: { merchant: 100_000, platform: 1e6, isYearly: true },
  import: { merchant: 100, platform: 10_000, isYearly: true, table: 'imports' },
  'imported affiliate': { merchant: 10_000, platform: 100_000, isYearly: true },
  'payment file': { merchant: 100, platform: 24_000, isYearly: true },
  'file of a bank': { merchant: 100, platform: 24_000, isYearly: true },
  'erased affiliate': { merchant: 100, platform: 2000, isYearly: true },
  recovery: { merchant: 100, platform: 4000, isYearly: true },
  'pending work': { merchant: 0, platform: 0 },
} as const satisfies Readonly<Record<string, Amount>>;

export type Unit = keyof typeof UNITS;

/** The retention settings, with their default in days; null = forever. */
export const KEEPING_SETTINGS = {
  WEBHOOK_RETENTION_DAYS: 90,
  AUDIT_RETENTION_DAYS: null,
  IMPORT_UNDO_DAYS: 365,
} as const;

/** How long the rows of a table are kept. */
type Keeping =
  /** The reason why they stay. */
  | { readonly stays: string }
  /** When something other than a chore removes them: a statement that no longer needs them, or a person. */
  | { readonly removed: string }
  /** A chore removes them this long after their use. */
  | { readonly chore: ChoreName; readonly after: string; readonly days: number }
  | { readonly chore: ChoreName; readonly setting: keyof typeof KEEPING_SETTINGS };

/** What determines the size of a table. */
export type TableFacts = Keeping & {
  readonly unit: Unit;
  /** Per unit, with indexes: measured by `npm run bench -- --only sizes`, or estimated from the columns if that has no rows. */
  readonly bytes: number;
  /** Its rows hold data from callers, of any size, so they have no expected size. */
  readonly hasPayloads?: true;
  /** It has weekly partitions. */
  readonly isPartitioned?: true;
};

const BOOKS = 'books are never deleted';
const OF_PAYOUT = 'part of the record of a payout; deleted with an unpaid one';
const SETTINGS = 'settings that people change or delete';
const SUMS = 'sums of the books';
const NAMED = 'books and the audit log refer to them';
const FOLDED = { after: 'after they are added up, within seconds', days: 0 } as const;
const UNDO = { chore: 'undo of imports', setting: 'IMPORT_UNDO_DAYS' } as const;
const LOG = { chore: 'webhook log', setting: 'WEBHOOK_RETENTION_DAYS' } as const;

export const TABLES: Readonly<Record<string, TableFacts>> = {
  // the installation
  schema_migrations: { unit: 'installation', bytes: 24_000, stays: 'the history of the schema' },
  server_settings: { unit: 'installation', bytes: 64_000, stays: 'one row for each setting' },
  workers: { unit: 'installation', bytes: 48_000, removed: 'when the process ends or has died' },
  accounts: { unit: 'account', bytes: 600, stays: NAMED },
  cells: { unit: 'installation', bytes: 48_000, stays: 'the number of a removed cell is not used again' },
  account_cells: { unit: 'account', bytes: 120, removed: 'with the account' },
  person_cells: { unit: 'person', bytes: 120, stays: 'sign-in finds the cells of an address' },

  // people and their credentials
  people: { unit: 'person', bytes: 400, stays: NAMED },
  users: { unit: 'person', bytes: 500, stays: NAMED },
  api_keys: { unit: 'account', bytes: 2000, stays: 'the audit log refers to them, revoked ones too' },
  audit_log: {
    unit: 'audited request',
    bytes: 290,
    chore: 'audit log',
    setting: 'AUDIT_RETENTION_DAYS',
  },
  idempotency_keys: {
    unit: 'request with an Idempotency-Key',
    bytes: 1200,
    hasPayloads: true,
    chore: 'idempotency keys',
    after: '24 hours',
    days: 1,
  },
  sessions: { unit: 'sign-in', bytes: 500, chore: 'sessions', after: '30 days after they ended', days: 60 },
  sign_in_failures: { unit: 'sign-in', bytes: 250, chore: 'sign-in attempts', after: 'an hour', days: 1 },
  user_links: { unit: 'person', bytes: 400, chore: 'links', after: '30 days after they ended', days: 37 },
  oauth_applications: { unit: 'application', bytes: 700, stays: NAMED },
  oauth_grants: {
    unit: 'grant',
    bytes: 500,
    chore: 'unused grants',
    after: 'a day after their code was not used, or a year after their last use',
    days: 395,
  },
  oauth_codes: { unit: 'grant', bytes: 400, chore: 'codes', after: 'a day after they ended', days: 1 },
  oauth_tokens: { unit: 'token', bytes: 350, chore: 'tokens', after: 'a day after they ended', days: 31 },
  portal_links: {
    unit: 'portal',
    bytes: 700,
    chore: 'portal links',
    after: '30 days after they ended',
    days: 31,
  },
  alert_channels: { unit: 'account', bytes: 700, removed: 'by people' },
  notices: { unit: 'notice', bytes: 700, chore: 'old alerts', after: '7 days after they were sent', days: 7 },
  erasures: {
    unit: 'erased affiliate',
    bytes: 300,
    stays: 'the proof of an erasure, without the erased data',
  },

  // affiliates
  affiliate_programs: { unit: 'program', bytes: 400, stays: BOOKS },
  affiliates: { unit: 'affiliate', bytes: 550, stays: BOOKS },
  program_affiliates: { unit: 'affiliate', bytes: 250, stays: SUMS },
  payee_verifications: {
    unit: 'affiliate',
    bytes: 300,
    stays: 'evidence of what the bank of a payee answered',
  },
  destination_corrections: {
    unit: 'affiliate',
    bytes: 30,
    stays: 'evidence of what banks corrected, and who decided it',
  },
  affiliate_destinations: { unit: 'affiliate', bytes: 700, stays: 'paid lines refer to them' },
  affiliate_tax_profiles: { unit: 'affiliate', bytes: 900, stays: 'signed declarations of affiliates' },
  affiliate_balances: { unit: 'affiliate', bytes: 650, stays: SUMS },
  affiliate_balance_marks: { unit: 'account', bytes: 200, stays: SUMS },
  affiliate_balance_sums: { unit: 'account', bytes: 1500, stays: SUMS },
  affiliate_balance_notes: { unit: 'pending work', bytes: 200, chore: 'affiliate balances', ...FOLDED },
  affiliate_balance_stale: { unit: 'pending work', bytes: 150, chore: 'affiliate balances', ...FOLDED },

  // commissions
  commissions: { unit: 'commission', bytes: 1050, stays: BOOKS },
  commission_arrivals: {
    unit: 'account',
    bytes: 300,
    chore: 'commission arrivals',
    after: 'after they are added up, within an hour',
    days: 1,
  },
  commission_series: { unit: 'sum of a quarter hour, hour or day', bytes: 280, stays: SUMS },
  commission_series_notes: { unit: 'pending work', bytes: 200, chore: 'commission series', ...FOLDED },
  affiliate_series: { unit: 'month of an affiliate', bytes: 220, stays: SUMS },
  affiliate_series_notes: { unit: 'pending work', bytes: 200, chore: 'commission series', ...FOLDED },
  affiliate_series_countries: { unit: 'month of a country', bytes: 300, stays: SUMS },
  affiliate_series_moves: { unit: 'pending work', bytes: 150, chore: 'commission series', ...FOLDED },
  affiliate_series_due: { unit: 'pending work', bytes: 150, chore: 'commission series', ...FOLDED },
  refunds: { unit: 'refund', bytes: 500, stays: BOOKS },
  refund_items: { unit: 'refund', bytes: 400, stays: BOOKS },
  refund_lines: { unit: 'refund', bytes: 400, stays: BOOKS },

  // payouts
  payout_books: { unit: 'account', bytes: 300, stays: 'one row for each account' },
  payout_schedules: { unit: 'account', bytes: 700, removed: 'by people' },
  payouts: { unit: 'payout', bytes: 2500, stays: BOOKS },
  payout_lines: { unit: 'payout line', bytes: 500, stays: BOOKS },
  payout_line_totals: { unit: 'payout line', bytes: 430, stays: BOOKS },
  payout_exclusions: { unit: 'affiliate left out of a payout', bytes: 300, stays: OF_PAYOUT },
  payout_changes: { unit: 'payout', bytes: 500, stays: OF_PAYOUT },
  payout_signals: { unit: 'payout line', bytes: 60, stays: OF_PAYOUT },
  payout_approvals: { unit: 'payout', bytes: 400, stays: OF_PAYOUT },
  payout_returns: { unit: 'returned payment', bytes: 600, stays: BOOKS },
  payment_file_sets: { unit: 'payment file', bytes: 1000, stays: OF_PAYOUT },
  payment_files: { unit: 'payment file', bytes: 500, stays: OF_PAYOUT },
  payment_file_payees: { unit: 'payout line', bytes: 250, stays: OF_PAYOUT },
  payment_file_downloads: { unit: 'payout line', bytes: 60, stays: OF_PAYOUT },
  payout_results: {
    unit: 'file of a bank',
    bytes: 700,
    stays: 'part of the record of a payout: the uploaded files, without their content',
  },
  nacha_days: { unit: 'payment file', bytes: 300, chore: 'NACHA days', after: '31 days', days: 31 },
  invoice_series: { unit: 'account', bytes: 300, stays: BOOKS },
  invoice_tax_ids: { unit: 'affiliate', bytes: 400, stays: BOOKS },
  invoices: { unit: 'invoice', bytes: 3000, stays: BOOKS },

  // imports
  imports: { unit: 'import', bytes: 2500, stays: 'the origin of affiliates and commissions' },
  import_mappings: { unit: 'account', bytes: 3000, stays: SETTINGS },
  import_affiliates: { unit: 'imported affiliate', bytes: 700, ...UNDO },
  import_destinations: { unit: 'imported affiliate', bytes: 350, ...UNDO },
  import_tax_profiles: { unit: 'imported affiliate', bytes: 900, ...UNDO },

  // webhooks
  webhook_endpoints: { unit: 'endpoint', bytes: 1500, ...LOG },
  endpoint_state: { unit: 'endpoint', bytes: 500, ...LOG },
  webhook_recoveries: { unit: 'recovery', bytes: 500, ...LOG },
  events: { unit: 'event', bytes: 1220, hasPayloads: true, isPartitioned: true, ...LOG },
  event_keys: { unit: 'event', bytes: 220, ...LOG },
  event_types: { unit: 'account', bytes: 20_000, stays: SETTINGS },
  event_owners: { unit: 'event', bytes: 220, isPartitioned: true, ...LOG },
  event_tags: { unit: 'event', bytes: 320, isPartitioned: true, ...LOG },
  deliveries: { unit: 'delivery', bytes: 630, isPartitioned: true, ...LOG },
  attempts: { unit: 'attempt', bytes: 600, hasPayloads: true, isPartitioned: true, ...LOG },
  dropped_weeks: {
    unit: 'pending work',
    bytes: 100,
    chore: 'webhook log',
    after: 'after a week is dropped',
    days: 0,
  },
  queue: { unit: 'pending work', bytes: 400, removed: 'when a delivery has ended' },
  queue_keys: { unit: 'pending work', bytes: 300, removed: 'when no delivery of the key waits' },
  delivery_counts: { unit: 'sum of a minute or hour of the log', bytes: 220, ...LOG },
  attempt_counts: { unit: 'sum of a minute or hour of the log', bytes: 260, ...LOG },
  delivery_count_deltas: { unit: 'pending work', bytes: 200, chore: 'delivery counts', ...FOLDED },
};
