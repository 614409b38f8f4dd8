import { type Static, Type } from 'typebox';
import { fail } from '../kernel/errors.ts';
import { nameFrom } from '../kernel/names.ts';
import { countryName } from '../terms/countries.ts';
import { nullable, strict, text } from './schemas.ts';

/** A postal address, without the country. */
export const address = strict(
  {
    line1: Type.String(),
    line2: nullable(Type.String()),
    postal_code: nullable(Type.String()),
    city: Type.String(),
    region: nullable(Type.String({ description: 'state or province; in the United States two letters' })),
  },
  { title: 'PostalAddress' },
);
export type Address = Static<typeof address>;

export const addressInput = strict({
  line1: text(200),
  line2: Type.Optional(nullable(text(200))),
  postal_code: Type.Optional(nullable(text(20))),
  city: text(100),
  region: Type.Optional(nullable(text(100))),
});
export type AddressInput = Static<typeof addressInput>;

/** A country as stored and shown. */
export const country = Type.String({ description: 'ISO 3166-1 alpha-2', examples: ['DE'] });
/** A country as given; checked by `checkedCountry`. */
export const countryInput = Type.String({
  minLength: 2,
  maxLength: 2,
  description: 'ISO 3166-1 alpha-2, any case',
  examples: ['DE'],
});

/** The code of a country in upper case. Throws `invalid_body` naming the field. */
export function checkedCountry(field: string, code: string): string {
  const upper = code.toUpperCase();
  if (countryName(upper) !== null) return upper;
  throw fail('invalid_body', `${field} must be a two-letter ISO 3166-1 country code such as DE`);
}

/** An address to store. Throws `invalid_body` naming the field. */
export function checkedAddress(
  field: string,
  { line1, line2, postal_code, city, region }: AddressInput,
): Address {
  const visible = (name: string, value: string | null | undefined) =>
    value == null ? null : nameFrom(value.normalize('NFC'), `${field}.${name}`);
  return {
    line1: visible('line1', line1) ?? '',
    line2: visible('line2', line2),
    postal_code: visible('postal_code', postal_code),
    city: visible('city', city) ?? '',
    region: visible('region', region),
  };
}
