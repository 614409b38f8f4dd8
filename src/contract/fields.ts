import sql, { raw } from 'sql-template-tag';
import { type TObject, type TOptional, type TSchema, Type } from 'typebox';
import { fail } from '../kernel/errors.ts';
import { formatInstant, INSTANT_RULE, parseInstant } from '../kernel/time.ts';
import { exactly, type Filter, oneOf } from './lists.ts';
import { type Alternatives, nullable, strict } from './schemas.ts';

/* A resource is defined by the list of its fields (`<noun>/fields.ts`). These functions read such a list. */

/** How a value is read from a file, typed in a form and given on the command line. */
export type FieldType =
  | 'text'
  | 'email'
  | 'id'
  | 'name'
  | 'word'
  | 'flag'
  | 'currency'
  | 'country'
  | 'money'
  | 'amounts'
  | 'rate'
  | 'integer'
  | 'day'
  | 'time'
  | 'metadata'
  /** It has a control and an option of its own. */
  | 'other';

/** How a column of a file is recognised as a field. */
export interface ImportRule {
  /**
   * The names in other products, most specific first: letters and digits only, in lower case. A field takes the first
   * of these that is a column; a column belongs to the first field that takes it.
   */
  readonly synonyms: readonly string[];
  /** The field's own name is ambiguous: a column with a more specific name wins. */
  readonly isVague?: true;
  /** A name alone guesses it only in a file that gives one of these fields too. */
  readonly goesWith?: readonly string[];
  /** Values in other products that mean one of ours. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** The name of the column, if it is not that of the field. */
  readonly column?: string;
}

/** A field of a record that a column of a file can give. */
export interface ImportField extends ImportRule {
  readonly type: FieldType;
}

/**
 * What the erasure of a person does with a value that may name the person: of an `id` it replaces only an e-mail
 * address, so that references stay intact; of a `text` and of `json` also names.
 */
export type TextErasure = 'id' | 'text' | 'json' | 'kept';

/** The words of a text, for long lists of synonyms. */
export const words = (text: string): readonly string[] => text.split(/\s+/);

/** A field that requests cannot set. */
export interface ReadOnlyField {
  /** The value in responses. */
  readonly schema: TSchema;
  /** SQL; by default the column with the name of the field. */
  readonly column?: string;
  readonly input?: undefined;
}

/** A field that requests can set. It is stored in the column with its name. */
export interface WritableField {
  /** The value in responses; without it, records do not show the field. */
  readonly schema?: TSchema;
  readonly column?: string;
  /** The value in requests. */
  readonly input: TSchema;
  readonly type: FieldType;
  /** A new record needs it. */
  readonly isRequired?: true;
  /** It is set at creation and never changed. */
  readonly isFixed?: true;
  /** The types of the record that need the field, and those that accept it; without both every type accepts it. */
  readonly neededBy?: readonly string[];
  readonly acceptedBy?: readonly string[];
  /** The value of a new record for which none is given; null if there is none. */
  readonly default?: unknown;
  /** What the schema cannot check of a text: the rule that it breaks, to follow the name of the field, or null. */
  readonly rule?: (text: string) => string | null;
  /** The value as it is stored. Throws `invalid_body`. */
  readonly normalise?: (value: never, field: string) => unknown;
  /** The name for people. */
  readonly label: string;
  /** What it is for, if the label does not say it: in the API description, forms and the help of commands. */
  readonly help?: string;
  /** A value as it is stored, other than the default: in the API description, and what tests send through every door. */
  readonly example: unknown;
  /** The option of commands, such as `--name-first <name>`; empty of an object whose parts have options. */
  readonly option: string;
  /** The word that clears it, or the object that it is a part of, on the command line; by default `none`. */
  readonly clearWord?: string;
  /** Whether a portal can set it. */
  readonly isOfPortal?: boolean;
  /** Lists have a filter with its name. */
  readonly isFilter?: true;
  /** How files give it; null if they cannot. */
  readonly import?: ImportRule | null;
  /** The fields of an object: files, forms and commands give these instead of the object. */
  readonly parts?: Fields;
}

/** The fields of a resource, in the order in which they are shown. */
export type Fields<Row extends WritableField = WritableField> = Readonly<Record<string, ReadOnlyField | Row>>;

type Writable<F extends Fields> = {
  [Name in keyof F as F[Name] extends { input: TSchema } ? Name : never]: F[Name]['input'] & TSchema;
};
type Names<F extends Fields, Property> = {
  [Name in keyof F]: F[Name] extends Property ? Name : never;
}[keyof F];

