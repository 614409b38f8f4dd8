import type { PostalAddress } from '../../src/client/api.ts';
import { tax } from '../texts/tax.ts';
import { TextField } from './field.tsx';

const texts = tax.address;
const LINES = ['line1', 'line2', 'postal_code', 'city', 'region'] as const;
const OPTIONAL: readonly string[] = ['line2', 'postal_code', 'region'];

/** A country and address, as typed. */
export type TypedAddress = Readonly<Record<'country' | (typeof LINES)[number], string>>;

/** The initial values of the fields. */
export function typedAddress(
  place: { readonly country: string | null; readonly address?: PostalAddress } | null,
): TypedAddress {
  const lines = LINES.map((line) => [line, place?.address?.[line] ?? '']);
  return { country: place?.country ?? '', ...Object.fromEntries(lines) } as TypedAddress;
}

/** The country and address for the request. The server validates them. */
export const addressFrom = (typed: TypedAddress) => ({
  country: typed.country.trim(),
  address: {
    line1: typed.line1.trim(),
    line2: typed.line2.trim() || null,
    postal_code: typed.postal_code.trim() || null,
    city: typed.city.trim(),
    region: typed.region.trim() || null,
  },
});

/** Whether a required part of the address is missing. */
export const isAddressIncomplete = (typed: TypedAddress): boolean =>
  (['country', 'line1', 'city'] as const).some((field) => typed[field].trim() === '');

/** The fields of a country and address. */
export function AddressFields({
  typed,
  onChange,
}: {
  typed: TypedAddress;
  onChange: (typed: TypedAddress) => void;
}) {
  const field = (name: keyof TypedAddress) => ({
    label: texts[name],
    value: typed[name],
    isOptional: OPTIONAL.includes(name),
    onChange: (value: string) => onChange({ ...typed, [name]: value }),
  });
  return (
    <>
      <TextField {...field('country')} hint={texts.countryHint} maxLength={2} />
      {LINES.map((name) => (
        <TextField key={name} {...field(name)} hint={name === 'region' ? texts.regionHint : undefined} />
      ))}
    </>
  );
}
