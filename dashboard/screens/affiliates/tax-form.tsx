import { useState } from 'react';
import type {
  AffiliateTaxProfile,
  AffiliateWithBalance,
  PutAffiliateTaxProfileBody,
} from '../../../src/client/api.ts';
import { TAX_PROFILE_FIELDS } from '../../../src/client/fields.ts';
import { nameOf, useTaxProfile } from '../../data/affiliates.ts';
import { useWrite } from '../../data/queries.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { allIn, FieldInputs, isIncomplete, typedOf } from '../../parts/record-fields.tsx';
import { toast } from '../../parts/toast.tsx';
import { tax } from '../../texts/tax.ts';

const texts = tax.edit;
const form = { fields: TAX_PROFILE_FIELDS, currency: '' };

/** The dialog that sets a tax profile. */
export function SetTaxProfile(props: { affiliate: AffiliateWithBalance; onClose: () => void }) {
  const { data: profile } = useTaxProfile(props.affiliate);
  return profile === undefined ? null : <TaxForm {...props} before={profile} />;
}

/** The initial values of the form. The current tax id is kept, because it cannot be read back. */
function typedBefore(before: AffiliateTaxProfile | null, affiliate: AffiliateWithBalance) {
  const { legal_type, country, name_first, name_last } = affiliate;
  const known = {
    legal_type: legal_type ?? 'person',
    legal_name: [name_first, name_last].filter(Boolean).join(' '),
  };
  return {
    ...typedOf(form, before ?? { ...known, country }),
    ...(before?.tax_id ? { 'tax_id.type': 'keep' } : {}),
  };
}

function TaxForm({
  affiliate,
  before,
  onClose,
}: {
  affiliate: AffiliateWithBalance;
  before: AffiliateTaxProfile | null;
  onClose: () => void;
}) {
  const write = useWrite('putAffiliateTaxProfile');
  const [values, setValues] = useState(() => typedBefore(before, affiliate));
  const save = () =>
    write.mutate(
      { path: [affiliate.id], body: allIn(form, values) as unknown as PutAffiliateTaxProfileBody },
      {
        onSuccess: () => {
          toast(texts.done);
          onClose();
        },
      },
    );
  return (
    <Confirm
      title={texts.title(nameOf(affiliate))}
      action={texts.save}
      isBusy={write.isPending}
      isDisabled={isIncomplete(form.fields, values)}
      error={write.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{texts.lead}</p>
      <div className="form-grid">
        <FieldInputs
          {...form}
          values={values}
          onChange={setValues}
          kept={before?.tax_id ? { 'tax_id.type': texts.keep(before.tax_id.ending) } : {}}
        />
      </div>
    </Confirm>
  );
}