/** The input of a new record. */
type NewProperties<F extends Fields> = {
  [Name in keyof Writable<F>]: Name extends Names<F, { isRequired: true }>
    ? Writable<F>[Name]
    : TOptional<Writable<F>[Name]>;
};
/** The input of a change. */
type ChangeProperties<F extends Fields> = {
  [Name in Exclude<keyof Writable<F>, Names<F, { isFixed: true }>>]: TOptional<Writable<F>[Name]>;
};

type Row<F extends Fields> = Extract<F[keyof F], { readonly input: TSchema }>;
type Name<F extends Fields> = keyof Writable<F> & string;

/** The fields that requests can set, by name. */
export const writable = <F extends Fields>(fields: F): (readonly [name: Name<F>, field: Row<F>])[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.input === undefined ? [] : [[name as Name<F>, field as Row<F>] as const],
  );

/** The names of the writable fields, or of those for which `has` is true. */
export const namesOf = <F extends Fields>(
  fields: F,
  has: (field: Row<F>) => boolean = () => true,
): Name<F>[] => writable(fields).flatMap(([name, field]) => (has(field) ? [name] : []));

/** A field that is given alone: `form.signed_on` is a part of the object `form`. */
export interface SingleField {
  readonly name: string;
  readonly field: WritableField;
  /** The field that it is a part of. */
  readonly object?: WritableField;
}

/** The fields that files, forms and commands give: the parts of an object instead of the object. */
export const singly = (fields: Fields): SingleField[] =>
  writable<Fields>(fields).flatMap(([name, field]): SingleField[] =>
    field.parts
      ? writable<Fields>(field.parts).map(([part, row]) => ({
          name: `${name}.${part}`,
          field: row,
          object: field,
        }))
      : [{ name, field }],
  );

/** What a row says of an object that is given part by part. */
export const objectOf = <Parts extends Fields>(parts: Parts) =>
  ({
    type: 'other',
    parts,
    example: Object.fromEntries(writable<Fields>(parts).map(([name, { example }]) => [name, example])),
    option: '',
    import: null,
  }) as const;

type Shown<F extends Fields> = {
  [Name in keyof F as F[Name] extends { schema: TSchema } ? Name : never]: F[Name]['schema'] & TSchema;
};

/** The schema of each field in a record. */
export function recordProperties<F extends Fields>(fields: F): Shown<F> {
  const entries = Object.entries(fields).flatMap(([name, { schema, ...field }]) =>
    schema ? [[name, described(schema, 'label' in field ? field : undefined)]] : [],
  );
  return Object.fromEntries(entries);
}

/** The SQL of each field in a record, over a table with this alias. */
export function recordColumns<F extends Fields>(fields: F, alias: string) {
  const entries = Object.entries(fields).flatMap(([name, { schema, column }]) =>
    schema ? [[name, column ?? `${alias}.${name}`]] : [],
  );
  return Object.fromEntries(entries) as { [Name in keyof Shown<F>]: string };
}

/** The fields that columns of files can give, by the name of the column. */
export const importFields = (fields: Fields): Record<string, ImportField> =>
  Object.fromEntries(
    singly(fields).flatMap(({ name, field: { type, import: rule } }) =>
      rule ? [[rule.column ?? name, { type: type === 'flag' ? 'word' : type, ...rule }]] : [],
    ),
  );

/** The input of a new record. With a `title` it is a component of the API description with that name. */
export function newSchema<F extends Fields>(
  fields: F,
  options: { readonly title?: string } = {},
): TObject<NewProperties<F>> {
  const properties = writable<Fields>(fields).map(([name, field]) => {
    const schema = inputSchema(field);
    return [name, field.isRequired ? schema : Type.Optional(schema)];
  });
  return strict(Object.fromEntries(properties), options) as unknown as TObject<NewProperties<F>>;
}

/** The alternatives of a record's input by its `type`: what the types need and accept. `titleOf` names them. */
export function alternativesByType(
  fields: Fields,
  types: readonly string[],
  titleOf: (type: string) => string,
): Alternatives {
  const namesOf = (by: 'neededBy' | 'acceptedBy', type: string) =>
    writable<Fields>(fields).flatMap(([name, field]) => (field[by]?.includes(type) ? [name] : []));
  return {
    decidedBy: 'type',
    alternatives: types.map((type) => ({
      title: titleOf(type),
      needs: namesOf('neededBy', type),
      accepts: namesOf('acceptedBy', type),
      values: [type],
    })),
  };
}

/** The input of a change: every field is optional. */
export function changeSchema<F extends Fields>(fields: F): TObject<ChangeProperties<F>> {
  const properties = writable<Fields>(fields)
    .filter(([, { isFixed }]) => !isFixed)
    .map(([name, field]) => [name, Type.Optional(inputSchema(field))]);
  return strict(Object.fromEntries(properties)) as unknown as TObject<ChangeProperties<F>>;
}

const inputSchema = (field: WritableField): TSchema => ({
  ...described(field.input, field),
  examples: [field.example],
});

