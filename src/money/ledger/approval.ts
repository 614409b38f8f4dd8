import { Type } from 'typebox';
import { rolesWith } from '../../contract/roles.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { NEEDING_TWO } from './approval-rules.ts';

/** The approval state in a payout's record. */
export const approval = strict(
  {
    status: Type.Enum(['not_needed', 'waiting', 'approved', 'rejected'], {
      title: 'ApprovalStatus',
      description:
        '`waiting`, `rejected`: a second person must approve this revision before the payout can be paid, see `approval` ' +
        'of the account. `GET …/approval` says how many people must approve and who may',
    }),
    decided_by: nullable(Type.String({ description: 'the user who approved or rejected it' })),
    decided_at: nullable(timestamp),
    note: nullable(Type.String({ description: 'their note' })),
  },
  { title: 'Approval' },
);

export const approvalStatuses = approval.properties.status;

/** The approvals `v` that count for the current revision of a payout `p`: those whose author may still approve. */
const counting = `payout_approvals v join users u on u.account_id = v.account_id and u.id = v.user_id
  where v.account_id = p.account_id and v.payout_id = p.id and v.revision = p.revision
    and u.removed_at is null and u.role in (${rolesWith('approve')
      .map((role) => `'${role}'`)
      .join(', ')})`;

/**
 * How many people must approve a payout `p` of an account that requires approval. Two if nobody is known to be behind its
 * creation or a change (`approval-rules.ts`), or a revision has no recorded change.
 */
export const requiredApprovals = `case
  when p.created_by_user is null
    or p.revision - 1 > (select count(*) from payout_changes c where c.account_id = p.account_id and c.payout_id = p.id)
    or exists (select from payout_changes c where c.account_id = p.account_id and c.payout_id = p.id
               and c.user_id is null and c.change in (${NEEDING_TWO.map((change) => `'${change}'`).join(', ')}))
  then 2 else 1 end`;

/**
 * The approval status of a payout `p`, as SQL text. A decision applies to one revision. An approval of an unpaid payout
 * counts only while its author may still approve. A paid payout keeps the decision under which it was paid.
 */
export const approvalStatus = `case
  when p.status = 'paid' then coalesce(p.decision, 'not_needed')
  when (select o.approval from accounts o where o.id = p.account_id) = 'none' then 'not_needed'
  when p.decision = 'rejected' and p.decided_revision = p.revision then 'rejected'
  when (select count(*) from ${counting}) >= ${requiredApprovals} then 'approved'
  else 'waiting' end`;

/** The last approval that counts for a payout `p`, as a subquery with the columns of its decision. */
export const lastApproval = `(
  select v.user_id as decided_by, v.approved_at as decided_at, v.note as decision_note from ${counting}
  order by v.approved_at desc limit 1)`;

/** The column `approval` of the record, over `payouts p`. */
export const approvalColumn = `(
  select json_build_object(
    'status', s.status, 'decided_by', public_id('usr', d.decided_by), 'decided_at', iso(d.decided_at),
    'note', d.decision_note)
  from (select ${approvalStatus} as status) s
  left join lateral (
    select p.decided_by, p.decided_at, p.decision_note where p.status = 'paid' or s.status = 'rejected'
    union all
    select * from ${lastApproval} a where p.status <> 'paid' and s.status = 'approved') d on true)`;

/** The approvals that count for the current revision of a payout `p`, as JSON, oldest first. */
export const approvalsGiven = `(
  select coalesce(json_agg(json_build_object('user_id', public_id('usr', g.user_id), 'approved_at', iso(g.approved_at),
    'note', g.note) order by g.approved_at), '[]')
  from (select v.user_id, v.approved_at, v.note from ${counting}) g)`;
