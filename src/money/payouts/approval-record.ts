import { type Static, Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { approvalStatuses } from '../ledger/approval.ts';

const reason = Type.Enum(['approver_is_creator', 'approver_changed_payout', 'approver_let_in'], {
  title: 'ApprovalBar',
  description: 'the reason with which their approval is refused',
});

/** How the approval of a payout stands, and who may give one. */
export const payoutApproval = strict(
  {
    object: Type.Literal('payout_approval'),
    payout_id: Type.String({ examples: ['po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    revision: Type.Integer({ description: 'the revision of the payout, which the rest is about' }),
    status: approvalStatuses,
    required_count: Type.Integer({
      description:
        'how many people must approve it; 0 when the account wants no approval, or the payout is paid',
    }),
    required_because: nullable(
      Type.String({
        description: 'why two people must approve, for people to read; null when one is enough',
      }),
    ),
    approvals: Type.Array(
      strict({
        user_id: Type.String(),
        approved_at: timestamp,
        note: nullable(Type.String({ description: 'what they wrote about it' })),
      }),
      { description: 'those of this revision that count, the oldest first' },
    ),
    changes: Type.Array(
      strict({
        revision: Type.Integer({ description: 'the revision that it made' }),
        change: Type.Enum(['created', 'redirected', 'increased', 'reduced'], {
          title: 'PayoutChange',
          description:
            'redirected: the name, readiness or destination of an affiliate in it changed; increased, reduced: an amount did',
        }),
        actor_id: Type.String({ description: 'the id of the key, user or application that caused it' }),
        user_id: nullable(
          Type.String({ description: 'the person behind it; null when it belongs to nobody that is known' }),
        ),
        changed_at: timestamp,
      }),
      { description: 'who created and changed the payout, the oldest first' },
    ),
    approvers: Type.Array(
      strict({
        user_id: Type.String(),
        can_approve: Type.Boolean(),
        barred_because: Type.Array(
          strict({
            reason,
            message: Type.String({
              description: 'for people to read; it begins with "you" about the caller',
            }),
            actor_id: Type.String({ description: 'who did what bars them' }),
            at: timestamp,
          }),
          { description: 'empty for those who can approve' },
        ),
      }),
      {
        description:
          'the owners and members of the account, while the payout is unpaid and needs an approval',
      },
    ),
  },
  { title: 'PayoutApproval' },
);
export type PayoutApproval = Static<typeof payoutApproval>;
