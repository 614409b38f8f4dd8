import { type Static, Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { approvalStatuses } from '../ledger/approval.ts';

const reason = Type.Enum(['approver_is_creator', 'approver_changed_payout', 'approver_let_in'], {
  title: 'ApprovalBar',
  description: 'the reason with which their approval is refused',
});

/** The approval state of a payout, and who may approve it. */
export const payoutApproval = strict(
  {
    object: Type.Literal('payout_approval'),
    payout_id: Type.String({ examples: ['po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    revision: Type.Integer({ description: 'the revision of the payout that this describes' }),
    status: approvalStatuses,
    required_count: Type.Integer({
      description:
        'how many people must approve it; 0 if the account requires no approval or the payout is paid',
    }),
    required_because: nullable(
      Type.String({
        description: 'why two people must approve, as readable text; null when one is enough',
      }),
    ),
    mismatch_count: Type.Integer({
      description:
        'payees whose name is not that of the account, or could not be compared, by the last answer of their bank: see ' +
        '`listPayoutVerifications`',
    }),
    approvals: Type.Array(
      strict({
        user_id: Type.String(),
        approved_at: timestamp,
        note: nullable(Type.String({ description: 'their note' })),
      }),
      { description: 'approvals of this revision that count, oldest first' },
    ),
    changes: Type.Array(
      strict({
        revision: Type.Integer({ description: 'the revision that the change produced' }),
        change: Type.Enum(['created', 'redirected', 'increased', 'reduced'], {
          title: 'PayoutChange',
          description:
            'redirected: the name, readiness or destination of an affiliate in it changed; increased, reduced: an amount did',
        }),
        actor_id: Type.String({ description: 'the id of the key, user or application that caused it' }),
        user_id: nullable(Type.String({ description: 'the person behind it; null if unknown' })),
        changed_at: timestamp,
      }),
      { description: 'who created and changed the payout, oldest first' },
    ),
    approvers: Type.Array(
      strict({
        user_id: Type.String(),
        can_approve: Type.Boolean(),
        barred_because: Type.Array(
          strict({
            reason,
            message: Type.String({
              description: 'readable text; it begins with "you" for the caller',
            }),
            actor_id: Type.String({ description: 'who caused the bar' }),
            at: timestamp,
          }),
          { description: 'empty for users who can approve' },
        ),
      }),
      {
        description:
          'the users whose role may approve payouts, while the payout is unpaid and needs an approval',
      },
    ),
  },
  { title: 'PayoutApproval' },
);
export type PayoutApproval = Static<typeof payoutApproval>;