/** A schema that says first what the field is for, then the form of its values; if it says neither, its name for people. */
function described(schema: TSchema, { help, label }: Partial<WritableField> = {}): TSchema {
  const { description: form, ...plain } = withoutNull(schema) as TSchema & { description?: string };
  const isDescribed = form !== undefined || (schema as { description?: string }).description !== undefined;
  // an object with a title has the same description everywhere
  const isShared = (plain as { type?: string }).type === 'object' && 'title' in plain;
  const meaning = help ?? (isDescribed || isShared ? undefined : label);
  if (meaning === undefined) return schema;
  const description = form === undefined ? meaning : `${meaning}; ${form}`;
  return isNullable(schema) ? { ...nullable(plain), description } : { ...plain, description };
}

/** The schema of a value that is not null. */
export function withoutNull(schema: TSchema): TSchema {
  const { anyOf } = schema as { anyOf?: readonly TSchema[] };
  return anyOf?.find((each) => (each as { type?: string }).type !== 'null') ?? schema;
}

/** Whether null clears the field. */
export const isNullable = (schema: TSchema): boolean => withoutNull(schema) !== schema;

/** The values of an enumeration; undefined if the field is none. */
export const choicesOf = (schema: TSchema) => (withoutNull(schema) as { enum?: readonly string[] }).enum;

/**
 * The input as it is stored. A value that the record `before` has already is kept, even if it would be refused today. `path`
 * is what precedes the names of fields in messages. Throws `invalid_body`.
 */
export function normalised<Input extends object>(
  fields: Fields,
  input: Input,
  before: Readonly<Record<string, unknown>> = {},
  path = '',
): Input {
  const entries = Object.entries(input).map(([name, value]) => {
    const field = fields[name];
    if (!field?.input || value === null || value === undefined || value === before[name])
      return [name, value];
    const place = `${path}${name}`;
    if (field.parts) return [name, normalObject(field.parts, value, place)];
    return [name, normalValue(field, value, place)];
  });
  return Object.fromEntries(entries) as Input;
}

/** An object as it is stored, with the defaults of the parts that are not given. Throws `invalid_body`. */
export const normalObject = <Input extends object>(parts: Fields, input: Input, name: string): Input => ({
  ...defaults(parts),
  ...normalised(parts, input, {}, `${name}.`),
});

/** A value as it is stored. `name` names it in messages. Throws `invalid_body`. */
export function normalValue({ rule, normalise }: WritableField, value: unknown, name: string): unknown {
  const broken = rule?.(value as string) ?? null;
  if (broken !== null) throw fail('invalid_body', `${name} ${broken}`);
  return normalise ? normalise(value as never, name) : value;
}

/** Normalises an RFC 3339 instant. Throws `invalid_body` naming the field. */
export function instantText(value: string, field: string): string {
  const at = parseInstant(value);
  if (at === null) throw fail('invalid_body', `${field} must be ${INSTANT_RULE}`);
  return formatInstant(at);
}

/** The values that a new record has when none are given. */
export function defaults(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    writable(fields).flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );
}

/** The filters of a list, over a table with this alias. */
export function filtersOf(fields: Fields, alias: string): Record<string, Filter> {
  return Object.fromEntries(
    writable(fields)
      .filter(([, { isFilter }]) => isFilter)
      .map(([name, { type, input }]) => {
        const column = `${alias}.${name}`;
        if (type === 'flag')
          return [name, oneOf(['true', 'false'], (is) => sql`${raw(column)} = ${is}::boolean`)];
        const choices = choicesOf(input);
        return [name, choices ? oneOf(choices, (one) => sql`${raw(column)} = ${one}`) : exactly(column)];
      }),
  );
}

/** The range of a whole number; of other values, nothing. */
function rangeOf(schema: TSchema) {
  const { type, minimum: from, maximum: to } = withoutNull(schema) as Record<string, unknown>;
  return type === 'integer' ? { from, to } : {};
}

/** What forms and commands need to know of the fields that requests can set (`FormField` of the client). */
export const formOf = (fields: Fields) =>
  Object.fromEntries(
    singly(fields).map(
      ({ name, field: { label, type, help, option, input, import: rule, ...field }, object }) => [
        name,
        {
          label,
          type,
          help,
          option,
          choices: choicesOf(input),
          ...rangeOf(input),
          clearWord: field.clearWord,
          isOfPortal: field.isOfPortal,
          isRequired: object && !object.isRequired ? undefined : field.isRequired,
          isNeededInObject: object && !object.isRequired ? field.isRequired : undefined,
          neededBy: field.neededBy,
          acceptedBy: field.acceptedBy,
          isNullable: isNullable(input) || undefined,
          column: rule ? (rule.column ?? name) : undefined,
        },
      ],
    ),
  );
