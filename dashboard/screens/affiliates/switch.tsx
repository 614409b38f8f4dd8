import type { AffiliateWithBalance } from '../../../src/client/api.ts';
import { nameOf } from '../../data/affiliates.ts';
import { useWrite } from '../../data/queries.ts';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';
import { listed } from '../../texts/common.ts';

/** Pauses or resumes payouts to an affiliate. */
export function SwitchPayouts({
  affiliate,
  onClose,
}: {
  affiliate: AffiliateWithBalance;
  onClose: () => void;
}) {
  const write = useWrite('changeAffiliate');
  const { is_ready_for_payout: isReady } = affiliate;
  const action = isReady ? texts.pause : texts.resume;
  const sums = (state: 'unpaid' | 'in_payout') =>
    listed(
      affiliate.balance
        .filter((each) => each[state] !== 0)
        .map((each) => money({ currency: each.currency, amount: each[state] })),
    );
  const inPayout = sums('in_payout');
  return (
    <Confirm
      title={action.title(nameOf(affiliate))}
      action={isReady ? texts.actions.pause : texts.actions.resume}
      isBusy={write.isPending}
      error={write.error}
      onConfirm={() =>
        write.mutate(
          { path: [affiliate.id], body: { is_ready_for_payout: !isReady } },
          {
            onSuccess: () => {
              toast(action.done);
              onClose();
            },
          },
        )
      }
      onClose={onClose}
    >
      <p className="form-lead">{action.lead(sums('unpaid'))}</p>
      {isReady && inPayout !== '' && <p className="form-lead">{texts.pause.inPayout(inPayout)}</p>}
    </Confirm>
  );
}
