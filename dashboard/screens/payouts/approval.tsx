import { useCallback, useState } from 'react';
import type { Payout } from '../../../src/client/api.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { Moneys, Time } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.approval;

type Decision = 'approve' | 'reject';

/** Whether a second person must approve the payout before it is paid. */
export const isWithheld = ({ approval }: Payout): boolean =>
  approval.status === 'waiting' || approval.status === 'rejected';

/** How the approval of an unpaid payout stands, with the buttons to decide. Nothing where none is needed. */
export function Approval({ payout }: { payout: Payout }) {
  const may = useMay();
  const { data: me } = useMe();
  const [asked, setAsked] = useState<Decision | null>(null);
  const stop = useCallback(() => setAsked(null), []);
  const { status } = payout.approval;
  if (status === 'not_needed') return null;
  const isOwn = payout.created_by === me?.id;
  return (
    <Notice
      tone={status === 'approved' ? 'good' : 'warn'}
      actions={
        may.write && (
          <div className="next">
            {status !== 'rejected' && (
              <Button onPress={() => setAsked('reject')}>{texts.reject.action}</Button>
            )}
            {status !== 'approved' && !isOwn && (
              <Button kind="primary" onPress={() => setAsked('approve')}>
                {texts.approve.action}
              </Button>
            )}
          </div>
        )
      }
    >
      <p>
        <b>{texts.status[status]}</b> {status === 'waiting' && (isOwn ? texts.own : texts.lead)}
      </p>
      {status !== 'waiting' && <Decided payout={payout} />}
      {asked && <Decide payout={payout} decision={asked} onClose={stop} />}
    </Notice>
  );
}

/** Who decided, when, and what they wrote. */
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
        {words.lead} <Moneys amounts={payout.totals} isStrong />
      </p>
      <TextArea label={texts.note} value={note} onChange={setNote} rows={3} isOptional />
    </Confirm>
  );
}
