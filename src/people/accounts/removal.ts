import sql, { raw } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { LOCKS, takeLock } from '../../db/locks.ts';
import type { AccountId } from '../../kernel/ids.ts';

/** Tables with an account column, in an order in which nothing refers to rows already deleted. */
const RECORDS = [
  'notices',
  'alert_channels',
  'portal_links',
  'event_types',
  'oauth_grants',
  'oauth_applications',
  'sessions',
  'user_links',
  'api_keys',
  'idempotency_keys',
  'audit_log',
  'payout_returns',
  'invoices',
  'invoice_tax_ids',
  'invoice_series',
  'refund_items',
  'refund_lines',
  'refunds',
  'payout_exclusions',
  'payout_line_totals',
  'payout_lines',
  'payout_approvals',
  'payout_signals',
  'payout_changes',
  'payee_verifications',
  'destination_corrections',
  'affiliate_destinations',
  'affiliate_tax_profiles',
  'commissions',
  'payouts',
  'nacha_days',
  'payout_books',
  'payout_schedules',
  'commission_arrivals',
  'import_affiliates',
  'import_destinations',
  'import_tax_profiles',
  'import_mappings',
  'imports',
  'affiliate_balance_notes',
  'affiliate_balance_stale',
  'affiliate_balance_sums',
  'affiliate_balances',
  'affiliate_balance_marks',
  'program_affiliates',
  'affiliate_series_notes',
  'affiliate_series_due',
  'affiliate_series',
  'affiliate_series_countries',
  'affiliate_series_moves',
  'commission_series_notes',
  'commission_series',
  'erasures',
  'affiliates',
  'affiliate_programs',
  'webhook_recoveries',
] as const;

/**
 * The tables of events, in order. The queue goes first, because a worker writes only what it still holds a lease
 * on; sums go after the rows that add to them.
 */
const LOG = [
  'queue',
  'queue_keys',
  'attempts',
  'deliveries',
  'events',
  'event_keys',
  'event_owners',
  'event_tags',
  'delivery_count_deltas',
  'delivery_counts',
  'attempt_counts',
  'endpoint_state',
  'webhook_endpoints',
] as const;

/**
 * Deletes an account (UUID) that the demo filled, with every row it has in any table, including its part of the
 * audit log. Returns null, or why nothing was done: no demo filled it, it is the last one, or others use its
 * applications.
 */
export async function removeAccount(tx: Tx, account: AccountId): Promise<string | null> {
  await takeLock(tx, LOCKS.removal);
  // From here on nothing can refer to the account: its requests wait for the lock and are refused then.
  await rows(tx, sql`select from accounts where id = ${account} for update`);
  const refusal = await whyKept(tx, account);
  if (refusal !== null) return refusal;
  await rows(tx, raw(`set local payhook.removed_account = '${account}'`));
  for (const table of ['oauth_codes', 'oauth_tokens']) {
    await rows(
      tx,
      sql`delete from ${raw(table)} t using oauth_grants g where g.id = t.grant_id and g.account_id = ${account}`,
    );
  }
  await removeRows(tx, RECORDS, account);
  await removePeople(tx, account);
  // Events do not refer to their account. The lock waits for requests that are publishing; later ones find no
  // account.
  await rows(tx, sql`lock table only events in share row exclusive mode`);
  await removeRows(tx, LOG, account);
  await rows(tx, sql`delete from accounts where id = ${account}`);
  return null;
}

async function whyKept(db: Reader, account: AccountId): Promise<string | null> {
  const found = await maybeRow<{ is_demo: boolean }>(
    db,
    sql`select is_demo from accounts where id = ${account}`,
  );
  if (found === null) return 'it no longer exists';
  if (!found.is_demo) {
    return (
      'only an account that payhook demo filled can be deleted, because real books have to be kept. To close this one, ' +
      'revoke its API keys (payhook keys revoke), remove its users (payhook users remove) and disable its webhook ' +
      'endpoints (payhook webhooks disable)'
    );
  }
  const { others, connected } = await oneRow<{ others: boolean; connected: boolean }>(
    db,
    sql`select exists (select from accounts where id <> ${account}) as others,
               exists (select from oauth_grants g join oauth_applications a on a.id = g.application_id
                       where a.account_id = ${account} and g.account_id <> ${account}) as connected`,
  );
  if (!others && db.cell === 0)
    return 'it is the last account: make another one first, with payhook accounts create';
  return connected
    ? 'other accounts granted access to one of its applications, and their records refer to it'
    : null;
}

async function removeRows(tx: Tx, tables: readonly string[], account: AccountId): Promise<void> {
  for (const table of tables) {
    await rows(tx, sql`delete from ${raw(table)} where account_id = ${account}`);
  }
}

/** Deletes the users of the account, and the people who have no other account. */
async function removePeople(tx: Tx, account: AccountId): Promise<void> {
  const gone = await rows<{ person_id: string }>(
    tx,
    sql`delete from users where account_id = ${account} returning person_id`,
  );
  await rows(
    tx,
    sql`delete from people p where p.id = any(${gone.map(({ person_id }) => person_id)}::uuid[])
        and not exists (select from users u where u.person_id = p.id)`,
  );
}
