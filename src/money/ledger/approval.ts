import { Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

/** Whether a payout may be paid, as its record says it. */
export const approval = strict(
  {
    status: Type.Enum(['not_needed', 'waiting', 'approved', 'rejected'], {
      title: 'ApprovalStatus',
      description:
        '`waiting`, `rejected`: a second person must approve this revision before the payout is paid, see `approval` ' +
        'of the account',
    }),
    decided_by: nullable(Type.String({ description: 'the user who approved or rejected it' })),
    decided_at: nullable(timestamp),
    note: nullable(Type.String({ description: 'what they wrote about it' })),
  },
  { title: 'Approval' },
);

/**
 * How a payout `p` stands: a text, one of the statuses above. A decision holds for its revision, and an approval of an
 * unpaid payout only while whoever gave it may still approve. A paid payout keeps the decision it was paid under.
 */
export const approvalStatus = `case
  when p.status = 'paid' then coalesce(p.decision, 'not_needed')
  when (select o.approval from accounts o where o.id = p.account_id) = 'none' then 'not_needed'
  when p.decided_revision is distinct from p.revision then 'waiting'
  when p.decision = 'approved' and not exists (
    select from users u where u.account_id = p.account_id and u.id = p.decided_by and u.removed_at is null
      and u.role <> 'viewer') then 'waiting'
  else p.decision end`;

/** The column of the record, over `payouts p`. */
export const approvalColumn = `(
  select json_build_object(
    'status', s.status,
    'decided_by', case when s.is_decided then public_id('usr', p.decided_by) end,
    'decided_at', case when s.is_decided then iso(p.decided_at) end,
    'note', case when s.is_decided then p.decision_note end)
  from (select status, status in ('approved', 'rejected') as is_decided from (select ${approvalStatus} as status) c) s)`;
