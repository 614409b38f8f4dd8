type Json = Record<string, unknown>;

/** What a schema contains that is no schema. */
const VALUES = new Set(['examples', 'example', 'default', 'const', 'enum']);

/**
 * The description with other forms of the same schemas, where generators of clients write code that does not compile
 * (test/description/clients.test.ts): values of several types are `oneOf` without a default, a boolean has no constant, and
 * what is always null is a text or null.
 */
export function withPlainForms(value: unknown, isNamed = false): unknown {
  if (Array.isArray(value)) return value.map((each) => withPlainForms(each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) =>
    !isNamed && VALUES.has(key)
      ? [key, inner]
      : [key, withPlainForms(inner, key === 'properties' && !isNamed)],
  );
  const schema = Object.fromEntries(entries) as Json;
  return isNamed ? withNulls(schema as Record<string, Json>) : plain(schema);
}

function plain(schema: Json): Json {
  const { anyOf, default: standard, const: constant, ...rest } = schema;
  const types = Array.isArray(anyOf) ? anyOf.filter(({ type }: Json) => type !== 'null') : [];
  if (types.length > 1) return { ...rest, oneOf: anyOf };
  return schema.type === 'boolean' && constant !== undefined ? { ...rest } : schema;
}

/** Properties where one that is always null is a text or null. */
function withNulls(properties: Record<string, Json>): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type, ...schema }]) => [
      name,
      type === 'null' ? { ...schema, anyOf: [{ type: 'string' }, { type }] } : properties[name],
    ]),
  );
}
