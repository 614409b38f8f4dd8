import sql, { raw } from 'sql-template-tag';
import type { Principal } from '../../contract/route.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId, PayoutId, UserId } from '../../kernel/ids.ts';
import { publish } from '../../outbox/queue.ts';
import { needsApproval } from '../../people/accounts/service.ts';
import { approvalStatus } from '../ledger/approval.ts';
import type { Payout } from '../ledger/payout-record.ts';
import { readSummary } from '../ledger/payouts.ts';
import { checkRevision, getPayout, lockPayoutToChange, type PayoutRecord } from './service.ts';

/** What a person decides about a payout. */
export interface Decision {
  readonly decision: 'approved' | 'rejected';
  /** The revision that was looked at. */
  readonly revision: number;
  readonly note: string | null;
}

/**
 * Approves or rejects a revision of an unpaid payout, for a user who is signed in; a later decision about the same revision replaces it. The same
 * decision again changes nothing. Throws `approval_not_needed`, `approver_is_creator`,
 * `payout_is_paid`, `payout_changed`, and as `lockPayoutToChange`.
 */
export async function decidePayout(
  tx: Tx,
  { account, user }: Principal,
  id: string,
  { decision, revision, note }: Decision,
): Promise<PayoutRecord<Payout>> {
  if (user === undefined) throw new Error('only a signed-in user can decide');
  const payout = await lockPayoutToChange(tx, account, id);
  if (payout.status === 'paid')
    throw fail('payout_is_paid', 'the payout is paid, so there is nothing to decide');
  checkRevision(payout, [String(revision)]);
  if (!(await needsApproval(tx, account)))
    throw fail(
      'approval_not_needed',
      'payouts of this account need no approval: see the setting approval of the account',
    );
  if (decision === 'approved' && (await isCreator(tx, account, payout.id, user))) {
    throw fail(
      'approver_is_creator',
      'you created this payout, yourself or by a key or an application: somebody else must approve it',
    );
  }
  if (await writeDecision(tx, account, payout.id, { decision, revision, note, user })) {
    const data = await readSummary(tx, account, payout.id);
    await publish(tx, { account, type: `payout.${decision}`, data });
  }
  return getPayout(tx, account, id);
}

/** Throws `approval_missing` unless the payout may be paid. The caller has locked it, or reads a snapshot. */
export async function refuseUnapproved(db: Reader, account: AccountId, payout: PayoutId): Promise<void> {
  const { status, revision } = await oneRow<{ status: string; revision: number }>(
    db,
    sql`select ${raw(approvalStatus)} as status, p.revision from payouts p
        where p.account_id = ${account} and p.id = ${payout}`,
  );
  if (status === 'waiting') {
    throw fail(
      'approval_missing',
      `the payout waits for somebody who did not create it to approve its revision ${revision} in the dashboard`,
    );
  }
  if (status === 'rejected') {
    throw fail(
      'approval_missing',
      `revision ${revision} of the payout was rejected: change or delete the payout, or have it approved after all`,
    );
  }
}

/** The person behind a request: who signed in, on whose grant an application acts, or who made the key. */
export async function personBehind(tx: Tx, { kind, id, account, user }: Principal): Promise<UserId | null> {
  if (user !== undefined) return user;
  if (kind !== 'key') return null;
  // a key may have been made with another key
  const maker = await maybeRow<{ id: UserId }>(
    tx,
    sql`with recursive made as (
          select ${id}::text as by
          union
          select k.created_by from made join api_keys k on k.account_id = ${account} and public_id('key', k.id) = made.by)
        select u.id from made join users u on u.account_id = ${account} and public_id('usr', u.id) = made.by`,
  );
  return maker?.id ?? null;
}

/** Whether the payout was created by a user, or by another user of the same person, who was removed in between. */
async function isCreator(tx: Tx, account: AccountId, payout: PayoutId, user: UserId): Promise<boolean> {
  const found = await rows(
    tx,
    sql`select from payouts p
        join users maker on maker.account_id = p.account_id and maker.id = p.created_by_user
        join users me on me.account_id = p.account_id and me.person_id = maker.person_id
        where p.account_id = ${account} and p.id = ${payout} and me.id = ${user}`,
  );
  return found.length > 0;
}

/** False when the same person has decided the same before. */
async function writeDecision(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  { decision, revision, note, user }: Decision & { readonly user: UserId },
): Promise<boolean> {
  const written = await rows(
    tx,
    sql`update payouts set decision = ${decision}, decided_revision = ${revision}, decided_by = ${user},
          decided_at = now_ms(), decision_note = ${note}, updated_at = clock_timestamp()
        where account_id = ${account} and id = ${payout}
          and (decision, decided_revision, decided_by, decision_note)
            is distinct from (${decision}, ${revision}::int, ${user}::uuid, ${note})
        returning 1`,
  );
  return written.length > 0;
}
