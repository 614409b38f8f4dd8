import { useState } from 'react';
import type { AffiliateWithBalance, ChangeAffiliateBody } from '../../../src/client/api.ts';
import { formatDecimal, parseDecimal } from '../../../src/kernel/money.ts';
import { PAYOUT_METHODS } from '../../../src/kernel/payments.ts';
import { nameOf } from '../../data/affiliates.ts';
import { useMe } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';

/** The form values of an affiliate. */
const typedOf = (affiliate: AffiliateWithBalance, currency: string) => ({
  name_first: affiliate.name_first ?? '',
  name_last: affiliate.name_last ?? '',
  email: affiliate.email,
  payout_method: affiliate.payout_method ?? '',
  paypal_email: affiliate.paypal_email ?? '',
  status: affiliate.status as string,
  legal_type: affiliate.legal_type ?? '',
  country: affiliate.country ?? '',
  external_id: affiliate.external_id ?? '',
  slug: affiliate.slug ?? '',
  minimum: minimumOf(affiliate, currency),
});

const minimumOf = ({ minimum_payout: minimum }: AffiliateWithBalance, currency: string) =>
  minimum?.[currency] === undefined ? '' : formatDecimal(BigInt(minimum[currency]), currency);

/** Sends only the changed fields, so that two people can change different fields. */
export function EditAffiliate({
  affiliate,
  onClose,
}: {
  affiliate: AffiliateWithBalance;
  onClose: () => void;
}) {
  const currency = useMe().data?.account.default_currency ?? 'usd';
  const write = useWrite('changeAffiliate');
  const [before] = useState(() => typedOf(affiliate, currency));
  const [typed, setTyped] = useState(before);
  const set = (name: keyof typeof before) => (value: string) => setTyped({ ...typed, [name]: value });
  const text = (name: keyof typeof before, label: string) => ({
    label,
    value: typed[name],
    onChange: set(name),
  });
  const minimum = parseDecimal(typed.minimum.trim(), currency);
  const isMinimumWrong = typed.minimum.trim() !== '' && (minimum === null || minimum < 0n);
  const changed = (Object.keys(before) as (keyof typeof before)[]).filter(
    (name) => typed[name].trim() !== before[name],
  );
  const save = () => {
    const { [currency]: _, ...others } = affiliate.minimum_payout ?? {};
    const all = minimum === null ? others : { ...others, [currency]: Number(minimum) };
    const fields = changed.map((name) =>
      name === 'minimum'
        ? (['minimum_payout', Object.keys(all).length === 0 ? null : all] as const)
        : ([name, typed[name].trim() || null] as const),
    );
    write.mutate(
      { path: [affiliate.id], body: Object.fromEntries(fields) as ChangeAffiliateBody },
      {
        onSuccess: () => {
          toast(texts.edit.done);
          onClose();
        },
      },
    );
  };
  return (
    <Confirm
      title={texts.edit.title(nameOf(affiliate))}
      action={texts.edit.save}
      isBusy={write.isPending}
      isDisabled={changed.length === 0 || isMinimumWrong}
      error={write.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{texts.edit.lead}</p>
      <div className="form-grid">
        <TextField {...text('name_first', texts.edit.first)} hasFocus />
        <TextField {...text('name_last', texts.edit.last)} />
        <TextField {...text('email', texts.edit.email)} type="email" />
        <SelectField
          {...text('status', texts.facts.status)}
          options={optionsOf(['active', 'inactive'], texts.status)}
        />
        <SelectField
          {...text('payout_method', texts.facts.method)}
          options={[{ value: '', label: texts.method.none }, ...optionsOf(PAYOUT_METHODS, texts.method)]}
        />
        <TextField {...text('paypal_email', texts.edit.paypal)} type="email" />
        <TextField
          {...text('minimum', texts.edit.minimum(currency))}
          hint={texts.edit.minimumHint}
          problem={isMinimumWrong ? texts.edit.amount(currency) : null}
        />
        <SelectField
          {...text('legal_type', texts.facts.legalType)}
          options={[
            { value: '', label: texts.legalType.unknown },
            { value: 'person', label: texts.legalType.person },
            { value: 'business', label: texts.legalType.business },
          ]}
        />
        <TextField {...text('country', texts.edit.country)} hint={texts.edit.countryHint} maxLength={2} />
        <TextField {...text('external_id', texts.facts.externalId)} />
        <TextField {...text('slug', texts.facts.slug)} />
      </div>
    </Confirm>
  );
}
