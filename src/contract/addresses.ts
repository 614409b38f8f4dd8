import { type Static, Type } from 'typebox';
import { fail } from '../kernel/errors.ts';
import { composedName } from '../kernel/names.ts';
import { countryName } from '../terms/countries.ts';
import {
  type Fields,
  type ImportRule,
  newSchema,
  recordProperties,
  type WritableField,
  words,
} from './fields.ts';
import { nullable, strict, text } from './schemas.ts';

interface AddressField extends WritableField {
  readonly import: ImportRule;
}

const optional = (maxLength: number) =>
  ({
    schema: nullable(Type.String()),
    input: nullable(text(maxLength)),
    type: 'text',
    default: null,
    normalise: composedName,
  }) as const;
const needed = (maxLength: number) =>
  ({
    schema: Type.String(),
    input: text(maxLength),
    type: 'text',
    isRequired: true,
    normalise: composedName,
  }) as const;
const goesWith = ['legal_name'];

/** The parts of a postal address. The columns of files are those of a tax profile. */
export const ADDRESS_FIELDS = {
  line1: {
    ...needed(200),
    label: 'Address',
    help: 'street and number',
    example: '1 Main St',
    option: '--line1 <line>',
    import: {
      column: 'address_line1',
      goesWith,
      synonyms: words('addressline1 address1 address street streetaddress strasse adresse'),
    },
  },
  line2: {
    ...optional(200),
    label: 'Address, line 2',
    example: 'Floor 3',
    option: '--line2 <line>',
    import: { column: 'address_line2', goesWith, synonyms: words('addressline2 address2') },
  },
  postal_code: {
    ...optional(20),
    label: 'Postal code',
    example: '02108',
    option: '--postal-code <code>',
    import: {
      column: 'address_postal_code',
      goesWith,
      synonyms: words('addresspostalcode postalcode postcode zip zipcode plz codepostal'),
    },
  },
  city: {
    ...needed(100),
    label: 'City',
    example: 'Boston',
    option: '--city <city>',
    import: { column: 'address_city', goesWith, synonyms: words('addresscity city town ort stadt ville') },
  },
  region: {
    ...optional(100),
    label: 'State or province',
    help: 'state or province; two letters in the United States',
    example: 'MA',
    option: '--region <region>',
    import: {
      column: 'address_region',
      goesWith,
      synonyms: words('addressregion region province stateprovince addressstate bundesland'),
    },
  },
} as const satisfies Fields<AddressField>;

/** A postal address, without the country. */
export const address = strict(recordProperties(ADDRESS_FIELDS), { title: 'PostalAddress' });
export type Address = Static<typeof address>;

export const addressInput = newSchema(ADDRESS_FIELDS);

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
export function checkedCountry(code: string, field: string): string {
  const upper = code.toUpperCase();
  if (countryName(upper) !== null) return upper;
  throw fail('invalid_body', `${field} must be a two-letter ISO 3166-1 country code such as DE`);
}
