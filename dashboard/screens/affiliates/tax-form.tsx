import { useState } from 'react';
import type {
  AffiliateTaxProfile,
  AffiliateWithBalance,
  PutAffiliateTaxProfileBody,
} from '../../../src/client/api.ts';
import { TAX_FORMS, TAX_ID_TYPES } from '../../../src/terms/taxes.ts';
import { nameOf, useTaxProfile } from '../../data/affiliates.ts';
import { useWrite } from '../../data/queries.ts';
import { AddressFields, addressFrom, isAddressIncomplete, typedAddress } from '../../parts/address.tsx';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { tax } from '../../texts/tax.ts';

const texts = tax.edit;
const LEGAL_TYPES = ['person', 'business'] as const;

/** The dialog that sets a tax profile. */
export function SetTaxProfile(props: { affiliate: AffiliateWithBalance; onClose: () => void }) {
  const { data: profile } = useTaxProfile(props.affiliate.id);
  return profile === undefined ? null : <TaxForm {...props} before={profile} />;
}

/** The initial values of the form. `keep` keeps the current tax id, which cannot be read back. */
function typedOf(before: AffiliateTaxProfile | null, affiliate: AffiliateWithBalance) {
  const { form = null, self_billing: agreement = null, tax_id: taxId = null } = before ?? {};
  return {
    legal_type: before?.legal_type ?? affiliate.legal_type ?? 'person',
    legal_name: before?.legal_name ?? [affiliate.name_first, affiliate.name_last].filter(Boolean).join(' '),
    place: typedAddress(before ?? { country: affiliate.country }),
    tax_id_type: (taxId ? 'keep' : '') as 'keep' | '' | (typeof TAX_ID_TYPES)[number],
    number: '',
    form: (form?.type ?? '') as '' | (typeof TAX_FORMS)[number],
    signed_on: form?.signed_on ?? '',
    document: form?.document ?? '',
    agreed_on: agreement?.agreed_on ?? '',
    agreed_by: agreement?.agreed_by ?? '',
    agreement: agreement?.document ?? '',
  };
}
type Typed = ReturnType<typeof typedOf>;

/** The request body. The server validates it. */
function bodyOf(typed: Typed): PutAffiliateTaxProfileBody {
  const { tax_id_type: type, form } = typed;
  const text = (value: string) => value.trim() || null;
  return {
    legal_type: typed.legal_type,
    legal_name: typed.legal_name.trim(),
    ...addressFrom(typed.place),
    ...(type === 'keep' ? {} : { tax_id: type === '' ? null : { type, number: typed.number.trim() } }),
    form: form === '' ? null : { type: form, signed_on: typed.signed_on, document: text(typed.document) },
    self_billing:
      typed.agreed_on === ''
        ? null
        : {
            agreed_on: typed.agreed_on,
            agreed_by: typed.agreed_by.trim(),
            document: text(typed.agreement),
          },
  };
}

function isIncomplete(typed: Typed): boolean {
  const { tax_id_type: type } = typed;
  return (
    typed.legal_name.trim() === '' ||
    isAddressIncomplete(typed.place) ||
    (type !== '' && type !== 'keep' && typed.number.trim() === '') ||
    (typed.form !== '' && typed.signed_on === '') ||
    (typed.agreed_on !== '' && typed.agreed_by.trim() === '')
  );
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
  const [typed, setTyped] = useState(() => typedOf(before, affiliate));
  const change = (next: Partial<Typed>) => setTyped({ ...typed, ...next });
  const save = () =>
    write.mutate(
      { path: [affiliate.id], body: bodyOf(typed) },
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
      isDisabled={isIncomplete(typed)}
      error={write.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{texts.lead}</p>
      <div className="form-grid">
        <SelectField
          hasFocus
          label={tax.profile.facts.legalType}
          value={typed.legal_type}
          options={optionsOf(LEGAL_TYPES, affiliates.legalType)}
          onChange={(legal_type) => change({ legal_type })}
        />
        <TextField
          label={tax.profile.facts.legalName}
          value={typed.legal_name}
          maxLength={200}
          onChange={(legal_name) => change({ legal_name })}
        />
        <AddressFields typed={typed.place} onChange={(place) => change({ place })} />
        <TaxIdFields typed={typed} before={before} change={change} />
        <FormFields typed={typed} change={change} />
        <AgreementFields typed={typed} change={change} />
      </div>
    </Confirm>
  );
}

interface Part {
  readonly typed: Typed;
  readonly change: (next: Partial<Typed>) => void;
}

function TaxIdFields({ typed, before, change }: Part & { before: AffiliateTaxProfile | null }) {
  const { tax_id_type: type } = typed;
  const kept = before?.tax_id;
  return (
    <>
      <SelectField
        label={texts.taxIdType}
        value={type}
        options={[
          ...(kept ? [{ value: 'keep' as const, label: texts.keep(kept.ending) }] : []),
          { value: '' as const, label: texts.noTaxId },
          ...optionsOf(TAX_ID_TYPES, tax.taxIdTypes),
        ]}
        onChange={(tax_id_type) => change({ tax_id_type })}
      />
      {type !== '' && type !== 'keep' && (
        <TextField
          label={texts.number}
          hint={texts.numberHint}
          value={typed.number}
          maxLength={60}
          onChange={(number) => change({ number })}
        />
      )}
    </>
  );
}

function FormFields({ typed, change }: Part) {
  return (
    <>
      <SelectField
        label={texts.form}
        value={typed.form}
        options={[{ value: '' as const, label: texts.noForm }, ...optionsOf(TAX_FORMS, tax.forms)]}
        onChange={(form) => change({ form })}
      />
      {typed.form !== '' && (
        <>
          <TextField
            label={texts.signedOn}
            type="date"
            value={typed.signed_on}
            onChange={(signed_on) => change({ signed_on })}
          />
          <TextField
            label={texts.document}
            hint={texts.documentHint}
            isOptional
            value={typed.document}
            maxLength={500}
            onChange={(document) => change({ document })}
          />
        </>
      )}
    </>
  );
}

function AgreementFields({ typed, change }: Part) {
  return (
    <>
      <TextField
        label={texts.agreedOn}
        hint={texts.agreedOnHint}
        type="date"
        value={typed.agreed_on}
        onChange={(agreed_on) => change({ agreed_on })}
      />
      {typed.agreed_on !== '' && (
        <>
          <TextField
            label={texts.agreedBy}
            value={typed.agreed_by}
            maxLength={200}
            onChange={(agreed_by) => change({ agreed_by })}
          />
          <TextField
            label={texts.agreement}
            isOptional
            value={typed.agreement}
            maxLength={500}
            onChange={(agreement) => change({ agreement })}
          />
        </>
      )}
    </>
  );
}
