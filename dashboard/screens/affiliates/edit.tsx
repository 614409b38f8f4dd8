import { useState } from 'react';
import type { AffiliateWithBalance, ChangeAffiliateBody } from '../../../src/client/api.ts';
import { AFFILIATE_FIELDS } from '../../../src/client/fields.ts';
import { nameOf } from '../../data/affiliates.ts';
import { useMe } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { changedIn, FieldInputs, hasProblem, typedOf } from '../../parts/record-fields.tsx';
import { toast } from '../../parts/toast.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';

// "Pause payouts" changes the readiness, and says what it means for what is owed
const { is_ready_for_payout: _, ...fields } = AFFILIATE_FIELDS;

/** Sends only the changed fields, so that two people can change different fields. */
export function EditAffiliate({
  affiliate,
  onClose,
}: {
  affiliate: AffiliateWithBalance;
  onClose: () => void;
}) {
  const form = { fields, currency: useMe().data?.account.default_currency ?? 'usd' };
  const write = useWrite('changeAffiliate');
  const [before] = useState({ ...affiliate });
  const [values, setValues] = useState(() => typedOf(form, before));
  const body = changedIn(form, before, values) as ChangeAffiliateBody;
  const save = () =>
    write.mutate(
      { path: [affiliate.id], body },
      {
        onSuccess: () => {
          toast(texts.edit.done);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.edit.title(nameOf(affiliate))}
      action={texts.edit.save}
      isBusy={write.isPending}
      isDisabled={Object.keys(body).length === 0 || hasProblem(form, values)}
      error={write.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{texts.edit.lead}</p>
      <div className="form-grid">
        <FieldInputs {...form} values={values} onChange={setValues} />
      </div>
    </Confirm>
  );
}
