import { useState } from 'react';
import type { AffiliateTaxProfile, AffiliateWithBalance } from '../../../src/client/api.ts';
import { nameOf, useTaxProfile } from '../../data/affiliates.ts';
import { useMay } from '../../data/me.ts';
import { isPast } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { day } from '../../parts/format.ts';
import { ConfirmEnd } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { Name, Time } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { common } from '../../texts/common.ts';
import { tax } from '../../texts/tax.ts';

const texts = tax.profile;

/** The tax profile of an affiliate. */
export function TaxProfile({ affiliate, onSet }: { affiliate: AffiliateWithBalance; onSet: () => void }) {
  const may = useMay();
  const { data: profile, error, refetch } = useTaxProfile(affiliate);
  const [isRemoving, setRemoving] = useState(false);
  return (
    <Card title={texts.title}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {profile === undefined && !error && <Skeleton lines={2} />}
      {profile === null && <p className="soft">{texts.none}</p>}
      {profile && <Facts rows={factsOf(profile)} />}
      {may.write && profile !== undefined && (
        <div className="buttons">
          <Button onPress={onSet}>{profile === null ? texts.set : texts.change}</Button>
          {profile && <Button onPress={() => setRemoving(true)}>{texts.remove}</Button>}
        </div>
      )}
      {isRemoving && <Remove affiliate={affiliate} onClose={() => setRemoving(false)} />}
    </Card>
  );
}

function factsOf(profile: AffiliateTaxProfile) {
  const { facts } = texts;
  return [
    [facts.legalName, <Name key="name">{profile.legal_name}</Name>],
    [facts.legalType, affiliates.legalType[profile.legal_type]],
    [facts.address, <Address key="address" profile={profile} />],
    [facts.taxId, <TaxId key="id" taxId={profile.tax_id} />],
    ...(profile.electronic_address ? [[facts.electronicAddress, profile.electronic_address] as const] : []),
    ...(profile.siren ? [[facts.siren, profile.siren] as const] : []),
    [facts.form, <Form key="form" form={profile.form} />],
    [facts.selfBilling, <SelfBilling key="self" agreement={profile.self_billing} />],
    [facts.changed, <Time key="changed" at={profile.updated_at} isFocusable />],
  ] as const;
}

function Address({ profile: { address, country } }: { profile: AffiliateTaxProfile }) {
  const { line1, line2, postal_code, city, region } = address;
  const place = [city, region, postal_code].filter(Boolean).join(' ');
  return <Name>{[line1, line2, place, country].filter(Boolean).join(', ')}</Name>;
}

function TaxId({ taxId }: { taxId: AffiliateTaxProfile['tax_id'] }) {
  if (taxId === null) return common.nothing;
  const { type, ending, is_lost, shared_with } = taxId;
  return (
    <>
      {texts.ending(tax.taxIdTypes[type], ending)}
      {is_lost && <span className="second">{texts.lost}</span>}
      {shared_with.length > 0 && <span className="second">{texts.shared(shared_with)}</span>}
    </>
  );
}

function Form({ form }: { form: AffiliateTaxProfile['form'] }) {
  if (form === null) return common.nothing;
  return (
    <>
      {texts.signedOn(tax.forms[form.type], day(form.signed_on))}
      {form.valid_until !== null && (
        <span className="second">
          {isPast(form.valid_until)
            ? texts.lapsed(day(form.valid_until))
            : texts.validUntil(day(form.valid_until))}
        </span>
      )}
      <Document name={form.document} />
    </>
  );
}

function SelfBilling({ agreement }: { agreement: AffiliateTaxProfile['self_billing'] }) {
  if (agreement === null) return texts.notAgreed;
  return (
    <>
      <Name>{texts.agreed(agreement.agreed_by, day(agreement.agreed_on))}</Name>
      {agreement.expires_on !== null && (
        <span className="second">
          {isPast(agreement.expires_on)
            ? texts.expired(day(agreement.expires_on))
            : texts.expires(day(agreement.expires_on))}
        </span>
      )}
      <Document name={agreement.document} />
    </>
  );
}

function Document({ name }: { name: string | null }) {
  return name === null ? null : <span className="second">{texts.document(name)}</span>;
}

function Remove({ affiliate, onClose }: { affiliate: AffiliateWithBalance; onClose: () => void }) {
  return (
    <ConfirmEnd
      operation="deleteAffiliateTaxProfile"
      input={{ path: [affiliate.id] }}
      title={tax.removal.title(nameOf(affiliate))}
      action={texts.remove}
      done={tax.removal.done}
      onClose={onClose}
    >
      <p>{tax.removal.lead}</p>
    </ConfirmEnd>
  );
}
