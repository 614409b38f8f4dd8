import { useCallback, useState } from 'react';
import type { Payout, PayoutApproval } from '../../../src/client/api.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { Moneys, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { amountsToPay } from './with-tax.tsx';

const texts = payouts.approval;

type Decision = 'approve' | 'reject';

/** Whether a second person must approve the payout before it is paid. */
export const isWithheld = ({ approval }: Payout): boolean =>
  approval.status === 'waiting' || approval.status === 'rejected';

/** The approval of an unpaid payout, with the buttons to decide. Renders nothing if none is needed. */
export function Approval({ payout }: { payout: Payout }) {
  const may = useMay();
  const { data: me } = useMe();
  const [decision, setDecision] = useState<Decision | null>(null);
  const stop = useCallback(() => setDecision(null), []);
  const { status } = payout.approval;
  const isNeeded = status !== 'not_needed';
  const {
    data: standing,
    error,
    refetch,
  } = useRead('getPayoutApproval', { path: [payout.id] }, { isLive: true, isEnabled: isNeeded });
  if (!isNeeded) return null;
  const own = standing?.approvers.find(({ user_id }) => user_id === me?.id);
  const hasApproved = standing?.approvals.some(({ user_id }) => user_id === me?.id) ?? false;
  return (
    <>
      <Notice
        tone={status === 'approved' ? 'good' : 'warn'}
        actions={
          may.approve && (
            <div className="next">
              {status !== 'rejected' && (
                <Button onPress={() => setDecision('reject')}>{texts.reject.action}</Button>
              )}
              {status !== 'approved' && own?.can_approve === true && !hasApproved && (
                <Button kind="primary" onPress={() => setDecision('approve')}>
                  {texts.approve.action}
                </Button>
              )}
            </div>
          )
        }
      >
        <p>
          <b>{texts.status[status]}</b> {status === 'waiting' && texts.lead}
        </p>
        {status !== 'waiting' && <Decided payout={payout} />}
        {standing && status !== 'approved' && <Standing standing={standing} own={own} />}
        {decision && <Decide payout={payout} decision={decision} onClose={stop} />}
      </Notice>
      {error && standing === undefined && <Problem error={error} onRetry={() => void refetch()} />}
    </>
  );
}

type Approver = PayoutApproval['approvers'][number];

/** How many people must approve, who has, who can, and why the caller (`own`) and others cannot. */
function Standing({ standing, own }: { standing: PayoutApproval; own: Approver | undefined }) {
  const { approvals, approvers, required_count: required, required_because: because } = standing;
  const given = new Set(approvals.map(({ user_id }) => user_id));
  // the user first: the name is "You"
  const able = approvers
    .filter(({ can_approve, user_id }) => can_approve && !given.has(user_id))
    .sort((one, other) => Number(other === own) - Number(one === own));
  const barred = approvers.filter((each) => !each.can_approve && each !== own);
  return (
    <>
      {because !== null && <p>{texts.two(because)}</p>}
      {approvals.map((approval) => (
        <p key={approval.user_id}>
          {texts.approvedBy} <Actor id={approval.user_id} />, <Time at={approval.approved_at} isFocusable />
        </p>
      ))}
      {own && !own.can_approve && (
        <>
          <p>{texts.barred}</p>
          <Bars approver={own} />
        </>
      )}
      {able.length > 0 && (
        <p>
          {texts.able}{' '}
          {able.map(({ user_id }, index) => (
            <span key={user_id}>
              {index > 0 && ', '}
              <Actor id={user_id} />
            </span>
          ))}
        </p>
      )}
      {given.size + able.length < required && <p>{texts.tooFew}</p>}
      {barred.length > 0 && (
        <details>
          <summary>{texts.others}</summary>
          {barred.map((each) => (
            <div key={each.user_id}>
              <p>
                <b>
                  <Actor id={each.user_id} />
                </b>
              </p>
              <Bars approver={each} />
            </div>
          ))}
        </details>
      )}
    </>
  );
}

/** Why somebody cannot approve, and whose action prevents it. */
function Bars({ approver: { barred_because: bars, user_id } }: { approver: Approver }) {
  return (
    <ul>
      {bars.map(({ message, actor_id, at }) => (
        <li key={`${message} ${at}`}>
          {message.charAt(0).toUpperCase() + message.slice(1)} (
          {actor_id !== user_id && (
            <>
              <Actor id={actor_id} />,{' '}
            </>
          )}
          <Time at={at} isFocusable />)
        </li>
      ))}
    </ul>
  );
}

/** Who decided, when, and their note. */
export function Decided({ payout: { approval } }: { payout: Payout }) {
  if (approval.decided_by === null) return null;
  return (
    <>
      <p>
        <Actor id={approval.decided_by} />, <Time at={approval.decided_at} isFocusable />
      </p>
      {approval.note !== null && (
        <p className="quoted" dir="auto">
          {approval.note}
        </p>
      )}
    </>
  );
}

function Decide({ payout, decision, onClose }: { payout: Payout; decision: Decision; onClose: () => void }) {
  const [note, setNote] = useState('');
  const approve = useWrite('approvePayout');
  const reject = useWrite('rejectPayout');
  const write = decision === 'approve' ? approve : reject;
  const words = texts[decision];
  const submit = () =>
    write.mutate(
      {
        path: [payout.id],
        body: { revision: payout.revision, ...(note.trim() === '' ? {} : { note: note.trim() }) },
      },
      {
        onSuccess: () => {
          toast(words.done);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={words.title(payout.number)}
      action={words.action}
      isDangerous={decision === 'reject'}
      isBusy={write.isPending}
      error={write.error}
      onConfirm={submit}
      onClose={onClose}
    >
      <p>
        {words.lead} <Moneys amounts={amountsToPay(payout.totals)} isStrong />
      </p>
      <TextArea label={texts.note} value={note} onChange={setNote} rows={3} isOptional />
    </Confirm>
  );
}
