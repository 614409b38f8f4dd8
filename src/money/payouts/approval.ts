import sql, { raw } from 'sql-template-tag';
import type { Principal } from '../../contract/route.ts';
import { oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId, PayoutId, UserId } from '../../kernel/ids.ts';
import { publish } from '../../outbox/queue.ts';
import { needsApproval } from '../../people/accounts/service.ts';
import { approvalStatus, approvalsGiven, requiredApprovals } from '../ledger/approval.ts';
import type { Payout } from '../ledger/payout-record.ts';
import { readSummary } from '../ledger/payouts.ts';
import { type Bar, barsOf } from './approvers.ts';
import { checkRevision, getPayout, lockPayoutToChange, type PayoutRecord } from './service.ts';
import { refuseBlocked, reviewSignals } from './signals.ts';

/** A person's decision about a payout. */
export interface Decision {
  readonly decision: 'approved' | 'rejected';
  /** The revision that the person reviewed. */
  readonly revision: number;
  readonly note: string | null;
}

/**
 * Approves or rejects a revision of an unpaid payout for a signed-in user. A rejection voids earlier approvals, and an
 * approval voids a rejection. Repeating the same decision changes nothing. Throws `approval_not_needed`,
 * `approver_is_creator`, `approver_changed_payout`, `approver_let_in`, `payout_is_paid`, `payout_changed`,
 * `signals_unreviewed`, and as `lockPayoutToChange`.
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
    throw fail('payout_is_paid', 'the payout is already paid and cannot be approved or rejected');
  checkRevision(payout, [String(revision)]);
  if (!(await needsApproval(tx, account)))
    throw fail(
      'approval_not_needed',
      'payouts of this account need no approval: see the account setting `approval`',
    );
  if (decision === 'approved') {
    refuseBarred(await barsOf(tx, account, payout.id, user));
    await refuseBlocked(tx, account, payout.id, null);
    // whoever approves has seen them
    await reviewSignals(tx, { account, user }, payout.id, { note: null });
  }
  const write = decision === 'approved' ? writeApproval : writeRejection;
  if (await write(tx, { account, payout: payout.id, user, revision, note })) {
    const { status } = await readStatus(tx, account, payout.id);
    // the first of two approvals publishes nothing: the payout still waits
    if (status === decision) {
      const data = await readSummary(tx, account, payout.id);
      await publish(tx, { account, type: `payout.${decision}`, data, before: payout.json });
    }
  }
  return getPayout(tx, account, id);
}

function refuseBarred(bars: readonly Bar[]): void {
  const [first] = bars;
  if (first === undefined) return;
  const why = bars.map(({ rule }) => rule.you).join(', and ');
  throw fail(first.rule.reason, `somebody else must approve this payout: you ${why}`);
}

interface Status {
  readonly status: 'not_needed' | 'waiting' | 'approved' | 'rejected';
  readonly revision: number;
  readonly required: number;
  readonly given: number;
}

/** The approval status. The caller has locked the payout or reads a snapshot. */
function readStatus(db: Reader, account: AccountId, payout: PayoutId): Promise<Status> {
  return oneRow(
    db,
    sql`select ${raw(approvalStatus)} as status, p.revision, ${raw(requiredApprovals)} as required,
               json_array_length(${raw(approvalsGiven)}) as given
        from payouts p where p.account_id = ${account} and p.id = ${payout}`,
  );
}

/** Throws `approval_missing` unless the payout may be paid. The caller has locked it or reads a snapshot. */
export async function refuseUnapproved(db: Reader, account: AccountId, payout: PayoutId): Promise<void> {
  const { status, revision, required, given } = await readStatus(db, account, payout);
  if (status === 'waiting') {
    throw fail(
      'approval_missing',
      `the payout waits for ${required > 1 ? 'two people' : 'somebody'} who did not create or change it to approve its ` +
        `revision ${revision} in the dashboard${given > 0 ? `: one of two has` : ''}`,
    );
  }
  if (status === 'rejected') {
    throw fail(
      'approval_missing',
      `revision ${revision} of the payout was rejected: change or delete the payout, or have it approved after all`,
    );
  }
}

/** A decision to store. */
interface Written {
  readonly account: AccountId;
  readonly payout: PayoutId;
  readonly user: UserId;
  readonly revision: number;
  readonly note: string | null;
}

/** Returns false if this person already approved the revision with the same note. */
async function writeApproval(tx: Tx, { account, payout, user, revision, note }: Written): Promise<boolean> {
  const written = await rows(
    tx,
    sql`with given as (
          insert into payout_approvals as v (account_id, payout_id, revision, user_id, note)
          values (${account}, ${payout}, ${revision}, ${user}, ${note})
          on conflict (account_id, payout_id, revision, user_id)
            do update set note = excluded.note, approved_at = excluded.approved_at
            where v.note is distinct from excluded.note
          returning 1)
        update payouts set updated_at = clock_time(),
          decision = null, decided_revision = null, decided_by = null, decided_at = null, decision_note = null
        where account_id = ${account} and id = ${payout} and exists (select from given) returning 1`,
  );
  return written.length > 0;
}

/** Returns false if this person already rejected the revision with the same note. */
async function writeRejection(tx: Tx, { account, payout, user, revision, note }: Written): Promise<boolean> {
  const written = await rows(
    tx,
    sql`with voided as (
          delete from payout_approvals
          where account_id = ${account} and payout_id = ${payout} and revision = ${revision})
        update payouts set decision = 'rejected', decided_revision = ${revision}, decided_by = ${user},
          decided_at = now_ms(), decision_note = ${note}, updated_at = clock_time()
        where account_id = ${account} and id = ${payout}
          and (decision, decided_revision, decided_by, decision_note)
            is distinct from ('rejected', ${revision}::int, ${user}::uuid, ${note})
        returning 1`,
  );
  return written.length > 0;
}
