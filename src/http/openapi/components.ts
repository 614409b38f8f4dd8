import { isDeepStrictEqual } from 'node:util';

type Json = Record<string, unknown>;

/** A description whose schemas are still inline. */
export interface Whole extends Json {
  readonly components: Json & { readonly schemas: Json };
}

/**
 * Moves every schema with a title to the components, once, and replaces it with a reference. A schema's `x-shown` is used
 * instead where the server checks the value by its own rules. Throws if two different schemas have the same title.
 */
export function withComponents(description: Whole): Json {
  const found = new Map<string, unknown>();
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const { title, 'x-shown': shown, ...schema } = value as Json;
    if (shown !== undefined) return withDescription(walk(shown) as Json, schema);
    const walked = Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, walk(inner)]));
    if (typeof title !== 'string' || !isNamed(schema))
      return title === undefined ? walked : { title, ...walked };
    return reference(title, walked);
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

/** The description with only those headers in its components that are referenced. */
export function withUsedHeaders(description: Json): Json {
  const { components, ...rest } = description as Whole;
  const text = JSON.stringify(rest);
  const used = Object.entries(components.headers as Json).filter(([name]) =>
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
