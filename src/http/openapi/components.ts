import { isDeepStrictEqual } from 'node:util';
import { METADATA_RULE } from '../../contract/schemas.ts';
import { INSTANT_OR_DAY, INSTANT_OR_DAY_RULE } from '../../kernel/time.ts';
import { MEANINGS } from './meanings.ts';

type Json = Record<string, unknown>;

/** A description whose schemas are still inline. */
export interface Whole extends Json {
  readonly components: Json & { readonly schemas: Json };
}

/** Values that have one schema in the whole description, wherever they are. */
const VALUE_SCHEMAS: Readonly<Record<string, Json>> = {
  Metadata: {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 500 },
    maxProperties: 50,
    propertyNames: { maxLength: 40 },
    description: METADATA_RULE,
  },
  Timestamp: {
    type: 'string',
    format: 'date-time',
    description: 'RFC 3339, in UTC with milliseconds',
    examples: ['2026-09-15T08:30:00.000Z'],
  },
  Currency: {
    type: 'string',
    pattern: '^[A-Za-z]{3}$',
    description: 'ISO 4217: in lower case in responses and events, in any case in requests',
    examples: ['usd'],
  },
  Day: {
    type: 'string',
    format: 'date',
    description: 'YYYY-MM-DD, from 1970 to 2999: a day in the time zone of the account',
    examples: ['2026-09-15'],
  },
  InstantOrDay: {
    type: 'string',
    pattern: INSTANT_OR_DAY.pattern,
    description: INSTANT_OR_DAY_RULE,
    examples: ['2026-09-15'],
  },
};

/** The formats of numbers: generators choose 32 bits without one. An integer may be written as a number with `.0`. */
const FORMATS: Readonly<Record<string, string>> = { integer: 'int64', number: 'double' };

/** What a schema contains that is no schema. */
const VALUES = new Set(['examples', 'example', 'default', 'const', 'enum']);

/**
 * Moves every schema with a title to the components, once, and replaces it with a reference. A schema's `x-shown` is used
 * instead where the server checks the value by its own rules. Throws if two different schemas have the same title.
 */
export function withComponents(description: Whole): Json {
  const found = new Map<string, unknown>();
  const walk = (value: unknown, record = ''): unknown => {
    if (Array.isArray(value)) return value.map((each) => walk(each, record));
    if (typeof value !== 'object' || value === null) return value;
    const { title, 'x-shown': shown, ...schema } = value as Json;
    if (shown !== undefined) return withDescription(walk(shown, record) as Json, schema);
    const name = schema.format === 'date-time' ? 'Timestamp' : title;
    if (typeof name === 'string' && VALUE_SCHEMAS[name]) return valueReference(name, schema);
    const inside = typeof title === 'string' ? title : record;
    const walked = Object.fromEntries(
      Object.entries(withFormat(schema)).map(([key, inner]) => member(key, inner, inside)),
    );
    if (typeof title !== 'string' || !isNamed(schema))
      return title === undefined ? walked : { title, ...walked };
    return reference(title, walked);
  };
  const member = (key: string, inner: unknown, record: string): [string, unknown] => {
    if (VALUES.has(key)) return [key, inner];
    // by name: one of them may be called `title` or `example`
    if (key === 'properties') return [key, properties(inner as Json, record)];
    // a map, as generators know it
    if (key === 'patternProperties')
      return ['additionalProperties', walk(Object.values(inner as Json)[0], record)];
    return [key, walk(inner, record)];
  };
  const properties = (schemas: Json, record: string): Json =>
    Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [
        name,
        withMeaning(walk(schema, record) as Json, MEANINGS[`${record}.${name}`] ?? MEANINGS[name]),
      ]),
    );
  /** A reference to a value, with what is special about it in this place. */
  const valueReference = (name: string, { description, examples }: Json): Json => {
    const { description: form, examples: usual, ...schema } = VALUE_SCHEMAS[name] ?? {};
    found.set(name, { ...schema, description: form, ...(usual === undefined ? {} : { examples: usual }) });
    return {
      $ref: `#/components/schemas/${name}`,
      ...(description === undefined || description === form ? {} : { description }),
      ...(examples === undefined || isDeepStrictEqual(examples, usual) ? {} : { examples }),
    };
  };
  /** An enum has a description at each place, an object only once. */
  const reference = (title: string, { description: about, examples, ...enumeration }: Json): Json => {
    const here = { ...(about ? { description: about } : {}), ...(examples ? { examples } : {}) };
    const isEnum = enumeration.enum !== undefined;
    const schema = isEnum ? enumeration : { ...here, ...enumeration };
    const known = found.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, schema))
      throw new Error(`two schemas have the title ${title}`);
    found.set(title, schema);
    return { $ref: `#/components/schemas/${title}`, ...(isEnum ? here : {}) };
  };
  const { components, ...rest } = walk(description) as Whole;
  const schemas = {
    ...components.schemas,
    ...Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return { ...rest, components: { ...components, schemas } };
}

/** The schema of a property with its meaning, unless it says it itself. */
function withMeaning(schema: Json, meaning: string | undefined): Json {
  const inner = (schema.anyOf ?? []) as readonly Json[];
  const isDescribed = [schema, ...inner].some(({ description }) => description !== undefined);
  return isDescribed || meaning === undefined ? schema : { ...schema, description: meaning };
}

/** The schema of a number with its format. */
function withFormat(schema: Json): Json {
  const format = typeof schema.type === 'string' ? FORMATS[schema.type] : undefined;
  return format === undefined ? schema : { type: schema.type, format, ...schema };
}

/** The description with only those headers in its components that are referenced. */
export function withUsedHeaders(description: Json): Json {
  const { components, ...rest } = description as Whole;
  const { headers, ...others } = components;
  const text = JSON.stringify([rest, others]);
  const used = Object.entries(headers as Json).filter(([name]) =>
    text.includes(`"#/components/headers/${name}"`),
  );
  return { ...rest, components: { ...components, headers: Object.fromEntries(used) } };
}

const isNamed = (schema: Json) => schema.type === 'object' || schema.enum !== undefined;

const withDescription = (shown: Json, { description, examples }: Json): Json => ({
  ...shown,
  ...(description === undefined ? {} : { description }),
  ...(examples === undefined ? {} : { examples }),
});
