import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import { MAX_AMOUNT } from '../kernel/money.ts';
import { TAX_CATEGORIES } from '../terms/taxes.ts';
import { ROLE_NAMES, ROLES } from './roles.ts';

/**
 * An object that refuses unknown keys, in requests and responses. A `title` makes it a component of the description with
 * that name.
 */
export function strict<Properties extends TProperties>(
  properties: Properties,
  options: { title?: string; description?: string; minProperties?: number } = {},
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** One of the alternatives of an input whose fields exclude each other. */
export interface Alternative {
  /** The name of its schema in the description. */
  readonly title: string;
  /** The fields that it needs and those that it accepts, besides the fields that no alternative names. */
  readonly needs?: readonly string[];
  readonly accepts?: readonly string[];
  /** The values that the deciding field has then. */
  readonly values?: readonly string[];
}
export interface Alternatives {
  /** The field whose value decides which alternative an input is; absent if it is the fields that are given. */
  readonly decidedBy?: string;
  readonly alternatives: readonly Alternative[];
}

/** An input with alternatives, which the description shows as `oneOf`. Its handler checks them. */
export const eitherOf = <Schema extends TObject>(schema: Schema, alternatives: Alternatives): Schema => ({
  ...schema,
  'x-alternatives': alternatives,
});

/** The value or null. */
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const timestamp = Type.String({
  format: 'date-time',
  examples: ['2026-09-15T08:30:00.000Z'],
});

/** Minor units of the currency given with it. */
export const amount = Type.Integer({ description: 'minor units of the currency given with it' });

export const amountInput = Type.Integer({ minimum: -MAX_AMOUNT, maximum: MAX_AMOUNT });

/** `affiliate_id` and `program_id`: `7.0` is 7; `"7"`, `1.5`, `0` and null are refused. */
export const numberId = Type.Number({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  multipleOf: 1,
  'x-shown': { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
});

export const currencyCode = Type.String({ title: 'Currency', examples: ['usd'] });
export const currencyInput = Type.String({ title: 'Currency', minLength: 3, maxLength: 3 });

/** A bound of a period in a query: a day of the account's time zone. The handler parses it. */
export const dayInQuery = (description: string) => Type.Optional(Type.String({ title: 'Day', description }));
/** The same, where it can also be an instant. */
export const momentInQuery = (description: string) =>
  Type.Optional(Type.String({ title: 'InstantOrDay', description }));

export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
/** An id from the merchant's own books, such as an order. `http/check.ts` defines the format. */
export const identifier = Type.String({ minLength: 1, maxLength: 255, format: 'identifier' });

export const email = Type.String({
  maxLength: 320,
  pattern: '^[^\\s@]+@[^\\s@]+$',
  description: 'an e-mail address',
});

export const role = Type.Enum(ROLE_NAMES, {
  title: 'Role',
  description: ROLE_NAMES.map((name) => `${name}: ${ROLES[name].summary}`).join('; '),
});

/** A refused line of a file. */
export const badLine = strict({ line: Type.Integer(), message: Type.String() }, { title: 'BadLine' });

/** Minor units per currency: `{"usd": 5000}`. */
export const amounts = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: MAX_AMOUNT }), { description });
export const minimums = amounts('minor units per currency code, for example {"usd": 5000}');

/** The rule of `metadata`. */
export const METADATA_RULE =
  'your own keys and texts: at most 50, keys of up to 40 and texts of up to 500 characters; a change replaces all of them';

/** A merchant's own keys and texts. A change replaces all of them. */
export const metadata = Type.Record(Type.String(), Type.String({ maxLength: 500 }), {
  maxProperties: 50,
  title: 'Metadata',
  propertyNames: { maxLength: 40 },
  description: METADATA_RULE,
});

const pagination = strict(
  {
    page: Type.Integer({
      minimum: 1,
      description: 'the number of this page; with `after`, counted from where the walk began',
    }),
    limit: Type.Integer({ minimum: 1, description: 'items per page' }),
    total: Type.Integer({
      minimum: 0,
      description: 'items across all pages; exact unless the request limited counting with `max_total`',
    }),
    pages: Type.Integer({ minimum: 0, description: 'pages; 0 if there are no items' }),
    next: nullable(
      Type.String({
        description: 'the `after` of the next page, even if rows move meanwhile; null on the last',
      }),
    ),
  },
  { title: 'Pagination' },
);

/** A page of records in its envelope. */
export interface List<T> {
  data: T[];
  pagination: Static<typeof pagination>;
}

/** The body of every list: a page of records with its position among all of them. */
export const listOf = <Schema extends TSchema>(item: Schema) =>
  strict(
    { data: Type.Array(item), pagination },
    'title' in item ? { title: `${String(item.title)}List` } : {},
  ) as TSchema as TUnsafe<List<Static<Schema>>>;

/** The tax on an invoice. */
export const taxCategory = Type.Enum([...TAX_CATEGORIES], {
  title: 'TaxCategory',
  description: 'S: at a rate; Z: zero rate; E: exempt; AE: reverse charge; O: outside the scope of VAT',
});
