import { useState } from 'react';
import type { Commission } from '../../../src/client/api.ts';
import type { OperationId } from '../../data/api.ts';
import { useEach } from '../../data/each.ts';
import { Button } from '../../parts/button.tsx';
import { titleOf } from '../../parts/commissions.tsx';
import { Notice } from '../../parts/feedback.tsx';
import { TextField } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { sumsOf, sumTexts } from '../../parts/sums.ts';
import { toast } from '../../parts/toast.tsx';
import { Moneys, Name } from '../../parts/values.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { listed } from '../../texts/common.ts';
import { ACTS, type Act, actsOf, leftOf } from './acts.ts';

const labels = texts.bulk;

/** The sums of the selected commissions, and the bulk actions. */
export function SelectedBar({ selected, onClear }: { selected: readonly Commission[]; onClear: () => void }) {
  const [act, setAct] = useState<Act | null>(null);
  const counts = ACTS.map(
    (each) => [each, selected.filter((one) => actsOf(one).includes(each)).length] as const,
  );
  return (
    <div className="bar" role="status">
      <dl>
        <dt>{labels.selected(selected.length)}</dt>
        <dd>
          <Moneys amounts={sumsIn(selected, 'void')} isStrong />
        </dd>
      </dl>
      <div className="buttons">
        {counts.map(
          ([each, number]) =>
            number > 0 && (
              <Button key={each} kind={each === 'void' ? 'danger' : 'plain'} onPress={() => setAct(each)}>
                {texts.actions[each]} ({whole(number)})
              </Button>
            ),
        )}
        <Button kind="quiet" onPress={onClear}>
          {labels.clear}
        </Button>
      </div>
      {act && <ActOnAll act={act} selected={selected} onClose={() => setAct(null)} onDone={onClear} />}
    </div>
  );
}

/** Sums by currency of what an action affects: a refund takes the whole remaining amount. */
const sumsIn = (some: readonly Commission[], act: Act) =>
  sumsOf(
    some.map((one) => ({
      totals: [{ currency: one.currency, amount: act === 'refund' ? leftOf(one) : one.amount }],
    })),
  );

const OPERATIONS = {
  refund: 'refundCommission',
  void: 'voidCommission',
  hold: 'holdCommission',
  unhold: 'unholdCommission',
} as const satisfies Record<Act, OperationId>;

/** Says how many commissions are affected, processes them one by one, and lists those that were refused. */
function ActOnAll({
  act,
  selected,
  onClose,
  onDone,
}: {
  act: Act;
  selected: readonly Commission[];
  onClose: () => void;
  onDone: () => void;
}) {
  // fixed while the dialog is open, although the list behind it is refetched
  const [affected] = useState(() => selected.filter((one) => actsOf(one).includes(act)));
  const [intention] = useState(() => crypto.randomUUID());
  const [reason, setReason] = useState('');
  const { run, isBusy, done, refused } = useEach(OPERATIONS[act]);
  const hasReason = act === 'refund' || act === 'void';
  const bodyOf = ({ id }: Commission) => ({
    ...(hasReason ? { reason: reason.trim() || null } : {}),
    ...(act === 'refund' ? { external_id: `refund-${intention}-${id}` } : {}),
  });
  const submit = async () => {
    const inputs = new Map(
      affected.map(
        (one) => [one.id, { path: [one.id], ...(hasReason ? { body: bodyOf(one) } : {}) }] as const,
      ),
    );
    if (!(await run(inputs as never))) return;
    toast(labels.done[act](affected.length));
    onDone();
  };
  const left = affected.filter(({ id }) => !done.has(id));
  const sums = listed(sumTexts(sumsIn(left, act)));
  const others = selected.length - affected.length;
  return (
    <Confirm
      title={labels.title[act]}
      action={isBusy ? labels.progress(done.size, affected.length) : labels.action[act](left.length)}
      isDangerous={hasReason}
      isBusy={isBusy}
      onConfirm={() => void submit()}
      onClose={onClose}
    >
      <p className="form-lead">{labels.lead[act](left.length, sums)}</p>
      {affected.some(({ payout_id, status }) => payout_id && status !== 'paid') && act !== 'unhold' && (
        <p className="form-lead">{labels.inPayout}</p>
      )}
      {others > 0 && <p className="form-lead soft">{labels.others(others)}</p>}
      {hasReason && (
        <TextField
          label={texts.reason}
          hint={texts.reasonHint}
          isOptional
          value={reason}
          onChange={setReason}
        />
      )}
      {refused.size > 0 && (
        <Notice tone="bad">
          <p>
            <b>{labels.refused(refused.size, done.size)}</b>
          </p>
          <ul>
            {affected.map(
              (one) =>
                refused.has(one.id) && (
                  <li key={one.id}>
                    <Name>{titleOf(one)}</Name>: {refused.get(one.id)?.message}
                  </li>
                ),
            )}
          </ul>
        </Notice>
      )}
    </Confirm>
  );
}
