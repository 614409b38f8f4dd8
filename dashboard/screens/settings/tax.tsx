import type { Account } from '../../../src/client/api.ts';
import { TAX_PROFILE_FIELDS } from '../../../src/client/fields.ts';
import { TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { allIn, FieldInputs, typedOf } from '../../parts/record-fields.tsx';
import { tax } from '../../texts/tax.ts';

const texts = tax.account;

const isOfPlace = ([name]: readonly [string, unknown]) => name === 'country' || name.startsWith('address.');
const form = {
  fields: Object.fromEntries(Object.entries(TAX_PROFILE_FIELDS).filter(isOfPlace)),
  currency: '',
};

/** The tax details, as typed. */
export interface TypedTax {
  readonly legalName: string;
  /** The country and the address. */
  readonly place: Readonly<Record<string, string>>;
  readonly vatId: string;
  readonly taxNumber: string;
  readonly siren: string;
  readonly electronic: string;
}

/** The initial values of the form. */
export const typedTax = ({ tax_profile: profile }: Account): TypedTax => ({
  legalName: profile?.legal_name ?? '',
  place: typedOf(form, profile ?? {}),
  vatId: profile?.vat_id ?? '',
  taxNumber: profile?.tax_number ?? '',
  siren: profile?.siren ?? '',
  electronic: profile?.electronic_address ?? '',
});

/** The request body; null = nothing is filled in. The server validates it. */
export function taxFrom({ legalName, place, vatId, taxNumber, siren, electronic }: TypedTax) {
  const all = [legalName, vatId, taxNumber, siren, electronic, ...Object.values(place)];
  if (all.every((text) => text.trim() === '')) return null;
  return {
    legal_name: legalName.trim(),
    ...(allIn(form, place) as unknown as Pick<NonNullable<Account['tax_profile']>, 'country' | 'address'>),
    vat_id: vatId.trim() || null,
    tax_number: taxNumber.trim() || null,
    siren: siren.trim() || null,
    electronic_address: electronic.trim() || null,
  };
}

/** The tax details of the account. */
export function TaxFields({ typed, onChange }: { typed: TypedTax; onChange: (typed: TypedTax) => void }) {
  const change = (next: Partial<TypedTax>) => onChange({ ...typed, ...next });
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.lead}</p>
      <TextField
        label={texts.legalName}
        value={typed.legalName}
        maxLength={200}
        onChange={(legalName) => change({ legalName })}
      />
      <FieldInputs {...form} values={typed.place} onChange={(place) => change({ place })} hasFocus={false} />
      <TextField
        label={texts.vatId}
        hint={texts.vatIdHint}
        isOptional
        value={typed.vatId}
        onChange={(vatId) => change({ vatId })}
      />
      <TextField
        label={texts.taxNumber}
        hint={texts.taxNumberHint}
        isOptional
        value={typed.taxNumber}
        onChange={(taxNumber) => change({ taxNumber })}
      />
      <TextField
        label={texts.siren}
        hint={texts.sirenHint}
        isOptional
        value={typed.siren}
        onChange={(siren) => change({ siren })}
      />
      <TextField
        label={texts.electronicAddress}
        hint={texts.electronicAddressHint}
        isOptional
        value={typed.electronic}
        onChange={(electronic) => change({ electronic })}
      />
    </Card>
  );
}
