import { type ReactNode, useState } from 'react';
import type { Commission } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { TextField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { commissions as texts } from '../../texts/commissions.ts';

interface Props {
  readonly commission: Commission;
  readonly onClose: () => void;
}

/** A dialog that shows the effect of an action on an amount, and runs it. */
function Act({
  labels,
  write,
  send,
  isDangerous = false,
  commission,
  onClose,
  children,
}: Props & {
  labels: {
    readonly title: string;
    readonly lead: (sum: string) => string;
    readonly inPayout?: (sum: string) => string;
    readonly action: (sum: string) => string;
    readonly done: string;
  };
  write: { readonly isPending: boolean; readonly error: Error | null };
  send: (options: { onSuccess: () => void }) => void;
  isDangerous?: boolean;
  children?: ReactNode;
}) {
  const sum = money(commission);
  const onSuccess = () => {
    toast(labels.done);
    onClose();
  };
  return (
    <Confirm
      title={labels.title}
      action={labels.action(sum)}
      isDangerous={isDangerous}
      isBusy={write.isPending}
      error={write.error}
      onConfirm={() => send({ onSuccess })}
      onClose={onClose}
    >
      <p className="form-lead">{labels.lead(sum)}</p>
      {commission.payout_id && labels.inPayout && <p className="form-lead">{labels.inPayout(sum)}</p>}
      {children}
    </Confirm>
  );
}

/** Voids a commission, which cannot be undone. */
export function VoidCommission(props: Props) {
  const write = useWrite('voidCommission');
  const [reason, setReason] = useState('');
  return (
    <Act
      {...props}
      labels={texts.void}
      write={write}
      isDangerous
      send={(options) =>
        write.mutate({ path: [props.commission.id], body: { reason: reason.trim() || null } }, options)
      }
    >
      <TextField
        label={texts.reason}
        hint={texts.reasonHint}
        isOptional
        hasFocus
        value={reason}
        onChange={setReason}
      />
    </Act>
  );
}

/** Holds a commission for review, which keeps it out of payouts. */
export function Hold(props: Props) {
  const write = useWrite('holdCommission');
  return (
    <Act
      {...props}
      labels={texts.hold}
      write={write}
      send={(options) => write.mutate({ path: [props.commission.id] }, options)}
    />
  );
}

/** Ends the review of a commission. */
export function Unhold(props: Props) {
  const write = useWrite('unholdCommission');
  return (
    <Act
      {...props}
      labels={texts.unhold}
      write={write}
      send={(options) => write.mutate({ path: [props.commission.id] }, options)}
    />
  );
}
